"""The effect of a mitigation of unequal treatment, as a training page shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.messages.labels import GROUP_METRIC_LABELS, METRIC_LABELS
from touchstone.web.localizer import Localizer

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EffectRow:
    """A measure before and after the mitigation. For gaps, `column` is the sensitive column."""

    column: str
    label: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class MitigationTable:
    """The mitigation of unequal treatment and its effect."""

    text: str
    rows: tuple[EffectRow, ...]


def mitigation_table(result: JsonObject, localizer: Localizer) -> MitigationTable | None:
    """Return the effect of the mitigation on the quality and on the gaps between groups, or None if there was none."""
    mitigation = result.get("mitigation")
    if not mitigation:
        return None

    text = mitigation["text"][localizer.locale]
    rows = (_quality_row(mitigation, localizer), *_gap_rows(mitigation, localizer))
    return MitigationTable(text, rows)


def _quality_row(mitigation: JsonObject, localizer: Localizer) -> EffectRow:
    """Return the metric used to compare models, before and after the mitigation."""
    metric = mitigation["before"]["metrics"]["metric"]
    before, after = (_value(mitigation[state]["metrics"], metric) for state in ("before", "after"))
    return EffectRow("", localizer.choose_text(METRIC_LABELS[metric]), before, after)


def _value(metrics: JsonObject, metric: str) -> float | None:
    """Return the value of a metric on the test rows, or its mean over folds."""
    measured = (metrics.get("holdout") or metrics["folds"])[metric]
    value: float | None = measured.get("value", measured.get("mean"))
    return value


def _gap_rows(mitigation: JsonObject, localizer: Localizer) -> Iterator[EffectRow]:
    """Yield the widest gap of every metric between the groups of every sensitive column, before and after."""
    entries_before = mitigation["before"]["group_metrics"]
    entries_after = mitigation["after"]["group_metrics"]
    for before, after in zip(entries_before, entries_after, strict=True):
        for metric, gap in before["gaps"].items():
            label = localizer.text("gap_of_metric", metric=localizer.choose_text(GROUP_METRIC_LABELS[metric]))
            yield EffectRow(before["column"], label, gap["difference"], after["gaps"][metric]["difference"])
