"""The index of a large catalog: its columns, and data derived from them on first use."""

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
from touchstone.ranking.index.joint_codes import JointColumn, join_text_columns, join_year_column
from touchstone.ranking.index.order_cache import OrderCache
from touchstone.ranking.index.plane_scanner import ScanCache
from touchstone.ranking.index.query_translator import QueryTranslator
from touchstone.ranking.kernels import score_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelWeights


class CatalogIndex:
    """An index at one assurance: its columns, the translation of queries, and caches of derived data.

    The records of an index never change; `IndexedPart` masks deleted records. The indexes over the same records at
    different assurances share everything that does not depend on the assurance.
    """

    def __init__(self, columns: IndexColumns, declared: "CatalogIndex | None" = None) -> None:
        """Prepare an index.

        Args:
            columns: the columns at the assurance of the index.
            declared: the index over the same records at the assurance `declared`, or None if this index is it.
        """
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
        """Return the index over the same records at an assurance above `declared`."""
        index = self._indexes_by_assurance.get(assurance)
        if index is None:
            index = CatalogIndex(self.columns.at(assurance), declared=self)
            self._indexes_by_assurance[assurance] = index
        return index

    @cached_property
    def facet_columns(self) -> list[JointColumn]:
        """The columns whose values facets count."""
        return [*self._joint_text_columns, join_year_column(self.columns)]

    @cached_property
    def _joint_text_columns(self) -> list[JointColumn]:
        """The facet columns of texts, which are the same at every assurance."""
        if self._declared is not None:
            return self._declared._joint_text_columns
        return join_text_columns(self.columns)

    def plane(self, key: str) -> Words:
        """Return the bitmap of the plane with the given key."""
        planes = self.columns.planes
        bitmap: Words = planes.bitmaps[planes.rows[key]]
        return bitmap

    def integers(self, column: str, positions: Any) -> Ints:
        """Return a column of ids or times at the given positions, an array or a slice."""
        return self.columns.integers[column].take(positions)

    def find_position(self, dataset_id: int) -> int | None:
        """Return the position of the record with an integer id, or None if there is none."""
        by_id = self.columns.positions_by_id
        index = bisect_left(by_id, dataset_id, key=lambda position: int(self.integers("id", position)))
        if index == self.columns.size:
            return None

        position = int(by_id[index])
        return position if int(self.integers("id", position)) == dataset_id else None

    def find_positions(self, dataset_ids: Ints) -> Ints:
        """Return the positions of the records with the given integer ids, ignoring ids that no record has.

        One vectorized binary search finds all ids: every step halves the range of indices for each id.
        """
        by_id = self.columns.positions_by_id
        lower = np.zeros(len(dataset_ids), np.int64)
        upper = np.full(len(dataset_ids), self.columns.size - 1)

        while np.any(lower < upper):
            middle = (lower + upper) // 2
            is_below = self.integers("id", by_id[middle]) < dataset_ids
            lower = np.where(is_below, np.minimum(middle + 1, upper), lower)
            upper = np.where(is_below, upper, middle)

        positions: Ints = by_id[lower].astype(np.int64)
        is_present = self.integers("id", positions) == dataset_ids
        return np.asarray(positions[is_present])

    def numbers(self, column: str, positions: NDArray[Any]) -> Floats:
        """Return a number attribute of the records at the given positions, NaN where unknown."""
        number = self.columns.numbers[column]
        return np.asarray(number.values[number.codes[positions]])

    def flags(self, flag: str, positions: NDArray[Any]) -> NDArray[np.int8]:
        """Return a flag of the records at the given positions: 1, 0, or -1 where unknown."""
        is_true = read_bits(self.plane(flag_plane(flag, True)), positions)
        is_false = read_bits(self.plane(flag_plane(flag, False)), positions)
        return np.where(is_true, 1, np.where(is_false, 0, -1)).astype(np.int8)

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return a criterion of the records at the given positions."""
        values = np.empty(len(positions))
        criterion_number = CRITERION_NAMES.index(name)
        score_kernels.fill_criterion(self.kernel_columns, criterion_number, np.asarray(positions, np.int64), values)
        return values

    def scores(self, positions: NDArray[Any], weights: KernelWeights) -> Floats:
        """Return the scores of the records at the given positions."""
        scores = np.empty(len(positions))
        score_kernels.fill_scores(self.kernel_columns, weights, np.asarray(positions, np.int64), scores)
        return scores

    def is_public(self, positions: NDArray[Any]) -> Bools:
        """Return whether each record at the given positions is public."""
        return read_bits(self.plane(PUBLIC_PLANE), positions)

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text attribute of the records at the given positions, None where unknown."""
        if column == "dataset_name":
            return list(self.columns.names.pool.take(positions))
        if column == "visibility":
            return ["public" if is_public else "private" for is_public in self.is_public(positions).tolist()]
        return self.columns.text_column(column).take(positions)

    def words(self, column: str, positions: NDArray[Any]) -> list[tuple[str, ...]]:
        """Return the folded words of the records at the given positions, an empty tuple where unknown."""
        stored = self.columns.words[column]
        codes = stored.codes[positions].tolist()
        words_by_code = {code: fold_words(column, decode_words(stored.pool[code])) for code in set(codes) if code}
        return [words_by_code.get(code, ()) for code in codes]
