"""Shares and means with confidence intervals, and the confidence interval of their difference.

Shares have Wilson's score interval (Wilson 1927), which is reliable even for few rows, and means have Student's t
interval. The interval of a difference is derived from the intervals of both estimates (Newcombe 1998; Zou and Donner
2008).
"""

import math
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t

from touchstone.learning.evaluation import Mask
from touchstone.learning.task_interface import Json

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


class Estimate(Protocol):
    """An estimate with a confidence interval. The value is None if there are no rows."""

    @property
    def value(self) -> float | None:
        """The point estimate."""

    @property
    def rows(self) -> int:
        """The number of rows used for the estimate."""

    def interval(self, confidence: float) -> Interval:
        """Return the interval for the given level of confidence. The value must not be None."""


@dataclass(frozen=True, slots=True)
class Share:
    """The share of hits among rows."""

    hits: int
    rows: int

    @classmethod
    def count(cls, is_hit: Mask, *, among: Mask) -> "Share":
        """Count the hits among the rows of the mask `among`."""
        return cls(hits=int((is_hit & among).sum()), rows=int(among.sum()))

    @property
    def value(self) -> float | None:
        """The share of the hits."""
        return self.hits / self.rows if self.rows else None

    def interval(self, confidence: float) -> Interval:
        """Return Wilson's score interval."""
        return wilson_interval(self.hits / self.rows, self.rows, confidence)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of values, with its standard error, which is NaN for a single value."""

    value: float | None
    standard_error: float
    rows: int

    @classmethod
    def from_values(cls, values: npt.NDArray[Any]) -> "Mean":
        """Compute the mean of the given values and its standard error."""
        rows = len(values)
        if rows == 0:
            return cls(None, math.nan, 0)

        standard_deviation = float(np.std(values, ddof=1)) if rows > 1 else math.nan
        return cls(float(values.mean()), standard_deviation / math.sqrt(rows), rows)

    def interval(self, confidence: float) -> Interval:
        """Return Student's t interval, which is unbounded for a single value."""
        assert self.value is not None, "the mean of no values has no interval"
        if self.rows < 2:
            return Interval(-math.inf, math.inf)

        quantile = float(t.ppf((1 + confidence) / 2, self.rows - 1))
        half_width = quantile * self.standard_error
        return Interval(self.value - half_width, self.value + half_width)


def wilson_interval(share: float, rows: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval of a share observed on the given number of rows."""
    z_score = float(norm.ppf((1 + confidence) / 2))
    z_squared = z_score**2
    denominator = 1 + z_squared / rows

    centre = (share + z_squared / (2 * rows)) / denominator
    half_width = z_score * math.sqrt(share * (1 - share) / rows + z_squared / (4 * rows**2)) / denominator
    # The interval of an extreme share ends exactly at 0 or 1, without rounding errors.
    low = 0.0 if share == 0 else max(0.0, centre - half_width)
    high = 1.0 if share == 1 else min(1.0, centre + half_width)
    return Interval(low, high)


def difference_interval(higher: Estimate, lower: Estimate, confidence: float = CONFIDENCE) -> Interval:
    """Return the confidence interval of the difference between two independent, defined estimates."""
    assert higher.value is not None, "only defined estimates are compared"
    assert lower.value is not None, "only defined estimates are compared"
    difference = higher.value - lower.value
    higher_interval = higher.interval(confidence)
    lower_interval = lower.interval(confidence)

    margin_below = math.hypot(higher.value - higher_interval.low, lower_interval.high - lower.value)
    margin_above = math.hypot(higher_interval.high - higher.value, lower.value - lower_interval.low)
    return Interval(difference - margin_below, difference + margin_above)


def estimate_to_json(estimate: Estimate) -> Json:
    """Return an estimate with its 95 % confidence interval, as `{value, low, high, rows}`.

    Undefined members are None: the value and the interval if there are no rows, or the interval of a single value.
    """
    if estimate.value is None:
        return {"value": None, "low": None, "high": None, "rows": 0}

    interval = estimate.interval(CONFIDENCE)
    is_bounded = math.isfinite(interval.low) and math.isfinite(interval.high)
    return {
        "value": estimate.value,
        "low": interval.low if is_bounded else None,
        "high": interval.high if is_bounded else None,
        "rows": estimate.rows,
    }
