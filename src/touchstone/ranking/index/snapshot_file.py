"""An index as one file that processes map into memory and share page by page.

A magic line, a header (JSON: format, sizes, where each array lies, the caller's version, the checksum of the arrays'
bytes) with its own checksum, then the arrays, each at a multiple of 64. The file is written aside, synced and renamed.
"""

import os
import zlib
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.index.arrays import Index
from touchstone.ranking.index.builder import Arrays, Meta

_MAGIC: Final = b"touchstone index\n"
_FORMAT: Final = 1
_ALIGNMENT: Final = 64
_PREFIX: Final = len(_MAGIC) + 12  # the header's length in 8 bytes, its CRC-32 in 4
_CHUNK: Final = 1 << 24


class _Place(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    offset: int


class _Header(msgspec.Struct, frozen=True):
    format: int
    version: int
    meta: Meta
    places: dict[str, _Place]
    size: int
    checksum: int


class SnapshotError(Exception):
    """The file is not a whole snapshot of this format: it must be made anew from the database."""


def save_index(path: Path, index: Index, version: int) -> None:
    """Write an index with the caller's version of what it holds; the old file stays until the new one is whole.

    Raises OSError when it cannot be written.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in index.arrays.items() if name != "totals"}
    places, size = _placed(arrays)
    header = msgspec.json.encode(_Header(_FORMAT, version, index.meta, places, size, _checksum(arrays)))
    aside = path.with_suffix(f".{os.getpid()}")
    with aside.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(8, "little") + zlib.crc32(header).to_bytes(4, "little") + header)
        start = _start(len(header))
        for name, array in arrays.items():
            file.seek(start + places[name].offset)
            file.write(array.data)
        file.truncate(start + size)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def _placed(arrays: Arrays) -> tuple[dict[str, _Place], int]:
    places, end = {}, 0
    for name, array in arrays.items():
        places[name] = _Place(array.dtype.str, array.shape, end)
        end += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    return places, end


def _start(header: int) -> int:
    return -(-(_PREFIX + header) // _ALIGNMENT) * _ALIGNMENT


def _checksum(arrays: Arrays) -> int:
    checksum = 0
    for array in arrays.values():
        data = array.reshape(-1).view(np.uint8)
        for start in range(0, len(data), _CHUNK):
            checksum = zlib.crc32(data[start : start + _CHUNK].data, checksum)
    return checksum


def load_index(path: Path) -> tuple[Index, int]:
    """The index in a file, mapped and not copied, and the version it was saved with.

    Raises SnapshotError when the file is missing, damaged, cut short, or of another format.
    """
    try:
        header, start = _header(path)
        data = np.memmap(path, np.uint8, "c", start, (header.size,))
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise SnapshotError(str(error)) from error
    arrays = {name: _mapped(data, place) for name, place in header.places.items()}
    if _checksum(arrays) != header.checksum:
        raise SnapshotError("the arrays are damaged")
    return Index(arrays, header.meta), header.version


def _header(path: Path) -> tuple[_Header, int]:
    with path.open("rb") as file:
        prefix = file.read(_PREFIX)
        length = int.from_bytes(prefix[len(_MAGIC) : -4], "little")
        encoded = file.read(min(length, _CHUNK))
    if not prefix.startswith(_MAGIC) or zlib.crc32(encoded) != int.from_bytes(prefix[-4:], "little"):
        raise SnapshotError("the header is damaged")
    header = msgspec.json.decode(encoded, type=_Header)
    if header.format != _FORMAT:
        raise SnapshotError(f"format {header.format}, not {_FORMAT}")
    return header, _start(len(encoded))


def _mapped(data: NDArray[np.uint8], place: _Place) -> NDArray[Any]:
    dtype = np.dtype(place.dtype)
    size = dtype.itemsize * int(np.prod(place.shape))
    return np.asarray(data)[place.offset : place.offset + size].view(dtype).reshape(place.shape)
