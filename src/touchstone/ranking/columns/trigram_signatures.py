"""Trigram signatures: for each leaf which trigrams its names contain, to rule out leaves before a substring search.

(J. Zobel, A. Moffat and K. Ramamohanarao, "Inverted files versus signature files for text indexing", 1998.)
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.text_pool import Bytes
from touchstone.ranking.column_types import Bools

_BUCKETS: Final = 1 << 14
_MULTIPLIER: Final = np.uint32(2654435761)  # Knuth's multiplicative hash: 2**32 divided by the golden ratio
_LOWER_CASE: Final = np.array([byte + 32 if 65 <= byte <= 90 else byte for byte in range(256)], np.uint8)


def _hash_trigrams(text: Bytes) -> NDArray[np.int64]:
    """Return the bucket of the trigram that begins at each byte but the last two, ignoring the case of ASCII."""
    lower = _LOWER_CASE[text].astype(np.uint32)
    trigrams = (lower[:-2] << np.uint32(16)) | (lower[1:-1] << np.uint32(8)) | lower[2:]
    return ((trigrams * _MULTIPLIER) >> np.uint32(12)).astype(np.int64) & (_BUCKETS - 1)


class SignatureWriter:
    """Collects the trigrams of each leaf; trigrams that span two names count as well and do no harm."""

    def __init__(self, leaves: int) -> None:
        self._occurs = np.zeros((_BUCKETS, leaves), np.bool_)

    def add(self, leaf: int, text: Bytes) -> None:
        """Add the trigrams of some bytes of a leaf."""
        if len(text) > 2:
            self._occurs[_hash_trigrams(text), leaf] = True

    def to_bitmaps(self) -> Bytes:
        """Return for each bucket a bitmap of the leaves in which it occurs, one row each."""
        return np.packbits(self._occurs, axis=1, bitorder="little")


def leaves_with_trigrams(signatures: Bytes, needle: bytes, leaves: int) -> Bools:
    """Return for each leaf whether it may contain the needle: always, if the needle is too short for a trigram."""
    if len(needle) < 3:
        return np.ones(leaves, np.bool_)
    rows = signatures[np.unique(_hash_trigrams(np.frombuffer(needle, np.uint8)))]
    return np.unpackbits(np.bitwise_and.reduce(rows, axis=0), count=leaves, bitorder="little").view(np.bool_)
