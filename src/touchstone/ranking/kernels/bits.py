"""Operations on bitmaps, which store one bit for each record in 64-bit words."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
"""A bitmap, in which the lowest bit of the first word belongs to record 0."""

BITS_PER_WORD: Final = 64
ZERO: Final = np.uint64(0)
ONE: Final = np.uint64(1)

_EVERY_SECOND_BIT: Final = np.uint64(0x5555555555555555)
_EVERY_SECOND_PAIR: Final = np.uint64(0x3333333333333333)
_EVERY_SECOND_NIBBLE: Final = np.uint64(0x0F0F0F0F0F0F0F0F)
_LOWEST_SEVEN_BITS: Final = np.uint64(0x7F)
_TWO: Final = np.uint64(2)
_FOUR: Final = np.uint64(4)
_EIGHT: Final = np.uint64(8)
_SIXTEEN: Final = np.uint64(16)
_THIRTY_TWO: Final = np.uint64(32)


def count_bits(word: np.uint64) -> int:
    """Return the number of set bits in a 64-bit word.

    The bits of all pairs are added in parallel within the word, then the counts of neighbouring pairs, and so on, until
    a single count remains.
    """
    pair_counts = word - ((word >> ONE) & _EVERY_SECOND_BIT)
    nibble_counts = (pair_counts & _EVERY_SECOND_PAIR) + ((pair_counts >> _TWO) & _EVERY_SECOND_PAIR)
    byte_counts = (nibble_counts + (nibble_counts >> _FOUR)) & _EVERY_SECOND_NIBBLE

    # From here on, only the lowest byte of each group is valid, which is sufficient for counts up to 64.
    counts_of_16_bits = byte_counts + (byte_counts >> _EIGHT)
    counts_of_32_bits = counts_of_16_bits + (counts_of_16_bits >> _SIXTEEN)
    count_of_64_bits = counts_of_32_bits + (counts_of_32_bits >> _THIRTY_TWO)
    return np.int64(count_of_64_bits & _LOWEST_SEVEN_BITS)  # type: ignore[return-value]


def lowest_bit(word: np.uint64) -> int:
    """Return the index (0 to 63) of the lowest set bit of a word, which must not be zero."""
    lowest_bit_and_all_below = word ^ (word - ONE)
    return count_bits(lowest_bit_and_all_below >> ONE)


def without_lowest_bit(word: np.uint64) -> np.uint64:
    """Return a word, which must not be zero, with its lowest set bit cleared."""
    return word & (word - ONE)


def is_bit_set(bitmap: Words, position: int) -> bool:
    """Return whether the bit at a position of a bitmap is set."""
    word, bit = bitmap[position >> 6], np.uint64(position & 63)
    return bool((word >> bit) & ONE)


def set_bit(bitmap: Words, position: int) -> None:
    """Set the bit at a position of a bitmap."""
    bitmap[position >> 6] |= ONE << np.uint64(position & 63)


def clear_bit(bitmap: Words, position: int) -> None:
    """Clear the bit at a position of a bitmap."""
    bitmap[position >> 6] &= ~(ONE << np.uint64(position & 63))


def list_set_bits(bitmap: Words, positions: NDArray[np.int64]) -> None:
    """Write the positions of the set bits of a bitmap into `positions`, in ascending order."""
    count = 0
    for word_index in range(len(bitmap)):
        remaining_bits = bitmap[word_index]
        while remaining_bits != ZERO:
            positions[count] = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            count += 1
            remaining_bits = without_lowest_bit(remaining_bits)


def count_all_bits(bitmap: Words) -> int:
    """Return the number of set bits in a bitmap."""
    total = 0
    for word_index in range(len(bitmap)):
        total += count_bits(bitmap[word_index])
    return total
