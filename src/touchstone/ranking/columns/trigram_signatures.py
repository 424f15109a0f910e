"""Trigram signatures, which rule out leaves of records before a substring search in their names.

See J. Zobel, A. Moffat and K. Ramamohanarao, "Inverted files versus signature files for text indexing", 1998.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools
from touchstone.ranking.columns.text_pool import Bytes
from touchstone.ranking.kernels.trigram_kernels import (
    TRIGRAM_BUCKETS,
    TRIGRAM_BYTES,
    TRIGRAM_MULTIPLIER,
    TRIGRAM_SHIFT,
)

LOWER_CASE: Final = np.array([byte + 32 if 65 <= byte <= 90 else byte for byte in range(256)], np.uint8)
"""A byte map that converts ASCII letters to lower case."""


def _trigram_buckets(text: Bytes) -> NDArray[np.int64]:
    """Return the bucket of each trigram of a text, as `trigram_kernels.trigram_bucket` does for a single one.

    A trigram is a sequence of three bytes, so the result has two elements fewer than the text.
    """
    lower = LOWER_CASE[text].astype(np.uint32)
    first, second, third = lower[:-2], lower[1:-1], lower[2:]
    trigrams = (first << np.uint32(16)) | (second << np.uint32(8)) | third

    hashes = (trigrams * np.uint32(TRIGRAM_MULTIPLIER)) >> np.uint32(TRIGRAM_SHIFT)
    return hashes.astype(np.int64) & (TRIGRAM_BUCKETS - 1)


def leaves_with_trigrams(signatures: Bytes, substring: bytes, leaf_count: int) -> Bools:
    """Return whether each leaf may have a name that contains a substring.

    A name that contains the substring contains all of its trigrams. Leaves that lack any of them are ruled out. There
    may be false positives, but no false negatives.

    Args:
        signatures: the trigrams in the names of each leaf: one row for each bucket, with one bit for each leaf.
        substring: the substring in UTF-8.
        leaf_count: the number of leaves.
    """
    if len(substring) < TRIGRAM_BYTES:
        return np.ones(leaf_count, np.bool_)  # without a trigram, no leaf can be ruled out

    # Each row of the signatures is a bitmap of the leaves that contain a trigram of the bucket.
    buckets = np.unique(_trigram_buckets(np.frombuffer(substring, np.uint8)))
    leaves_with_all = np.bitwise_and.reduce(signatures[buckets], axis=0)
    return np.unpackbits(leaves_with_all, count=leaf_count, bitorder="little").view(np.bool_)
