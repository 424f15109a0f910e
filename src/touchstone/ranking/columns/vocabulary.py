"""The distinct values of a column, numbered so that records can refer to them.

A column of texts, word lists or owners stores each distinct value once, and only a number for each record, the code of
its value. A condition is then evaluated once for each distinct value rather than for each record. Values are compared
in folded form, without case and accents.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.array_types import Bools
from touchstone.ranking.columns.growing_text_pool import GrowingTextPool
from touchstone.ranking.columns.substring_search import is_search_in_memory_warm, texts_containing

T = TypeVar("T", bound=Hashable)
# Sorting or testing the values of single codes is faster than processing all values for up to an eighth of the values.
_FEW_CODES_DIVISOR: Final = 8
# The maximum number of new values that are inserted into the ranking one by one rather than sorting all values again.
_MAX_INSERTIONS: Final = 64
# Fewer texts are tested one by one in Python, which takes about a millisecond.
_MIN_TEXTS_FOR_KERNELS: Final = 10_000
# The number of texts that are added to a pool at a time; this holds the GIL for a few milliseconds.
_TEXTS_PER_CHUNK: Final = 10_000


def fold_text(text: str) -> str:
    """Return a text without case and accents, reusing the same object if nothing changes to save memory."""
    folded = fold(text)
    return text if folded == text else folded


def fold_words(column: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the form of each word that is compared with other words of the column."""
    return tuple(comparison_key(column, word) for word in words)


@dataclass(frozen=True, slots=True)
class CodeVocabulary:
    """A snapshot of the distinct values of a column.

    Codes start at 1, and code 0 means unknown.

    The sequences are indexed by code. They are shared with the writer, which may append more values, so they can be
    longer than `size`.

    Attributes:
        size: the number of codes, including code 0.
        values: the value of each code.
        folded_values: the folded forms of the values, computed on demand.
        codes: the code of each value.
        ranking: the ranks of the folded values, computed on demand.
        searchable_texts: the pool of the folded values of a column of texts, created on demand.
    """

    size: int
    values: Sequence[Any]
    folded_values: "FoldedValues"
    codes: dict[Any, int]
    ranking: "ValueRanking"
    searchable_texts: "SearchableTexts"

    @property
    def folded(self) -> Sequence[Any]:
        """The folded form of each value."""
        return self.folded_values.first(self.size)

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of each value in the order of the folded values.

        Equal values share a rank, and code 0 has -1.
        """
        return self.ranking.ranks(self.size)

    def ranks_of_codes(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return ranks for sorting the values of the given codes, with -1 for unknown values.

        For a few codes, these are ranks among their own values rather than among all values.
        """
        are_few = len(codes) <= self.size // _FEW_CODES_DIVISOR
        if self.ranking.is_complete(self.size) or not are_few:
            return self.ranks[codes]

        folded = self.folded
        values = [folded[code] for code in codes.tolist()]
        rank_by_value = _rank_by_value({value for value in values if value is not None})
        return np.array([rank_by_value.get(value, -1) for value in values], np.int64)

    def match_substring(self, codes: NDArray[np.int32], folded_substring: str) -> Bools:
        """Return whether the folded text of each code contains a substring.

        The result for unknown values is False.

        Many texts are searched with compiled kernels, which are faster than Python and release the GIL.
        """
        are_many = len(codes) > self.size // _FEW_CODES_DIVISOR and min(len(codes), self.size) >= _MIN_TEXTS_FOR_KERNELS
        if are_many and folded_substring and is_search_in_memory_warm():
            return self.searchable_texts.containing(folded_substring, self.size)[codes]
        return self.match_codes(codes, lambda text: folded_substring in text)

    def match_codes(self, codes: NDArray[np.int32], is_match: Callable[[Any], bool]) -> Bools:
        """Return whether the folded value of each code satisfies a condition.

        The result for unknown values is False.
        """
        # If there are fewer codes than values, test the value of each code.
        if len(codes) < self.size:
            folded = self.folded
            matches = [code > 0 and is_match(folded[code]) for code in codes.tolist()]
            return np.array(matches, np.bool_)

        # Otherwise, test every value once, and look up the result for each code.
        known_values = self.folded[1 : self.size]
        matches_by_code = np.array([False, *map(is_match, known_values)], np.bool_)
        return matches_by_code[codes]


class FoldedValues:
    """The folded forms of the values of a growing vocabulary, computed when they are first read.

    Any thread may read them while one writer appends values.
    """

    def __init__(self, values: Sequence[Any], fold_value: Callable[[Any], Any]) -> None:
        """Prepare to fold values, which are indexed by code and begin with None for code 0."""
        self._values = values
        self._fold_value = fold_value
        self._folded: list[Any] = [None]
        self._lock = Lock()

    def first(self, count: int) -> Sequence[Any]:
        """Return a list that begins with the folded forms of the first `count` values, computing missing ones."""
        if len(self._folded) < count:
            with self._lock:
                new_values = self._values[len(self._folded) : count]
                self._folded.extend(map(self._fold_value, new_values))
        return self._folded


class SearchableTexts:
    """A pool of the folded texts of a growing vocabulary.

    Each search adds the missing texts first.

    Any thread may search it while one writer appends values.
    """

    def __init__(self, folded_values: FoldedValues) -> None:
        """Prepare to search folded texts, which are indexed by code and begin with None for code 0."""
        self._folded_values = folded_values
        self._pool = GrowingTextPool()
        self._lock = Lock()

    def containing(self, folded_substring: str, size: int) -> Bools:
        """Return whether each of the first `size` texts contains a non-empty substring."""
        with self._lock:
            folded = self._folded_values.first(size)
            while len(self._pool) < size:
                start = len(self._pool)
                new_texts = folded[start : min(start + _TEXTS_PER_CHUNK, size)]
                self._pool.extend([text or "" for text in new_texts])
            pool = self._pool.first(size)
        return texts_containing(pool, folded_substring)


class ValueRanking:
    """The ranks of the folded values of a growing vocabulary, updated when they are read.

    Any thread may read them while one writer appends values.
    """

    def __init__(self, folded_values: FoldedValues) -> None:
        """Prepare to rank folded values, which are indexed by code and begin with None for code 0."""
        self._folded_values = folded_values
        self._sorted: list[Any] = []  # the distinct values that have been ranked
        self._ranks: NDArray[np.int64] = np.full(1, -1, np.int64)
        self._lock = Lock()

    def is_complete(self, size: int) -> bool:
        """Return whether the first `size` values have been ranked."""
        return len(self._ranks) >= size

    def ranks(self, size: int) -> NDArray[np.int64]:
        """Return the ranks of the first `size` values, with gaps if later values have been ranked as well."""
        with self._lock:
            if not self.is_complete(size):
                folded = self._folded_values.first(size)
                self._add_ranks(folded[len(self._ranks) : size])
            return self._ranks[:size]

    def _add_ranks(self, new_values: Sequence[Any]) -> None:
        """Rank the next values."""
        if len(new_values) > _MAX_INSERTIONS:
            self._rank_all(len(self._ranks) + len(new_values))
        else:
            self._insert_ranks(new_values)

    def _rank_all(self, size: int) -> None:
        """Rank the first `size` values by sorting all of them again."""
        known_values = self._folded_values.first(size)[1:size]
        rank_by_value = _rank_by_value(set(known_values))
        self._sorted = list(rank_by_value)
        self._ranks = np.array([-1, *(rank_by_value[value] for value in known_values)], np.int64)

    def _insert_ranks(self, new_values: Sequence[Any]) -> None:
        """Rank a few new values, increasing the ranks of all values after each of them by 1."""
        # Write the ranks into a new array, because readers may still use the old one.
        unranked = np.full(len(new_values), -1, np.int64)
        ranks = np.concatenate([self._ranks, unranked])

        for code, value in enumerate(new_values, start=len(self._ranks)):
            rank = bisect_left(self._sorted, value)
            is_ranked = rank < len(self._sorted) and self._sorted[rank] == value
            if not is_ranked:
                self._sorted.insert(rank, value)
                ranks[ranks >= rank] += 1
            ranks[code] = rank
        self._ranks = ranks


def _rank_by_value(values: Collection[Any]) -> dict[Any, int]:
    """Return the rank of each distinct value, in sorted order."""
    return {value: rank for rank, value in enumerate(sorted(values))}


class VocabularyWriter(Generic[T]):
    """Assigns a code to each distinct value."""

    def __init__(self, fold_value: Callable[[T], Any], *, folds_lazily: bool = False) -> None:
        """Begin an empty vocabulary.

        Args:
            fold_value: the function that returns the folded form of a value.
            folds_lazily: whether values are folded when they are first compared rather than when they are added.
        """
        self._folds_lazily = folds_lazily
        self._values: list[T | None] = [None]
        self._folded_values = FoldedValues(self._values, fold_value)
        self._codes: dict[T, int] = {}
        self._ranking = ValueRanking(self._folded_values)
        self._searchable_texts = SearchableTexts(self._folded_values)

    def encode(self, value: T | None) -> int:
        """Return the code of a value, assigning one if the value is new.

        The code of None is 0.
        """
        if value is None:
            return 0

        code = self._codes.get(value)
        if code is None:
            code = len(self._values)
            self._values.append(value)
            self._codes[value] = code
            self._fold_new_values()
        return code

    def encode_distinct(self, values: Sequence[T | None]) -> list[int]:
        """Return the codes of distinct values as `encode` does, but faster."""
        # Look up each value only once, because the dictionary of a large catalog does not fit into the CPU cache.
        known_codes = [0 if value is None else self._codes.get(value) for value in values]
        new_values = [
            value for value, code in zip(values, known_codes, strict=True) if value is not None and code is None
        ]
        new_codes = range(len(self._values), len(self._values) + len(new_values))

        self._values.extend(new_values)
        self._codes.update(zip(new_values, new_codes, strict=True))
        self._fold_new_values()

        next_codes = iter(new_codes)
        return [next(next_codes) if code is None else code for code in known_codes]

    def _fold_new_values(self) -> None:
        """Fold the new values, unless values are folded lazily."""
        if not self._folds_lazily:
            self._folded_values.first(len(self._values))

    def value(self, code: int) -> T | None:
        """Return the value of a code."""
        return self._values[code]

    def snapshot(self) -> CodeVocabulary:
        """Return an immutable snapshot of the vocabulary."""
        return CodeVocabulary(
            size=len(self._values),
            values=self._values,
            folded_values=self._folded_values,
            codes=self._codes,
            ranking=self._ranking,
            searchable_texts=self._searchable_texts,
        )
