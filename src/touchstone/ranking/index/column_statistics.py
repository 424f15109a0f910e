"""What facets need to know about whole columns of an index: counts, ranges of leaves, and the words of word lists."""

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
    """The lowest and the highest code above 0 in each leaf; NO_CODE and 0 where there is none."""

    lowest: Ints
    highest: Ints


@dataclass(frozen=True, slots=True)
class Spellings:
    """The words of a column of word lists, in the spellings that occur.

    Attributes:
        texts: The different spellings.
        list_codes, indices: One entry for each word of each distinct list: the code of the list, and the index of the
            spelling in `texts`.
    """

    texts: list[str]
    list_codes: Ints
    indices: Ints

    @classmethod
    def of_pool(cls, column: str, pool: TextPool) -> "Spellings":
        """Return the spellings in a pool of word lists; a word that a list has twice counts in its first spelling."""
        index_by_text: dict[str, int] = {}
        list_codes: list[int] = []
        indices: list[int] = []
        for code in range(1, len(pool)):  # code 0 is "not known"
            words = decode_words(pool[code])
            first_spellings = {comparison_key(column, word): word for word in reversed(words)}
            for word in first_spellings.values():
                list_codes.append(code)
                indices.append(index_by_text.setdefault(word, len(index_by_text)))
        return cls(list(index_by_text), np.array(list_codes, np.int64), np.array(indices, np.int64))

    def count(self, counts_by_code: Ints) -> Ints:
        """Return how many records have each spelling, given how many have each word list."""
        counts = np.zeros(len(self.texts), np.int64)
        np.add.at(counts, self.indices, counts_by_code[self.list_codes])
        return counts


class ColumnStatistics:
    """Statistics of the columns of an index, each computed when it is first needed, and kept."""

    def __init__(self, columns: IndexColumns) -> None:
        self._columns = columns
        self._leaf_codes: dict[str, LeafCodes] = {}
        self._spellings: dict[str, Spellings] = {}
        self._public_length: int | None = None

    def leaf_codes(self, column: str) -> LeafCodes:
        """Return the ranges of the codes of a number column in each leaf."""
        leaf_codes = self._leaf_codes.get(column)
        if leaf_codes is None:
            leaf_codes = self._leaf_codes[column] = self._measure_leaves(column)
        return leaf_codes

    def _measure_leaves(self, column: str) -> LeafCodes:
        """Compute the ranges of the codes of a number column in each leaf."""
        codes = self._columns.numbers[column].codes
        leaf_starts = np.arange(self._columns.leaf_count) * self._columns.leaf_size
        highest = np.maximum.reduceat(codes, leaf_starts).astype(np.int64)

        # Unknown numbers become the largest integer of their type, so that they are never the lowest.
        beyond_all = np.iinfo(codes.dtype).max
        lowest = np.minimum.reduceat(np.where(codes == 0, beyond_all, codes), leaf_starts).astype(np.int64)
        return LeafCodes(np.where(highest == 0, NO_CODE, lowest), highest)

    def public_length(self) -> int:
        """Return the sum of the lengths of the public records, dead ones too."""
        if self._public_length is None:
            planes = self._columns.planes
            public_positions = list_bits(planes.bitmaps[planes.rows[PUBLIC_PLANE]])
            lengths = self._columns.searchable_words().lengths[public_positions]
            self._public_length = int(lengths.sum(dtype=np.int64))
        return self._public_length

    def spellings(self, column: str) -> Spellings:
        """Return the words of a column of word lists."""
        spellings = self._spellings.get(column)
        if spellings is None:
            spellings = self._spellings[column] = Spellings.of_pool(column, self._columns.words[column].pool)
        return spellings
