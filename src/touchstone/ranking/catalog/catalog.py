"""The catalog that one writer changes: `Catalog` takes the writes, each of which makes a new `View`."""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.catalog.indexed_part import Clustered, PlanThresholds
from touchstone.ranking.catalog.unindexed_part import Flat
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow, SegmentWriter
from touchstone.ranking.criteria import Bools
from touchstone.ranking.index.arrays import Index
from touchstone.ranking.index.builder import build
from touchstone.ranking.kernels.compilation import compile_kernels

_CHUNK: Final = 8192
_SPARE: Final = 1024  # dead fresh records that are never worth clearing away
_TAIL: Final = 10_000  # fresh records beside an index that are worth a new one


class Layout(NamedTuple):
    """When and how a catalog is indexed: from so many records, in leaves of `64 * leaf_words`, compiled or not.

    `plans`: which way an indexed catalog answers.
    """

    index_from: int = 100_000
    leaf_words: int = 16
    compiled: bool = True
    plans: PlanThresholds = PlanThresholds()


class IndexRebuild:
    """A new index in the making: `run` may take long and belongs in a thread; the catalog goes on meanwhile.

    `version`: what the caller says that the catalog held when it began, kept for a snapshot.
    """

    def __init__(self, parts: Sequence[Flat | Clustered], layout: Layout, version: int) -> None:
        self._parts, self._layout, self.version = parts, layout, version
        self.index: Index | None = None

    def run(self) -> None:
        """Read all records, lay them out anew, and make the kernels ready."""
        if self._layout.compiled:
            compile_kernels()
        writer = SegmentWriter()
        for part in self._parts:
            writer.extend_decoded(part.decoded())
        segment = writer.segment()
        if segment.size:
            self.index = Index(*build(segment, self._layout.leaf_words))
            Clustered(self.index, self._layout.plans).warm()


class Catalog:
    """The catalog that one writer changes; `view` is swapped at the end of each change, never edited."""

    def __init__(self, layout: Layout = Layout()) -> None:  # noqa: B008 (a value, never changed)
        self._layout = layout
        self._main: Clustered | None = None
        self._journal: list[tuple[Sequence[CatalogRow], Collection[int]]] | None = None
        self._restart(SegmentWriter())

    def _restart(self, writer: SegmentWriter) -> None:
        """Fresh records, all alive, beside the index there is."""
        self._writer = writer
        segment = writer.segment()
        self._alive: Bools = np.ones(segment.size, np.bool_)
        self._where = {id_: position for position, id_ in enumerate(segment.columns["id"].tolist())}
        self.view = View(Flat(segment, self._alive), self._main)

    @classmethod
    def build(cls, rows: Iterable[CatalogRow], layout: Layout = Layout()) -> "Catalog":  # noqa: B008
        """A catalog of these records, each id once; a large one is indexed at once."""
        catalog, source = cls(layout), iter(rows)
        while chunk := list(islice(source, _CHUNK)):
            catalog._writer.extend(chunk)
        catalog._restart(catalog._writer)
        if catalog.is_rebuild_due:
            catalog.recluster()
        return catalog

    @classmethod
    def from_index(cls, index: Index, layout: Layout = Layout()) -> "Catalog":  # noqa: B008
        """A catalog over an index that is already there, such as one from a snapshot."""
        catalog = cls(layout)
        if layout.compiled:
            compile_kernels()
        catalog._main = Clustered(index, layout.plans)
        catalog._main.warm()
        catalog._restart(SegmentWriter())
        return catalog

    def apply(self, *, upserts: Sequence[CatalogRow], deleted: Collection[int]) -> None:
        """Put records in or in the place of those with their ids, and take out those with a deleted id.

        Where one id comes several times the last one counts, and deleting wins. Costs the rows given and a copy of
        the masks; what has become of old rows is cleared away once half of the fresh ones are dead.
        """
        if self._journal is not None:
            self._journal.append((upserts, deleted))
        dropped = set(deleted)
        fresh = {row.id: row for row in upserts if row.id not in dropped}
        self._forget({*fresh, *dropped})
        self._where |= {id_: len(self._alive) + offset for offset, id_ in enumerate(fresh)}
        self._alive = np.concatenate([self._alive, np.ones(len(fresh), np.bool_)])
        self._writer.extend(list(fresh.values()))
        current = Flat(self._writer.segment(), self._alive)
        if current.span - current.size > max(_SPARE, current.span // 2):
            writer = SegmentWriter()
            writer.extend_decoded(current.decoded())
            self._restart(writer)
        else:
            self.view = View(current, self._main)

    def _forget(self, ids: Collection[int]) -> None:
        gone = [self._where.pop(id_) for id_ in ids if id_ in self._where]
        self._alive = self._alive.copy()
        self._alive[gone] = False
        if self._main:
            found = (self._main.find(id_) for id_ in ids)
            positions = [position for position in found if position is not None]
            self._main = self._main.without(positions) if positions else self._main

    @property
    def index(self) -> Index | None:
        """The index that most records are behind, to be saved; None while there is none."""
        return self._main.index if self._main else None

    @property
    def is_rebuild_due(self) -> bool:
        """Whether a new index would pay: for the first time, or because a tenth of the old one is stale."""
        if not self._main:
            return self.view.size >= self._layout.index_from
        return self.view.unindexed_size + self._main.span - self._main.size > max(_TAIL, self._main.span // 10)

    def begin_rebuild(self, version: int = 0) -> IndexRebuild:
        """Begin a new index over what the catalog holds now; changes from here on are noted for `adopt_rebuild`."""
        self._journal = []
        parts: list[Flat | Clustered] = [Flat(self._writer.segment(), self._alive)]
        return IndexRebuild([self._main, *parts] if self._main else parts, self._layout, version)

    def adopt_rebuild(self, done: IndexRebuild) -> None:
        """Take over a finished index with one swap, and apply what was changed since it was begun."""
        journal, self._journal = self._journal or [], None
        if done.index is not None:
            self._main = Clustered(done.index, self._layout.plans)
            self._restart(SegmentWriter())
            for upserts, deleted in journal:
                self.apply(upserts=upserts, deleted=deleted)

    def recluster(self) -> None:
        """The whole of it at once."""
        work = self.begin_rebuild()
        work.run()
        self.adopt_rebuild(work)
