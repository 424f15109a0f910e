"""Distinct values and their codes: texts, word lists and owners are compared once a value, not once a record."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold

T = TypeVar("T", bound=Hashable)
_SORT_FROM: Final = 64  # so many new values are sorted together; fewer are inserted one by one


def fold_text(text: str) -> str:
    """Return a text as it is compared: the same object if folding changes nothing, which halves the memory."""
    folded = fold(text)
    return text if folded == text else folded


def fold_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a list of words as it is compared, word by word."""
    return tuple(fold(word) for word in words)


@dataclass(frozen=True, slots=True)
class CodeVocabulary:
    """The values with the codes 1 to `size - 1`, their folded forms, and the rank of each; code 0 is "not known".

    The lists may be longer than `size`: they belong to the writer, which only ever appends.
    """

    size: int
    values: Sequence[Any]
    folded: Sequence[Any]
    ranks: NDArray[np.int64]
    codes: dict[Any, int]

    def test_codes(self, codes: NDArray[np.int32], is_match: Callable[[Any], bool]) -> NDArray[np.bool_]:
        """Return for each code whether its folded value satisfies a condition; "not known" never does.

        The condition is tested once for each value, unless there are fewer codes than values.
        """
        if len(codes) < self.size:
            results = (code > 0 and is_match(self.folded[code]) for code in codes.tolist())
            return np.fromiter(results, np.bool_, len(codes))

        by_code = (is_match(folded) for folded in self.folded[1 : self.size])
        return np.fromiter((False, *by_code), np.bool_, self.size)[codes]


class VocabularyWriter(Generic[T]):
    """Assigns a code to each distinct value and ranks the folded values as they arrive."""

    def __init__(self, folding: Callable[[T], Any]) -> None:
        self._folding = folding
        self._values: list[T | None] = [None]
        self._folded: list[Any] = [None]
        self._codes: dict[T, int] = {}
        self._sorted: list[Any] = []
        self._ranks: NDArray[np.int64] = np.full(1, -1, np.int64)

    def encode(self, value: T | None) -> int:
        """Return the code of a value, assigning a new one to a new value; 0 for None."""
        if value is None:
            return 0

        code = self._codes.get(value)
        if code is None:
            code = len(self._values)
            self._values.append(value)
            self._folded.append(self._folding(value))
            self._codes[value] = code
        return code

    def snapshot(self) -> CodeVocabulary:
        """Return the values so far, with the rank of each folded value; equal folded values share a rank."""
        new_values = self._folded[len(self._ranks) :]
        if len(new_values) > _SORT_FROM:
            self._rank_all()
        elif new_values:
            self._insert_ranks(new_values)
        return CodeVocabulary(len(self._ranks), self._values, self._folded, self._ranks, self._codes)

    def _rank_all(self) -> None:
        self._sorted = sorted(set(self._folded[1:]))
        rank_of = {folded: rank for rank, folded in enumerate(self._sorted)}
        self._ranks = np.array([-1, *(rank_of[folded] for folded in self._folded[1:])], np.int64)

    def _insert_ranks(self, new_values: Sequence[Any]) -> None:
        ranks = np.concatenate([self._ranks, np.full(len(new_values), -1, np.int64)])
        for code, folded in enumerate(new_values, start=len(self._ranks)):
            rank = bisect_left(self._sorted, folded)
            if rank == len(self._sorted) or self._sorted[rank] != folded:
                self._sorted.insert(rank, folded)
                ranks[ranks >= rank] += 1
            ranks[code] = rank
        self._ranks = ranks
