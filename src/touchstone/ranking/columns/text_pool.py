"""Texts in one array of UTF-8 bytes, which can be stored in a file and mapped into memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]


def smallest_offset_type(byte_count: int) -> type[np.uint32] | type[np.uint64]:
    """Return the type for offsets into `byte_count` bytes, which has 32 bits for less than 4 GiB."""
    return np.uint32 if byte_count < 2**32 else np.uint64


@dataclass(frozen=True, slots=True)
class TextPool:
    """Concatenated texts, accessed by index.

    Attributes:
        data: the UTF-8 bytes of all texts.
        offsets: the start of each text in `data`, followed by the end of the last one.
    """

    data: Bytes
    offsets: NDArray[Any]

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> "TextPool":
        """Create a pool of texts."""
        encoded_texts = [text.encode() for text in texts]
        offsets = np.cumsum([0, *map(len, encoded_texts)], dtype=np.int64)
        data = np.frombuffer(bytearray().join(encoded_texts), np.uint8)
        return cls(data, offsets.astype(smallest_offset_type(len(data))))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        start, end = int(self.offsets[index]), int(self.offsets[index + 1])
        return self.data[start:end].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        encoded_texts = self.data.tobytes()
        offsets: Sequence[int] = self.offsets.tolist()
        return (encoded_texts[start:end].decode() for start, end in pairwise(offsets))

    def take(self, indices: NDArray[Any]) -> list[str]:
        """Return the texts at the given indices."""
        indices = indices.astype(np.int64)  # so that adding 1 cannot overflow
        starts, ends = self.offsets[indices].tolist(), self.offsets[indices + 1].tolist()

        encoded_texts = self.data.data
        return [str(encoded_texts[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]
