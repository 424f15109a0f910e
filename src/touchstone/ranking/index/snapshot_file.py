"""An index as one file, which several processes map into memory and share page by page.

The file holds a magic line with the number of the format, the length and checksum of a header, the header as JSON, and
the arrays, each at a multiple of 64 bytes. The header holds the columns with a description of each array in its place,
the caller's version, and the checksum of all arrays. The file is written aside, synced, and renamed.
"""

import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns

_MAGIC: Final = b"touchstone index 2\n"
_LENGTH_BYTES: Final = 8
_CHECKSUM_BYTES: Final = 4
_PREFIX_BYTES: Final = len(_MAGIC) + _LENGTH_BYTES + _CHECKSUM_BYTES
_ALIGNMENT: Final = 64
_CHUNK: Final = 1 << 24
_MAX_HEADER_BYTES: Final = 1 << 24


class SnapshotError(Exception):
    """The file is not a complete snapshot of this format; the index must be built again from the database."""


class _StoredArray(msgspec.Struct, frozen=True):
    """The description of an array: its type and shape, and where it begins among the arrays."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


class _Header(msgspec.Struct, frozen=True):
    """The header of a snapshot; `columns` is the JSON of `IndexColumns` with a `_StoredArray` for each array."""

    version: int
    size: int
    checksum: int
    columns: msgspec.Raw


@dataclass(slots=True)
class _ArrayLayout:
    """The arrays of a snapshot in the order in which they are written."""

    arrays: list[NDArray[Any]] = field(default_factory=list)
    size: int = 0

    def describe(self, value: Any) -> _StoredArray:
        """Give an array its place and return its description; called for each array while columns are encoded."""
        array = np.ascontiguousarray(value)
        description = _StoredArray(array.dtype.str, array.shape, self.size)
        self.arrays.append(array)
        self.size += _aligned(array.nbytes)
        return description

    def checksum(self) -> int:
        """Return the checksum of all arrays with the zeros between them."""
        checksum = 0
        for array in self.arrays:
            checksum = _update_checksum(checksum, array.reshape(-1).view(np.uint8))
            checksum = zlib.crc32(bytes(_aligned(array.nbytes) - array.nbytes), checksum)
        return checksum


def save_index(path: Path, index: CatalogIndex, version: int) -> None:
    """Write an index with the caller's version of what it holds; the old file stays until the new one is complete.

    Raises OSError if the file cannot be written.
    """
    layout = _ArrayLayout()
    columns = msgspec.json.encode(index.columns, enc_hook=layout.describe)
    header = msgspec.json.encode(_Header(version, layout.size, layout.checksum(), msgspec.Raw(columns)))
    length, checksum = len(header).to_bytes(_LENGTH_BYTES, "little"), zlib.crc32(header)

    unfinished = path.with_suffix(f".{os.getpid()}")
    with unfinished.open("wb") as file:
        file.write(_MAGIC + length + checksum.to_bytes(_CHECKSUM_BYTES, "little") + header)
        end = _arrays_start(len(header))
        for array in layout.arrays:
            file.seek(end)
            file.write(array.data)
            end += _aligned(array.nbytes)
        file.truncate(end)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def load_index(path: Path) -> tuple[CatalogIndex, int]:
    """Return the index in a file, mapped into memory, and the version that it was saved with.

    Raises SnapshotError if the file is missing, damaged, cut short, or of another format.
    """
    try:
        header, start = _read_header(path)
        arrays = np.asarray(np.memmap(path, np.uint8, "c", start, (header.size,)))
        if _update_checksum(0, arrays) != header.checksum:
            raise SnapshotError("the arrays are damaged")

        def map_array(_: type[Any], description: Any) -> NDArray[Any]:
            return _map_array(arrays, msgspec.convert(description, _StoredArray))

        columns = msgspec.json.decode(header.columns, type=IndexColumns, dec_hook=map_array)
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise SnapshotError(str(error)) from error
    return CatalogIndex(columns), header.version


def _read_header(path: Path) -> tuple[_Header, int]:
    """Return the header of a file and where its arrays begin."""
    with path.open("rb") as file:
        prefix = file.read(_PREFIX_BYTES)
        length = int.from_bytes(prefix[len(_MAGIC) : -_CHECKSUM_BYTES], "little")
        encoded = file.read(min(length, _MAX_HEADER_BYTES))

    if not prefix.startswith(_MAGIC):
        raise SnapshotError("the file is not a snapshot of this format")
    if zlib.crc32(encoded) != int.from_bytes(prefix[-_CHECKSUM_BYTES:], "little"):
        raise SnapshotError("the header is damaged")
    return msgspec.json.decode(encoded, type=_Header), _arrays_start(len(encoded))


def _map_array(arrays: NDArray[np.uint8], stored: _StoredArray) -> NDArray[Any]:
    """Return one array as a view of the mapped bytes."""
    dtype = np.dtype(stored.dtype)
    size = dtype.itemsize * int(np.prod(stored.shape))
    return arrays[stored.offset : stored.offset + size].view(dtype).reshape(stored.shape)


def _arrays_start(header_size: int) -> int:
    return _aligned(_PREFIX_BYTES + header_size)


def _aligned(size: int) -> int:
    """Return a size rounded up to the alignment of arrays."""
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _update_checksum(checksum: int, data: NDArray[np.uint8]) -> int:
    for start in range(0, len(data), _CHUNK):
        checksum = zlib.crc32(data[start : start + _CHUNK].data, checksum)
    return checksum
