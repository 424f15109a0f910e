"""Texts as bytes: pools of UTF-8, and trigram signatures that rule out leaves before a substring is looked for.

(Signatures: A. Zobel, J. Moffat, "Inverted files versus signature files", 1998; here one bitmap of leaves a trigram.)
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.criteria import Bools

Bytes = NDArray[np.uint8]
BUCKETS: Final = 1 << 14
_MULTIPLIER: Final = np.uint32(2654435761)  # Knuth's, the golden ratio of 2**32
_CAPITALS: Final = np.arange(256, dtype=np.uint8) + np.array(
    [32 if 65 <= byte <= 90 else 0 for byte in range(256)], np.uint8
)


def pool(texts: Iterable[str]) -> tuple[Bytes, NDArray[Any]]:
    """The bytes of all texts in a row, and where each begins, with the end of the last."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    dtype = np.uint32 if ends[-1] < 2**32 else np.uint64
    return np.frombuffer(bytearray().join(encoded), np.uint8), ends.astype(dtype)


def text(blob: Bytes, offsets: NDArray[Any], index: int) -> str:
    """One text of a pool."""
    return blob[int(offsets[index]) : int(offsets[index + 1])].tobytes().decode()


def some_texts(blob: Bytes, offsets: NDArray[Any], indices: NDArray[Any]) -> list[str]:
    """Several texts of a pool."""
    whole, at = blob.data, indices.astype(np.int64)
    starts, ends = offsets[at].tolist(), offsets[at + 1].tolist()
    return [str(whole[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]


def all_texts(blob: Bytes, offsets: NDArray[Any]) -> Iterator[str]:
    """All texts of a pool."""
    whole = blob.tobytes()
    ends: Sequence[int] = offsets.tolist()
    return (whole[start:end].decode() for start, end in pairwise(ends))


def trigrams(blob: Bytes) -> NDArray[np.int64]:
    """The buckets of the trigrams that begin at each byte but the last two, capitals counting as small letters."""
    lower = _CAPITALS[blob].astype(np.uint32)
    joined = (lower[:-2] << np.uint32(16)) | (lower[1:-1] << np.uint32(8)) | lower[2:]
    return ((joined * _MULTIPLIER) >> np.uint32(12)).astype(np.int64) & (BUCKETS - 1)


class Signatures:
    """For each trigram bucket a bitmap of the leaves in whose names it occurs; trigrams across two names count too."""

    def __init__(self, leaves: int) -> None:
        self._seen = np.zeros((BUCKETS, leaves), np.bool_)

    def add(self, leaf: int, blob: Bytes) -> None:
        """Note the trigrams of some bytes of a leaf."""
        if len(blob) > 2:
            self._seen[trigrams(blob), leaf] = True

    def packed(self) -> Bytes:
        """One row of bits for each bucket."""
        return np.packbits(self._seen, axis=1, bitorder="little")


def possible(signatures: Bytes, needle: bytes, leaves: int) -> Bools:
    """The leaves that may hold the needle; all of them when it is too short to have a trigram."""
    if len(needle) < 3:
        return np.ones(leaves, np.bool_)
    rows = signatures[np.unique(trigrams(np.frombuffer(needle, np.uint8)))]
    return np.unpackbits(np.bitwise_and.reduce(rows, axis=0), count=leaves, bitorder="little").view(np.bool_)
