"""Warnings about probabilities that are worse than the base rate, and about an ambiguous task."""

import math
from collections.abc import Iterator
from typing import Final

from touchstone.learning.decisions.calibration import MIN_ROWS_PER_CLASS
from touchstone.learning.localized_text import format_distinctly, localize
from touchstone.learning.request_choices import METRIC_BY_NAME, Calibration
from touchstone.learning.task_choice import TaskReason
from touchstone.learning.task_interface import Json
from touchstone.learning.training_warnings import warning
from touchstone.messages.training_warnings import WARNINGS

SMALLEST_DIFFERENCE: Final = 1e-5  # Smaller relative differences of losses may be due to rounding.
AMBIGUOUS_REASONS: Final = (
    TaskReason.DATES,
    TaskReason.FEW_INTEGERS,
    TaskReason.UNORDERED_INTEGERS,
    TaskReason.ORDERED_INTEGERS,
)


def decision_warnings(results: Json, target: str, distinct_values: int) -> Iterator[Json]:
    """Yield the warnings about decisions.

    `results` holds the members of the training result about decisions (see `decision_report`), and `distinct_values` is
    the number of distinct values of the target.
    """
    reason = results["task_choice"]["reason"]
    if reason in AMBIGUOUS_REASONS:
        yield warning(reason, name=target, count=distinct_values)

    calibration = results["calibration"]
    if calibration is not None:
        yield from _probability_warnings(calibration)


def _probability_warnings(calibration: Json) -> Iterator[Json]:
    """Yield warnings if probabilities are worse than the base rate, or if they could not be calibrated."""
    for name in ("log_loss", "brier"):
        value = calibration["after"][name]
        baseline = calibration["base_rate"][name]
        if value is None or baseline is None or math.isclose(value, baseline, rel_tol=SMALLEST_DIFFERENCE):
            continue
        if value > baseline:
            yield _base_rate_warning(name, value=value, baseline=baseline)
            break

    is_method_requested = calibration["requested"] in (Calibration.SIGMOID, Calibration.ISOTONIC)
    if is_method_requested and calibration["method"] == Calibration.NONE:
        yield warning("not_calibrated", minimum=MIN_ROWS_PER_CLASS)


def _base_rate_warning(metric: str, *, value: float, baseline: float) -> Json:
    """Return the warning that the base rate has a better log loss or Brier score than the model."""
    code = "probabilities_worse_than_base_rate"
    label = localize(METRIC_BY_NAME[metric].label)
    value_text, baseline_text = format_distinctly([value, baseline])
    return {
        "code": code,
        "text": localize(WARNINGS[code], metric=label, value=value_text, baseline=baseline_text),
        "facts": {"metric": metric, "value": value, "baseline": baseline},
    }
