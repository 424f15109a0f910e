"""Building an index over records that come batch by batch, or that the parts of a catalog hold."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from touchstone.ranking.catalog.indexed_part import IndexedPart
from touchstone.ranking.catalog.unindexed_part import UnindexedPart
from touchstone.ranking.columns.record_batch import CodedColumn, RecordBatch
from touchstone.ranking.columns.segment import TEXT_COLUMNS, WORD_COLUMNS, DecodedColumns
from touchstone.ranking.index.array_store import MemoryStore
from touchstone.ranking.index.builder import build_columns
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.collected_records import RecordCollector
from touchstone.ranking.index.record_decoding import decode_records
from touchstone.ranking.index.snapshot_writer import SnapshotWriter
from touchstone.ranking.kernels.compilation import compile_kernels
from touchstone.ranking.text.record_words import DecodedWords, RecordWordsWriter

_RECORDS_PER_BATCH: Final = 1 << 16


class IndexBuilder:
    """Takes all records of a catalog batch by batch, and builds an index over them.

    With a path, the records are collected in unnamed files in its folder, and the index is written into a snapshot
    file, which replaces the one at the path when it is complete. So the memory of the process stays small.
    """

    def __init__(self, leaf_words: int, snapshot_path: Path | None, *, compiled: bool) -> None:
        """Prepare to build an index in leaves of `64 * leaf_words` records; tests do without compiled kernels.

        Raises:
            OSError: nothing can be written into the folder.
        """
        if compiled:
            compile_kernels()
        self._leaf_words = leaf_words
        self._snapshot_path = snapshot_path
        self._collector = RecordCollector(snapshot_path.parent if snapshot_path else None)

    @property
    def size(self) -> int:
        """How many records there are so far."""
        return self._collector.size

    def add(self, batch: RecordBatch) -> None:
        """Append the records of a batch.

        Raises:
            OSError: the batch cannot be written.
        """
        self._collector.add(batch)

    def finish(self, version: int, words: DecodedWords | None = None) -> CatalogIndex:
        """Return the index over all records, of which there is at least one.

        `version` is the caller's version of the records, which is kept in the snapshot file. `words` are those of all
        records, in the order in which these were added, if they are known already.

        Raises:
            OSError: the snapshot file cannot be written.
        """
        collected = self._collector.read()
        if self._snapshot_path is None:
            return CatalogIndex(build_columns(collected, self._leaf_words, MemoryStore(), words))

        with SnapshotWriter(self._snapshot_path) as writer:
            columns = build_columns(collected, self._leaf_words, writer, words)
            writer.finish(columns, version)
        return CatalogIndex(columns)


def build_from_parts(
    builder: IndexBuilder, parts: Sequence[UnindexedPart | IndexedPart], version: int
) -> CatalogIndex | None:
    """Return an index over the live records of the parts of a catalog; None if there are none."""
    for part in parts:
        for batch in _decode_part(part):
            builder.add(batch)
    return builder.finish(version, _decode_words(parts)) if builder.size else None


def _decode_part(part: UnindexedPart | IndexedPart) -> Iterator[RecordBatch]:
    """Yield the live records of a part in batches."""
    if isinstance(part, IndexedPart):
        return decode_records(part.index, part.live_positions())
    return _divide(part.decode())


def _divide(records: DecodedColumns) -> Iterator[RecordBatch]:
    """Yield records of a segment in batches."""
    size = len(records.columns["id"])
    for start in range(0, size, _RECORDS_PER_BATCH):
        end = min(start + _RECORDS_PER_BATCH, size)
        yield _to_batch(records, start, end)


def _to_batch(records: DecodedColumns, start: int, end: int) -> RecordBatch:
    """Return the records from `start` to `end` as a batch."""
    columns = {name: values[start:end] for name, values in records.columns.items()}
    texts = {name: _decode_texts(columns[name], records.values[name]) for name in TEXT_COLUMNS}
    words = {name: _used_values(columns[name], records.values[name]) for name in WORD_COLUMNS}
    owners = _used_values(columns["owner"], records.values["owner"])

    positions = records.evidence.positions
    is_inside = (positions >= start) & (positions < end)
    evidence = records.evidence.keep(is_inside, positions[is_inside] - start)
    return RecordBatch(columns, texts, words, owners, evidence)


def _decode_texts(codes: NDArray[Any], values: Sequence[str | None]) -> pa.Array:
    """Return texts that are given as codes."""
    return pa.array([values[code] for code in codes.tolist()], pa.large_string())


def _used_values(codes: NDArray[Any], values: Sequence[Any]) -> CodedColumn:
    """Return a column with codes of those values only that occur in it; code 0 is always among them."""
    used_codes, new_codes = np.unique(np.concatenate([[0], codes]), return_inverse=True)
    return CodedColumn(new_codes[1:].astype(np.int32), [values[code] for code in used_codes.tolist()])


def _decode_words(parts: Sequence[UnindexedPart | IndexedPart]) -> DecodedWords | None:
    """Return the words of the live records of all parts, one part after the other; None if one lacks them."""
    if not all(part.is_searchable for part in parts):
        return None

    writer = RecordWordsWriter()
    for part in parts:
        words = part.decode_words()
        assert words is not None
        writer.extend_decoded(words)
    return writer.record_words().decode_all()
