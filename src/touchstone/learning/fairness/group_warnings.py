"""Warnings about unequal treatment of groups, and about groups that are too small to judge."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.learning.localized_text import LOCALES, LocalizedText, localize
from touchstone.learning.task_interface import Json
from touchstone.messages.fairness import FAIRNESS
from touchstone.messages.labels import GROUP_METRIC_LABELS, MISSING_VALUE

FOUR_FIFTHS: Final = 0.8  # the four-fifths rule of the US agencies for equal employment (1978)
RATIO_METRICS: Final = ("selection_rate", "true_positive_rate", "positive_predictive_value")
MAX_NAMED_GAPS: Final = 5


@dataclass(frozen=True, slots=True)
class NamedGap:
    """The gap between two groups in one metric, for one class if there are more than two."""

    metric: str
    class_name: str | None
    gap_json: Json
    values: Mapping[str | None, float]  # the metric by group

    @property
    def is_certain(self) -> bool:
        """Whether the gap is larger than chance explains."""
        return bool(self.gap_json["certain"])

    @property
    def is_below_four_fifths(self) -> bool:
        """Whether the metric is a rate, and the lower one is less than four fifths of the higher one."""
        ratio = self.gap_json["ratio"]
        return self.metric in RATIO_METRICS and ratio is not None and ratio < FOUR_FIFTHS

    def to_json(self) -> Json:
        """Return the gap as JSON."""
        lowest_group = self.gap_json["lowest"]
        highest_group = self.gap_json["highest"]
        return {
            "metric": self.metric,
            "class": self.class_name,
            "lowest": lowest_group,
            "highest": highest_group,
            "low": self.values[lowest_group],
            "high": self.values[highest_group],
            "ratio": self.gap_json["ratio"],
        }


def group_warnings(column_metrics: Json) -> Iterator[Json]:
    """Yield the warnings about the groups of one sensitive column or of an intersection.

    `column_metrics` is one item of the metrics by group in the result. A gap whose ratio is below four fifths is
    reported as a ratio, and any other gap as a difference.
    """
    column = column_metrics["column"]
    small_groups = [group for group in column_metrics["groups"] if group["too_small"]]
    if small_groups:
        yield _small_groups_warning(column, small_groups)

    gaps = list(_named_gaps(column_metrics))
    low_ratios = [gap for gap in gaps if gap.is_certain and gap.is_below_four_fifths]
    other_gaps = [gap for gap in gaps if gap.is_certain and not gap.is_below_four_fifths]
    uncertain_ratios = [gap for gap in gaps if not gap.is_certain and gap.is_below_four_fifths]

    if low_ratios:
        yield _gaps_warning("group_ratio", column, low_ratios)
    if other_gaps:
        yield _gaps_warning("group_gap", column, other_gaps)
    if uncertain_ratios:
        yield _gaps_warning("group_ratio_uncertain", column, uncertain_ratios)


def _named_gaps(column_metrics: Json) -> Iterator[NamedGap]:
    """Yield the gap in each metric, and then in each metric of each class.

    A gap without a difference is skipped: fewer than two groups were large enough to be compared.
    """
    gaps_by_class: dict[str | None, Json] = {None: column_metrics["gaps"], **column_metrics.get("class_gaps", {})}
    for class_name, gap_by_metric in gaps_by_class.items():
        for metric, gap_json in gap_by_metric.items():
            if gap_json["difference"] is None:
                continue
            groups = column_metrics["groups"]
            values = {group["group"]: _metric_value(group, metric, class_name) for group in groups}
            yield NamedGap(metric, class_name, gap_json, values)


def _metric_value(group: Json, metric: str, class_name: str | None) -> float:
    """Return the value of a metric in a group, for one class if `class_name` is given."""
    metrics = group["metrics"] if class_name is None else group["classes"][class_name]
    value: float = metrics[metric]["value"]
    return value


def _gaps_warning(code: str, column: str, gaps: Sequence[NamedGap]) -> Json:
    """Return a warning about the widest of the given gaps, with the numbers in its facts."""
    widest_first = sorted(gaps, key=lambda gap: -gap.gap_json["difference"])
    named_gaps = widest_first[:MAX_NAMED_GAPS]
    descriptions = [_describe_gap(gap) for gap in named_gaps]
    return {
        "code": code,
        "text": localize(FAIRNESS[code], name=column, gaps=descriptions),
        "facts": {"name": column, "gaps": [gap.to_json() for gap in named_gaps]},
    }


def _describe_gap(gap: NamedGap) -> LocalizedText:
    """Describe a gap by its metric and its values in the two groups that differ most."""
    facts = gap.to_json()
    label = localize(GROUP_METRIC_LABELS[gap.metric])
    if gap.class_name is not None:
        label = localize(FAIRNESS["rate_of_class"], metric=label, name=gap.class_name)
    return localize(
        FAIRNESS["gap"],
        metric=label,
        low=facts["low"],
        lowest=_group_name(facts["lowest"]),
        high=facts["high"],
        highest=_group_name(facts["highest"]),
    )


def _small_groups_warning(column: str, groups: Sequence[Json]) -> Json:
    """Return the warning about small groups. Its facts name the groups in English."""
    names = [localize(FAIRNESS["group_size"], name=_group_name(group["group"]), rows=group["rows"]) for group in groups]
    return {
        "code": "small_groups",
        "text": localize(FAIRNESS["small_groups"], name=column, names=names),
        "facts": {"name": column, "names": [name["en"] for name in names]},
    }


def _group_name(name: str | None) -> LocalizedText:
    """Return the name of a group in each language. The group None consists of the rows without a value."""
    return localize(MISSING_VALUE) if name is None else dict.fromkeys(LOCALES, name)
