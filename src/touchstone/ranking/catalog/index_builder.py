"""Builds an index from batches of records or from the parts of a catalog."""

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
from touchstone.ranking.index.array_store import ArrayStore, MemoryStore
from touchstone.ranking.index.builder import build_columns
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.collected_records import RecordCollector
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.index.record_decoding import decode_records
from touchstone.ranking.index.snapshot_file import map_snapshot
from touchstone.ranking.index.snapshot_writer import SnapshotWriter
from touchstone.ranking.index.text_indexing import TextIndexing
from touchstone.ranking.kernels.compilation import compile_kernels
from touchstone.ranking.text.record_words import DecodedWords, RecordWordsWriter

_RECORDS_PER_BATCH: Final = 1 << 16


class IndexBuilder:
    """Collects all records of a catalog in batches, and builds an index over them.

    With a path, the records are collected in temporary files, and the index is written to a snapshot file, so that the
    process needs little memory. An existing file at the path is replaced when the new one is complete.

    Attributes:
        folder: the folder of the temporary files, or None if there is no path.
    """

    def __init__(
        self, leaf_words: int, snapshot_path: Path | None, *, compiled: bool, may_defer_texts: bool = False
    ) -> None:
        """Prepare to build an index.

        Args:
            leaf_words: the size of a leaf, in words of 64 records.
            snapshot_path: the path of the snapshot file, or None to build the index in memory.
            compiled: whether to compile the kernels, which tests of small catalogs disable.
            may_defer_texts: whether `finish` without words may leave the ranks and the compression of texts to
                `TextIndexing`, because they take most of the time.

        Raises:
            OSError: the folder cannot be written to.
        """
        if compiled:
            compile_kernels()
        self._leaf_words = leaf_words
        self._snapshot_path = snapshot_path
        self._may_defer_texts = may_defer_texts
        self.folder = snapshot_path.parent if snapshot_path else None
        self._collector = RecordCollector(self.folder)

    @property
    def size(self) -> int:
        """The number of records added so far."""
        return self._collector.size

    def add(self, batch: RecordBatch) -> None:
        """Add the records of a batch.

        Raises:
            OSError: the batch cannot be written.
        """
        self._collector.add(batch)

    def finish(self, version: int, words: DecodedWords | None = None) -> CatalogIndex:
        """Build the index over all added records. There must be at least one.

        Args:
            version: the caller's version of the records, which is stored in the snapshot file.
            words: the words of all records in the order of addition, or None to index words later.

        Raises:
            OSError: the snapshot file cannot be written.
        """
        defers_texts = self._may_defer_texts and words is None
        if self._snapshot_path is None:
            return CatalogIndex(self._build_columns(MemoryStore(), words, defers_texts=defers_texts))

        with SnapshotWriter(self._snapshot_path) as writer:
            columns = self._build_columns(writer, words, defers_texts=defers_texts)
            writer.finish(columns, version)
        return CatalogIndex(columns)

    def finish_with_texts(self, version: int) -> CatalogIndex:
        """Build the index over all added records with their texts, and map it from the snapshot file.

        The words are read from the records in the file, because the words of a large catalog do not fit into memory.

        Raises:
            OSError: the snapshot file cannot be written.
            SnapshotError: the snapshot file cannot be mapped.
        """
        assert self._snapshot_path is not None
        with SnapshotWriter(self._snapshot_path) as writer:
            indexing = TextIndexing(CatalogIndex(self._build_columns(writer)), self.folder)
            indexing.run()
            assert indexing.columns is not None
            writer.finish(indexing.columns, version)
        return map_snapshot(self._snapshot_path).index

    def _build_columns(
        self, store: ArrayStore, words: DecodedWords | None = None, *, defers_texts: bool = False
    ) -> IndexColumns:
        """Build the columns of the index over all added records."""
        return build_columns(self._collector.read(), self._leaf_words, store, words, defers_texts=defers_texts)


def build_from_parts(
    builder: IndexBuilder, parts: Sequence[UnindexedPart | IndexedPart], version: int
) -> CatalogIndex | None:
    """Build an index over the live records of the parts of a catalog, or return None if there are none.

    The index can be searched for words if all parts can.
    """
    for part in parts:
        for batch in _decode_part(part, builder.folder):
            builder.add(batch)

    if builder.size == 0:
        return None

    is_searchable = all(part.is_searchable for part in parts)
    if not is_searchable:
        return builder.finish(version)
    if builder.folder is not None:
        return builder.finish_with_texts(version)
    return builder.finish(version, _decode_words(parts))


def _decode_part(part: UnindexedPart | IndexedPart, folder: Path | None) -> Iterator[RecordBatch]:
    """Yield the live records of a part in batches, using temporary files in `folder` for large arrays."""
    if isinstance(part, IndexedPart):
        return decode_records(part.index, part.live_positions(), folder)
    return _divide_into_batches(part.decode())


def _divide_into_batches(records: DecodedColumns) -> Iterator[RecordBatch]:
    """Yield the records of a segment in batches."""
    size = len(records.columns["id"])
    for start in range(0, size, _RECORDS_PER_BATCH):
        end = min(start + _RECORDS_PER_BATCH, size)
        yield _to_batch(records, start, end)


def _to_batch(records: DecodedColumns, start: int, end: int) -> RecordBatch:
    """Return the records from `start` to before `end` as a batch."""
    columns = {name: values[start:end] for name, values in records.columns.items()}
    texts = {name: _decode_texts(columns[name], records.values[name]) for name in TEXT_COLUMNS}
    words = {name: _drop_unused_values(columns[name], records.values[name]) for name in WORD_COLUMNS}
    owners = _drop_unused_values(columns["owner"], records.values["owner"])

    positions = records.evidence.positions
    is_inside = (positions >= start) & (positions < end)
    evidence = records.evidence.select(is_inside, positions[is_inside] - start)
    return RecordBatch(columns, texts, words, owners, evidence)


def _decode_texts(codes: NDArray[Any], values: Sequence[str | None]) -> pa.Array:
    """Return the text of each record, given its code, which is an index into `values`."""
    texts = [values[code] for code in codes.tolist()]
    return pa.array(texts, pa.large_string())


def _drop_unused_values(codes: NDArray[Any], values: Sequence[Any]) -> CodedColumn:
    """Return a column with new consecutive codes for the values that occur in it.

    Code 0 always means "unknown", even if it does not occur.
    """
    used_codes = np.union1d([0], codes)
    new_codes = np.searchsorted(used_codes, codes).astype(np.int32)
    used_values = [values[code] for code in used_codes.tolist()]
    return CodedColumn(new_codes, used_values)


def _decode_words(parts: Sequence[UnindexedPart | IndexedPart]) -> DecodedWords:
    """Return the words of the live records of all parts, part by part."""
    writer = RecordWordsWriter()
    for part in parts:
        words = part.decode_words()
        assert words is not None
        writer.extend_decoded(words)
    return writer.record_words().decode_all()
