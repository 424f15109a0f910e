"""Estimated shares and means with their confidence intervals, and the comparison of two of them.

Shares carry Wilson's score interval (Wilson 1927), which is reliable for few rows too, and means carry Student's t
interval. The interval of a difference is recovered from the intervals of both estimates (Newcombe 1998; Zou and Donner
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
    """An estimated number; `value` is None if there are no rows to estimate it from."""

    @property
    def value(self) -> float | None:
        """The best guess."""

    @property
    def rows(self) -> int:
        """The number of rows that it was computed from."""

    def interval(self, confidence: float) -> Interval:
        """Return the interval that contains the true number with this confidence; `value` must not be None."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some rows are hits."""

    hits: int
    rows: int

    @classmethod
    def count(cls, is_hit: Mask, *, among: Mask) -> "Share":
        """Count the hits among some rows."""
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
    """The mean of some values, with its standard error, which is NaN for a single value."""

    value: float | None
    standard_error: float
    rows: int

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "Mean":
        """Compute the mean of some values, and how uncertain it is."""
        rows = len(values)
        if rows == 0:
            return cls(None, math.nan, 0)

        standard_deviation = float(np.std(values, ddof=1)) if rows > 1 else math.nan
        return cls(float(values.mean()), standard_deviation / math.sqrt(rows), rows)

    def interval(self, confidence: float) -> Interval:
        """Return Student's t interval; nothing is known about the uncertainty of a single value."""
        assert self.value is not None
        if self.rows < 2:
            return Interval(-math.inf, math.inf)

        quantile = float(t.ppf((1 + confidence) / 2, self.rows - 1))
        half_width = quantile * self.standard_error
        return Interval(self.value - half_width, self.value + half_width)


def wilson_interval(share: float, rows: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval of a share that was observed on a number of rows."""
    z_score = float(norm.ppf((1 + confidence) / 2))
    z_squared = z_score**2
    denominator = 1 + z_squared / rows

    centre = (share + z_squared / (2 * rows)) / denominator
    half_width = z_score * math.sqrt(share * (1 - share) / rows + z_squared / (4 * rows**2)) / denominator
    # At both ends the interval closes exactly, which floating-point numbers miss by a hair.
    low = 0.0 if share == 0 else max(0.0, centre - half_width)
    high = 1.0 if share == 1 else min(1.0, centre + half_width)
    return Interval(low, high)


def difference_interval(higher: Estimate, lower: Estimate, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of the difference between two independent estimates, neither of which is undefined."""
    assert higher.value is not None
    assert lower.value is not None
    difference = higher.value - lower.value
    higher_interval = higher.interval(confidence)
    lower_interval = lower.interval(confidence)

    margin_below = math.hypot(higher.value - higher_interval.low, lower_interval.high - lower.value)
    margin_above = math.hypot(higher_interval.high - higher.value, lower.value - lower_interval.low)
    return Interval(difference - margin_below, difference + margin_above)


def estimate_to_json(estimate: Estimate) -> Json:
    """Return an estimate with its 95 % confidence interval, as `{value, low, high, rows}`.

    What is not known is None: everything without rows, and the interval of a mean of a single row.
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
