"""A k-d order: records are laid out so that those with similar criteria lie together, in leaves and their blocks.

(J. L. Bentley, "Multidimensional binary search trees used for associative searching", 1975.)
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
_SMALLEST_SPREAD: Final = 0.5  # in grades; below it the records of a node count as alike


@dataclass(frozen=True, slots=True)
class KdSpace:
    """The coordinates of the records, by which they are laid out.

    Attributes:
        dimensions: One row of bytes for each dimension, with one value for each record.
        importance: For each dimension the factor by which its differences count.
        alphabetical_ranks: For each record its rank by name, which separates records that are alike in all dimensions.
    """

    dimensions: NDArray[np.uint8]
    importance: Floats
    alphabetical_ranks: NDArray[np.uint32]

    def widest_dimension(self, records: NDArray[np.uint32]) -> int | None:
        """Return the dimension in which some records differ most, judged from a sample; None if they hardly differ."""
        step = max(1, len(records) // _SAMPLE_SIZE)  # few records are all in the sample
        sample = self.dimensions[:, records[::step]]
        spreads = self.importance * sample.std(axis=1)
        widest = int(np.argmax(spreads))
        return widest if spreads[widest] > _SMALLEST_SPREAD else None


def kd_order(space: KdSpace, leaf_size: int) -> NDArray[np.uint32]:
    """Return all records in an order in which similar ones lie together, in leaves of `leaf_size` records.

    The records are split into halves by the dimension in which they differ most, and each half is split again until it
    fits into a leaf, which is a block of records. Only the last leaf may hold fewer records than the others. Two
    threads split one half each.
    """
    record_count = space.dimensions.shape[1]
    order = np.arange(record_count, dtype=np.uint32)
    scratch = np.empty_like(order)
    middle = _lower_size(record_count, leaf_size)
    if middle == 0:
        return order

    _split(space, order, middle, scratch)

    def split_range(start: int, end: int) -> None:
        _split_into_leaves(space, order[start:end], leaf_size, scratch[start:end])

    run_in_halves(record_count, split_range, boundary=middle)
    return order


def _split_into_leaves(space: KdSpace, order: NDArray[np.uint32], leaf_size: int, scratch: NDArray[np.uint32]) -> None:
    """Reorder some records, in place, so that similar ones lie together in leaves."""
    pending_ranges = [(0, len(order))]
    while pending_ranges:
        start, end = pending_ranges.pop()
        lower_size = _lower_size(end - start, leaf_size)
        if lower_size:
            _split(space, order[start:end], lower_size, scratch[start:end])
            pending_ranges.append((start, start + lower_size))
            pending_ranges.append((start + lower_size, end))


def _lower_size(record_count: int, leaf_size: int) -> int:
    """Return how many of some records form the lower half: whole leaves, so that no leaf but the last of all is short.

    Records that fit into one leaf are not split, and the result is 0.
    """
    leaf_count = math.ceil(record_count / leaf_size)
    return leaf_size * (leaf_count // 2)


def _split(space: KdSpace, records: NDArray[np.uint32], lower_size: int, scratch: NDArray[np.uint32]) -> None:
    """Move the `lower_size` records with the smallest keys to the front, in place.

    Their keys are the values in the dimension in which they differ most, or for records that hardly differ in any
    dimension their alphabetical ranks.
    """
    widest = space.widest_dimension(records)
    if widest is None:
        ranks = space.alphabetical_ranks[records]
        records[:] = records[np.argpartition(ranks, lower_size)]
    else:
        key_counts = np.empty(layout_kernels.BYTE_VALUES, np.int64)
        layout_kernels.split_by_byte(space.dimensions[widest], records, lower_size, key_counts, scratch)


def order_in_leaves(space: KdSpace, order: NDArray[np.uint32], leaf_size: int) -> NDArray[np.uint32]:
    """Reorder the records within each leaf, in place, so that similar ones lie together in blocks of 64.

    `order` lists all records, leaf by leaf. Each leaf is split into halves like the whole in `kd_order`, until its
    parts are blocks. A last leaf with fewer records than the others is left as it is.
    """
    full_leaf_count = len(order) // leaf_size
    end_of_full_leaves = full_leaf_count * leaf_size
    leaves = order[:end_of_full_leaves].reshape(full_leaf_count, leaf_size)

    # Many leaves are split at once, but not all: their coordinates would take much memory.
    def reorder_leaves(start: int, end: int) -> None:
        for first in range(start // leaf_size, end // leaf_size, _LEAVES_AT_ONCE):
            last = min(first + _LEAVES_AT_ONCE, end // leaf_size)
            leaves[first:last] = _split_into_blocks(space, leaves[first:last])

    run_in_halves(end_of_full_leaves, reorder_leaves, boundary=full_leaf_count // 2 * leaf_size)
    return order


def _split_into_blocks(space: KdSpace, leaves: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the records of some leaves, given as one row for each leaf, in the same form and block by block."""
    parts = leaves
    while parts.shape[1] > BITS_PER_WORD:
        # Each part is split by the dimension in which its records differ most.
        coordinates = space.dimensions[:, parts]  # by dimension, part and record
        spreads = space.importance[:, np.newaxis] * coordinates.std(axis=2, dtype=np.float32)
        widest_dimensions = spreads.argmax(axis=0)
        keys = coordinates[widest_dimensions, np.arange(len(parts))]

        # The records with the smaller keys come first. Cut in the middle, every row becomes two.
        middle = parts.shape[1] // 2
        lower_half_first = np.argpartition(keys, middle, axis=1)
        parts = np.take_along_axis(parts, lower_half_first, axis=1).reshape(-1, middle)
    return parts.reshape(leaves.shape)
