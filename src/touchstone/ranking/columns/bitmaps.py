"""Bitmaps over the records of a catalog.

The lowest bit of the first word belongs to record 0.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.kernels import bits
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words


def pack_bits(mask: Bools, word_count: int) -> Words:
    """Pack booleans, one for each record, into a bitmap of `word_count` words padded with zeros."""
    padded_bytes = np.zeros(word_count * 8, np.uint8)
    mask_bytes = np.packbits(mask, bitorder="little")
    padded_bytes[: len(mask_bytes)] = mask_bytes
    return padded_bytes.view(np.uint64)


def read_bits(words: Words, positions: NDArray[Any]) -> Bools:
    """Return the bits of a bitmap at the given positions."""
    # `position >> 6` is the index of the word, and `position & 63` is the index of the bit in the word.
    shifted_words = words[positions >> 6] >> (positions & 63).astype(np.uint64)
    return np.asarray((shifted_words & np.uint64(1)).astype(np.bool_))


def read_bit(words: Words, position: int) -> bool:
    """Return the bit of a bitmap at one position."""
    word = int(words[position >> 6])
    return bool((word >> (position & 63)) & 1)


def set_bits(words: Words, positions: NDArray[Any]) -> None:
    """Set the bits of a bitmap at the given positions, in place."""
    indices = positions.astype(np.int64)
    bit_masks = np.uint64(1) << (indices & 63).astype(np.uint64)
    np.bitwise_or.at(words, indices >> 6, bit_masks)


def clear_bits(words: Words, positions: Ints) -> None:
    """Clear the bits of a bitmap at the given positions, in place."""
    bit_masks = np.uint64(1) << (positions & 63).astype(np.uint64)
    np.bitwise_and.at(words, positions >> 6, ~bit_masks)


def list_bits(words: Words, count: int | None = None) -> Ints:
    """Return the ascending positions of the set bits of a bitmap, whose number may be given if it is known."""
    if count is None:
        count = int(np.bitwise_count(words).sum(dtype=np.int64))
    positions = np.empty(count, np.int64)
    bits.list_set_bits(words, positions)
    return positions


def complement(words: Words, record_count: int) -> Words:
    """Invert the bits of a bitmap of `record_count` records.

    The bits after the last record remain 0.
    """
    others = ~words
    full_words, remaining_bits = divmod(record_count, BITS_PER_WORD)
    others[full_words:] = 0
    if remaining_bits:
        others[full_words] = ~words[full_words] & np.uint64((1 << remaining_bits) - 1)
    return others


def count_bits_by_leaf(words: Words, leaf_words: int) -> NDArray[np.uint16]:
    """Return the number of set bits of a bitmap in each leaf of `leaf_words` words."""
    counts_by_word = np.bitwise_count(words).reshape(-1, leaf_words)
    return np.asarray(counts_by_word.sum(axis=1, dtype=np.uint16))


def to_smallest_unsigned(values: NDArray[Any]) -> NDArray[Any]:
    """Convert non-negative integers to the smallest unsigned type that can represent all of them."""
    largest = int(values.max(initial=0))
    return values.astype(np.min_scalar_type(largest))
