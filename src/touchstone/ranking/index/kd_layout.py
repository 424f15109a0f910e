"""A k-d order: records are laid out so that those with similar criteria lie together, in whole leaves.

(J. L. Bentley, "Multidimensional binary search trees used for associative searching", 1975.)
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Floats, Ints

_SAMPLE_SIZE: Final = 2048
_SMALLEST_SPREAD: Final = 0.5  # in grades; below it the records of a node count as alike


@dataclass(frozen=True, slots=True)
class KdSpace:
    """The coordinates by which records are laid out.

    `dimensions`: one row of bytes for each dimension. `importance`: the factor by which differences in each dimension
    count. `name_places`: each record's place by name, which separates records that are alike in all dimensions.
    """

    dimensions: NDArray[np.uint8]
    importance: Floats
    name_places: Ints

    def keys_of_widest_dimension(self, records: Ints) -> NDArray[Any]:
        """Return the records' values in the dimension in which they differ most, judged from a sample of them."""
        sample = self.dimensions[:, records[:: max(1, len(records) // _SAMPLE_SIZE)]]
        spreads = self.importance * sample.std(axis=1)
        widest = int(np.argmax(spreads))
        coordinates = self.dimensions[widest] if spreads[widest] > _SMALLEST_SPREAD else self.name_places
        return np.asarray(coordinates[records])


def kd_order(space: KdSpace, leaf_size: int) -> Ints:
    """Return the records in leaf order: each node is split in the middle of its widest dimension, down to leaves."""
    order = np.arange(space.dimensions.shape[1])
    pending = [(0, len(order))]
    while pending:
        start, end = pending.pop()
        if end - start <= leaf_size:
            continue

        leaves = -(-(end - start) // leaf_size)
        half = leaf_size * (leaves // 2)  # whole leaves, so that only the last leaf of all is short
        node = order[start:end]
        keys = space.keys_of_widest_dimension(node)
        order[start:end] = node[np.argpartition(keys, half)]
        pending += [(start, start + half), (start + half, end)]
    return order
