"""Long texts, compressed in blocks of consecutive texts.

Descriptions make up most of the size of a large catalog. They are read either one at a time, which decompresses a
single block, or all together when texts are indexed, which decompresses all blocks into a file.

Compression takes long, so the texts of a new index remain uncompressed until they are indexed.
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
"""About 100 kB of descriptions, which is enough to compress well and takes 0.1 ms to decompress."""
_COMPRESSION_LEVEL: Final = 1  # higher levels take several times as long but save only a few per cent more


@dataclass(frozen=True, slots=True)
class PackedTexts:
    """Texts in compressed blocks, accessed by index.

    Attributes:
        data: the concatenated blocks, or the UTF-8 bytes of all texts if they are not compressed.
        block_offsets: the start of each block in `data`, followed by the end of the last one; empty if the texts are
            not compressed.
        offsets: the start of each text in the UTF-8 bytes of all texts, followed by the end of the last one.
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
        block_start, _ = self._byte_range(block)
        start, end = int(self.offsets[index]) - block_start, int(self.offsets[index + 1]) - block_start
        return bytes(self._unpack_block(block)[start:end]).decode()

    def unpack(self, folder: Path | None) -> TextPool:
        """Return the texts without compression.

        Args:
            folder: where a temporary file holds the texts, or None to use memory.

        Raises:
            OSError: the folder cannot be written to.
        """
        if not self.is_compressed:
            return TextPool(self.data, self.offsets)

        data = empty_array(int(self.offsets[-1]), np.uint8, folder)
        for block in range(len(self.block_offsets) - 1):
            start, end = self._byte_range(block)
            data[start:end] = self._unpack_block(block)
        return TextPool(data, self.offsets)

    def _byte_range(self, block: int) -> tuple[int, int]:
        """Return the start and the end of a block in the UTF-8 bytes of all texts."""
        first_text = block * TEXTS_PER_BLOCK
        text_after = min(first_text + TEXTS_PER_BLOCK, len(self))
        return int(self.offsets[first_text]), int(self.offsets[text_after])

    def _unpack_block(self, block: int) -> Bytes:
        """Return the concatenated UTF-8 bytes of the texts in a block."""
        start, end = self._byte_range(block)
        if start == end:
            return np.empty(0, np.uint8)

        packed_block = self.data[self.block_offsets[block] : self.block_offsets[block + 1]]
        unpacked_block = _codec().decompress(packed_block, decompressed_size=end - start)
        return np.frombuffer(unpacked_block, np.uint8)


def pack_texts(chunks: Iterator[Bytes], offsets: NDArray[Any], folder: Path | None) -> PackedTexts:
    """Compress texts in blocks.

    Args:
        chunks: the UTF-8 bytes of all texts in chunks of any length.
        offsets: the start of each text in these bytes, followed by the end of the last one.
        folder: where a temporary file holds the blocks, or None to use memory.

    Raises:
        OSError: the folder cannot be written to.
    """
    codec = _codec()
    packed_data = SpooledColumn(np.uint8, folder)
    block_offsets = [0]
    for block in _divide_into_blocks(chunks, offsets):
        packed_block = codec.compress(block)
        packed_data.append(np.frombuffer(packed_block, np.uint8))
        block_offsets.append(block_offsets[-1] + packed_block.size)
    return PackedTexts(packed_data.read(), np.array(block_offsets, np.int64), offsets)


def _divide_into_blocks(chunks: Iterator[Bytes], offsets: NDArray[Any]) -> Iterator[Bytes]:
    """Yield the bytes of TEXTS_PER_BLOCK texts at a time, given the bytes of all texts in chunks of any length."""
    remaining_bytes = np.empty(0, np.uint8)
    for first_text in range(0, len(offsets) - 1, TEXTS_PER_BLOCK):
        text_after = min(first_text + TEXTS_PER_BLOCK, len(offsets) - 1)
        size = int(offsets[text_after]) - int(offsets[first_text])
        while len(remaining_bytes) < size:
            remaining_bytes = np.concatenate([remaining_bytes, next(chunks)])
        yield remaining_bytes[:size]
        remaining_bytes = remaining_bytes[size:]


def _codec() -> pa.Codec:
    """Return the compression codec for blocks."""
    return pa.Codec("zstd", compression_level=_COMPRESSION_LEVEL)
