"""Warnings about splits that make test rows easier to predict than new rows."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from touchstone.learning.baseline_comparison import measured_estimates
from touchstone.learning.evaluation import metric_sign
from touchstone.learning.request_choices import METRIC_BY_NAME, Strategy
from touchstone.learning.splits.split_decision import SplitDecision
from touchstone.learning.splits.split_effect import SplitEffect
from touchstone.learning.splits.split_report import DuplicateTreatment, treatment_of_duplicates
from touchstone.learning.splits.time_detection import find_incomplete_dates
from touchstone.learning.table_reader import Table
from touchstone.learning.task_interface import Json
from touchstone.learning.training_warnings import WARNING_DECIMALS, warning

NOTABLE_EFFECT: Final = 0.05
DUPLICATE_WARNINGS: Final = {
    DuplicateTreatment.TOGETHER: "duplicates_kept_together",
    DuplicateTreatment.COINCIDENCE: "duplicates_by_coincidence",
    DuplicateTreatment.KEEP: "duplicates_divided",
}
NEAR_COPY_WARNINGS: Final = {
    DuplicateTreatment.TOGETHER: "near_copies_kept_together",
    DuplicateTreatment.KEEP: "near_copies_divided",
}


def split_warnings(
    decision: SplitDecision, table: Table, effect: SplitEffect | None, metrics: Mapping[str, Any]
) -> Iterator[Json]:
    """Yield the warnings about equal rows, groups, dates and the effect of the split.

    `metrics` holds the metrics of the training result. Their confidence intervals limit the difference by chance.
    """
    if decision.duplicates.rows:
        codes = NEAR_COPY_WARNINGS if decision.duplicates.is_approximate else DUPLICATE_WARNINGS
        yield warning(codes[treatment_of_duplicates(decision)], rows=decision.duplicates.rows)

    # A group column named in the request takes precedence over the detected ones.
    plan = decision.plan
    if decision.group_columns and plan.group_column is None:
        yield warning("groups_split_at_random", name=decision.group_columns[0].name)

    # With a random split, a model may learn from rows that are later than its test rows.
    if plan.strategy is not Strategy.TIME:
        yield from _time_warning(decision, table)

    if effect is not None and _is_notable(effect, metrics):
        yield warning("split_effect", effect=effect.to_json()["text"])


def _time_warning(decision: SplitDecision, table: Table) -> Iterator[Json]:
    """Yield a warning if the rows have an order in time, or might have one, that the split ignores."""
    if decision.time_columns:
        yield warning("dates_split_at_random", name=decision.time_columns[0])
        return

    column = find_incomplete_dates(table, decision.rule.target.name)
    if column is not None:
        percent = round(100 * column.missing / len(table.frame), WARNING_DECIMALS)
        yield warning("incomplete_dates", name=column.name, percent=percent)


def _is_notable(effect: SplitEffect, metrics: Mapping[str, Any]) -> bool:
    """Return whether the score with shuffled rows is notably better, beyond the margin of error."""
    metric = METRIC_BY_NAME[effect.metric]
    promised_gain = metric_sign(effect.metric) * (effect.shuffled - effect.kept_apart)
    # Unbounded metrics have the unit of the target, so their difference is judged relative to their size.
    scale = abs(effect.kept_apart) if math.isinf(metric.upper_bound) else 1.0
    return promised_gain >= NOTABLE_EFFECT * scale and promised_gain > _margin_of_error(effect.metric, metrics)


def _margin_of_error(metric: str, metrics: Mapping[str, Any]) -> float:
    """Return the largest difference of two scores that chance explains, or 0 if it is unknown.

    Both scores are about as uncertain as the reported score. For the difference of two independent scores, half the
    width of the 95 % interval is multiplied by the square root of two.
    """
    estimate = measured_estimates(metrics).get(metric) or {}
    low, high = estimate.get("low"), estimate.get("high")
    if low is None or high is None:
        return 0.0
    return float(math.sqrt(2) * (high - low) / 2)
