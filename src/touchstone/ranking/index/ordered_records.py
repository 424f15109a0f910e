"""The records that an index is built over in its order, divided into leaves."""

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


class _Facts(Mapping[str, NDArray[Any]]):
    """The attributes that criteria are computed from; each is brought into the order of the index when it is read."""

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
    """Records in the order of an index, in which similar ones lie together.

    They are divided into leaves: blocks of `64 * leaf_words` records, of which only the last may be shorter.

    Attributes:
        collected: All records in the order in which they were collected.
        order: For each position in the index the number of its record among these.
        positions: For each collected record its position in the index: the inverse of the permutation of all records.
        leaf_words: How many words of 64 bits the bitmap of a leaf has.
        assurance: The assurance at which columns and criteria are known.
    """

    collected: CollectedRecords
    order: Ints
    positions: NDArray[np.uint32]
    leaf_words: int
    assurance: Assurance = Assurance.DECLARED

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.order)

    @property
    def evidence_positions(self) -> NDArray[np.uint32]:
        """The positions in the index of the records with evidence, in the order of the evidence."""
        return np.asarray(self.positions[self.collected.evidence.positions])

    @property
    def leaf_size(self) -> int:
        """How many records a full leaf holds."""
        return BITS_PER_WORD * self.leaf_words

    @property
    def leaf_count(self) -> int:
        """How many leaves there are."""
        return math.ceil(self.size / self.leaf_size)

    @property
    def leaf_borders(self) -> Ints:
        """Where each leaf begins, and at the end where the last one ends."""
        borders = np.arange(self.leaf_count + 1) * self.leaf_size
        return np.minimum(borders, self.size)

    def at(self, assurance: Assurance) -> "OrderedRecords":
        """Return the records of the leaves in which anything is known at an assurance above `declared`.

        These leaves come first in the index.
        """
        known_positions = self.positions[self.collected.evidence.known_positions(assurance)]
        known_leaves = math.ceil((int(known_positions.max(initial=0)) + 1) / self.leaf_size)
        return replace(self, order=self.order[: known_leaves * self.leaf_size], assurance=assurance)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column in the order of the index."""
        depends_on_assurance = name in CLAIM_TYPES or name == KNOWN_ETHICAL
        if self.assurance is Assurance.DECLARED or not depends_on_assurance:
            return np.asarray(self.collected.columns[name][self.order])

        known_values = self.collected.evidence.values[self.assurance]
        values = count_known_ethical(known_values) if name == KNOWN_ETHICAL else known_values[name]
        return self._spread(values, UNKNOWN_VALUES.get(name, 0))

    def criterion(self, name: str) -> Floats:
        """Return the values of a criterion in the order of the index."""
        if self.assurance is Assurance.DECLARED and name in self.collected.criteria:
            return np.asarray(self.collected.criteria[name][self.order])

        compute = next(criterion.compute for criterion in CRITERIA if criterion.name == name)
        if self.assurance is Assurance.DECLARED:
            return compute(_Facts(self))

        # Of a record without evidence nothing is known, so its criteria are 0.
        return self._spread(compute(self.collected.evidence.values[self.assurance]), 0.0)

    def grades(self) -> NDArray[np.uint8]:
        """Return the grades of all records in the order of the index, one row for each of GRADED_CRITERIA."""
        if self.assurance is Assurance.DECLARED:
            return self.collected.grades[:, self.order]
        return self.collected.stricter_grades(self.assurance)[:, self.order]

    def _spread(self, values: NDArray[Any], elsewhere: float) -> NDArray[Any]:
        """Return a column that holds values for the records with evidence, and the same value for all others."""
        column = np.full(self.size, elsewhere, values.dtype)
        evidence_positions = self.evidence_positions
        is_inside = evidence_positions < self.size  # nothing is known about the others at this assurance
        column[evidence_positions[is_inside]] = values[is_inside]
        return column

    def is_public(self) -> Bools:
        """Return for each record whether it is public."""
        return self.column(IS_VISIBLE)

    def to_bitmap(self, mask: Bools) -> Words:
        """Return one boolean for each record as a bitmap of whole leaves."""
        return pack_bits(mask, self.leaf_count * self.leaf_words)

    def combine_in_blocks(self, operation: np.ufunc, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Combine the values of each block of 64 records into one, for example into the highest with `np.maximum`.

        `values` has one column for each record, in the order of the index, and the result one column for each block. As
        all leaves have the same number of blocks, the last leaf may have some without a record; their value is 0.
        """
        block_starts = np.arange(0, self.size, BITS_PER_WORD)
        combined = operation.reduceat(values, block_starts, axis=-1)

        block_count = self.leaf_count * self.leaf_words
        return with_trailing_zeros(combined, block_count)

    def highest_in_leaves(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the highest value in each leaf, given one value for each record in the order of the index."""
        return np.maximum.reduceat(values, self.leaf_borders[:-1])

    def lowest_in_leaves(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the lowest value in each leaf, given one value for each record in the order of the index."""
        return np.minimum.reduceat(values, self.leaf_borders[:-1])
