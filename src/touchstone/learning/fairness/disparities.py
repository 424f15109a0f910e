"""Gaps of a metric between groups, and whether chance could explain them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from touchstone.learning.fairness.estimates import CONFIDENCE, Estimate, difference_interval
from touchstone.learning.task_interface import Json

MIN_ROWS: Final = 5  # Rates with fewer rows are too uncertain for a comparison.

GroupName = str | None  # None is the group of the rows without a value.


@dataclass(frozen=True, slots=True)
class Gap:
    """Two groups that differ in one metric. The gap is certain if chance does not explain it."""

    lowest: GroupName
    highest: GroupName
    low_value: float
    high_value: float
    is_certain: bool

    @property
    def difference(self) -> float:
        """The difference between the two groups."""
        return self.high_value - self.low_value

    @property
    def ratio(self) -> float | None:
        """The lower value divided by the higher one, or None if a value is negative or both are 0."""
        if self.low_value < 0 or self.high_value <= 0:
            return None
        return self.low_value / self.high_value


def widest_gap(estimates: Mapping[GroupName, Estimate]) -> Gap | None:
    """Return the gap between the two groups that differ most, or None if there are fewer than two groups.

    Certain gaps take precedence over gaps that chance may explain. The level of confidence is corrected for the number
    of pairs (Bonferroni), because some of many groups always differ by chance.
    """
    comparable_estimates = {
        name: estimate
        for name, estimate in estimates.items()
        if estimate.value is not None and estimate.rows >= MIN_ROWS
    }
    pairs = list(combinations(comparable_estimates, 2))
    if not pairs:
        return None

    confidence = 1 - (1 - CONFIDENCE) / len(pairs)
    gaps = [_gap(first, second, comparable_estimates, confidence) for first, second in pairs]
    certain_gaps = [gap for gap in gaps if gap.is_certain]
    return max(certain_gaps or gaps, key=lambda gap: gap.difference)


def _gap(first: GroupName, second: GroupName, estimates: Mapping[GroupName, Estimate], confidence: float) -> Gap:
    """Compare two groups with defined estimates."""
    first_value, second_value = estimates[first].value, estimates[second].value
    assert first_value is not None, "only defined estimates are compared"
    assert second_value is not None, "only defined estimates are compared"
    lowest, highest = (first, second) if first_value <= second_value else (second, first)

    interval = difference_interval(estimates[highest], estimates[lowest], confidence)
    return Gap(
        lowest=lowest,
        highest=highest,
        low_value=min(first_value, second_value),
        high_value=max(first_value, second_value),
        is_certain=interval.low > 0,
    )


def gap_to_json(gap: Gap | None) -> Json:
    """Return a gap as `{difference, ratio, certain, lowest, highest}`, with None for missing values."""
    if gap is None:
        return {"difference": None, "ratio": None, "certain": False, "lowest": None, "highest": None}

    return {
        "difference": gap.difference,
        "ratio": gap.ratio,
        "certain": gap.is_certain,
        "lowest": gap.lowest,
        "highest": gap.highest,
    }
