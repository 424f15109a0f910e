"""The effect of a mitigation of unequal treatment, formatted for the page of a training."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.learning.baseline_comparison import measured_estimates, point_estimate
from touchstone.messages.labels import GROUP_METRIC_LABELS, METRIC_LABELS
from touchstone.web.localizer import Localizer

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EffectRow:
    """A metric or a gap between groups, before and after the mitigation.

    Attributes:
        column: the sensitive column of a gap; empty for a metric of the whole model.
        label: the name of the metric or the gap for readers.
        before: the value without the mitigation.
        after: the value with the mitigation.
    """

    column: str
    label: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class MitigationTable:
    """A mitigation of unequal treatment, described in a text, and its effect."""

    text: str
    rows: tuple[EffectRow, ...]


def mitigation_table(result: JsonObject, localizer: Localizer) -> MitigationTable | None:
    """Return the effect of the mitigation on quality and on gaps, or None if there was none."""
    mitigation = result.get("mitigation")
    if not mitigation:
        return None

    text = mitigation["text"][localizer.locale]
    rows = (_quality_row(mitigation, localizer), *_gap_rows(mitigation, localizer))
    return MitigationTable(text, rows)


def _quality_row(mitigation: JsonObject, localizer: Localizer) -> EffectRow:
    """Return the metric used to compare models, before and after the mitigation."""
    metrics_before = mitigation["before"]["metrics"]
    metrics_after = mitigation["after"]["metrics"]
    metric = metrics_before["metric"]
    return EffectRow(
        column="",
        label=localizer.choose_text(METRIC_LABELS[metric]),
        before=point_estimate(measured_estimates(metrics_before)[metric]),
        after=point_estimate(measured_estimates(metrics_after)[metric]),
    )


def _gap_rows(mitigation: JsonObject, localizer: Localizer) -> Iterator[EffectRow]:
    """Yield the largest gap between groups for each metric and column, before and after."""
    columns_before = mitigation["before"]["group_metrics"]
    columns_after = mitigation["after"]["group_metrics"]
    for before, after in zip(columns_before, columns_after, strict=True):
        for metric, gap_before in before["gaps"].items():
            gap_after = after["gaps"][metric]
            label = localizer.text("gap_of_metric", metric=localizer.choose_text(GROUP_METRIC_LABELS[metric]))
            yield EffectRow(before["column"], label, gap_before["difference"], gap_after["difference"])
        yield from _class_gap_rows(before, after, localizer)


def _class_gap_rows(before: JsonObject, after: JsonObject, localizer: Localizer) -> Iterator[EffectRow]:
    """Yield the largest gap for each class and rate of a column, before and after, if there are more than two classes.

    Args:
        before: the metrics of the groups in the column before the mitigation.
        after: the same metrics after the mitigation.
        localizer: the language of the labels.
    """
    for class_name, gaps_before in before.get("class_gaps", {}).items():
        gaps_after = after["class_gaps"][class_name]
        for metric, gap_before in gaps_before.items():
            gap_after = gaps_after[metric]
            metric_label = localizer.choose_text(GROUP_METRIC_LABELS[metric])
            label = localizer.text("gap_of_class_metric", metric=metric_label, name=class_name)
            yield EffectRow(before["column"], label, gap_before["difference"], gap_after["difference"])
