"""Columns that are collected chunk by chunk and then read as a whole, in temporary files or in memory.

Memory-mapped files do not count as memory of the process. The operating system caches as much of them as possible, and
deletes them when they are no longer used.
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
    """A column that is written chunk by chunk and then read once."""

    def __init__(self, dtype: Any, folder: Path | None) -> None:
        """Begin a column in a temporary file in `folder`, or in memory if it is None."""
        self._dtype = np.dtype(dtype)
        self._file: BinaryIO | None = TemporaryFile(dir=folder) if folder else None  # noqa: SIM115 (closed by `read`)
        self._chunks: list[NDArray[Any]] = []

    def append(self, values: NDArray[Any]) -> None:
        """Append values to the column."""
        if self._file is None:
            self._chunks.append(np.array(values, self._dtype))
        else:
            self._file.write(np.ascontiguousarray(values, self._dtype).data)

    def read(self) -> NDArray[Any]:
        """Finish the column and return its values."""
        if self._file is None:
            chunks, self._chunks = self._chunks, []
            return np.concatenate(chunks) if chunks else np.empty(0, self._dtype)

        with self._file as file:
            file.flush()
            if file.tell() == 0:
                return np.empty(0, self._dtype)
            # Use copy-on-write mode, because kernels are compiled for writable arrays.
            return np.asarray(np.memmap(file, self._dtype, mode="c"))


def empty_array(size: int, dtype: Any, folder: Path | None) -> NDArray[Any]:
    """Allocate an uninitialized array.

    Args:
        size: the number of elements.
        dtype: the type of the elements.
        folder: where a temporary file holds the array, or None to use memory.

    Raises:
        OSError: the folder cannot be written to.
    """
    if folder is None or size == 0:
        return np.empty(size, dtype)
    with TemporaryFile(dir=folder) as file:
        # Reserve the space now, because running out of disk space while writing to the array would kill the process.
        os.posix_fallocate(file.fileno(), 0, size * np.dtype(dtype).itemsize)
        return np.asarray(np.memmap(file, dtype, mode="r+", shape=(size,)))


@dataclass(frozen=True, slots=True)
class SpooledTexts:
    """The concatenated texts of all records.

    Attributes:
        data: the UTF-8 bytes of all texts.
        offsets: the start of each text in `data`, followed by the end of the last one.
        is_known: whether each record has a text.
    """

    data: Bytes
    offsets: Ints
    is_known: Bools

    def lengths(self) -> Ints:
        """Return the length of each text in bytes."""
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True)
class FoldedTexts:
    """The folded forms of texts, which are in lower case and without accents.

    Attributes:
        texts: the folded form of each text, as an Arrow array of the type `large_string` without nulls.
        accented_indices: the ascending indices of the texts that are not plain ASCII.
    """

    texts: pa.Array
    accented_indices: Ints


class TextSpool:
    """Collects the texts of records."""

    def __init__(self, folder: Path | None) -> None:
        self._texts = _BytesSpool(folder)
        self._is_known = SpooledColumn(np.bool_, folder)

    def append(self, texts: pa.Array) -> None:
        """Append the texts of an Arrow array of the type `large_string`, in which null means unknown."""
        self._is_known.append(texts.is_valid().to_numpy(zero_copy_only=False))
        self._texts.append(texts.fill_null(""))

    def read(self) -> SpooledTexts:
        """Finish the collection and return the texts of all records."""
        return SpooledTexts(self._texts.data.read(), self._texts.offsets.read(), self._is_known.read())


@dataclass(frozen=True, slots=True)
class RepeatedTexts:
    """The texts of all records, in which equal texts of one batch of records are stored only once.

    Attributes:
        texts: the distinct texts of each batch of records, batch by batch.
        codes: the index of each record's text among them, counted from 1; 0 means unknown.
    """

    texts: SpooledTexts
    codes: NDArray[np.uint32]


class RepeatedTextSpool:
    """Collects the texts of records in batches, storing equal texts of a batch only once."""

    def __init__(self, folder: Path | None) -> None:
        self._texts = TextSpool(folder)
        self._codes = SpooledColumn(np.uint32, folder)
        self._text_count = 0

    def append(self, texts: pa.Array) -> None:
        """Append the texts of an Arrow array of the type `large_string`, in which null means unknown."""
        encoded_texts = texts.dictionary_encode()
        indices = encoded_texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        self.append_codes(indices + 1, encoded_texts.dictionary)

    def append_codes(self, codes: NDArray[np.int32], distinct_texts: pa.Array) -> None:
        """Append the text of each record, given its one-based index among distinct texts, or 0 if it is unknown."""
        self._codes.append(np.where(codes == 0, 0, codes + self._text_count))
        self._texts.append(distinct_texts)
        self._text_count += len(distinct_texts)

    def read(self) -> RepeatedTexts:
        """Finish the collection and return the texts of all records."""
        return RepeatedTexts(self._texts.read(), self._codes.read())


class FoldedTextSpool:
    """Collects the folded forms of texts."""

    def __init__(self, folder: Path | None) -> None:
        self._folded_texts = _BytesSpool(folder)
        self._accented_indices = SpooledColumn(np.int64, folder)
        self._size = 0

    def append(self, texts: pa.Array) -> None:
        """Append the folded forms of the texts of an Arrow array of the type `large_string`. Null counts as empty."""
        texts = texts.fill_null("")
        folded_texts = pc.ascii_lower(texts)

        is_accented = pc.invert(pc.string_is_ascii(texts))
        accented_indices = np.flatnonzero(is_accented.to_numpy(zero_copy_only=False))
        if len(accented_indices):
            folded_accented = [fold(text) for text in texts.filter(is_accented).to_pylist()]
            replacements = pa.array(folded_accented, pa.large_string())
            folded_texts = pc.replace_with_mask(folded_texts, is_accented, replacements)
            self._accented_indices.append(self._size + accented_indices)

        self._folded_texts.append(folded_texts)
        self._size += len(texts)

    def read(self) -> FoldedTexts:
        """Finish the collection and return the folded forms of all texts."""
        texts = TextPool(self._folded_texts.data.read(), self._folded_texts.offsets.read())
        return FoldedTexts(arrow_texts(texts), self._accented_indices.read())


class _BytesSpool:
    """Collects the bytes of texts, and the start of each text followed by the end of the last one."""

    def __init__(self, folder: Path | None) -> None:
        self.data = SpooledColumn(np.uint8, folder)
        self.offsets = SpooledColumn(np.int64, folder)
        self.offsets.append(np.zeros(1))
        self._byte_count = 0

    def append(self, texts: pa.Array) -> None:
        """Append the texts of an Arrow array of the type `large_string` without nulls."""
        offsets, data = arrow_bytes(texts)
        self.data.append(data)
        self.offsets.append(self._byte_count + offsets[1:])
        self._byte_count += len(data)


def arrow_bytes(texts: pa.Array) -> tuple[Ints, Bytes]:
    """Return the offsets and the bytes of the texts in an Arrow array without nulls, as in `SpooledTexts`."""
    _, offset_buffer, data_buffer = texts.buffers()
    all_offsets = np.frombuffer(offset_buffer, np.int64) if offset_buffer else np.zeros(1, np.int64)
    offsets = all_offsets[texts.offset : texts.offset + len(texts) + 1]
    all_data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.empty(0, np.uint8)
    return offsets - offsets[0], all_data[offsets[0] : offsets[-1]]


def arrow_texts(texts: TextPool | SpooledTexts) -> pa.Array:
    """Return texts as an Arrow array without nulls that shares their bytes."""
    offsets = texts.offsets.astype(np.int64, copy=False)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
