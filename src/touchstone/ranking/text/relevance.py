"""Relevance: BM25 over the words of a query, the same number for a record whatever part of the catalog holds it.

Only public records count in the statistics, so the order of one's results tells nothing about the private records of
others.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Floats, Ints
from touchstone.ranking.text.record_words import WordMatches
from touchstone.ranking.text.word_forms import Likeness

SATURATION: Final = 1.2
"""`k1` of BM25: how soon a further occurrence of a word stops to count."""
LENGTH_NORMALISATION: Final = 0.5
"""`b` of BM25: how much a long record has to contain a word more often than a short one."""


class WordStatistics(NamedTuple):
    """What BM25 has to know about the public records of a catalog, or of a part of it.

    Attributes:
        record_count: The number of records.
        total_length: The sum of their lengths.
        frequencies: For each word of the query the number of records that contain it.
    """

    record_count: int
    total_length: int
    frequencies: Ints

    def __add__(self, other: object) -> "WordStatistics":
        """Return the statistics of two parts together."""
        assert isinstance(other, WordStatistics)
        return WordStatistics(
            self.record_count + other.record_count,
            self.total_length + other.total_length,
            self.frequencies + other.frequencies,
        )


def count_words(matches: Sequence[WordMatches], lengths: NDArray[Any], is_public: Bools) -> WordStatistics:
    """Return the statistics of the public records of a part, given where it contains the words of a query."""
    frequencies = [np.count_nonzero(is_public[word_matches.positions]) for word_matches in matches]
    total_length = int(lengths[is_public].sum(dtype=np.int64))
    return WordStatistics(int(np.count_nonzero(is_public)), total_length, np.array(frequencies, np.int64))


def compute_relevance(weights: Sequence[Ints], lengths: NDArray[Any], statistics: WordStatistics) -> Floats:
    """Return the BM25 score of some records, each of which contains every word of a query.

    `weights` holds for each word its weight in each of the records, `lengths` the length of each record, and
    `statistics` those of the whole catalog.
    """
    mean_length = max(1.0, statistics.total_length / max(1, statistics.record_count))
    norm = SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * lengths / mean_length)

    scores = np.zeros(len(lengths))
    for word_weights, frequency in zip(weights, statistics.frequencies.tolist(), strict=True):
        rarity = np.log(1 + (statistics.record_count - frequency + 0.5) / (frequency + 0.5))
        occurrences = word_weights / int(Likeness.EQUAL)
        scores += rarity * occurrences * (SATURATION + 1) / (occurrences + norm)
    return scores
