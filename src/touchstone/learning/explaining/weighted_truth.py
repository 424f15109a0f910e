"""The true target values of rows, with the weights of the rows in training and in metrics."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from touchstone.learning.target import Floats, Indices


@dataclass(frozen=True, slots=True)
class WeightedTruth:
    """The true values of rows, which are integer codes for classes, and the weights of the rows.

    `weights` is None if all rows have the same weight.
    """

    values: npt.NDArray[Any] = field(repr=False)
    weights: Floats | None = field(repr=False, default=None)

    def take(self, positions: Indices) -> "WeightedTruth":
        """Return the values and weights of the rows at the given positions, in their order."""
        weights = None if self.weights is None else self.weights[positions]
        return WeightedTruth(self.values[positions], weights)

    def shuffled_positions(self, rng: np.random.Generator) -> Indices:
        """Return the positions of the rows in random order, each as often as its weight demands.

        In a plain permutation, the value of a heavy row could move to a light row, which would change the weighted
        distribution of the values.
        """
        row_count = len(self.values)
        if self.weights is None:
            return rng.permutation(row_count)

        # In the order of the values, each value is repeated as often as its total weight demands, up to rounding.
        ascending = np.argsort(self.values, kind="stable")
        cumulative_shares = np.cumsum(self.weights[ascending]) / self.weights.sum()
        evenly_spaced_shares = (np.arange(row_count) + 0.5) / row_count
        repeated = np.searchsorted(cumulative_shares, evenly_spaced_shares)
        return rng.permutation(ascending[repeated])

    def shuffle(self, rng: np.random.Generator) -> "WeightedTruth":
        """Return the rows with shuffled values. The weights stay with the rows."""
        return WeightedTruth(self.values[self.shuffled_positions(rng)], self.weights)

    def counted_rows(self) -> Indices:
        """Return the positions of the rows that have a weight above 0."""
        if self.weights is None:
            return np.arange(len(self.values))
        return np.flatnonzero(self.weights > 0)
