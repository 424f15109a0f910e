"""Consecutive numbers for words, in a hash table that compiled kernels search and extend."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels import word_kernels
from touchstone.ranking.kernels.word_kernels import NO_WORD, WordTable

_SLOTS_PER_WORD: Final = 2  # keeps at least half of the slots empty, so that searches are short


class WordNumbers:
    """A growing set of words, numbered from 0 in the order of their first occurrence.

    Attributes:
        table: the words and their numbers. Kernels may add new words within the capacity allocated by `reserve`.
    """

    def __init__(self) -> None:
        self.table = WordTable(
            word_count=np.zeros(1, np.int64),
            data=np.empty(0, np.uint8),
            ends=np.empty(0, np.int64),
            hashes=np.empty(0, np.int64),
            slots=np.full(1, NO_WORD, np.int32),
            last_indices=np.empty(0, np.int64),
        )

    def __len__(self) -> int:
        return int(self.table.word_count[0])

    def reserve(self, new_words: int, new_bytes: int) -> None:
        """Allocate capacity for `new_words` more words with `new_bytes` bytes in total."""
        table = self.table
        word_capacity = len(self) + new_words
        slots = table.slots
        if len(slots) < _SLOTS_PER_WORD * word_capacity:
            slots = np.full(_next_power_of_two(_SLOTS_PER_WORD * word_capacity), NO_WORD, np.int32)
            word_kernels.fill_slots(table.hashes, len(self), slots)

        self.table = WordTable(
            word_count=table.word_count,
            data=_with_capacity(table.data, self._byte_count() + new_bytes),
            ends=_with_capacity(table.ends, word_capacity),
            hashes=_with_capacity(table.hashes, word_capacity),
            slots=slots,
            last_indices=_with_capacity(table.last_indices, word_capacity),
        )

    def numbers_of(self, words: Sequence[str]) -> NDArray[np.uint32]:
        """Return the numbers of the given folded words, adding new words to the table."""
        encoded_words = [word.encode() for word in words]
        data = np.frombuffer(b"".join(encoded_words), np.uint8)
        ends = np.cumsum([0, *map(len, encoded_words)]).tolist()
        self.reserve(len(words), len(data))

        numbers = [word_kernels.find_or_add_word(self.table, data, start, end) for start, end in pairwise(ends)]
        return np.array(numbers, np.uint32)

    def words(self) -> list[str]:
        """Return all words in the order of their numbers."""
        data = self.table.data[: self._byte_count()].tobytes()
        ends = [0, *self.table.ends[: len(self)].tolist()]
        return [data[start:end].decode() for start, end in pairwise(ends)]

    def _byte_count(self) -> int:
        """Return the total length of all words in bytes."""
        return int(self.table.ends[len(self) - 1]) if len(self) else 0


def _with_capacity(values: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return an array that begins with `values` and has at least `capacity` elements."""
    if len(values) >= capacity:
        return values

    larger = np.empty(max(capacity, 2 * len(values)), values.dtype)
    larger[: len(values)] = values
    return larger


def _next_power_of_two(minimum: int) -> int:
    """Return the smallest power of two that is at least `minimum`."""
    return 1 << (minimum - 1).bit_length()
