"""Texts as UTF-8 in one array of bytes, which can be stored in a file and mapped into memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class TextPool:
    """Texts one after the other: `data` holds their bytes, `offsets` where each begins and where the last one ends."""

    data: Bytes
    offsets: NDArray[Any]

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> "TextPool":
        """Return a pool of texts."""
        encoded = [text.encode() for text in texts]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        dtype = np.uint32 if offsets[-1] < 2**32 else np.uint64
        return cls(np.frombuffer(bytearray().join(encoded), np.uint8), offsets.astype(dtype))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return self.data[int(self.offsets[index]) : int(self.offsets[index + 1])].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        encoded = self.data.tobytes()
        offsets: Sequence[int] = self.offsets.tolist()
        return (encoded[start:end].decode() for start, end in pairwise(offsets))

    def take(self, indices: NDArray[Any]) -> list[str]:
        """Return the texts at some indices."""
        encoded, at = self.data.data, indices.astype(np.int64)
        starts, ends = self.offsets[at].tolist(), self.offsets[at + 1].tolist()
        return [str(encoded[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]
