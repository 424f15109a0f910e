"""Columns that are collected piece by piece until they are read as a whole: in unnamed files, or in memory.

What is in a file does not count as memory of the process. The system keeps as much of it in memory as there is room
for, and deletes the file when nobody reads it any more.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.text_pool import Bytes, TextPool


class SpooledColumn:
    """A column to which values are appended before it is read once."""

    def __init__(self, dtype: Any, folder: Path | None) -> None:
        """Begin a column in a file in `folder`, or in memory for None."""
        self._dtype = np.dtype(dtype)
        self._file: BinaryIO | None = TemporaryFile(dir=folder) if folder else None  # noqa: SIM115 (closed by `read`)
        self._pieces: list[NDArray[Any]] = []

    def append(self, values: NDArray[Any]) -> None:
        """Append some values."""
        if self._file is None:
            self._pieces.append(np.array(values, self._dtype))
        else:
            self._file.write(np.ascontiguousarray(values, self._dtype).data)

    def read(self) -> NDArray[Any]:
        """Return the whole column; nothing can be appended afterwards."""
        if self._file is None:
            pieces, self._pieces = self._pieces, []
            return np.concatenate(pieces) if pieces else np.empty(0, self._dtype)

        with self._file as file:
            file.flush()
            if file.tell() == 0:
                return np.empty(0, self._dtype)
            # Copy on write, because compiled kernels expect arrays that could be written.
            return np.asarray(np.memmap(file, self._dtype, mode="c"))


def empty_array(size: int, dtype: Any, folder: Path | None) -> NDArray[Any]:
    """Return an array to be filled, in an unnamed file in `folder`, or in memory for None.

    Raises:
        OSError: the folder cannot be written to.
    """
    if folder is None or size == 0:
        return np.empty(size, dtype)
    with TemporaryFile(dir=folder) as file:
        # Reserved in advance, because a full disk would otherwise end the process when the array is filled.
        os.posix_fallocate(file.fileno(), 0, size * np.dtype(dtype).itemsize)
        return np.asarray(np.memmap(file, dtype, mode="r+", shape=(size,)))


@dataclass(frozen=True, slots=True)
class SpooledTexts:
    """The texts of all records, one after the other.

    Attributes:
        data: The UTF-8 bytes of all texts.
        offsets: Where each text begins in `data`, and at the end where the last one ends.
        is_known: For each record whether it has a text.
    """

    data: Bytes
    offsets: Ints
    is_known: Bools

    def lengths(self) -> Ints:
        """Return how many bytes each text has."""
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True)
class AccentedTexts:
    """Those of some texts that are not plain ASCII, folded.

    Attributes:
        indices: Which texts these are, in ascending order.
        data, offsets: The bytes of their folded forms, where each begins, and at the end where the last one ends.
    """

    indices: Ints
    data: Bytes
    offsets: Ints


class TextSpool:
    """The texts of a growing number of records."""

    def __init__(self, folder: Path | None) -> None:
        self._texts = _BytesSpool(folder)
        self._is_known = SpooledColumn(np.bool_, folder)

    def append(self, texts: pa.Array) -> None:
        """Append texts, an Arrow array of the type `large_string`; null means "not known"."""
        self._is_known.append(texts.is_valid().to_numpy(zero_copy_only=False))
        self._texts.append(texts.fill_null(""))

    def read(self) -> SpooledTexts:
        """Return the texts of all records; nothing can be appended afterwards."""
        return SpooledTexts(self._texts.data.read(), self._texts.offsets.read(), self._is_known.read())


@dataclass(frozen=True, slots=True)
class RepeatedTexts:
    """The texts of all records, many of which are the same.

    Attributes:
        texts: The distinct texts of each batch of records, one batch after the other.
        codes: For each record the index of its text among these, counted from 1; 0 stands for "not known".
    """

    texts: SpooledTexts
    codes: NDArray[np.uint32]


class RepeatedTextSpool:
    """The texts of a growing number of records, each of which is stored once for each batch in which it occurs."""

    def __init__(self, folder: Path | None) -> None:
        self._texts = TextSpool(folder)
        self._codes = SpooledColumn(np.uint32, folder)
        self._text_count = 0

    def append(self, texts: pa.Array) -> None:
        """Append texts, an Arrow array of the type `large_string`; null means "not known"."""
        encoded_texts = texts.dictionary_encode()
        indices = encoded_texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        self.append_coded(indices + 1, encoded_texts.dictionary)

    def append_coded(self, codes: NDArray[np.int32], distinct_texts: pa.Array) -> None:
        """Append texts, given as indices among some distinct texts, which are counted from 1; 0 means "not known"."""
        self._codes.append(np.where(codes == 0, 0, codes + self._text_count))
        self._texts.append(distinct_texts)
        self._text_count += len(distinct_texts)

    def read(self) -> RepeatedTexts:
        """Return the texts of all records; nothing can be appended afterwards."""
        return RepeatedTexts(self._texts.read(), self._codes.read())


class AccentSpool:
    """The folded form of those of a growing number of texts that are not plain ASCII.

    Folding takes long, so texts in plain ASCII, which need it for upper-case letters only, are folded when they are
    compared.
    """

    def __init__(self, folder: Path | None) -> None:
        self._indices = SpooledColumn(np.int64, folder)
        self._folded_texts = _BytesSpool(folder)
        self._size = 0

    def append(self, texts: pa.Array) -> None:
        """Append the folded forms of the next texts, an Arrow array; null counts as an empty text."""
        is_accented = pc.invert(pc.string_is_ascii(texts).fill_null(True))
        accented_indices = np.flatnonzero(is_accented.to_numpy(zero_copy_only=False))
        if len(accented_indices):
            folded_texts = [fold(text) for text in texts.filter(is_accented).to_pylist()]
            self._indices.append(self._size + accented_indices)
            self._folded_texts.append(pa.array(folded_texts, pa.large_string()))
        self._size += len(texts)

    def read(self) -> AccentedTexts:
        """Return the folded forms of all texts; nothing can be appended afterwards."""
        return AccentedTexts(self._indices.read(), self._folded_texts.data.read(), self._folded_texts.offsets.read())


class _BytesSpool:
    """The bytes of a growing number of texts, where each begins, and at the end where the last one ends."""

    def __init__(self, folder: Path | None) -> None:
        self.data = SpooledColumn(np.uint8, folder)
        self.offsets = SpooledColumn(np.int64, folder)
        self.offsets.append(np.zeros(1))
        self._byte_count = 0

    def append(self, texts: pa.Array) -> None:
        """Append texts, an Arrow array of the type `large_string` without nulls."""
        offsets, data = arrow_bytes(texts)
        self.data.append(data)
        self.offsets.append(self._byte_count + offsets[1:])
        self._byte_count += len(data)


def arrow_bytes(texts: pa.Array) -> tuple[Ints, Bytes]:
    """Return where each text of an Arrow array begins and the last one ends, and the bytes of all; none may be null."""
    _, offset_buffer, data_buffer = texts.buffers()
    all_offsets = np.frombuffer(offset_buffer, np.int64) if offset_buffer else np.zeros(1, np.int64)
    offsets = all_offsets[texts.offset : texts.offset + len(texts) + 1]
    all_data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.empty(0, np.uint8)
    return offsets - offsets[0], all_data[offsets[0] : offsets[-1]]


def arrow_texts(pool: TextPool) -> pa.Array:
    """Return the texts of a pool as an Arrow array over the same bytes."""
    offsets = pa.py_buffer(pool.offsets.astype(np.int64))
    return pa.Array.from_buffers(pa.large_string(), len(pool), [None, offsets, pa.py_buffer(pool.data)])
