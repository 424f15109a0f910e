"""The index of a large catalog: its columns, and what is derived from them when it is first needed."""

from bisect import bisect_left
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Bools, Floats, Ints
from touchstone.ranking.columns.bitmaps import read_bits
from touchstone.ranking.columns.vocabulary import fold_words
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.column_statistics import ColumnStatistics
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, IndexColumns, decode_words, flag_plane
from touchstone.ranking.index.joint_codes import JointColumn, join_text_columns, year_alone
from touchstone.ranking.index.order_cache import OrderCache
from touchstone.ranking.index.plane_scanner import ScanCache
from touchstone.ranking.index.query_translator import QueryTranslator
from touchstone.ranking.kernels import score_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelWeights


class CatalogIndex:
    """An index: its columns, the translation of queries, and what is computed from the columns when it is needed.

    It never changes; which of its records are still alive is the business of `IndexedPart`. The same records at another
    assurance share what does not depend on it.
    """

    def __init__(self, columns: IndexColumns, declared: "CatalogIndex | None" = None) -> None:
        """Prepare an index over its columns; `declared` is the one that this one differs from by its assurance."""
        self.columns = columns
        self.kernel_columns = columns.kernel_columns()
        self._scan_cache: ScanCache = declared._scan_cache if declared else ScanCache()
        self.orders: OrderCache = declared.orders if declared else OrderCache()
        self.statistics = ColumnStatistics(columns)
        declared_columns = declared.columns if declared else columns
        self.translator = QueryTranslator(columns, self.kernel_columns, self._scan_cache, declared_columns)
        self._declared = declared
        self._indexes_by_assurance: dict[Assurance, CatalogIndex] = {}

    def at(self, assurance: Assurance) -> "CatalogIndex":
        """Return the index over the same records with what is known at an assurance above `declared`."""
        index = self._indexes_by_assurance.get(assurance)
        if index is None:
            index = CatalogIndex(self.columns.at(assurance), declared=self)
            self._indexes_by_assurance[assurance] = index
        return index

    @cached_property
    def facet_columns(self) -> list[JointColumn]:
        """The columns whose values facets count."""
        return [*self._joint_text_columns, year_alone(self.columns)]

    @cached_property
    def _joint_text_columns(self) -> list[JointColumn]:
        """The columns of texts among them, which are the same at every assurance."""
        if self._declared is not None:
            return self._declared._joint_text_columns
        return join_text_columns(self.columns)

    def plane(self, key: str) -> Words:
        """Return the bitmap of a plane, given by its key."""
        planes = self.columns.planes
        bitmap: Words = planes.bitmaps[planes.rows[key]]
        return bitmap

    def integers(self, column: str, positions: Any) -> Ints:
        """Return an id or a time of the records at some positions, which may be a slice."""
        return self.columns.integers[column].take(positions)

    def find_position(self, dataset_id: int) -> int | None:
        """Return the position of the record with an integer id, found by binary search; None if there is none."""
        by_id = self.columns.positions_by_id
        place = bisect_left(by_id, dataset_id, key=lambda position: int(self.integers("id", position)))
        if place == self.columns.size:
            return None

        position = int(by_id[place])
        return position if int(self.integers("id", position)) == dataset_id else None

    def find_positions(self, dataset_ids: Ints) -> Ints:
        """Return the positions of the records with some integer ids, without those ids that no record has.

        All of them are found by the same steps of a binary search: the place of each id lies between two bounds, and
        every step halves the distance between them.
        """
        by_id = self.columns.positions_by_id
        last_place = self.columns.size - 1
        lower = np.zeros(len(dataset_ids), np.int64)
        upper = np.full(len(dataset_ids), last_place)

        while np.any(lower < upper):
            middle = (lower + upper) // 2
            is_below = self.integers("id", by_id[middle]) < dataset_ids
            lower = np.where(is_below, np.minimum(middle + 1, upper), lower)
            upper = np.where(is_below, upper, middle)

        positions: Ints = by_id[lower].astype(np.int64)
        is_present = self.integers("id", positions) == dataset_ids
        return np.asarray(positions[is_present])

    def numbers(self, column: str, positions: NDArray[Any]) -> Floats:
        """Return a number attribute of the records at some positions, NaN if not known."""
        number = self.columns.numbers[column]
        return np.asarray(number.values[number.codes[positions]])

    def flags(self, flag: str, positions: NDArray[Any]) -> NDArray[np.int8]:
        """Return a flag of the records at some positions: 1, 0, or -1 if not known."""
        is_true = read_bits(self.plane(flag_plane(flag, True)), positions)
        is_false = read_bits(self.plane(flag_plane(flag, False)), positions)
        return np.where(is_true, 1, np.where(is_false, 0, -1)).astype(np.int8)

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return the value of a criterion for the records at some positions."""
        values = np.empty(len(positions))
        criterion_number = CRITERION_NAMES.index(name)
        score_kernels.fill_criterion(self.kernel_columns, criterion_number, np.asarray(positions, np.int64), values)
        return values

    def scores(self, positions: NDArray[Any], weights: KernelWeights) -> Floats:
        """Return the scores of the records at some positions."""
        scores = np.empty(len(positions))
        score_kernels.fill_scores(self.kernel_columns, weights, np.asarray(positions, np.int64), scores)
        return scores

    def is_public(self, positions: NDArray[Any]) -> Bools:
        """Return whether the records at some positions are public."""
        return read_bits(self.plane(PUBLIC_PLANE), positions)

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text attribute of the records at some positions, None if not known."""
        if column == "dataset_name":
            return [*self.columns.names.pool.take(positions)]
        if column == "visibility":
            return ["public" if is_public else "private" for is_public in self.is_public(positions).tolist()]
        return self.columns.text_column(column).take(positions)

    def words(self, column: str, positions: NDArray[Any]) -> list[tuple[str, ...]]:
        """Return the words of the records at some positions, as they are compared; no words if none is known."""
        stored = self.columns.words[column]
        codes = stored.codes[positions].tolist()
        words_by_code = {code: fold_words(column, decode_words(stored.pool[code])) for code in set(codes) if code}
        return [words_by_code.get(code, ()) for code in codes]
