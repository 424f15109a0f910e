"""The snapshot file of an index, which several processes map into memory and share page by page.

The file contains a magic line with the format number, the length and checksum of a header, the header as JSON, and the
arrays, each aligned to 64 bytes. The header contains the columns with descriptions in place of arrays, the caller's
version, and the checksum of all arrays. The file is written under a temporary name, synced, and renamed.
"""

import hashlib
import math
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns

_MAGIC: Final = b"touchstone index 7\n"
_LENGTH_BYTES: Final = 8
_CHECKSUM_BYTES: Final = 4
_PREFIX_BYTES: Final = len(_MAGIC) + _LENGTH_BYTES + _CHECKSUM_BYTES
_ALIGNMENT: Final = 64
_CHUNK_BYTES: Final = 1 << 24
_MAX_HEADER_BYTES: Final = 1 << 24


class SnapshotError(Exception):
    """The file is not a complete snapshot of this format, so the index must be built from the database."""


class StoredArray(msgspec.Struct, frozen=True):
    """The description of an array: its type, its shape, and its offset in bytes from the first array."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


class Header(msgspec.Struct, frozen=True):
    """The header of a snapshot.

    Attributes:
        version: the caller's version of the content of the index.
        size: the size of all arrays in bytes, including the gaps between them.
        checksum: the CRC-32 of these bytes.
        columns: `IndexColumns` as JSON, with a `StoredArray` in place of each array.
    """

    version: int
    size: int
    checksum: int
    columns: msgspec.Raw


def encode_prefix(encoded_header: bytes) -> bytes:
    """Return the beginning of a snapshot file: its format, and the length and the checksum of the header."""
    header_length = len(encoded_header).to_bytes(_LENGTH_BYTES, "little")
    header_checksum = zlib.crc32(encoded_header).to_bytes(_CHECKSUM_BYTES, "little")
    return _MAGIC + header_length + header_checksum


@dataclass(frozen=True, slots=True)
class MappedSnapshot:
    """A snapshot file that is mapped into memory.

    Attributes:
        index: the index, with arrays that are read from the file on first use.
        version: the caller's version of the content of the index.
        digest: the SHA-256 of the header in hexadecimal digits. The header contains the checksum of the arrays, so the
            digest identifies the snapshot.
    """

    index: CatalogIndex
    version: int
    digest: str
    _array_bytes: NDArray[np.uint8]
    _checksum: int

    def verify(self) -> None:
        """Check the checksum of all arrays, which requires reading the whole file.

        Raises:
            SnapshotError: the arrays are damaged.
        """
        if _update_checksum(0, self._array_bytes) != self._checksum:
            raise SnapshotError("the arrays are damaged")


def map_snapshot(path: Path) -> MappedSnapshot:
    """Map a snapshot file into memory in a short time that does not depend on its size.

    Only the header and the size of the file are checked; `MappedSnapshot.verify` checks the arrays.

    Raises:
        SnapshotError: the file is missing, truncated, or of another format, or its header is damaged.
    """
    try:
        with path.open("rb") as file:
            encoded_header = _read_header(file)
            header = msgspec.json.decode(encoded_header, type=Header)
            array_bytes = _map_arrays(file, arrays_offset(len(encoded_header)), header.size)

        # The decoder calls this with the description in place of each array.
        def map_array(_array_type: type[Any], description: Any) -> NDArray[Any]:
            return _map_array(array_bytes, msgspec.convert(description, StoredArray))

        columns = msgspec.json.decode(header.columns, type=IndexColumns, dec_hook=map_array)
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise SnapshotError(str(error)) from error

    digest = hashlib.sha256(encoded_header).hexdigest()
    return MappedSnapshot(CatalogIndex(columns), header.version, digest, array_bytes, header.checksum)


def _map_arrays(file: BinaryIO, offset: int, size: int) -> NDArray[np.uint8]:
    """Map the bytes of all arrays, which extend from an offset to the end of the file.

    Raises:
        SnapshotError: the file has another size. Reading beyond the end of a mapped file would kill the process.
    """
    if os.fstat(file.fileno()).st_size != offset + size:
        raise SnapshotError("the file is truncated")

    return np.asarray(np.memmap(file, np.uint8, mode="c", offset=offset, shape=(size,)))


def _read_header(file: BinaryIO) -> bytes:
    """Read the encoded header of a snapshot file.

    Raises:
        SnapshotError: the file is of another format or the header is damaged.
    """
    prefix = file.read(_PREFIX_BYTES)
    if not prefix.startswith(_MAGIC):
        raise SnapshotError("the file is not a snapshot of this format")

    header_length = int.from_bytes(prefix[len(_MAGIC) : -_CHECKSUM_BYTES], "little")
    encoded_header = file.read(min(header_length, _MAX_HEADER_BYTES))
    expected_checksum = int.from_bytes(prefix[-_CHECKSUM_BYTES:], "little")
    if zlib.crc32(encoded_header) != expected_checksum:
        raise SnapshotError("the header is damaged")

    return encoded_header


def _map_array(array_bytes: NDArray[np.uint8], stored: StoredArray) -> NDArray[Any]:
    """Return one array as a view into the bytes of all arrays."""
    dtype = np.dtype(stored.dtype)
    byte_count = dtype.itemsize * int(np.prod(stored.shape))
    return array_bytes[stored.offset : stored.offset + byte_count].view(dtype).reshape(stored.shape)


def arrays_offset(header_size: int) -> int:
    """Return the offset of the arrays in the file, given the size of the header in bytes."""
    return aligned(_PREFIX_BYTES + header_size)


def aligned(size: int) -> int:
    """Return a number of bytes rounded up to the alignment of arrays."""
    return math.ceil(size / _ALIGNMENT) * _ALIGNMENT


def _update_checksum(checksum: int, data: NDArray[np.uint8]) -> int:
    """Return a CRC-32 updated with more bytes, which are read in chunks."""
    for start in range(0, len(data), _CHUNK_BYTES):
        checksum = zlib.crc32(data[start : start + _CHUNK_BYTES].data, checksum)
    return checksum
