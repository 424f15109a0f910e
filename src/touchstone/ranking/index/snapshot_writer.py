"""Writing an index into a snapshot file, array by array while it is built."""

import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.index.array_store import ArrayStore
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.index.snapshot_file import Header, StoredArray, aligned, arrays_offset, encode_prefix

_HEADER_BYTES: Final = 1 << 18
"""The room for the header before the arrays. What it does not need is filled with blanks, which JSON ignores."""
_CHUNK_BYTES: Final = 1 << 24


class SnapshotWriter(ArrayStore):
    """A snapshot file that is being written: it takes arrays, and returns them mapped from the file.

    The file is written aside. `finish` gives it its name; otherwise it is deleted at the end of the `with` block.
    """

    def __init__(self, path: Path) -> None:
        """Begin a snapshot file that is to replace the one at `path`.

        Raises:
            OSError: the file cannot be created.
        """
        self._path = path
        self._unfinished_path = path.with_suffix(f".{os.getpid()}")
        self._file = self._unfinished_path.open("w+b")
        self._arrays_offset = arrays_offset(_HEADER_BYTES)
        self._size = 0
        self._lock = Lock()
        # Arrays that have been written, with their descriptions, by the identity of the array.
        self._arrays: dict[int, tuple[NDArray[Any], StoredArray]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
        self._unfinished_path.unlink(missing_ok=True)

    def keep(self, values: NDArray[Any]) -> NDArray[Any]:
        """Write an array, and return it mapped from the file."""
        description = self._reserve(values.dtype, values.shape)
        self._write(np.ascontiguousarray(values).reshape(-1), self._arrays_offset + description.offset)
        return self._map(description)

    def keep_pieces(self, pieces: Iterable[NDArray[Any]], size: int, dtype: Any) -> NDArray[Any]:
        """Write an array that consists of some pieces, and return it mapped from the file."""
        description = self._reserve(np.dtype(dtype), (size,))
        offset = self._arrays_offset + description.offset
        for piece in pieces:
            self._write(piece, offset)
            offset += piece.nbytes
        return self._map(description)

    def _reserve(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> StoredArray:
        """Reserve a place in the file for an array, and return its description."""
        byte_count = dtype.itemsize * int(np.prod(shape))
        with self._lock:
            description = StoredArray(dtype.str, shape, self._size)
            self._size += aligned(byte_count)
            self._file.truncate(self._arrays_offset + self._size)
        return description

    def _write(self, values: NDArray[Any], offset: int) -> None:
        """Write values at an offset in the file."""
        remaining_bytes = values.view(np.uint8).data
        while remaining_bytes:
            written_count = os.pwrite(self._file.fileno(), remaining_bytes[:_CHUNK_BYTES], offset)
            remaining_bytes = remaining_bytes[written_count:]
            offset += written_count

    def _map(self, description: StoredArray) -> NDArray[Any]:
        """Return an array that has been written, mapped from the file."""
        dtype = np.dtype(description.dtype)
        if 0 in description.shape:
            array = np.empty(description.shape, dtype)
        else:
            offset = self._arrays_offset + description.offset
            array = np.asarray(np.memmap(self._file, dtype, mode="c", offset=offset, shape=description.shape))
        self._arrays[id(array)] = (array, description)
        return array

    def finish(self, columns: IndexColumns, version: int) -> None:
        """Complete the file with an index and the caller's version of what it holds, and give it its name.

        Arrays of the index that have not been written yet are written now. An old file is replaced only when the new
        one is complete and on disk.

        Raises:
            OSError: the file cannot be written.
        """
        encoded_columns = msgspec.json.encode(columns, enc_hook=self._describe)
        header = Header(version, self._size, self._checksum(), msgspec.Raw(encoded_columns))
        encoded_header = msgspec.json.encode(header).ljust(_HEADER_BYTES)
        assert len(encoded_header) == _HEADER_BYTES

        os.pwrite(self._file.fileno(), encode_prefix(encoded_header) + encoded_header, 0)
        os.fsync(self._file.fileno())
        self._unfinished_path.replace(self._path)

    def _describe(self, value: Any) -> StoredArray:
        """Return the description of an array; the JSON encoder calls this for each array that it meets."""
        if id(value) not in self._arrays:
            mapped_array = self.keep(value)
            _, description = self._arrays.pop(id(mapped_array))
            self._arrays[id(value)] = (value, description)

        _, description = self._arrays[id(value)]
        return description

    def _checksum(self) -> int:
        """Return the CRC-32 of all arrays, including the zeros that fill the gaps between them."""
        checksum = 0
        position, end = self._arrays_offset, self._arrays_offset + self._size
        while position < end:
            chunk = os.pread(self._file.fileno(), min(_CHUNK_BYTES, end - position), position)
            checksum = zlib.crc32(chunk, checksum)
            position += len(chunk)
        return checksum


def save_index(path: Path, index: CatalogIndex, version: int) -> None:
    """Write an index into a snapshot file, so that the next start need not build it again.

    `version` is the caller's version of what the index holds. An old file is replaced only when the new one is complete
    and on disk.

    Raises:
        OSError: the file cannot be written.
    """
    with SnapshotWriter(path) as writer:
        writer.finish(index.columns, version)
