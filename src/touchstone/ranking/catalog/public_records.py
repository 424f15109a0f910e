"""The public and live records of an index, which determine the statistics of a search."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from touchstone.ranking.array_types import Ints
from touchstone.ranking.catalog.part import PartSearch
from touchstone.ranking.columns.bitmaps import list_bits
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import PUBLIC_PLANE
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.relevance import WordStatistics


@dataclass(frozen=True, slots=True)
class PublicRecords:
    """The public and live records of an index.

    Attributes:
        bitmap: a bitmap of these records.
        count: the number of these records.
        total_length: the sum of their lengths.
    """

    bitmap: Words
    count: int
    total_length: int

    @classmethod
    def from_index(cls, index: CatalogIndex, alive: Words) -> "PublicRecords":
        """Return the public and live records of an index, given a bitmap of the live records.

        The total length is the known total of all public records minus the lengths of the dead ones, so that only dead
        records are read.
        """
        public = index.plane(PUBLIC_PLANE)
        bitmap = public & alive
        dead = public & ~alive
        dead_lengths = index.columns.searchable_words().lengths[list_bits(dead)]
        count = int(np.bitwise_count(bitmap).sum(dtype=np.int64))
        total_length = index.statistics.public_length() - int(dead_lengths.sum(dtype=np.int64))
        return cls(bitmap, count, total_length)

    def search(self, index: CatalogIndex, query_words: Sequence[QueryWord], positions: Ints) -> PartSearch:
        """Return the data for the relevance of the records at the given positions of an index."""
        frequencies = np.zeros(len(query_words), np.int64)
        for word_number, query_word in enumerate(query_words):
            public_matches = index.translator.scanner.records_with_word(query_word) & self.bitmap
            frequencies[word_number] = np.bitwise_count(public_matches).sum(dtype=np.int64)

        word_index = index.columns.searchable_words()
        weights = [word_index.weigh(query_word, positions) for query_word in query_words]
        statistics = WordStatistics(self.count, self.total_length, frequencies)
        return PartSearch(statistics, weights, word_index.lengths[positions])
