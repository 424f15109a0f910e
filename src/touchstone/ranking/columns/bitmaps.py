"""Bitmaps over the records of a catalog, record 0 in the lowest bit of the first word."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Bools, Ints
from touchstone.ranking.kernels.bits import Words


def pack_bits(mask: Bools, word_count: int) -> Words:
    """Return a boolean for each record as a bitmap of `word_count` words."""
    padded = np.zeros(word_count * 8, np.uint8)
    packed = np.packbits(mask, bitorder="little")
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def read_bits(words: Words, positions: NDArray[Any]) -> Bools:
    """Return the bits at some positions."""
    shifted = words[positions >> 6] >> (positions & 63).astype(np.uint64)
    return np.asarray((shifted & np.uint64(1)).astype(np.bool_))


def read_bit(words: Words, position: int) -> bool:
    """Return the bit at one position."""
    return bool((int(words[position >> 6]) >> (position & 63)) & 1)


def set_bits(words: Words, positions: NDArray[Any]) -> None:
    """Set the bits at some positions in place."""
    at = positions.astype(np.int64)
    np.bitwise_or.at(words, at >> 6, np.uint64(1) << (at & 63).astype(np.uint64))


def clear_bits(words: Words, positions: Ints) -> None:
    """Clear the bits at some positions in place."""
    np.bitwise_and.at(words, positions >> 6, ~(np.uint64(1) << (positions & 63).astype(np.uint64)))


def count_bits_by_leaf(words: Words, leaf_words: int) -> NDArray[np.uint16]:
    """Return how many bits are set in each leaf."""
    return np.asarray(np.bitwise_count(words).reshape(-1, leaf_words).sum(axis=1, dtype=np.uint16))


def to_smallest_unsigned(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same whole numbers in the smallest unsigned type that holds the largest of them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
