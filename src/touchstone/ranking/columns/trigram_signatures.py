"""Trigram signatures: for each leaf which trigrams its names contain, to rule out leaves before a substring search.

(J. Zobel, A. Moffat and K. Ramamohanarao, "Inverted files versus signature files for text indexing", 1998.)
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools
from touchstone.ranking.columns.text_pool import Bytes
from touchstone.ranking.kernels.text_sort_kernels import TRIGRAM_BUCKETS

_MULTIPLIER: Final = np.uint32(2654435761)  # Knuth's multiplicative hash: 2**32 divided by the golden ratio
LOWER_CASE: Final = np.array([byte + 32 if 65 <= byte <= 90 else byte for byte in range(256)], np.uint8)
"""For each byte the same byte, or the lower-case letter of an ASCII capital."""


def _hash_trigrams(text: Bytes) -> NDArray[np.int64]:
    """Return the hash bucket of each trigram in some bytes, ignoring the case of ASCII letters.

    A trigram is any three bytes in a row, so the result is two shorter than the text.
    """
    lower = LOWER_CASE[text].astype(np.uint32)
    first, second, third = lower[:-2], lower[1:-1], lower[2:]
    trigrams = (first << np.uint32(16)) | (second << np.uint32(8)) | third

    hashes = (trigrams * _MULTIPLIER) >> np.uint32(12)
    return hashes.astype(np.int64) & (TRIGRAM_BUCKETS - 1)


def leaves_with_trigrams(signatures: Bytes, substring: bytes, leaf_count: int) -> Bools:
    """Return for each leaf, a block of records, whether one of its names may contain a substring.

    A name that contains the substring contains all of its trigrams: any three bytes in a row. A leaf in which one of
    them does not occur is therefore ruled out before any of its names is read.
    """
    if len(substring) < 3:
        return np.ones(leaf_count, np.bool_)  # without a trigram, no leaf can be ruled out

    # Each row of the signatures is a bitmap of the leaves in which some trigram occurs.
    buckets = np.unique(_hash_trigrams(np.frombuffer(substring, np.uint8)))
    leaves_with_all = np.bitwise_and.reduce(signatures[buckets], axis=0)
    return np.unpackbits(leaves_with_all, count=leaf_count, bitorder="little").view(np.bool_)
