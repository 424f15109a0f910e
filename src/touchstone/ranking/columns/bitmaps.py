"""Bitmaps: packing booleans into words, and counting what each leaf holds of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.criteria import Bools, Ints

Words = NDArray[np.uint64]


def pack(mask: Bools, words: int) -> Words:
    """A boolean for each record as a bitmap of so many words, record 0 in the lowest bit of the first."""
    packed = np.zeros(words * 8, np.uint8)
    bits = np.packbits(mask, bitorder="little")
    packed[: len(bits)] = bits
    return packed.view(np.uint64)


def unpack(words: Words, size: int) -> Bools:
    """A bitmap as a boolean for each of `size` records."""
    return np.unpackbits(words.view(np.uint8), count=size, bitorder="little").view(np.bool_)


def leaf_counts(words: Words, leaf_words: int) -> NDArray[np.uint16]:
    """How many bits are set in each leaf."""
    return np.asarray(np.bitwise_count(words).reshape(-1, leaf_words).sum(axis=1, dtype=np.uint16))


def bits(words: Words, positions: Ints) -> Bools:
    """The bits at these positions."""
    shifted = words[positions >> 6] >> (positions & 63).astype(np.uint64)
    return np.asarray((shifted & np.uint64(1)).astype(np.bool_))


def smallest_unsigned(values: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in as few bytes as hold the largest."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
