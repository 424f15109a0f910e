"""The records of a segment in the order of an index, divided into leaves."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.core.evidence import Assurance
from touchstone.ranking.column_types import Bools, Floats, Ints
from touchstone.ranking.columns.bitmaps import pack_bits
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.index.index_columns import with_trailing_zeros
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words


@dataclass(frozen=True, slots=True)
class OrderedRecords:
    """The records of a segment in the order of an index, in which similar records lie together.

    They are divided into leaves: blocks of `64 * leaf_words` records, of which only the last may be shorter.

    Attributes:
        segment: The records in their original order.
        order: The position in the segment of each record of the index.
        leaf_words: How many words of 64 bits the bitmap of a leaf has.
    """

    segment: Segment
    order: Ints
    leaf_words: int

    @property
    def leaf_size(self) -> int:
        """How many records a full leaf holds."""
        return BITS_PER_WORD * self.leaf_words

    @property
    def leaf_count(self) -> int:
        """How many leaves there are."""
        return math.ceil(self.segment.size / self.leaf_size)

    @property
    def leaf_borders(self) -> Ints:
        """Where each leaf begins, and at the end where the last one ends."""
        borders = np.arange(self.leaf_count + 1) * self.leaf_size
        return np.minimum(borders, self.segment.size)

    def at(self, assurance: Assurance) -> "OrderedRecords":
        """Return these records with what is known at an assurance above `declared`."""
        return replace(self, segment=self.segment.at(assurance))

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of the segment in the order of the index."""
        return np.asarray(self.segment.columns[name][self.order])

    def criterion(self, name: str) -> Floats:
        """Return the values of a criterion in the order of the index."""
        return self.segment.criteria[name][self.order]

    def is_public(self) -> Bools:
        """Return for each record whether it is public."""
        visibilities = self.segment.vocabularies["visibility"].values
        is_public_by_code = np.array([visibility == "public" for visibility in visibilities])
        return np.asarray(is_public_by_code[self.column("visibility")])

    def to_bitmap(self, mask: Bools) -> Words:
        """Return one boolean for each record as a bitmap of whole leaves."""
        return pack_bits(mask, self.leaf_count * self.leaf_words)

    def combine_in_blocks(self, operation: np.ufunc, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Combine the values of each block of 64 records into one, for example into the highest with `np.maximum`.

        `values` has one column for each record, in the order of the index, and the result one column for each block. As
        all leaves have the same number of blocks, the last leaf may have some without a record; their value is 0.
        """
        block_starts = np.arange(0, self.segment.size, BITS_PER_WORD)
        combined = operation.reduceat(values, block_starts, axis=-1)

        block_count = self.leaf_count * self.leaf_words
        return with_trailing_zeros(combined, block_count)

    def highest_in_leaves(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the highest value in each leaf, given one value for each record in the order of the index."""
        return np.maximum.reduceat(values, self.leaf_borders[:-1])

    def lowest_in_leaves(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the lowest value in each leaf, given one value for each record in the order of the index."""
        return np.minimum.reduceat(values, self.leaf_borders[:-1])
