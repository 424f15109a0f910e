"""A k-d order of records, which places records with similar criteria next to each other in leaves and blocks.

See J. L. Bentley, "Multidimensional binary search trees used for associative searching", 1975.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats
from touchstone.ranking.kernels import layout_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD
from touchstone.ranking.kernels.two_threads import run_in_halves

_SAMPLE_SIZE: Final = 2048
_LEAVES_AT_ONCE: Final = 256
_SMALLEST_SPREAD: Final = 0.5  # standard deviation in grades, below which records count as equal


@dataclass(frozen=True, slots=True)
class KdSpace:
    """The coordinates of records for their layout.

    Attributes:
        dimensions: the coordinates as bytes, with one row for each dimension and one column for each record.
        importance: the weight of differences in each dimension.
        alphabetical_ranks: the rank of each record by name, which separates records with similar coordinates.
    """

    dimensions: NDArray[np.uint8]
    importance: Floats
    alphabetical_ranks: NDArray[np.uint32]

    def widest_dimension(self, records: NDArray[np.uint32]) -> int | None:
        """Return the dimension with the largest spread in a sample of the records, or None if all spreads are small."""
        step = max(1, len(records) // _SAMPLE_SIZE)  # few records are all in the sample
        sample = self.dimensions[:, records[::step]]
        spreads = self.importance * sample.std(axis=1)
        widest = int(np.argmax(spreads))
        return widest if spreads[widest] > _SMALLEST_SPREAD else None


def kd_order(space: KdSpace, leaf_size: int) -> NDArray[np.uint32]:
    """Return all records in an order that places similar records in the same leaf of `leaf_size` records.

    The records are split into halves by the dimension with the largest spread, and each half is split again until it
    fits into a leaf. Only the last leaf may be shorter. Two threads process one half each.
    """
    record_count = space.dimensions.shape[1]
    order = np.arange(record_count, dtype=np.uint32)
    scratch = np.empty_like(order)
    middle = _lower_half_size(record_count, leaf_size)
    if middle == 0:
        return order

    _split(space, order, middle, scratch)

    def split_range(start: int, end: int) -> None:
        _split_into_leaves(space, order[start:end], leaf_size, scratch[start:end])

    run_in_halves(record_count, split_range, boundary=middle)
    return order


def _split_into_leaves(space: KdSpace, order: NDArray[np.uint32], leaf_size: int, scratch: NDArray[np.uint32]) -> None:
    """Reorder records in place so that similar records are in the same leaf."""
    pending_ranges = [(0, len(order))]
    while pending_ranges:
        start, end = pending_ranges.pop()
        lower_half_size = _lower_half_size(end - start, leaf_size)
        if lower_half_size:
            _split(space, order[start:end], lower_half_size, scratch[start:end])
            pending_ranges.append((start, start + lower_half_size))
            pending_ranges.append((start + lower_half_size, end))


def _lower_half_size(record_count: int, leaf_size: int) -> int:
    """Return the number of records in the lower half of a split, or 0 if all records fit into one leaf.

    The lower half consists of full leaves, so that only the last leaf of all can be shorter.
    """
    leaf_count = math.ceil(record_count / leaf_size)
    return leaf_size * (leaf_count // 2)


def _split(space: KdSpace, records: NDArray[np.uint32], lower_half_size: int, scratch: NDArray[np.uint32]) -> None:
    """Move the `lower_half_size` records with the smallest keys to the front, in place.

    The keys are the values in the dimension with the largest spread, or the alphabetical ranks if all spreads are
    small.
    """
    widest = space.widest_dimension(records)
    if widest is None:
        ranks = space.alphabetical_ranks[records]
        records[:] = records[np.argpartition(ranks, lower_half_size)]
    else:
        key_counts = np.empty(layout_kernels.BYTE_VALUES, np.int64)
        layout_kernels.split_by_byte(space.dimensions[widest], records, lower_half_size, key_counts, scratch)


def order_within_leaves(space: KdSpace, order: NDArray[np.uint32], leaf_size: int) -> NDArray[np.uint32]:
    """Reorder the records within each leaf in place so that similar records are in the same block of 64.

    Each leaf is split into halves, as in `kd_order`, until its parts are blocks. A shorter last leaf is not reordered.

    Args:
        space: the coordinates of the records.
        order: all records, leaf by leaf.
        leaf_size: the number of records in a full leaf.
    """
    full_leaf_count = len(order) // leaf_size
    end_of_full_leaves = full_leaf_count * leaf_size
    leaves = order[:end_of_full_leaves].reshape(full_leaf_count, leaf_size)

    # Split many leaves at the same time for speed, but not all of them, because their coordinates take much memory.
    def reorder_leaves(start: int, end: int) -> None:
        for first in range(start // leaf_size, end // leaf_size, _LEAVES_AT_ONCE):
            last = min(first + _LEAVES_AT_ONCE, end // leaf_size)
            leaves[first:last] = _split_into_blocks(space, leaves[first:last])

    run_in_halves(end_of_full_leaves, reorder_leaves, boundary=full_leaf_count // 2 * leaf_size)
    return order


def _split_into_blocks(space: KdSpace, leaves: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the records of leaves, one row for each leaf, reordered into blocks of similar records."""
    parts = leaves
    while parts.shape[1] > BITS_PER_WORD:
        # Each part is split by the dimension with the largest spread among its records.
        coordinates = space.dimensions[:, parts]  # axes: dimension, part, record
        spreads = space.importance[:, np.newaxis] * coordinates.std(axis=2, dtype=np.float32)
        widest_dimensions = spreads.argmax(axis=0)
        keys = coordinates[widest_dimensions, np.arange(len(parts))]

        # Put the records with the smaller keys first, and cut every row in the middle.
        middle = parts.shape[1] // 2
        lower_half_first = np.argpartition(keys, middle, axis=1)
        parts = np.take_along_axis(parts, lower_half_first, axis=1).reshape(-1, middle)
    return parts.reshape(leaves.shape)
