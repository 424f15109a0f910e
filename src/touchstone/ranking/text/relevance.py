"""Relevance scores, which are BM25 scores for the words of a query.

The score of a record does not depend on the part of the catalog that contains it.

The statistics include only public records, so that the order of results reveals nothing about private records.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Floats, Ints
from touchstone.ranking.text.record_words import WordMatches
from touchstone.ranking.text.word_forms import WordSimilarity

SATURATION: Final = 1.2
"""The BM25 parameter `k1`, which limits the effect of repeated occurrences of a word."""
LENGTH_NORMALIZATION: Final = 0.5
"""The BM25 parameter `b`, which determines how strongly long records are penalized."""


class WordStatistics(NamedTuple):
    """The statistics for BM25 over the public records of a catalog or a part of it.

    Attributes:
        record_count: the number of records.
        total_length: the sum of their lengths.
        frequencies: the number of records that contain each word of the query.
    """

    record_count: int
    total_length: int
    frequencies: Ints

    def __add__(self, other: object) -> "WordStatistics":
        """Combine the statistics of two parts."""
        assert isinstance(other, WordStatistics)
        return WordStatistics(
            self.record_count + other.record_count,
            self.total_length + other.total_length,
            self.frequencies + other.frequencies,
        )


def count_words(matches: Sequence[WordMatches], lengths: NDArray[Any], is_public: Bools) -> WordStatistics:
    """Return the statistics of the public records of a part, given its matches for each word of a query."""
    frequencies = [np.count_nonzero(is_public[word_matches.positions]) for word_matches in matches]
    total_length = int(lengths[is_public].sum(dtype=np.int64))
    return WordStatistics(int(np.count_nonzero(is_public)), total_length, np.array(frequencies, np.int64))


def compute_relevance(weights: Sequence[Ints], lengths: NDArray[Any], statistics: WordStatistics) -> Floats:
    """Return the BM25 scores of records that contain every word of a query.

    Args:
        weights: for each word of the query, its weight in each record.
        lengths: the length of each record.
        statistics: the statistics of the whole catalog.
    """
    mean_length = max(1.0, statistics.total_length / max(1, statistics.record_count))
    norm = SATURATION * (1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * lengths / mean_length)

    scores = np.zeros(len(lengths))
    for word_weights, frequency in zip(weights, statistics.frequencies.tolist(), strict=True):
        rarity = np.log(1 + (statistics.record_count - frequency + 0.5) / (frequency + 0.5))
        occurrences = word_weights / int(WordSimilarity.EQUAL)
        scores += rarity * occurrences * (SATURATION + 1) / (occurrences + norm)
    return scores
