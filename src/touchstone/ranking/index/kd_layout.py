"""A k-d order: records are laid out so that those with similar criteria lie together, in leaves and their blocks.

(J. L. Bentley, "Multidimensional binary search trees used for associative searching", 1975.)
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.kernels.bits import BITS_PER_WORD

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
    alphabetical_ranks: Ints

    def keys_of_widest_dimension(self, records: Ints) -> NDArray[Any]:
        """Return the values of some records in the dimension in which they differ most, judged from a sample.

        For records that hardly differ in any dimension, their alphabetical ranks are returned instead.
        """
        step = max(1, len(records) // _SAMPLE_SIZE)  # few records are all in the sample
        sample = self.dimensions[:, records[::step]]
        spreads = self.importance * sample.std(axis=1)
        widest = int(np.argmax(spreads))

        if spreads[widest] > _SMALLEST_SPREAD:
            return np.asarray(self.dimensions[widest][records])
        return np.asarray(self.alphabetical_ranks[records])


def kd_order(space: KdSpace, leaf_size: int) -> Ints:
    """Return all records in an order in which similar ones lie together, in leaves of `leaf_size` records.

    The records are split into halves by the dimension in which they differ most, and each half is split again until it
    fits into a leaf, which is a block of records. Only the last leaf may hold fewer records than the others.
    """
    record_count = space.dimensions.shape[1]
    order = np.arange(record_count)

    pending_ranges = [(0, record_count)]
    while pending_ranges:
        start, end = pending_ranges.pop()
        if end - start <= leaf_size:
            continue

        # The lower half consists of whole leaves, so that no leaf but the last of all is short.
        leaf_count = math.ceil((end - start) / leaf_size)
        middle = leaf_size * (leaf_count // 2)

        # The records with the smallest keys are moved to the lower half.
        records = order[start:end]
        keys = space.keys_of_widest_dimension(records)
        order[start:end] = records[np.argpartition(keys, middle)]

        pending_ranges.append((start, start + middle))
        pending_ranges.append((start + middle, end))

    return order


def order_in_leaves(space: KdSpace, order: Ints, leaf_size: int) -> Ints:
    """Reorder the records within each leaf, so that similar ones lie together in blocks of 64.

    `order` lists all records, leaf by leaf. Each leaf is split into halves like the whole in `kd_order`, until its
    parts are blocks. A last leaf with fewer records than the others is left as it is.
    """
    full_leaf_count = len(order) // leaf_size
    end_of_full_leaves = full_leaf_count * leaf_size
    leaves = order[:end_of_full_leaves].reshape(full_leaf_count, leaf_size)

    # Many leaves are split at once, but not all: their coordinates would take much memory.
    starts = range(0, full_leaf_count, _LEAVES_AT_ONCE)
    reordered = [_split_into_blocks(space, leaves[start : start + _LEAVES_AT_ONCE]) for start in starts]
    return np.concatenate([*reordered, order[end_of_full_leaves:]])


def _split_into_blocks(space: KdSpace, leaves: Ints) -> Ints:
    """Return the records of some leaves, given as one row for each leaf, one after the other and block by block."""
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
    return parts.reshape(-1)
