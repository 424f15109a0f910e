"""Distinct values and their codes: texts, word lists and owners are compared once a value, not once a record."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key

T = TypeVar("T", bound=Hashable)
_FEW_CODES: Final = 8  # up to an eighth of the values is sorted sooner than all of them
_SORT_FROM: Final = 64  # more new values than this are sorted together; fewer are inserted one by one


def fold_text(text: str) -> str:
    """Return a text as it is compared: the same object if folding changes nothing, which halves the memory."""
    folded = fold(text)
    return text if folded == text else folded


def fold_words(column: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a list of words as it is compared, word by word, by the vocabulary of its column."""
    return tuple(comparison_key(column, word) for word in words)


@dataclass(frozen=True, slots=True)
class CodeVocabulary:
    """The distinct values of a column; records refer to them by codes from 1, and code 0 means "not known".

    The sequences are indexed by code. They may be longer than `size`, because they belong to a writer, which only ever
    appends to them.

    Attributes:
        size: The number of codes, including code 0.
        values: The value of each code.
        folded: Each value as it is compared, without case and accents.
        codes: The code of each value.
        ranking: The ranks of the folded values, which are computed when somebody needs them.
    """

    size: int
    values: Sequence[Any]
    folded: Sequence[Any]
    codes: dict[Any, int]
    ranking: "ValueRanking"

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of each folded value in sorted order; equal folded values share a rank, and code 0 has -1."""
        return self.ranking.ranks(self.size)

    def ranks_at(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return ranks in which the values of some codes are sorted; those of few codes are sorted on their own."""
        if self.ranking.is_complete(self.size) or len(codes) > self.size // _FEW_CODES:
            return self.ranks[codes]

        folded_values = [self.folded[code] for code in codes.tolist()]
        known_values = sorted({value for value in folded_values if value is not None})
        rank_of = {value: rank for rank, value in enumerate(known_values)}
        return np.array([rank_of.get(value, -1) for value in folded_values], np.int64)

    def test_codes(self, codes: NDArray[np.int32], is_match: Callable[[Any], bool]) -> NDArray[np.bool_]:
        """Return for each of some codes whether its folded value satisfies a condition; "not known" never does.

        The condition is called for as few values as possible.
        """
        if len(codes) < self.size:
            matches = (code > 0 and is_match(self.folded[code]) for code in codes.tolist())
            return np.fromiter(matches, np.bool_, len(codes))

        # Test every distinct value once, then look up the result of each code.
        known_values = self.folded[1 : self.size]
        matches_by_code = np.array([False, *map(is_match, known_values)], np.bool_)
        return matches_by_code[codes]


class ValueRanking:
    """The ranks of the folded values of a growing vocabulary, brought up to date when they are read.

    Reading is safe in any thread, while one writer appends values.
    """

    def __init__(self, folded: Sequence[Any]) -> None:
        """Rank values that are indexed by code; the first one, of code 0, is "not known"."""
        self._folded = folded
        self._sorted: list[Any] = []
        self._ranks: NDArray[np.int64] = np.full(1, -1, np.int64)
        self._lock = Lock()

    def is_complete(self, size: int) -> bool:
        """Return whether the first `size` values have been ranked already."""
        return len(self._ranks) >= size

    def ranks(self, size: int) -> NDArray[np.int64]:
        """Return the ranks of the first `size` values, among these and perhaps later ones."""
        with self._lock:
            if not self.is_complete(size):
                self._add_ranks(self._folded[len(self._ranks) : size])
            return self._ranks[:size]

    def _add_ranks(self, new_values: Sequence[Any]) -> None:
        """Rank the values that follow those that are ranked."""
        if len(new_values) > _SORT_FROM:
            self._rank_all(len(self._ranks) + len(new_values))
        else:
            self._insert_ranks(new_values)

    def _rank_all(self, size: int) -> None:
        """Rank the first `size` values from the start."""
        folded_values = self._folded[1:size]
        self._sorted = sorted(set(folded_values))
        rank_of = {folded: rank for rank, folded in enumerate(self._sorted)}
        self._ranks = np.array([-1, *(rank_of[folded] for folded in folded_values)], np.int64)

    def _insert_ranks(self, new_values: Sequence[Any]) -> None:
        """Rank a few new folded values; the ranks of all values that come after a new one rise by 1."""
        # Earlier snapshots share the old array, so the ranks are written into a new one.
        unranked = np.full(len(new_values), -1, np.int64)
        ranks = np.concatenate([self._ranks, unranked])

        for code, folded in enumerate(new_values, start=len(self._ranks)):
            rank = bisect_left(self._sorted, folded)
            is_new = rank == len(self._sorted) or self._sorted[rank] != folded
            if is_new:
                self._sorted.insert(rank, folded)
                ranks[ranks >= rank] += 1
            ranks[code] = rank
        self._ranks = ranks


class VocabularyWriter(Generic[T]):
    """Assigns a code to each distinct value."""

    def __init__(self, fold_value: Callable[[T], Any]) -> None:
        self._fold_value = fold_value
        self._values: list[T | None] = [None]
        self._folded: list[Any] = [None]
        self._codes: dict[T, int] = {}
        self._ranking = ValueRanking(self._folded)

    def encode(self, value: T | None) -> int:
        """Return the code of a value, assigning a new one when the value is first seen; the code of None is 0."""
        if value is None:
            return 0

        code = self._codes.get(value)
        if code is None:
            code = len(self._values)
            self._values.append(value)
            self._folded.append(self._fold_value(value))
            self._codes[value] = code
        return code

    def value(self, code: int) -> T | None:
        """Return the value of a code."""
        return self._values[code]

    def snapshot(self) -> CodeVocabulary:
        """Return the vocabulary of all values so far; it stays valid while the writer goes on."""
        return CodeVocabulary(
            size=len(self._values),
            values=self._values,
            folded=self._folded,
            codes=self._codes,
            ranking=self._ranking,
        )
