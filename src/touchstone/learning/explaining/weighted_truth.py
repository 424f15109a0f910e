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

    def counted_rows(self) -> Indices:
        """Return the positions of the rows that have a weight above 0."""
        if self.weights is None:
            return np.arange(len(self.values))
        return np.flatnonzero(self.weights > 0)
