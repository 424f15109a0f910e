"""Distinct values and their codes: texts, word lists and owners are compared once a value, not once a record."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold

T = TypeVar("T", bound=Hashable)
_FEW: Final = 64  # new values that are put in their place one by one; more are sorted together


def fold_text(text: str) -> str:
    """A text as it is compared; the very same object when folding changes nothing, which halves the memory."""
    folded = fold(text)
    return text if folded == text else folded


def fold_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """A list of words as it is compared, word by word."""
    return tuple(fold(word) for word in words)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The values with codes 1 to `size - 1` (0 is "not known"), their folded forms, and each one's rank.

    The lists may be longer than `size`: they belong to the writer, which only ever appends.
    """

    size: int
    values: Sequence[Any]
    folded: Sequence[Any]
    ranks: NDArray[np.int64]
    codes: dict[Any, int]

    def holds(self, codes: NDArray[np.int32], satisfies: Callable[[Any], bool]) -> NDArray[np.bool_]:
        """For each code whether its folded value satisfies a condition, tried once a value; "not known" never does."""
        if len(codes) < self.size:
            tried = (code > 0 and satisfies(self.folded[code]) for code in codes.tolist())
            return np.fromiter(tried, np.bool_, len(codes))
        table = (satisfies(folded) for folded in self.folded[1 : self.size])
        return np.fromiter((False, *table), np.bool_, self.size)[codes]


class VocabularyWriter(Generic[T]):
    """Gives each distinct value a code, and keeps the folded values in order as they arrive."""

    def __init__(self, folding: Callable[[T], Any]) -> None:
        self._folding = folding
        self._values: list[T | None] = [None]
        self._folded: list[Any] = [None]
        self._codes: dict[T, int] = {}
        self._sorted: list[Any] = []
        self._ranks: NDArray[np.int64] = np.full(1, -1, np.int64)

    def code(self, value: T | None) -> int:
        """The code of a value, a new one when it is met for the first time; 0 for None."""
        if value is None:
            return 0
        code = self._codes.get(value)
        if code is None:
            code = len(self._values)
            self._values.append(value)
            self._folded.append(self._folding(value))
            self._codes[value] = code
        return code

    def value(self, code: int) -> T | None:
        """The value behind a code."""
        return self._values[code]

    def snapshot(self) -> Vocabulary:
        """What is known so far, with the rank of every folded value (equal folded values share theirs)."""
        new = self._folded[len(self._ranks) :]
        if len(new) > _FEW:
            self._rank_all()
        elif new:
            self._rank_each(new)
        return Vocabulary(len(self._ranks), self._values, self._folded, self._ranks, self._codes)

    def _rank_all(self) -> None:
        self._sorted = sorted(set(self._folded[1:]))
        place = {folded: rank for rank, folded in enumerate(self._sorted)}
        self._ranks = np.array([-1, *(place[folded] for folded in self._folded[1:])], np.int64)

    def _rank_each(self, new: Sequence[Any]) -> None:
        ranks = np.concatenate([self._ranks, np.full(len(new), -1, np.int64)])
        for code, folded in enumerate(new, start=len(self._ranks)):
            rank = bisect_left(self._sorted, folded)
            if rank == len(self._sorted) or self._sorted[rank] != folded:
                self._sorted.insert(rank, folded)
                ranks[ranks >= rank] += 1
            ranks[code] = rank
        self._ranks = ranks
