"""The words of each record of a segment, stored record by record."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.word_table import WordTable
from touchstone.ranking.text.words import IN_NAME, MAX_LENGTH, MAX_WEIGHT

ListWordsOfRecords: TypeAlias = Callable[[int, int], "DecodedWords"]
"""A function that returns the words of the records from a start position to before an end position."""
_RECORDS_PER_CHUNK: Final = 1 << 16  # listing the words of all records of a large import at once would take much memory


class WordMatches(NamedTuple):
    """The records that contain a word of a query.

    Attributes:
        positions: the ascending positions of the records.
        weights: the weight of the word in each record: the sum of the weights of all similar words, each multiplied by
            its similarity.
    """

    positions: Ints
    weights: Ints

    def weights_at(self, positions: Ints) -> Ints:
        """Return the weight of the word in the records at the given positions, which must contain it."""
        return self.weights[np.searchsorted(self.positions, positions)]


class DecodedWords(NamedTuple):
    """The words of records in a form for transfer between segments and indexes.

    Attributes:
        words: the words that `numbers` refer to.
        counts: the number of words of each record.
        numbers: the numbers of the words of all records, record by record.
        weights: the weights of these words.
    """

    words: Sequence[str]
    counts: Ints
    numbers: NDArray[Any]
    weights: NDArray[np.uint8]

    @classmethod
    def from_weights(cls, records: Iterable[Mapping[str, int]]) -> "DecodedWords":
        """Convert the weights by word of each record."""
        numbers_by_word: dict[str, int] = {}
        counts, numbers, weights = [], array("I"), array("B")
        for weight_by_word in records:
            counts.append(len(weight_by_word))
            numbers.extend([numbers_by_word.setdefault(word, len(numbers_by_word)) for word in weight_by_word])
            weights.extend(weight_by_word.values())
        return cls(
            list(numbers_by_word),
            np.array(counts, np.int64),
            np.frombuffer(numbers, np.uint32),
            np.frombuffer(weights, np.uint8),
        )


@dataclass(frozen=True, slots=True)
class WordLists:
    """The words of the first records of a segment.

    The arrays can be views of arrays that a writer extends.

    Attributes:
        table: the words.
        table_size: the number of words in the table that belong to these records.
        ends: the end of each record's words in `numbers` and `weights`.
        numbers: the index in `table` of each word, record by record.
        weights: the weights of these words.
    """

    table: WordTable
    table_size: int
    ends: Ints
    numbers: NDArray[np.uint32]
    weights: NDArray[np.uint8]


class RecordWords:
    """The words of the first records of a segment, which are computed on first use.

    Attributes:
        record_count: the number of these records.
    """

    def __init__(self, writer: "RecordWordsWriter", record_count: int) -> None:
        self.record_count = record_count
        self._writer = writer

    @cached_property
    def _lists(self) -> "WordLists":
        """The words of the records, record by record."""
        return self._writer.list_words(self.record_count)

    def find(self, query_word: QueryWord) -> WordMatches:
        """Return the records that contain a word of a query."""
        similarity_by_word = np.zeros(self._lists.table_size, np.uint8)
        hits = self._lists.table.find(query_word, self._lists.table_size)
        similarity_by_word[hits.words] = hits.similarity

        indices = np.flatnonzero(similarity_by_word[self._lists.numbers])
        similarity = similarity_by_word[self._lists.numbers[indices]].astype(np.int64)
        weights = similarity * (self._lists.weights[indices] & MAX_WEIGHT)
        records = np.searchsorted(self._lists.ends, indices, side="right")

        positions, record_starts = np.unique(records, return_index=True)
        sums = np.add.reduceat(weights, record_starts) if len(positions) else weights
        return WordMatches(positions, sums)

    def contains_all_words(self, query_words: Sequence[QueryWord]) -> Bools:
        """Return whether each record contains every word of a query."""
        contains_all = np.ones(self.record_count, np.bool_)
        for query_word in query_words:
            contains_word = np.zeros(self.record_count, np.bool_)
            contains_word[self.find(query_word).positions] = True
            contains_all &= contains_word
        return contains_all

    def lengths(self) -> Ints:
        """Return the length of each record, which is the sum of the weights of its words."""
        sums = np.cumsum(self._lists.weights & MAX_WEIGHT, dtype=np.int64)
        sums_at_ends = np.concatenate([[0], sums])[self._lists.ends]
        return np.minimum(np.diff(sums_at_ends, prepend=0), MAX_LENGTH)

    def find_name_prefix(self, prefix: str) -> Ints:
        """Return the positions of the records with a word in their name that begins with a prefix."""
        has_prefix = np.zeros(self._lists.table_size, np.bool_)
        has_prefix[self._lists.table.find_prefix(prefix, self._lists.table_size)] = True
        indices = np.flatnonzero(has_prefix[self._lists.numbers] & (self._lists.weights >= IN_NAME))
        return np.unique(np.searchsorted(self._lists.ends, indices, side="right"))

    def decode(self, positions: Ints) -> DecodedWords:
        """Return the words of the records at the given positions."""
        starts = np.concatenate([[0], self._lists.ends])[positions]
        counts = self._lists.ends[positions] - starts

        # The words of a record have consecutive indices, beginning at its start.
        new_starts = np.cumsum(counts) - counts
        indices = np.arange(counts.sum()) + np.repeat(starts - new_starts, counts)
        words = self._lists.table.words[: self._lists.table_size]
        return DecodedWords(words, counts, self._lists.numbers[indices], self._lists.weights[indices])

    def decode_all(self) -> DecodedWords:
        """Return the words of all records without copying arrays."""
        lists = self._lists
        counts = np.diff(lists.ends, prepend=0)
        return DecodedWords(lists.table.words[: lists.table_size], counts, lists.numbers, lists.weights)


class RecordWordsWriter:
    """Collects the words of a growing number of records.

    `RecordWords` that were created earlier stay valid when records are appended. Computing words would take most of the
    time for appending a record, so it is postponed until a search needs them, in any thread.
    """

    def __init__(self, list_records: ListWordsOfRecords | None = None) -> None:
        """Create a writer without words.

        Args:
            list_records: a function that returns the words of a range of records, or None if all words are passed to
                `extend_decoded`.
        """
        self._list_records = list_records
        self._table = WordTable()
        self._ends = GrowingArray(np.int64)
        self._numbers = GrowingArray(np.uint32)
        self._weights = GrowingArray(np.uint8)
        self._lock = Lock()

    @property
    def listed_count(self) -> int:
        """The number of records whose words have been listed."""
        return len(self._ends.view())

    def record_words(self, record_count: int | None = None) -> RecordWords:
        """Return the words of the first `record_count` records, or of all records with stored words if it is None."""
        return RecordWords(self, self.listed_count if record_count is None else record_count)

    def list_words(self, record_count: int) -> WordLists:
        """Return the words of the first `record_count` records, computing those that are not stored yet."""
        with self._lock:
            self._store_words_before(record_count)

            ends = self._ends.view()[:record_count]
            word_count = int(ends[-1]) if record_count else 0
            return WordLists(
                table=self._table,
                table_size=len(self._table),
                ends=ends,
                numbers=self._numbers.view()[:word_count],
                weights=self._weights.view()[:word_count],
            )

    def _store_words_before(self, record_count: int) -> None:
        """Compute and store the words of those of the first `record_count` records that have none yet.

        The caller must hold the lock.
        """
        for start in range(self.listed_count, record_count, _RECORDS_PER_CHUNK):
            assert self._list_records is not None, "without this function, words are stored when records are appended"
            self._append_decoded(self._list_records(start, min(start + _RECORDS_PER_CHUNK, record_count)))

    def extend_decoded(self, records: DecodedWords) -> None:
        """Append the words of records, skipping unused words.

        The words of all previous records must be stored already.
        """
        with self._lock:
            self._append_decoded(records)

    def _append_decoded(self, records: DecodedWords) -> None:
        """Append the words of records. The caller must hold the lock."""
        used_numbers = np.flatnonzero(np.bincount(records.numbers, minlength=len(records.words)))
        new_numbers = np.zeros(len(records.words), np.uint32)
        new_numbers[used_numbers] = [self._table.number(records.words[number]) for number in used_numbers.tolist()]

        self._ends.extend(len(self._numbers.view()) + np.cumsum(records.counts))
        self._numbers.extend(new_numbers[records.numbers])
        self._weights.extend(records.weights)
