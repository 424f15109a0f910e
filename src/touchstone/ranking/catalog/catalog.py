"""The mutable catalog, which creates a new immutable view after each change."""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.array_types import Bools
from touchstone.ranking.catalog.index_builder import IndexBuilder, build_from_parts
from touchstone.ranking.catalog.indexed_part import IndexedPart, PlanThresholds
from touchstone.ranking.catalog.unindexed_part import UnindexedPart
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.record_batch import RecordBatch
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.ranking.columns.segment import CatalogRow, SegmentWriter
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.text_indexing import TextIndexing
from touchstone.ranking.kernels.compilation import compile_kernels

_MAX_STALE_ROWS_WHILE_GROWING: Final = 1_000_000  # a query scans this many records in a few milliseconds
_ROWS_PER_CHUNK: Final = 8192
_TOLERATED_DEAD_ROWS: Final = 1024  # a tail with at most as many dead records is not compacted
_MAX_COPIED_ROWS: Final = 100_000  # copying more records would delay requests noticeably
_TOLERATED_UNLISTED_ROWS: Final = 10_000  # a search lists the words of as many records in less than a second
_TOLERATED_STALE_ROWS: Final = 10_000  # with at most as many stale records, an index is not rebuilt


class Layout(NamedTuple):
    """The parameters for the index of a catalog.

    Attributes:
        index_from: the minimum number of records for an index.
        leaf_words: the size of a leaf, in words of 64 records.
        is_searchable: whether the records can be searched for words.
        compiled: whether the kernels are compiled, which tests of small catalogs disable.
        plans: the thresholds for choosing a query plan.
    """

    index_from: int = 100_000
    leaf_words: int = 16
    is_searchable: bool = True
    compiled: bool = True
    plans: PlanThresholds = PlanThresholds()


def _new_builder(layout: Layout, snapshot_path: Path | None) -> IndexBuilder:
    """Create a builder for an index, which may defer the texts of a searchable catalog."""
    return IndexBuilder(
        layout.leaf_words, snapshot_path, compiled=layout.compiled, may_defer_texts=layout.is_searchable
    )


class _TailCopy(NamedTuple):
    """A copy of the tail to a new index or a new tail that is being made, and the changes that it lacks.

    Attributes:
        record_count: the number of records in the tail when the copy began, including dead ones. Records that are added
            later follow them, and are not copied.
        removed_ids: the ids of the records that have been deleted or replaced since then, possibly repeated.
    """

    record_count: int
    removed_ids: list[int]


class IndexRebuild:
    """A task that builds a new index over the records of a catalog.

    Attributes:
        version: the caller's version of these records, which is stored in the snapshot file.
        index: the new index, or None before the end of `run` or without any records.
    """

    def __init__(
        self, parts: Sequence[UnindexedPart | IndexedPart], layout: Layout, version: int, snapshot_path: Path | None
    ) -> None:
        self._parts = parts
        self._layout = layout
        self._snapshot_path = snapshot_path
        self.version = version
        self.index: CatalogIndex | None = None

    @property
    def is_in_file(self) -> bool:
        """Whether the index has been built and is stored in the snapshot file."""
        return self.index is not None and self._snapshot_path is not None

    def run(self) -> None:
        """Build the index, and write it to the snapshot file if there is one.

        This takes a long time for a large catalog, so call it in a thread. The catalog can be read and changed in the
        meantime.

        Raises:
            OSError: the snapshot file cannot be written.
        """
        builder = _new_builder(self._layout, self._snapshot_path)
        self.index = build_from_parts(builder, self._parts, self.version)
        if self.index is not None:
            # Otherwise, the first requests would wait until the kernels are compiled for the types of this index.
            IndexedPart(self.index, self._layout.plans).warm_up()


def _is_mostly_dead(tail: UnindexedPart, tolerated_dead_rows: int) -> bool:
    """Return whether more than half of the records of a tail, and more than `tolerated_dead_rows`, are dead."""
    dead_rows = tail.span - tail.size
    return dead_rows > max(tolerated_dead_rows, tail.span // 2)


class TailCompaction:
    """A task that copies the live records of a mostly dead tail into a new tail.

    Attributes:
        writer: the writer of the new tail.
    """

    def __init__(self, tail: UnindexedPart, writer: SegmentWriter) -> None:
        self.writer = writer
        self._tail = tail

    def run(self) -> None:
        """Copy the records. This may run in a thread while the catalog is changed."""
        self.writer.extend_decoded(self._tail.decode())


class Catalog:
    """The mutable catalog, for use by a single writer.

    Each change replaces `view` with a new one.

    Most records of a large catalog are in an index, which never changes. New and changed records are appended to the
    tail, a segment without an index. Deleted records are marked as dead in the index or the tail.
    """

    def __init__(self, layout: Layout = Layout()) -> None:  # noqa: B008 (a value, never changed)
        self._layout = layout
        self._indexed: IndexedPart | None = None
        self._tail_copy: _TailCopy | None = None  # None unless the tail is being copied
        self._start_tail(self._new_writer())

    def _new_writer(self) -> SegmentWriter:
        """Create a writer of an empty segment."""
        return SegmentWriter(is_searchable=self._layout.is_searchable)

    @classmethod
    def build(
        cls,
        rows: Iterable[CatalogRow],
        layout: Layout = Layout(),  # noqa: B008
        *,
        defers_texts: bool = False,
    ) -> "Catalog":
        """Create a catalog, and index it immediately if it is large.

        Args:
            rows: the records, with distinct ids. They are read in chunks, so a generator saves memory.
            layout: the parameters for the index.
            defers_texts: whether to leave indexing the texts of a large catalog to `begin_text_indexing`.
        """
        remaining_rows = iter(rows)
        chunks = iter(lambda: list(islice(remaining_rows, _ROWS_PER_CHUNK)), [])
        batches = map(to_record_batch, chunks)
        return cls.build_large(batches, layout) if defers_texts else cls.build_from_batches(batches, layout)

    @classmethod
    def build_from_batches(
        cls,
        batches: Iterable[RecordBatch],
        layout: Layout = Layout(),  # noqa: B008
    ) -> "Catalog":
        """Create a catalog from batches of records with distinct ids, and index it immediately if it is large."""
        writer = SegmentWriter(is_searchable=layout.is_searchable)
        for batch in batches:
            writer.extend_batch(batch)

        catalog = cls(layout)
        catalog._start_tail(writer)
        if catalog.is_rebuild_due:
            catalog.rebuild_index()
        return catalog

    @classmethod
    def build_large(
        cls,
        batches: Iterable[RecordBatch],
        layout: Layout = Layout(),  # noqa: B008
        *,
        version: int = 0,
        snapshot_path: Path | None = None,
    ) -> "Catalog":
        """Create a catalog of many records, all of them in an index. With a path, this uses little memory.

        Indexing the texts of the records is left to `begin_text_indexing`.

        Args:
            batches: the records, with distinct ids.
            layout: the parameters for the index.
            version: the caller's version of the records, which is stored in the snapshot file.
            snapshot_path: the snapshot file to write the index to and to map it from, or None to use memory.

        Raises:
            OSError: the snapshot file cannot be written.
        """
        builder = _new_builder(layout, snapshot_path)
        for batch in batches:
            builder.add(batch)

        if builder.size == 0:
            return cls(layout)
        return cls.from_index(builder.finish(version), layout)

    @classmethod
    def from_index(cls, index: CatalogIndex, layout: Layout = Layout()) -> "Catalog":  # noqa: B008
        """Create a catalog from an existing index, for example from a snapshot."""
        if layout.compiled:
            compile_kernels()

        catalog = cls(layout)
        catalog._indexed = IndexedPart(index, layout.plans)
        catalog._indexed.warm_up()
        catalog._start_tail(catalog._new_writer())
        return catalog

    def _start_tail(self, writer: SegmentWriter, alive: Bools | None = None) -> None:
        """Replace the tail with the records of a writer, and renew the view.

        Args:
            writer: the writer of the new tail.
            alive: a mask of the records that are not deleted, or None if all are alive.
        """
        segment = writer.segment()
        self._tail_writer = writer
        self._tail_alive: Bools = np.ones(segment.size, np.bool_) if alive is None else alive

        live_positions = np.flatnonzero(self._tail_alive)
        live_ids = segment.columns["id"][live_positions]
        self._tail_positions = dict(zip(live_ids.tolist(), live_positions.tolist(), strict=True))

        self.view = View(UnindexedPart(segment, self._tail_alive), self._indexed)

    def apply(self, *, upserts: Sequence[CatalogRow], deleted: Collection[int]) -> None:
        """Insert, replace and delete records, and renew the view.

        Args:
            upserts: the records to insert or replace. If an id occurs several times, the last record is used.
            deleted: the ids of the records to delete, even if they are in `upserts`.
        """
        # A record is replaced by marking it as dead and appending its new state.
        deleted_ids = set(deleted)
        new_rows = {row.id: row for row in upserts if row.id not in deleted_ids}
        self._remove([*new_rows, *deleted_ids])

        self._register_appended(list(new_rows))
        self._tail_writer.extend(list(new_rows.values()))
        self._renew_view()

    def replace(self, batch: RecordBatch) -> None:
        """Insert or replace the records of a batch with distinct ids, and renew the view."""
        self._remove(batch.ids.tolist())
        self.append(batch)

    def append(self, batch: RecordBatch) -> None:
        """Insert the records of a batch with new ids, and renew the view."""
        self._register_appended(batch.ids.tolist())
        self._tail_writer.extend_batch(batch)
        self._renew_view()

    def _tail(self) -> UnindexedPart:
        """Return the current tail."""
        return UnindexedPart(self._tail_writer.segment(), self._tail_alive)

    def _renew_view(self, tolerated_dead_rows: int = _TOLERATED_DEAD_ROWS) -> None:
        """Replace the view with a view of the current records.

        A mostly dead tail is compacted first if it has few live records. Compacting many records here would delay
        requests, so this is left to `begin_compaction`.
        """
        tail = self._tail()
        is_worth_copying = _is_mostly_dead(tail, tolerated_dead_rows)
        is_quick_to_copy = tail.size <= _MAX_COPIED_ROWS
        is_being_copied = self._tail_copy is not None

        if is_worth_copying and is_quick_to_copy and not is_being_copied:
            compaction = TailCompaction(tail, self._new_writer())
            compaction.run()
            self._start_tail(compaction.writer)
        else:
            self.view = View(tail, self._indexed)

    @property
    def has_dead_tail(self) -> bool:
        """Whether most records of the tail are dead, so that it is worth compacting."""
        return _is_mostly_dead(self._tail(), _TOLERATED_DEAD_ROWS)

    def begin_compaction(self) -> TailCompaction:
        """Begin a compaction of the tail, which the caller must run and then pass to `adopt_compaction`.

        From now on, removals are recorded for `adopt_compaction`, which applies them to the new tail.
        """
        self._tail_copy = _TailCopy(len(self._tail_alive), removed_ids=[])
        tail = self._tail()
        return TailCompaction(tail, self._new_writer())

    def adopt_compaction(self, compaction: TailCompaction) -> None:
        """Replace the tail with the result of a finished compaction, and append the records added in the meantime."""
        tail_copy = self._tail_copy
        assert tail_copy is not None
        self._tail_copy = None

        copied_ids = compaction.writer.segment().columns["id"]
        is_copied_alive = ~np.isin(copied_ids, tail_copy.removed_ids)

        is_newer_and_alive = self._tail_alive.copy()
        is_newer_and_alive[: tail_copy.record_count] = False
        newer_records = UnindexedPart(self._tail_writer.segment(), is_newer_and_alive)
        compaction.writer.extend_decoded(newer_records.decode())

        is_newer_alive = np.ones(newer_records.size, np.bool_)
        self._start_tail(compaction.writer, np.concatenate([is_copied_alive, is_newer_alive]))

    def _remove(self, ids: Sequence[int]) -> None:
        """Mark the records with the given ids as dead, without affecting older views.

        While the tail is being copied, the ids are recorded so that they can also be removed from the copy.
        """
        if self._tail_copy is not None:
            self._tail_copy.removed_ids.extend(ids)

        tail_positions = [self._tail_positions.pop(id_) for id_ in ids if id_ in self._tail_positions]
        self._tail_alive = self._tail_alive.copy()
        self._tail_alive[tail_positions] = False
        if self._indexed:
            self._indexed = self._indexed.without(ids)

    def _register_appended(self, ids: Sequence[int]) -> None:
        """Register records that are appended to the tail as live records at the next positions."""
        first_position = len(self._tail_alive)
        self._tail_positions |= {id_: position for position, id_ in enumerate(ids, start=first_position)}
        self._tail_alive = np.concatenate([self._tail_alive, np.ones(len(ids), np.bool_)])

    @property
    def index(self) -> CatalogIndex | None:
        """The index, or None if there is none."""
        return self._indexed.index if self._indexed else None

    def exchange_index(self, index: CatalogIndex) -> None:
        """Replace the index with an equal one, for example one that is mapped from a file."""
        if self._indexed is not None and self._indexed.index is not index:
            self._indexed = self._indexed.with_index(index)
            self.view = View(self._tail(), self._indexed)

    @property
    def lacks_text_index(self) -> bool:
        """Whether the catalog should be searchable, but the texts of its index have not been indexed yet."""
        has_index_without_texts = self._indexed is not None and not self._indexed.is_searchable
        return self._layout.is_searchable and has_index_without_texts

    def begin_text_indexing(self, folder: Path | None = None) -> TextIndexing:
        """Begin indexing the texts of the index, which the caller must run and then pass to `adopt_text_index`.

        Args:
            folder: the folder of temporary files for large arrays, or None to use memory.
        """
        assert self._indexed is not None
        return TextIndexing(self._indexed.index, folder)

    def adopt_text_index(self, indexing: TextIndexing) -> None:
        """Use the result of a finished text indexing, unless the index has been replaced in the meantime."""
        is_current = self._indexed is not None and self._indexed.index is indexing.index
        if indexing.columns is not None and is_current:
            self.exchange_index(CatalogIndex(indexing.columns))

    @property
    def is_word_listing_due(self) -> bool:
        """Whether so many records are new that the next search for words would take long to list their words."""
        return self._tail_writer.unlisted_count > _TOLERATED_UNLISTED_ROWS

    def list_words(self) -> None:
        """List the words of the tail before a search needs them.

        This takes several seconds after a large import, so call it in a thread. The catalog can be read and changed in
        the meantime.
        """
        self._tail_writer.list_words()

    @property
    def is_rebuild_due(self) -> bool:
        """Whether a new index is worth building, because there is none or because a tenth of it is stale."""
        if not self._indexed:
            return self.view.size >= self._layout.index_from

        tolerated_rows = max(_TOLERATED_STALE_ROWS, self._indexed.span // 10)
        return self._stale_rows > tolerated_rows

    @property
    def is_rebuild_overdue(self) -> bool:
        """Whether a new index is worth building even if many more records are about to be added.

        The limit is higher than for `is_rebuild_due`, to avoid indexing a growing catalog all the time.
        """
        if not self._indexed:
            return self.view.size >= self._layout.index_from

        half_of_index = self._indexed.span // 2
        tolerated_rows = max(self._layout.index_from, min(half_of_index, _MAX_STALE_ROWS_WHILE_GROWING))
        return self._stale_rows > tolerated_rows

    @property
    def _stale_rows(self) -> int:
        """The number of live records outside of the index plus the number of dead records in it."""
        assert self._indexed is not None
        unindexed_rows = self.view.size - self._indexed.size
        dead_rows = self._indexed.span - self._indexed.size
        return unindexed_rows + dead_rows

    def begin_rebuild(self, version: int = 0, snapshot_path: Path | None = None) -> IndexRebuild:
        """Begin building an index of the current records, which the caller must run and then pass to `adopt_rebuild`.

        From now on, removals are recorded for `adopt_rebuild`, which applies them to the new index.

        Args:
            version: the caller's version of the records, which is stored in the snapshot file.
            snapshot_path: the snapshot file to write the index to and to map it from, or None to use memory.
        """
        self._tail_copy = _TailCopy(len(self._tail_alive), removed_ids=[])
        tail = self._tail()
        parts: list[UnindexedPart | IndexedPart] = [self._indexed, tail] if self._indexed else [tail]
        return IndexRebuild(parts, self._layout, version, snapshot_path)

    def adopt_rebuild(self, rebuild: IndexRebuild) -> None:
        """Replace the index with the result of a finished rebuild.

        Records that have been removed since the rebuild began are removed from the new index. Records that were in the
        tail at that time are now in the new index, so they are removed from the tail.
        """
        tail_copy = self._tail_copy
        self._tail_copy = None
        if rebuild.index is None or tail_copy is None:
            return

        self._indexed = IndexedPart(rebuild.index, self._layout.plans).without(tail_copy.removed_ids)
        self._tail_alive = self._tail_alive.copy()
        self._tail_alive[: tail_copy.record_count] = False
        self._renew_view(tolerated_dead_rows=0)

    def rebuild_index(self) -> None:
        """Build a new index and adopt it before returning."""
        rebuild = self.begin_rebuild()
        rebuild.run()
        self.adopt_rebuild(rebuild)
