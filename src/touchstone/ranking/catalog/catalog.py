"""The catalog that a single writer changes: each change makes a new view, and sometimes a new index is worthwhile."""

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

_MAX_STALE_ROWS_WHILE_GROWING: Final = 1_000_000  # a query scans so many records in a few milliseconds
_ROWS_PER_CHUNK: Final = 8192
_TOLERATED_DEAD_ROWS: Final = 1024  # a tail with no more dead records than this is not compacted
_MAX_COPIED_ROWS: Final = 100_000  # copying more records would delay requests noticeably
_TOLERATED_STALE_ROWS: Final = 10_000  # no more records than this beside an index, or dead in it, justify a new one


class Layout(NamedTuple):
    """When and how a catalog is indexed.

    Attributes:
        index_from: The number of records from which a catalog has an index.
        leaf_words: The size of a leaf, in words of 64 records.
        is_searchable: Whether the records can be searched by words.
        compiled: Whether the kernels are compiled; tests of small catalogs do without.
        plans: How an indexed catalog chooses between ways to answer.
    """

    index_from: int = 100_000
    leaf_words: int = 16
    is_searchable: bool = True
    compiled: bool = True
    plans: PlanThresholds = PlanThresholds()


def _new_builder(layout: Layout, snapshot_path: Path | None) -> IndexBuilder:
    """Return the builder of an index; texts that can be searched may be indexed after everything else."""
    return IndexBuilder(
        layout.leaf_words, snapshot_path, compiled=layout.compiled, may_defer_texts=layout.is_searchable
    )


class _TailMark(NamedTuple):
    """The state of a catalog when the copying of its tail began, and what has been removed from the catalog since.

    Attributes:
        span: The number of records of the tail, dead ones included, which a new index or a new tail takes in.
        removed_ids: The ids of the records that were deleted or replaced since, as often as they were.
    """

    span: int
    removed_ids: list[int]


class IndexRebuild:
    """The building of a new index over the records that a catalog held when the rebuild began.

    `version` is the caller's version of these records, which is kept in the snapshot file. `index` is None until `run`
    has finished, and stays None if there are no records.
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
        """Whether the index has been built, and is in the snapshot file."""
        return self.index is not None and self._snapshot_path is not None

    def run(self) -> None:
        """Build an index over all records, and store it in `index`; with a path, it is in the snapshot file as well.

        This takes long in a large catalog, so it is run in a thread; the catalog can be read and changed meanwhile.

        Raises:
            OSError: the snapshot file cannot be written.
        """
        builder = _new_builder(self._layout, self._snapshot_path)
        self.index = build_from_parts(builder, self._parts, self.version)
        if self.index is not None:
            IndexedPart(self.index, self._layout.plans).warm_up()


def _is_mostly_dead(tail: UnindexedPart, tolerated_dead_rows: int) -> bool:
    """Return whether most records of a tail are dead, and more than are tolerated."""
    dead_rows = tail.span - tail.size
    return dead_rows > max(tolerated_dead_rows, tail.span // 2)


class TailCompaction:
    """The copying of the live records of a tail, which is mostly dead, into a new one.

    Attributes:
        writer: The writer of the new tail.
    """

    def __init__(self, tail: UnindexedPart, writer: SegmentWriter) -> None:
        self.writer = writer
        self._tail = tail

    def run(self) -> None:
        """Copy the records. With many records, this is run in a thread; the catalog can be changed meanwhile."""
        self.writer.extend_decoded(self._tail.decode())


class Catalog:
    """The catalog as its only writer sees it: each change replaces `view` by a new one.

    Most records of a large catalog are behind an index, which never changes. New and changed records are appended to
    the tail, a segment without an index, and deleted records are marked as dead in either of them.
    """

    def __init__(self, layout: Layout = Layout()) -> None:  # noqa: B008 (a value, never changed)
        self._layout = layout
        self._indexed: IndexedPart | None = None
        self._tail_mark: _TailMark | None = None  # None while nothing copies the tail
        self._start_tail(self._new_writer())

    def _new_writer(self) -> SegmentWriter:
        """Return the writer of an empty segment."""
        return SegmentWriter(is_searchable=self._layout.is_searchable)

    @classmethod
    def build(
        cls,
        rows: Iterable[CatalogRow],
        layout: Layout = Layout(),  # noqa: B008
        *,
        defers_texts: bool = False,
    ) -> "Catalog":
        """Return a catalog of some records, which must have distinct ids; a large catalog is indexed at once.

        `rows` is read in chunks, so a generator need not hold all records in memory. With `defers_texts`, which is for
        a large catalog only, the texts of the records are left to `begin_text_indexing`.
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
        """Return a catalog of the records in some batches, like `build`."""
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
        """Return a catalog of many records, all of them behind an index, in little memory if there is a snapshot path.

        The texts of the records are left to `begin_text_indexing`. With a path, the index is in the snapshot file there
        when this method returns, with the caller's `version` of the records, and its arrays are mapped from the file.

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
        """Return a catalog over an index that exists already, such as one from a snapshot."""
        if layout.compiled:
            compile_kernels()

        catalog = cls(layout)
        catalog._indexed = IndexedPart(index, layout.plans)
        catalog._indexed.warm_up()
        catalog._start_tail(catalog._new_writer())
        return catalog

    def _start_tail(self, writer: SegmentWriter, alive: Bools | None = None) -> None:
        """Replace the tail, the records that are not indexed yet, by those of a writer, and renew the view.

        `alive` says which of them are not deleted; for None, all are alive.
        """
        segment = writer.segment()
        self._tail_writer = writer
        self._tail_alive: Bools = np.ones(segment.size, np.bool_) if alive is None else alive

        live_positions = np.flatnonzero(self._tail_alive)
        live_ids = segment.columns["id"][live_positions]
        self._tail_positions = dict(zip(live_ids.tolist(), live_positions.tolist(), strict=True))

        self.view = View(UnindexedPart(segment, self._tail_alive), self._indexed)

    def apply(self, *, upserts: Sequence[CatalogRow], deleted: Collection[int]) -> None:
        """Insert or replace the records in `upserts`, delete those with some ids, and replace the view of the catalog.

        If an id occurs several times in `upserts`, the last record wins. An id that is both inserted and deleted is
        deleted.
        """
        # A record that is replaced is removed, and its new state is appended.
        deleted_ids = set(deleted)
        new_rows = {row.id: row for row in upserts if row.id not in deleted_ids}
        self._remove([*new_rows, *deleted_ids])
        self._append(list(new_rows.values()))
        self._renew_view()

    def replace(self, batch: RecordBatch) -> None:
        """Insert or replace the records of a batch, whose ids are distinct, and replace the view of the catalog."""
        self._remove(batch.ids.tolist())
        self.append(batch)

    def append(self, batch: RecordBatch) -> None:
        """Add records whose ids the catalog does not hold, and replace the view of the catalog."""
        self._add_to_tail(batch.ids.tolist())
        self._tail_writer.extend_batch(batch)
        self._renew_view()

    def _tail(self) -> UnindexedPart:
        """Return the present records of the tail."""
        return UnindexedPart(self._tail_writer.segment(), self._tail_alive)

    def _renew_view(self, tolerated_dead_rows: int = _TOLERATED_DEAD_ROWS) -> None:
        """Replace the view by one of the present records.

        If most records of the tail are dead, and more than are tolerated, its live records are first copied into a new
        tail. Many records are not copied here, because requests would have to wait; see `begin_compaction`.
        """
        tail = self._tail()
        is_worth_copying = _is_mostly_dead(tail, tolerated_dead_rows)
        is_quick_to_copy = tail.size <= _MAX_COPIED_ROWS
        is_being_copied = self._tail_mark is not None

        if is_worth_copying and is_quick_to_copy and not is_being_copied:
            compaction = TailCompaction(tail, self._new_writer())
            compaction.run()
            self._start_tail(compaction.writer)
        else:
            self.view = View(tail, self._indexed)

    @property
    def has_dead_tail(self) -> bool:
        """Whether most records of the tail are dead, so that it is worth being compacted."""
        return _is_mostly_dead(self._tail(), _TOLERATED_DEAD_ROWS)

    def begin_compaction(self) -> TailCompaction:
        """Return the compaction of the tail, which the caller runs and then adopts.

        Removals are noted from now on, so that `adopt_compaction` can apply them to the new tail.
        """
        self._tail_mark = _TailMark(len(self._tail_alive), removed_ids=[])
        tail = self._tail()
        return TailCompaction(tail, self._new_writer())

    def adopt_compaction(self, compaction: TailCompaction) -> None:
        """Replace the tail by that of a finished compaction, and append the records that were added meanwhile."""
        mark = self._tail_mark
        assert mark is not None
        self._tail_mark = None

        copied_ids = compaction.writer.segment().columns["id"]
        is_still_alive = ~np.isin(copied_ids, mark.removed_ids)

        # The records that were added since the compaction began come after the copied ones.
        is_newer = self._tail_alive.copy()
        is_newer[: mark.span] = False
        newer_records = UnindexedPart(self._tail_writer.segment(), is_newer)
        compaction.writer.extend_decoded(newer_records.decode())

        newer_alive = np.ones(newer_records.size, np.bool_)
        self._start_tail(compaction.writer, np.concatenate([is_still_alive, newer_alive]))

    def _remove(self, ids: Sequence[int]) -> None:
        """Mark the records with some ids as dead, in copies of the marks, because older views share them.

        While the tail is being copied, the ids are noted, so that they can be removed from the copy, too.
        """
        if self._tail_mark is not None:
            self._tail_mark.removed_ids.extend(ids)

        tail_positions = [self._tail_positions.pop(id_) for id_ in ids if id_ in self._tail_positions]
        self._tail_alive = self._tail_alive.copy()
        self._tail_alive[tail_positions] = False
        if self._indexed:
            self._indexed = self._indexed.without(ids)

    def _append(self, rows: Sequence[CatalogRow]) -> None:
        """Append records to the tail."""
        self._add_to_tail([row.id for row in rows])
        self._tail_writer.extend(rows)

    def _add_to_tail(self, ids: Sequence[int]) -> None:
        """Note the positions of the records that are appended to the tail next, all of them alive."""
        first_position = len(self._tail_alive)
        self._tail_positions |= {id_: position for position, id_ in enumerate(ids, start=first_position)}
        self._tail_alive = np.concatenate([self._tail_alive, np.ones(len(ids), np.bool_)])

    @property
    def index(self) -> CatalogIndex | None:
        """The index that most records are behind, for a snapshot; None while there is none."""
        return self._indexed.index if self._indexed else None

    def exchange_index(self, index: CatalogIndex) -> None:
        """Use an equal copy of the index from now on, such as one that is mapped from a file."""
        if self._indexed is not None and self._indexed.index is not index:
            self._indexed = self._indexed.over(index)
            self.view = View(self._tail(), self._indexed)

    @property
    def lacks_text_index(self) -> bool:
        """Whether there is an index whose texts are to be searched, but have not been indexed yet."""
        is_indexed_without = self._indexed is not None and not self._indexed.is_searchable
        return self._layout.is_searchable and is_indexed_without

    def begin_text_indexing(self, folder: Path | None = None) -> TextIndexing:
        """Return the indexing of the texts of the records behind the index, which the caller runs and then adopts.

        Unnamed files in `folder` hold what is large; for None, it is held in memory.
        """
        assert self._indexed is not None
        return TextIndexing(self._indexed.index, folder)

    def adopt_text_index(self, indexing: TextIndexing) -> None:
        """Make the texts of a finished indexing searchable, unless the index has been replaced in the meantime."""
        is_current = self._indexed is not None and self._indexed.index is indexing.index
        if indexing.columns is not None and is_current:
            self.exchange_index(CatalogIndex(indexing.columns))

    @property
    def is_rebuild_due(self) -> bool:
        """Whether a new index is worth building: a large catalog has none, or a tenth of its records is stale."""
        if not self._indexed:
            return self.view.size >= self._layout.index_from

        tolerated_rows = max(_TOLERATED_STALE_ROWS, self._indexed.span // 10)
        return self._stale_rows > tolerated_rows

    @property
    def is_rebuild_overdue(self) -> bool:
        """Whether a new index is worth building even if many more records are about to be added.

        A growing catalog would be indexed all the time if an index were built whenever a tenth of the records is stale.
        """
        if not self._indexed:
            return self.view.size >= self._layout.index_from

        half_of_index = self._indexed.span // 2
        tolerated_rows = max(self._layout.index_from, min(half_of_index, _MAX_STALE_ROWS_WHILE_GROWING))
        return self._stale_rows > tolerated_rows

    @property
    def _stale_rows(self) -> int:
        """The number of live records that are not in the index, plus the number of dead ones in it."""
        assert self._indexed is not None
        unindexed_rows = self.view.size - self._indexed.size
        dead_rows = self._indexed.span - self._indexed.size
        return unindexed_rows + dead_rows

    def begin_rebuild(self, version: int = 0, snapshot_path: Path | None = None) -> IndexRebuild:
        """Return the rebuild of an index over the present records, which the caller runs and then adopts.

        With a path, the new index is written into the snapshot file there, and its arrays are mapped from the file.
        Removals are noted from now on, so that `adopt_rebuild` can apply them to the new index.
        """
        self._tail_mark = _TailMark(len(self._tail_alive), removed_ids=[])
        tail = self._tail()
        parts: list[UnindexedPart | IndexedPart] = [self._indexed, tail] if self._indexed else [tail]
        return IndexRebuild(parts, self._layout, version, snapshot_path)

    def adopt_rebuild(self, rebuild: IndexRebuild) -> None:
        """Replace the index by that of a finished rebuild.

        Records that have been removed since the rebuild began are removed from the new index. Those that the tail held
        when it began are in the new index, so they are removed from the tail.
        """
        mark = self._tail_mark
        self._tail_mark = None
        if rebuild.index is None or mark is None:
            return

        self._indexed = IndexedPart(rebuild.index, self._layout.plans).without(mark.removed_ids)
        self._tail_alive = self._tail_alive.copy()
        self._tail_alive[: mark.span] = False
        self._renew_view(tolerated_dead_rows=0)

    def rebuild_index(self) -> None:
        """Build a new index and adopt it, while the caller waits."""
        rebuild = self.begin_rebuild()
        rebuild.run()
        self.adopt_rebuild(rebuild)
