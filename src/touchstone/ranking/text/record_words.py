"""The words of each record of a segment, record after record."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Bools, Ints
from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.word_table import WordTable
from touchstone.ranking.text.words import IN_NAME, MAX_LENGTH, MAX_WEIGHT


class WordMatches(NamedTuple):
    """Where a word of a query was found: the positions of the records, ascending, and its weight in each of them.

    The weight of a word is multiplied by the likeness of what was found, and added up over all that is like it.
    """

    positions: Ints
    weights: Ints

    def weights_at(self, positions: Ints) -> Ints:
        """Return the weight of the word in some of the records."""
        return self.weights[np.searchsorted(self.positions, positions)]


class DecodedWords(NamedTuple):
    """The words of some records on their way to another layout.

    Attributes:
        words: The words that `numbers` refer to.
        counts: How many words each record has.
        numbers, weights: The words of all records, one record after the other, and their weights.
    """

    words: Sequence[str]
    counts: Ints
    numbers: NDArray[Any]
    weights: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class RecordWords:
    """The words of the records of a segment; the arrays may belong to a writer that goes on behind them.

    Attributes:
        table: The words; only the first `table_size` of them belong to these records.
        ends: For each record where its words end in the other arrays.
        numbers, weights: The words of all records and their weights.
    """

    table: WordTable
    table_size: int
    ends: Ints
    numbers: NDArray[np.uint32]
    weights: NDArray[np.uint8]

    def find(self, query_word: QueryWord) -> WordMatches:
        """Return the records that contain a word of a query."""
        likeness_by_word = np.zeros(self.table_size, np.uint8)
        hits = self.table.find(query_word, self.table_size)
        likeness_by_word[hits.words] = hits.likeness

        places = np.flatnonzero(likeness_by_word[self.numbers])
        likeness = likeness_by_word[self.numbers[places]].astype(np.int64)
        weights = likeness * (self.weights[places] & MAX_WEIGHT)
        records = np.searchsorted(self.ends, places, side="right")

        positions, first_places = np.unique(records, return_index=True)
        sums = np.add.reduceat(weights, first_places) if len(positions) else weights
        return WordMatches(positions, sums)

    def contain_all(self, query_words: Sequence[QueryWord]) -> Bools:
        """Return for each record whether it contains every word of a query."""
        contains_all = np.ones(len(self.ends), np.bool_)
        for query_word in query_words:
            contains_word = np.zeros(len(self.ends), np.bool_)
            contains_word[self.find(query_word).positions] = True
            contains_all &= contains_word
        return contains_all

    def lengths(self) -> Ints:
        """Return the length of each record: the sum of the weights of its words."""
        sums = np.cumsum(self.weights & MAX_WEIGHT, dtype=np.int64)
        sums_at_ends = np.concatenate([[0], sums])[self.ends]
        return np.minimum(np.diff(sums_at_ends, prepend=0), MAX_LENGTH)

    def name_positions(self, prefix: str) -> Ints:
        """Return the records that have a word in their name that begins with a text."""
        is_match = np.zeros(self.table_size, np.bool_)
        is_match[self.table.find_prefix(prefix, self.table_size)] = True
        places = np.flatnonzero(is_match[self.numbers] & (self.weights >= IN_NAME))
        return np.unique(np.searchsorted(self.ends, places, side="right"))

    def decode(self, positions: Ints) -> DecodedWords:
        """Return the words of the records at some positions for another layout."""
        starts = np.concatenate([[0], self.ends])[positions]
        counts = self.ends[positions] - starts

        # The places of the words of each record follow one another.
        first_places = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(starts - first_places, counts)
        words = self.table.words[: self.table_size]
        return DecodedWords(words, counts, self.numbers[places], self.weights[places])


class RecordWordsWriter:
    """The words of a growing number of records; what `record_words` returned stays valid while the writer goes on."""

    def __init__(self) -> None:
        self._table = WordTable()
        self._ends = GrowingArray(np.int64)
        self._numbers = GrowingArray(np.uint32)
        self._weights = GrowingArray(np.uint8)

    def extend(self, records: Iterable[Mapping[str, int]]) -> None:
        """Append some records, each given by the weights of its words."""
        counts, numbers, weights = [], array("I"), array("B")
        for weight_by_word in records:
            counts.append(len(weight_by_word))
            numbers.extend(map(self._table.number, weight_by_word))
            weights.extend(weight_by_word.values())

        self._append(np.array(counts, np.int64), np.frombuffer(numbers, np.uint32), np.frombuffer(weights, np.uint8))

    def extend_decoded(self, records: DecodedWords) -> None:
        """Append the words of records of another segment or index; words that none of them uses are not taken over."""
        used_numbers = np.flatnonzero(np.bincount(records.numbers, minlength=len(records.words)))
        new_numbers = np.zeros(len(records.words), np.uint32)
        new_numbers[used_numbers] = [self._table.number(records.words[number]) for number in used_numbers.tolist()]
        self._append(records.counts, new_numbers[records.numbers], records.weights)

    def _append(self, counts: Ints, numbers: NDArray[np.uint32], weights: NDArray[np.uint8]) -> None:
        """Append records of which each has so many of the words."""
        self._ends.extend(len(self._numbers.view()) + np.cumsum(counts))
        self._numbers.extend(numbers)
        self._weights.extend(weights)

    def record_words(self) -> RecordWords:
        """Return the words of all records so far."""
        return RecordWords(self._table, len(self._table), self._ends.view(), self._numbers.view(), self._weights.view())
