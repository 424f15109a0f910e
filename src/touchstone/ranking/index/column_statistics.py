"""Statistics of whole columns of an index, computed for facets and cached."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.bitmaps import list_bits
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, IndexColumns, decode_words
from touchstone.ranking.kernels.count_kernels import NO_CODE


class LeafCodes(NamedTuple):
    """The lowest and the highest code above 0 in each leaf, or NO_CODE and 0 if all codes are 0."""

    lowest: Ints
    highest: Ints


@dataclass(frozen=True, slots=True)
class Spellings:
    """The words in a column of word lists, as spelled there.

    Attributes:
        texts: the distinct spellings.
        list_codes: the code of the list, for each word of each distinct list.
        indices: the index of the spelling in `texts`, for the same words.
    """

    texts: list[str]
    list_codes: Ints
    indices: Ints

    @classmethod
    def from_pool(cls, column: str, pool: TextPool) -> "Spellings":
        """Collect the spellings in a pool of word lists.

        If a list contains a word in several spellings, the first one counts.
        """
        index_by_text: dict[str, int] = {}
        list_codes: list[int] = []
        indices: list[int] = []
        for code in range(1, len(pool)):  # code 0 means unknown
            words = decode_words(pool[code])
            first_spellings = {comparison_key(column, word): word for word in reversed(words)}
            for word in first_spellings.values():
                list_codes.append(code)
                indices.append(index_by_text.setdefault(word, len(index_by_text)))
        return cls(list(index_by_text), np.array(list_codes, np.int64), np.array(indices, np.int64))

    def count(self, counts_by_code: Ints) -> Ints:
        """Return the number of records with each spelling, given the number of records with each word list."""
        counts = np.zeros(len(self.texts), np.int64)
        np.add.at(counts, self.indices, counts_by_code[self.list_codes])
        return counts


class ColumnStatistics:
    """Statistics of the columns of an index, each computed on first use and cached."""

    def __init__(self, columns: IndexColumns) -> None:
        self._columns = columns
        self._leaf_codes: dict[str, LeafCodes] = {}
        self._spellings: dict[str, Spellings] = {}
        self._public_length: int | None = None

    def leaf_codes(self, column: str) -> LeafCodes:
        """Return the range of the codes of a number column in each leaf."""
        leaf_codes = self._leaf_codes.get(column)
        if leaf_codes is None:
            leaf_codes = self._leaf_codes[column] = self._compute_leaf_codes(column)
        return leaf_codes

    def _compute_leaf_codes(self, column: str) -> LeafCodes:
        """Compute the range of the codes of a number column in each leaf."""
        codes = self._columns.numbers[column].codes
        leaf_starts = np.arange(self._columns.leaf_count) * self._columns.leaf_size
        highest = np.maximum.reduceat(codes, leaf_starts).astype(np.int64)

        # Replace code 0 by the largest integer of the type, so that it is never the minimum.
        largest_integer = np.iinfo(codes.dtype).max
        lowest = np.minimum.reduceat(np.where(codes == 0, largest_integer, codes), leaf_starts).astype(np.int64)
        return LeafCodes(np.where(highest == 0, NO_CODE, lowest), highest)

    def public_length(self) -> int:
        """Return the total length of the public records, including deleted ones."""
        if self._public_length is None:
            planes = self._columns.planes
            public_positions = list_bits(planes.bitmaps[planes.rows[PUBLIC_PLANE]])
            lengths = self._columns.searchable_words().lengths[public_positions]
            self._public_length = int(lengths.sum(dtype=np.int64))
        return self._public_length

    def spellings(self, column: str) -> Spellings:
        """Return the spellings in a column of word lists."""
        spellings = self._spellings.get(column)
        if spellings is None:
            spellings = self._spellings[column] = Spellings.from_pool(column, self._columns.words[column].pool)
        return spellings
