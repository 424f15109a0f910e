"""Kernels that mark the trigrams (sequences of three bytes) of texts."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

TRIGRAM_BYTES: Final = 3
TRIGRAM_BUCKETS: Final = 1 << 14
TRIGRAM_MULTIPLIER: Final = 2654435761  # Knuth's multiplicative hash: 2**32 divided by the golden ratio
TRIGRAM_SHIFT: Final = 12  # skips the low bits of a product, which depend only on the low bits of the trigram
_WORD_MASK: Final = 2**32 - 1


def mark_trigrams(
    data: NDArray[np.uint8],
    boundaries: NDArray[np.int64],
    byte_map: NDArray[np.uint8],
    signatures: NDArray[np.uint8],
) -> None:
    """Mark the trigrams that occur in each leaf.

    Args:
        data: the bytes of all leaves.
        boundaries: the start of each leaf's bytes, followed by the end of the last ones.
        byte_map: the replacement of each byte, which converts letters to lower case.
        signatures: one row for each trigram bucket, with one bit for each leaf; modified in place.
    """
    for leaf in range(len(boundaries) - 1):
        leaf_byte, leaf_bit = leaf >> 3, np.uint8(1 << (leaf & 7))
        trigram_end = boundaries[leaf + 1] - TRIGRAM_BYTES + 1  # the last trigram must begin before this byte
        for position in range(boundaries[leaf], trigram_end):
            first, second, third = byte_map[data[position]], byte_map[data[position + 1]], byte_map[data[position + 2]]
            trigram = (int(first) << 16) | (int(second) << 8) | int(third)
            signatures[trigram_bucket(trigram), leaf_byte] |= leaf_bit


def trigram_bucket(trigram: int) -> int:
    """Return the bucket of a trigram, given as a 24-bit number, which is its row in the signatures."""
    product = (trigram * TRIGRAM_MULTIPLIER) & _WORD_MASK
    return (product >> TRIGRAM_SHIFT) & (TRIGRAM_BUCKETS - 1)
