"""Distinct values and their codes: texts, word lists and owners are compared once a value, not once a record."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key

T = TypeVar("T", bound=Hashable)
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
        ranks: The rank of each folded value in sorted order; equal folded values share a rank.
        codes: The code of each value.
    """

    size: int
    values: Sequence[Any]
    folded: Sequence[Any]
    ranks: NDArray[np.int64]
    codes: dict[Any, int]

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


class VocabularyWriter(Generic[T]):
    """Assigns a code to each distinct value, and keeps the rank of each folded value."""

    def __init__(self, fold_value: Callable[[T], Any]) -> None:
        self._fold_value = fold_value
        self._values: list[T | None] = [None]
        self._folded: list[Any] = [None]
        self._codes: dict[T, int] = {}
        self._sorted: list[Any] = []
        self._ranks: NDArray[np.int64] = np.full(1, -1, np.int64)

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

    def snapshot(self) -> CodeVocabulary:
        """Return the vocabulary of all values so far; it stays valid while the writer goes on."""
        new_values = self._folded[len(self._ranks) :]
        if len(new_values) > _SORT_FROM:
            self._rank_all()
        elif new_values:
            self._insert_ranks(new_values)
        return CodeVocabulary(
            size=len(self._ranks), values=self._values, folded=self._folded, ranks=self._ranks, codes=self._codes
        )

    def _rank_all(self) -> None:
        """Rank all folded values from the start."""
        self._sorted = sorted(set(self._folded[1:]))
        rank_of = {folded: rank for rank, folded in enumerate(self._sorted)}
        self._ranks = np.array([-1, *(rank_of[folded] for folded in self._folded[1:])], np.int64)

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
