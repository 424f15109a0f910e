"""The records of an index under construction, in the order of the index and divided into leaves."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Bools, Floats, Ints
from touchstone.ranking.columns.bitmaps import pack_bits
from touchstone.ranking.columns.evidence_columns import CLAIM_TYPES, UNKNOWN_VALUES
from touchstone.ranking.columns.segment import KNOWN_ETHICAL, count_known_ethical
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.index.collected_records import IS_VISIBLE, CollectedRecords
from touchstone.ranking.index.index_columns import with_trailing_zeros
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words


class _ReorderedColumns(Mapping[str, NDArray[Any]]):
    """The attributes that criteria are computed from, each reordered when it is read."""

    def __init__(self, records: "OrderedRecords") -> None:
        self._records = records

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._records.column(name)

    def __iter__(self) -> Iterator[str]:
        return iter(CLAIM_TYPES)

    def __len__(self) -> int:
        return len(CLAIM_TYPES)


@dataclass(frozen=True, slots=True)
class OrderedRecords:
    """Records in the order of an index, which places similar records next to each other.

    They are divided into leaves of `64 * leaf_words` records. Only the last leaf may be shorter.

    Attributes:
        collected: all records in the order of collection.
        order: the number of the collected record at each position in the index.
        positions: the position in the index of each collected record, for all records at every assurance.
        leaf_words: the number of 64-bit words in the bitmap of a leaf.
        assurance: the assurance of the columns and criteria.
    """

    collected: CollectedRecords
    order: Ints
    positions: NDArray[np.uint32]
    leaf_words: int
    assurance: Assurance = Assurance.DECLARED

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.order)

    @property
    def evidence_positions(self) -> NDArray[np.uint32]:
        """The positions in the index of the records with evidence, in the order of the evidence."""
        return np.asarray(self.positions[self.collected.evidence.positions])

    @property
    def leaf_size(self) -> int:
        """The number of records in a full leaf."""
        return BITS_PER_WORD * self.leaf_words

    @property
    def leaf_count(self) -> int:
        """The number of leaves."""
        return math.ceil(self.size / self.leaf_size)

    @property
    def leaf_boundaries(self) -> Ints:
        """The position of the start of each leaf, followed by the end of the last leaf."""
        boundaries = np.arange(self.leaf_count + 1) * self.leaf_size
        return np.minimum(boundaries, self.size)

    def at(self, assurance: Assurance) -> "OrderedRecords":
        """Return the records of the leaves with known values at an assurance above `declared`.

        These leaves are the first ones of the index.
        """
        known_positions = self.positions[self.collected.evidence.known_positions(assurance)]
        known_leaves = math.ceil((int(known_positions.max(initial=0)) + 1) / self.leaf_size)
        return replace(self, order=self.order[: known_leaves * self.leaf_size], assurance=assurance)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column in the order of the index."""
        depends_on_assurance = name in CLAIM_TYPES or name == KNOWN_ETHICAL
        if self.assurance is Assurance.DECLARED or not depends_on_assurance:
            return self.collected.columns[name].take(self.order)

        known_values = self.collected.evidence.values[self.assurance]
        values = count_known_ethical(known_values) if name == KNOWN_ETHICAL else known_values[name]
        return self._scatter(values, UNKNOWN_VALUES.get(name, 0))

    def criterion(self, name: str) -> Floats:
        """Return the values of a criterion in the order of the index."""
        if self.assurance is Assurance.DECLARED and name in self.collected.criteria:
            return self.collected.criteria[name].take(self.order)

        compute = next(criterion.compute for criterion in CRITERIA if criterion.name == name)
        if self.assurance is Assurance.DECLARED:
            return compute(_ReorderedColumns(self))

        # A record without evidence has no known values, so its criteria are 0.
        return self._scatter(compute(self.collected.evidence.values[self.assurance]), 0.0)

    def grades(self) -> NDArray[np.uint8]:
        """Return the grades of the records in the order of the index, with one row for each of GRADED_CRITERIA."""
        if self.assurance is Assurance.DECLARED:
            return self.collected.grades.take(self.order, axis=1)
        return self.collected.stricter_grades(self.assurance)[:, self.order]

    def _scatter(self, values: NDArray[Any], elsewhere: float) -> NDArray[Any]:
        """Return a column with the given values for records with evidence, and the value `elsewhere` for all others."""
        column = np.full(self.size, elsewhere, values.dtype)
        evidence_positions = self.evidence_positions
        is_inside = evidence_positions < self.size  # the other records have no known values at this assurance
        column[evidence_positions[is_inside]] = values[is_inside]
        return column

    def is_public(self) -> Bools:
        """Return a mask of the public records."""
        return self.column(IS_VISIBLE)

    def to_bitmap(self, mask: Bools) -> Words:
        """Pack a mask of the records into a bitmap of whole leaves."""
        return pack_bits(mask, self.leaf_count * self.leaf_words)

    def combine_in_blocks(self, operation: np.ufunc, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Reduce the values of each block of 64 records to one value, for example to the maximum with `np.maximum`.

        Args:
            operation: the reduction.
            values: an array in the order of the index, with one column for each record.

        Returns:
            an array with one column for each block. Blocks of the last leaf without records have the value 0.
        """
        block_starts = np.arange(0, self.size, BITS_PER_WORD)
        combined = operation.reduceat(values, block_starts, axis=-1)

        block_count = self.leaf_count * self.leaf_words
        return with_trailing_zeros(combined, block_count)

    def highest_in_leaves(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the highest value in each leaf, given the value of each record in the order of the index."""
        return np.maximum.reduceat(values, self.leaf_boundaries[:-1])

    def lowest_in_leaves(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the lowest value in each leaf, given the value of each record in the order of the index."""
        return np.minimum.reduceat(values, self.leaf_boundaries[:-1])
