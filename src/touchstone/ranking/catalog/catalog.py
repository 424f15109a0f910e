"""The catalog that one writer changes: each change makes a new view, and a new index is built when one pays."""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.catalog.indexed_part import IndexedPart, PlanThresholds
from touchstone.ranking.catalog.unindexed_part import UnindexedPart
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow, SegmentWriter
from touchstone.ranking.column_types import Bools
from touchstone.ranking.index.builder import build_columns
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.kernels.compilation import compile_kernels

_CHUNK: Final = 8192
_TOLERATED_DEAD_ROWS: Final = 1024  # so many dead records of the tail are never worth a compaction
_TOLERATED_STALE_ROWS: Final = 10_000  # so many records beside an index, or dead in it, are not worth a new one


class Layout(NamedTuple):
    """When and how a catalog is indexed: from so many records, in leaves of `64 * leaf_words`, compiled or not.

    `plans`: when an indexed catalog answers in which way.
    """

    index_from: int = 100_000
    leaf_words: int = 16
    compiled: bool = True
    plans: PlanThresholds = PlanThresholds()


class CatalogChange(NamedTuple):
    """One change: records to insert or replace, and ids to delete."""

    upserts: Sequence[CatalogRow]
    deleted: Collection[int]


class IndexRebuild:
    """The building of a new index; `run` may take long and belongs in a thread, while the catalog goes on.

    `version`: the caller's version of what the catalog held when the rebuild began, kept for a snapshot.
    """

    def __init__(self, parts: Sequence[UnindexedPart | IndexedPart], layout: Layout, version: int) -> None:
        self._parts = parts
        self._layout = layout
        self.version = version
        self.index: CatalogIndex | None = None

    def run(self) -> None:
        """Read all records, build the index, and compile the kernels."""
        if self._layout.compiled:
            compile_kernels()

        writer = SegmentWriter()
        for part in self._parts:
            writer.extend_decoded(part.decode())
        segment = writer.segment()
        if segment.size:
            self.index = CatalogIndex(build_columns(segment, self._layout.leaf_words))
            IndexedPart(self.index, self._layout.plans).warm_up()


class Catalog:
    """The catalog that one writer changes; each change replaces `view` by a new one."""

    def __init__(self, layout: Layout = Layout()) -> None:  # noqa: B008 (a value, never changed)
        self._layout = layout
        self._indexed: IndexedPart | None = None
        self._changes_since_rebuild: list[CatalogChange] | None = None  # None while no index is being built
        self._start_tail(SegmentWriter())

    @classmethod
    def build(cls, rows: Iterable[CatalogRow], layout: Layout = Layout()) -> "Catalog":  # noqa: B008
        """Return a catalog of records with distinct ids; a large one is indexed at once."""
        writer = SegmentWriter()
        source = iter(rows)
        while chunk := list(islice(source, _CHUNK)):
            writer.extend(chunk)

        catalog = cls(layout)
        catalog._start_tail(writer)
        if catalog.is_rebuild_due:
            catalog.rebuild_index()
        return catalog

    @classmethod
    def from_index(cls, index: CatalogIndex, layout: Layout = Layout()) -> "Catalog":  # noqa: B008
        """Return a catalog over an index that exists already, such as one from a snapshot."""
        if layout.compiled:
            compile_kernels()
        catalog = cls(layout)
        catalog._indexed = IndexedPart(index, layout.plans)
        catalog._indexed.warm_up()
        catalog._start_tail(SegmentWriter())
        return catalog

    def _start_tail(self, writer: SegmentWriter) -> None:
        """Replace the tail by the records of a writer, all of them alive."""
        segment = writer.segment()
        self._tail_writer = writer
        self._tail_alive: Bools = np.ones(segment.size, np.bool_)
        self._tail_positions = {id_: position for position, id_ in enumerate(segment.columns["id"].tolist())}
        self.view = View(UnindexedPart(segment, self._tail_alive), self._indexed)

    def apply(self, *, upserts: Sequence[CatalogRow], deleted: Collection[int]) -> None:
        """Insert records, or replace those with the same id, and delete the records with some ids.

        If an id occurs several times, its last record counts; deleting wins over inserting. The cost is that of the
        given rows and a copy of the masks. The tail is compacted once half of its records are dead.
        """
        if self._changes_since_rebuild is not None:
            self._changes_since_rebuild.append(CatalogChange(upserts, deleted))

        deleted_ids = set(deleted)
        new_rows = {row.id: row for row in upserts if row.id not in deleted_ids}
        self._remove({*new_rows, *deleted_ids})
        self._append(list(new_rows.values()))

        tail = UnindexedPart(self._tail_writer.segment(), self._tail_alive)
        if tail.span - tail.size > max(_TOLERATED_DEAD_ROWS, tail.span // 2):
            writer = SegmentWriter()
            writer.extend_decoded(tail.decode())
            self._start_tail(writer)
        else:
            self.view = View(tail, self._indexed)

    def _remove(self, ids: Collection[int]) -> None:
        """Mark the records with some ids as dead, in copies of the masks that older views share."""
        positions = [self._tail_positions.pop(id_) for id_ in ids if id_ in self._tail_positions]
        self._tail_alive = self._tail_alive.copy()
        self._tail_alive[positions] = False
        if self._indexed:
            self._indexed = self._indexed.without(list(ids))

    def _append(self, rows: Sequence[CatalogRow]) -> None:
        """Append live records to the tail."""
        first = len(self._tail_alive)
        self._tail_positions |= {row.id: first + offset for offset, row in enumerate(rows)}
        self._tail_alive = np.concatenate([self._tail_alive, np.ones(len(rows), np.bool_)])
        self._tail_writer.extend(rows)

    @property
    def index(self) -> CatalogIndex | None:
        """The index that most records are behind, for a snapshot; None while there is none."""
        return self._indexed.index if self._indexed else None

    @property
    def is_rebuild_due(self) -> bool:
        """Whether a new index pays: there is none yet, or a tenth of its records is stale."""
        if not self._indexed:
            return self.view.size >= self._layout.index_from
        dead_rows = self._indexed.span - self._indexed.size
        stale_rows = self.view.unindexed_size + dead_rows
        return stale_rows > max(_TOLERATED_STALE_ROWS, self._indexed.span // 10)

    def begin_rebuild(self, version: int = 0) -> IndexRebuild:
        """Return the rebuild of an index over the present records; changes from now on are kept for its adoption."""
        self._changes_since_rebuild = []
        tail = UnindexedPart(self._tail_writer.segment(), self._tail_alive)
        parts: list[UnindexedPart | IndexedPart] = [self._indexed, tail] if self._indexed else [tail]
        return IndexRebuild(parts, self._layout, version)

    def adopt_rebuild(self, rebuild: IndexRebuild) -> None:
        """Replace the index by a finished one, and apply what was changed since its rebuild began."""
        changes, self._changes_since_rebuild = self._changes_since_rebuild or [], None
        if rebuild.index is None:
            return

        self._indexed = IndexedPart(rebuild.index, self._layout.plans)
        self._start_tail(SegmentWriter())
        for change in changes:
            self.apply(upserts=change.upserts, deleted=change.deleted)

    def rebuild_index(self) -> None:
        """Build a new index and adopt it."""
        rebuild = self.begin_rebuild()
        rebuild.run()
        self.adopt_rebuild(rebuild)
