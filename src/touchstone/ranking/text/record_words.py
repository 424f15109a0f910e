"""The words of each record of a segment, record after record."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.word_table import WordTable
from touchstone.ranking.text.words import IN_NAME, MAX_LENGTH, MAX_WEIGHT

WeighRecords: TypeAlias = Callable[[int, int], Iterable[Mapping[str, int]]]
"""Returns the words with their weights of each record from one position up to another."""


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
class WordLists:
    """The words of some records; the arrays may belong to a writer that goes on behind them.

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


class RecordWords:
    """The words of the first records of a segment, which are listed when they are needed.

    Attributes:
        record_count: The number of these records.
    """

    def __init__(self, writer: "RecordWordsWriter", record_count: int) -> None:
        self.record_count = record_count
        self._writer = writer

    @cached_property
    def _lists(self) -> "WordLists":
        """The words of the records, one record after the other."""
        return self._writer.list_words(self.record_count)

    def find(self, query_word: QueryWord) -> WordMatches:
        """Return the records that contain a word of a query."""
        likeness_by_word = np.zeros(self._lists.table_size, np.uint8)
        hits = self._lists.table.find(query_word, self._lists.table_size)
        likeness_by_word[hits.words] = hits.likeness

        places = np.flatnonzero(likeness_by_word[self._lists.numbers])
        likeness = likeness_by_word[self._lists.numbers[places]].astype(np.int64)
        weights = likeness * (self._lists.weights[places] & MAX_WEIGHT)
        records = np.searchsorted(self._lists.ends, places, side="right")

        positions, first_places = np.unique(records, return_index=True)
        sums = np.add.reduceat(weights, first_places) if len(positions) else weights
        return WordMatches(positions, sums)

    def contain_all(self, query_words: Sequence[QueryWord]) -> Bools:
        """Return for each record whether it contains every word of a query."""
        contains_all = np.ones(self.record_count, np.bool_)
        for query_word in query_words:
            contains_word = np.zeros(self.record_count, np.bool_)
            contains_word[self.find(query_word).positions] = True
            contains_all &= contains_word
        return contains_all

    def lengths(self) -> Ints:
        """Return the length of each record: the sum of the weights of its words."""
        sums = np.cumsum(self._lists.weights & MAX_WEIGHT, dtype=np.int64)
        sums_at_ends = np.concatenate([[0], sums])[self._lists.ends]
        return np.minimum(np.diff(sums_at_ends, prepend=0), MAX_LENGTH)

    def name_positions(self, prefix: str) -> Ints:
        """Return the records that have a word in their name that begins with a text."""
        is_match = np.zeros(self._lists.table_size, np.bool_)
        is_match[self._lists.table.find_prefix(prefix, self._lists.table_size)] = True
        places = np.flatnonzero(is_match[self._lists.numbers] & (self._lists.weights >= IN_NAME))
        return np.unique(np.searchsorted(self._lists.ends, places, side="right"))

    def decode(self, positions: Ints) -> DecodedWords:
        """Return the words of the records at some positions for another layout."""
        starts = np.concatenate([[0], self._lists.ends])[positions]
        counts = self._lists.ends[positions] - starts

        # The places of the words of each record follow one another.
        first_places = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(starts - first_places, counts)
        words = self._lists.table.words[: self._lists.table_size]
        return DecodedWords(words, counts, self._lists.numbers[places], self._lists.weights[places])

    def decode_all(self) -> DecodedWords:
        """Return the words of all records for another layout; nothing is copied."""
        lists = self._lists
        counts = np.diff(lists.ends, prepend=0)
        return DecodedWords(lists.table.words[: lists.table_size], counts, lists.numbers, lists.weights)


class RecordWordsWriter:
    """The words of a growing number of records; what `record_words` returned stays valid while the writer goes on.

    Listing the words of a record takes most of the time that it takes to append it. They are listed when somebody
    searches them, in any thread.
    """

    def __init__(self, weigh_records: WeighRecords | None = None) -> None:
        """Prepare to list words; `weigh_records` returns the words with their weights for a range of records.

        Without it, all words are listed by the methods that append records.
        """
        self._weigh_records = weigh_records
        self._table = WordTable()
        self._ends = GrowingArray(np.int64)
        self._numbers = GrowingArray(np.uint32)
        self._weights = GrowingArray(np.uint8)
        self._lock = Lock()

    def record_words(self, record_count: int | None = None) -> RecordWords:
        """Return the words of the first records, or of all records whose words are listed."""
        return RecordWords(self, len(self._ends.view()) if record_count is None else record_count)

    def list_words(self, record_count: int) -> WordLists:
        """Return the words of the first records, after listing those that are still missing."""
        with self._lock:
            listed_count = len(self._ends.view())
            if listed_count < record_count:
                assert self._weigh_records is not None
                self.extend(self._weigh_records(listed_count, record_count))

            ends = self._ends.view()[:record_count]
            word_count = int(ends[-1]) if record_count else 0
            return WordLists(
                table=self._table,
                table_size=len(self._table),
                ends=ends,
                numbers=self._numbers.view()[:word_count],
                weights=self._weights.view()[:word_count],
            )

    def extend_decoded(self, records: DecodedWords) -> None:
        """Append the words of records of another segment or index; words that none of them uses are not taken over.

        The words of all records before them have to be listed.
        """
        used_numbers = np.flatnonzero(np.bincount(records.numbers, minlength=len(records.words)))
        new_numbers = np.zeros(len(records.words), np.uint32)
        with self._lock:
            new_numbers[used_numbers] = [self._table.number(records.words[number]) for number in used_numbers.tolist()]
            self._append(records.counts, new_numbers[records.numbers], records.weights)

    def extend(self, records: Iterable[Mapping[str, int]]) -> None:
        """Append some records, each given by the weights of its words."""
        counts, numbers, weights = [], array("I"), array("B")
        for weight_by_word in records:
            counts.append(len(weight_by_word))
            numbers.extend(map(self._table.number, weight_by_word))
            weights.extend(weight_by_word.values())

        self._append(np.array(counts, np.int64), np.frombuffer(numbers, np.uint32), np.frombuffer(weights, np.uint8))

    def _append(self, counts: Ints, numbers: NDArray[np.uint32], weights: NDArray[np.uint8]) -> None:
        """Append records of which each has so many of the words."""
        self._ends.extend(len(self._numbers.view()) + np.cumsum(counts))
        self._numbers.extend(numbers)
        self._weights.extend(weights)
