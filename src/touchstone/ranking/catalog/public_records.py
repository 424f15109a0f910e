"""The records of an index that are public and not deleted; only they count in the statistics of a search."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.catalog.part import PartSearch
from touchstone.ranking.column_types import Ints
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.relevance import WordStatistics


@dataclass(frozen=True, slots=True)
class PublicRecords:
    """The records of an index that are alive and public.

    Attributes:
        bitmap: One bit for each record of the index.
        count: How many of them are alive and public.
        total_length: The sum of their lengths.
    """

    bitmap: Words
    count: int
    total_length: int

    @classmethod
    def from_bitmap(cls, bitmap: Words, lengths: NDArray[np.uint16]) -> "PublicRecords":
        """Count the records of a bitmap, given the length of each record of the index."""
        is_public = np.unpackbits(bitmap.view(np.uint8), count=len(lengths), bitorder="little").view(np.bool_)
        public_lengths = lengths[is_public]
        return cls(bitmap, len(public_lengths), int(public_lengths.sum(dtype=np.int64)))

    def search(self, index: CatalogIndex, query_words: Sequence[QueryWord], positions: Ints) -> PartSearch:
        """Return what the relevance of the records at some positions of an index depends on."""
        frequencies = np.zeros(len(query_words), np.int64)
        for number, query_word in enumerate(query_words):
            public_matches = index.translator.scanner.records_with(query_word) & self.bitmap
            frequencies[number] = np.bitwise_count(public_matches).sum(dtype=np.int64)

        word_index = index.columns.searchable_words()
        weights = [word_index.weigh(query_word, positions) for query_word in query_words]
        statistics = WordStatistics(self.count, self.total_length, frequencies)
        return PartSearch(statistics, weights, word_index.lengths[positions])
