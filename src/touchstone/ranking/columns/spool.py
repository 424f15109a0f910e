"""Columns that are collected piece by piece until they are read as a whole: in unnamed files, or in memory.

What is in a file does not count as memory of the process. The system keeps as much of it in memory as there is room
for, and deletes the file when nobody reads it any more.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.ranking.column_types import Bools, Ints
from touchstone.ranking.columns.text_pool import Bytes


class SpooledColumn:
    """A column to which values are appended before it is read once."""

    def __init__(self, dtype: Any, folder: Path | None) -> None:
        """Begin a column in a file in `folder`, or in memory for None."""
        self._dtype = np.dtype(dtype)
        self._file: BinaryIO | None = TemporaryFile(dir=folder) if folder else None  # noqa: SIM115 (closed by `read`)
        self._pieces: list[NDArray[Any]] = []

    def append(self, values: NDArray[Any]) -> None:
        """Append some values."""
        piece = np.array(values, self._dtype)
        if self._file is None:
            self._pieces.append(piece)
        else:
            self._file.write(piece.data)

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


@dataclass(frozen=True, slots=True)
class SpooledTexts:
    """The texts of all records, one after the other.

    Attributes:
        data: The UTF-8 bytes of all texts.
        offsets: Where each text begins in `data`, and at the end where the last one ends.
        is_known: For each record whether it has a text.
        accented_records: The records whose text is not plain ASCII.
        accented_data, accented_offsets: The folded texts of these records, in the same order.
    """

    data: Bytes
    offsets: Ints
    is_known: Bools
    accented_records: Ints
    accented_data: Bytes
    accented_offsets: Ints

    def lengths(self) -> Ints:
        """Return how many bytes each text has."""
        return np.diff(self.offsets)


class TextSpool:
    """The texts of a growing number of records, and the folded form of those that are not plain ASCII.

    Folding takes long, so texts in plain ASCII, which need it for upper-case letters only, are folded when they are
    compared.
    """

    def __init__(self, folder: Path | None) -> None:
        self._data = SpooledColumn(np.uint8, folder)
        self._lengths = SpooledColumn(np.int32, folder)
        self._is_known = SpooledColumn(np.bool_, folder)
        self._accented_records = SpooledColumn(np.int64, folder)
        self._accented_data = SpooledColumn(np.uint8, folder)
        self._accented_lengths = SpooledColumn(np.int32, folder)
        self._size = 0

    def append(self, texts: pa.Array) -> None:
        """Append texts, an Arrow array of the type `large_string`; null means "not known"."""
        self._is_known.append(texts.is_valid().to_numpy(zero_copy_only=False))
        known_texts = texts.fill_null("")
        offsets, data = arrow_bytes(known_texts)
        self._lengths.append(np.diff(offsets))
        self._data.append(data)

        is_accented = pc.invert(pc.string_is_ascii(known_texts))
        accented_records = np.flatnonzero(is_accented.to_numpy(zero_copy_only=False))
        if len(accented_records):
            folded_texts = [fold(text) for text in known_texts.filter(is_accented).to_pylist()]
            self._append_folded(self._size + accented_records, folded_texts)
        self._size += len(texts)

    def _append_folded(self, records: Ints, folded_texts: list[str]) -> None:
        """Append the folded texts of some records."""
        offsets, data = arrow_bytes(pa.array(folded_texts, pa.large_string()))
        self._accented_records.append(records)
        self._accented_lengths.append(np.diff(offsets))
        self._accented_data.append(data)

    def read(self) -> SpooledTexts:
        """Return the texts of all records; nothing can be appended afterwards."""
        return SpooledTexts(
            data=self._data.read(),
            offsets=_to_offsets(self._lengths.read()),
            is_known=self._is_known.read(),
            accented_records=self._accented_records.read(),
            accented_data=self._accented_data.read(),
            accented_offsets=_to_offsets(self._accented_lengths.read()),
        )


def arrow_bytes(texts: pa.Array) -> tuple[Ints, Bytes]:
    """Return where each text of an Arrow array begins and the last one ends, and the bytes of all; none may be null."""
    _, offset_buffer, data_buffer = texts.buffers()
    all_offsets = np.frombuffer(offset_buffer, np.int64) if offset_buffer else np.zeros(1, np.int64)
    offsets = all_offsets[texts.offset : texts.offset + len(texts) + 1]
    all_data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.empty(0, np.uint8)
    return offsets - offsets[0], all_data[offsets[0] : offsets[-1]]


def _to_offsets(lengths: NDArray[np.int32]) -> Ints:
    """Return where texts of some lengths begin, and at the end where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
