"""Single words of a bitmap: counting bits and finding the lowest one."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]

ZERO: Final = np.uint64(0)
ONE: Final = np.uint64(1)
_PAIRS: Final = np.uint64(0x5555555555555555)
_NIBBLES: Final = np.uint64(0x3333333333333333)
_BYTES: Final = np.uint64(0x0F0F0F0F0F0F0F0F)
_LARGEST_COUNT: Final = np.uint64(0x7F)
_2: Final = np.uint64(2)
_4: Final = np.uint64(4)
_8: Final = np.uint64(8)
_16: Final = np.uint64(16)
_32: Final = np.uint64(32)


def count_bits(word: np.uint64) -> int:
    """Return how many bits of a word are set.

    Neighbouring counts are added without a multiplication, because plain NumPy would warn that it overflows.
    """
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _NIBBLES) + ((word >> _2) & _NIBBLES)
    word = (word + (word >> _4)) & _BYTES
    word = word + (word >> _8)
    word = word + (word >> _16)
    word = word + (word >> _32)
    return np.int64(word & _LARGEST_COUNT)  # type: ignore[return-value]


def lowest_bit(word: np.uint64) -> int:
    """Return the index of the lowest bit that is set in a word other than zero."""
    return count_bits((word ^ (word - ONE)) >> ONE)


def count_all_bits(words: Words) -> int:
    """Return how many bits are set in several words."""
    total = 0
    for w in range(len(words)):
        total += count_bits(words[w])
    return total
