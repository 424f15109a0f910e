"""Long texts, compressed in blocks of neighbours.

Descriptions take most of the bytes of a large catalog, and are read one at a time, or all of them when texts are
indexed. So a block is decompressed to read one text, and all blocks into a file to read many in any order.

Compression takes long, so the texts of a new index are stored without it until they are indexed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.spool import SpooledColumn, empty_array
from touchstone.ranking.columns.text_pool import Bytes, TextPool

TEXTS_PER_BLOCK: Final = 256
"""Some 100 kB of descriptions: enough to find repetitions, and decompressed in a tenth of a millisecond."""
_LEVEL: Final = 1  # higher levels take several times as long to save a few per cent more


@dataclass(frozen=True, slots=True)
class PackedTexts:
    """Texts in compressed blocks, read by index.

    Attributes:
        data: The blocks, one after the other, or the UTF-8 bytes of all texts if they are not compressed.
        block_offsets: Where each block begins in `data`, and at the end where the last one ends; empty if the texts are
            not compressed.
        offsets: Where each text begins among the UTF-8 bytes of all texts, and at the end where the last one ends.
    """

    data: Bytes
    block_offsets: Ints
    offsets: NDArray[Any]

    @property
    def is_compressed(self) -> bool:
        """Whether the texts are compressed."""
        return len(self.block_offsets) > 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        if not self.is_compressed:
            return TextPool(self.data, self.offsets)[index]

        block = index // TEXTS_PER_BLOCK
        block_start, _ = self._borders(block)
        start, end = int(self.offsets[index]) - block_start, int(self.offsets[index + 1]) - block_start
        return bytes(self._unpack_block(block)[start:end]).decode()

    def unpack(self, folder: Path | None) -> TextPool:
        """Return the same texts without compression, in an unnamed file in `folder`, or in memory for None.

        Raises:
            OSError: the folder cannot be written to.
        """
        if not self.is_compressed:
            return TextPool(self.data, self.offsets)

        data = empty_array(int(self.offsets[-1]), np.uint8, folder)
        for block in range(len(self.block_offsets) - 1):
            start, end = self._borders(block)
            data[start:end] = self._unpack_block(block)
        return TextPool(data, self.offsets)

    def _borders(self, block: int) -> tuple[int, int]:
        """Return where the first text of a block begins and the last one ends, among the bytes of all texts."""
        first_text = block * TEXTS_PER_BLOCK
        text_after = min(first_text + TEXTS_PER_BLOCK, len(self))
        return int(self.offsets[first_text]), int(self.offsets[text_after])

    def _unpack_block(self, block: int) -> Bytes:
        """Return the bytes of the texts in a block."""
        start, end = self._borders(block)
        if start == end:
            return np.empty(0, np.uint8)

        packed_block = self.data[self.block_offsets[block] : self.block_offsets[block + 1]]
        unpacked_block = _codec().decompress(packed_block, decompressed_size=end - start)
        return np.frombuffer(unpacked_block, np.uint8)


def pack_texts(pieces: Iterator[Bytes], offsets: NDArray[Any], folder: Path | None) -> PackedTexts:
    """Return texts in compressed blocks, which are in an unnamed file in `folder`, or in memory for None.

    Args:
        pieces: the UTF-8 bytes of all texts; a piece may end anywhere.
        offsets: where each text begins among these bytes, and at the end where the last one ends.
        folder: where the file is made.

    Raises:
        OSError: the folder cannot be written to.
    """
    codec = _codec()
    packed_data = SpooledColumn(np.uint8, folder)
    block_offsets = [0]
    for block in _divide(pieces, offsets):
        packed_block = codec.compress(block)
        packed_data.append(np.frombuffer(packed_block, np.uint8))
        block_offsets.append(block_offsets[-1] + packed_block.size)
    return PackedTexts(packed_data.read(), np.array(block_offsets, np.int64), offsets)


def _divide(pieces: Iterator[Bytes], offsets: NDArray[Any]) -> Iterator[Bytes]:
    """Yield the bytes of TEXTS_PER_BLOCK texts at a time, given those of all texts in pieces."""
    remaining_bytes = np.empty(0, np.uint8)
    for first_text in range(0, len(offsets) - 1, TEXTS_PER_BLOCK):
        text_after = min(first_text + TEXTS_PER_BLOCK, len(offsets) - 1)
        size = int(offsets[text_after]) - int(offsets[first_text])
        while len(remaining_bytes) < size:
            remaining_bytes = np.concatenate([remaining_bytes, next(pieces)])
        yield remaining_bytes[:size]
        remaining_bytes = remaining_bytes[size:]


def _codec() -> pa.Codec:
    """Return the compression of the blocks."""
    return pa.Codec("zstd", compression_level=_LEVEL)
