"""Writing an index into a snapshot file, array by array while it is built."""

import os
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
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
"""The space reserved for the header before the arrays. It is padded with blanks, which JSON ignores."""
_CHUNK_BYTES: Final = 1 << 24


class SnapshotWriter(ArrayStore):
    """A snapshot file that is being written.

    The stored arrays are mapped from the file.

    The file has a temporary name until `finish` renames it. Without `finish`, leaving the `with` block deletes it,
    and if the process ends before that, the next writer does so. Only one process may write a snapshot at a time.
    """

    def __init__(self, path: Path) -> None:
        """Create a temporary file that will replace the snapshot at `path`.

        Raises:
            OSError: the file cannot be created.
        """
        _remove_unfinished_files(path)
        self._path = path
        self._unfinished_path = path.with_suffix(f".{os.getpid()}")
        self._file = self._unfinished_path.open("w+b")
        self._arrays_offset = arrays_offset(_HEADER_BYTES)
        self._size = 0
        self._lock = Lock()
        # Written arrays and their descriptions, by the id of the array. The reference keeps the id from being reused.
        self._arrays: dict[int, tuple[NDArray[Any], StoredArray]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
        self._unfinished_path.unlink(missing_ok=True)

    def add(self, values: NDArray[Any]) -> NDArray[Any]:
        """Write an array, and return it mapped from the file."""
        description = self._reserve(values.dtype, values.shape)
        self._write(np.ascontiguousarray(values).reshape(-1), self._arrays_offset + description.offset)
        return self._map(description)

    def add_chunks(self, chunks: Iterable[NDArray[Any]], size: int, dtype: Any) -> NDArray[Any]:
        """Write the chunks of an array one after the other, and return the array mapped from the file."""
        description = self._reserve(np.dtype(dtype), (size,))
        offset = self._arrays_offset + description.offset
        for chunk in chunks:
            self._write(chunk, offset)
            offset += chunk.nbytes
        return self._map(description)

    def _reserve(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> StoredArray:
        """Reserve space in the file for an array, and return its description."""
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
        """Map an array that has been written from the file."""
        dtype = np.dtype(description.dtype)
        if 0 in description.shape:
            array = np.empty(description.shape, dtype)
        else:
            offset = self._arrays_offset + description.offset
            array = np.asarray(np.memmap(self._file, dtype, mode="c", offset=offset, shape=description.shape))
        self._arrays[id(array)] = (array, description)
        return array

    def finish(self, columns: IndexColumns, version: int) -> None:
        """Write the header and all arrays not written yet, and rename the file to its final name.

        An old file is replaced only when the new one is complete and on disk.

        Args:
            columns: the columns of the index.
            version: the caller's version of the content of the index.

        Raises:
            OSError: the file cannot be written.
        """
        encoded_columns = msgspec.json.encode(columns, enc_hook=self._describe)
        # The disk writes the arrays while their checksum is computed.
        with ThreadPoolExecutor(1, "snapshot-sync") as pool:
            sync = pool.submit(os.fsync, self._file.fileno())
            header = Header(version, self._size, self._checksum(), msgspec.Raw(encoded_columns))
            sync.result()

        encoded_header = msgspec.json.encode(header).ljust(_HEADER_BYTES)
        assert len(encoded_header) == _HEADER_BYTES
        os.pwrite(self._file.fileno(), encode_prefix(encoded_header) + encoded_header, 0)
        os.fsync(self._file.fileno())
        self._unfinished_path.replace(self._path)

    def _describe(self, value: Any) -> StoredArray:
        """Return the description of an array, which the JSON encoder writes instead of the array."""
        if id(value) not in self._arrays:
            mapped_array = self.add(value)
            _mapped_array, description = self._arrays.pop(id(mapped_array))
            self._arrays[id(value)] = (value, description)

        _array, description = self._arrays[id(value)]
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


def _remove_unfinished_files(path: Path) -> None:
    """Remove the unfinished snapshots of processes that ended while they were writing the file at `path`."""
    for file in path.parent.glob(f"{path.stem}.*"):
        if file.suffix.removeprefix(".").isdecimal():
            file.unlink(missing_ok=True)


def save_index(path: Path, index: CatalogIndex, version: int) -> None:
    """Write an index into a snapshot file, so that it need not be built again at the next start.

    An old file is replaced only when the new one is complete and on disk.

    Args:
        path: the path of the snapshot file.
        index: the index to save.
        version: the caller's version of the content of the index.

    Raises:
        OSError: the file cannot be written.
    """
    with SnapshotWriter(path) as writer:
        writer.finish(index.columns, version)
