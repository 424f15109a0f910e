"""Pages of sorted lists of indexed records.

The order of all records by a column is computed once and cached. A page is read from it by skipping the records that do
not match. If only a few records match, sorting them is faster than looking for them in that order.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import Assurance
from touchstone.core.text import fold
from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.evidence_columns import ASSURED_COLUMNS
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS
from touchstone.ranking.criteria import COMPOSITES
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.order_cache import OrderKey, Positions
from touchstone.ranking.kernels import bits, order_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.query.sort_order import PageRequest, select_window, to_ascending

MIN_BEGINNING: Final = 65_536
"""The least number of records at the beginning of an order; smaller catalogs keep whole orders only."""
_BEGINNING_SHARE: Final = 8  # an eighth of an order is its beginning
_READING_COST: Final = 15  # reading the key of a match takes as long as reading so many places of an order
_SORTING_COST: Final = 100  # and so does sorting one of the records up to the end of the page
_ALL_BITS: Final = np.uint64(2**64 - 1)


class SortedPages:
    """Reads pages of sorted lists from an index.

    Computing the order of all records takes a while in a large catalog. So it is done when an order is first needed,
    and only for the beginning of the order until a page lies beyond that.
    """

    def __init__(self, index: CatalogIndex, sort_up_to: int) -> None:
        """Read pages from an index; at most `sort_up_to` records that match are sorted for a page."""
        self._index = index
        self._columns = index.columns
        self._sort_up_to = sort_up_to

    def read(self, matches: Words, match_count: int, request: PageRequest) -> Ints:
        """Return the positions of the records on a page, given a bitmap of all records that match and their number."""
        length = max(0, match_count - request.skip)
        if request.limit is not None:
            length = min(length, request.limit)
        if length == 0:
            return np.empty(0, np.int64)

        if self._is_sorting_cheaper(match_count, request, length):
            return self._sort(matches, match_count, request)

        page = _read_order(matches, self._beginning(request), request, length)
        if len(page) == length:
            return page

        # The page ends beyond the beginning of the order.
        if match_count <= self._sort_up_to:
            return self._sort(matches, match_count, request)
        return _read_order(matches, self._permutation(request), request, length)

    def _is_sorting_cheaper(self, match_count: int, request: PageRequest, length: int) -> bool:
        """Return whether sorting the matches is expected to be faster than reading an order up to the page's end."""
        if match_count > self._sort_up_to:
            return False
        if request.is_before is not None:
            return True  # the page can be anywhere in the order

        end = request.skip + length
        expected_places = end * self._columns.size / match_count
        sorting_cost = _READING_COST * match_count + _SORTING_COST * end
        are_few = match_count <= self._sort_up_to // 20
        return are_few or sorting_cost < expected_places

    def _sort(self, matches: Words, match_count: int, request: PageRequest) -> Ints:
        """Sort the matches, and return the page."""
        positions = np.empty(match_count, np.int64)
        bits.list_set_bits(matches, positions)
        keys = [*self._sort_keys(request, positions), self._index.integers("id", positions)]
        if request.is_before is None:
            return positions[select_window(keys, request.skip, request.limit)]

        sorted_positions = positions[np.lexsort(keys[::-1])]
        start = request.first_index(sorted_positions) + request.skip
        return sorted_positions[start:][: request.limit]

    def _beginning(self, request: PageRequest) -> Positions:
        """Return the beginning of the order of all records, or the whole order where the index stores it."""
        columns = self._columns
        if request.column == "id":
            by_id = columns.positions_by_id
            return by_id[::-1] if request.descending else by_id
        if request.column == "dataset_name" and not request.descending:
            return columns.names.permutation

        count = max(MIN_BEGINNING, columns.size // _BEGINNING_SHARE)
        if count >= columns.size:
            return self._permutation(request)

        cache = self._index.orders
        key = self._order_key(request)
        with cache.lock:
            beginning = cache.beginnings.get(key)
            if beginning is None:
                beginning = self._make_order(request, count)
                cache.beginnings.put(key, beginning)
            return beginning

    def _permutation(self, request: PageRequest) -> Positions:
        """Return the positions of all records in the order of a list, which is computed once and then cached."""
        cache = self._index.orders
        key = self._order_key(request)
        with cache.lock:
            permutation = cache.permutations.get(key)
            if permutation is None:
                permutation = self._make_order(request, self._columns.size)
                cache.permutations.put(key, permutation)
            return permutation

    def _order_key(self, request: PageRequest) -> OrderKey:
        """Return the key under which the order of a list is cached; most orders do not depend on the assurance."""
        assurance = self._columns.assurance if request.column in ASSURED_COLUMNS else Assurance.DECLARED
        return OrderKey(assurance, request.column, request.descending)

    def _make_order(self, request: PageRequest, count: int) -> Positions:
        """Return the first `count` positions in the order of a list."""
        by_id = self._columns.positions_by_id
        keys = self._sort_keys(request, by_id)
        return np.asarray(by_id[_first_in_order(keys, count)])

    def _sort_keys(self, request: PageRequest, positions: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the arrays by which records are sorted in ascending order, the most significant first; no ids."""
        if request.column == "dataset_id":
            uuids = self._columns.dataset_ids
            high, low = uuids.high[positions], uuids.low[positions]
            return [to_ascending(high, request.descending), to_ascending(low, request.descending)]
        return [to_ascending(self._sort_values(request.column, positions), request.descending)]

    def _sort_values(self, column: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return numbers that are in the order of the values of a column; NaN for records without a value."""
        if column in FLAGS:
            flags = self._index.flags(column, positions).astype(np.float64)
            return np.where(flags < 0, np.nan, flags)
        if column in NUMBERS:
            return self._index.numbers(column, positions)
        if column in COMPOSITES:
            return self._index.criterion(column, positions)
        if column in INTEGER_COLUMNS:
            return self._index.integers(column, positions)
        if column == "dataset_name":
            return self._name_ranks(positions)

        ranks = self._columns.text_column(column).ranks_at(positions).astype(np.float64)
        return np.where(ranks == 0, np.nan, ranks)

    def _name_ranks(self, positions: NDArray[Any]) -> Ints:
        """Return the alphabetical rank of the folded name of each record; equal names share a rank.

        Records with the same name form a group in the alphabetical order, and a bitmap marks where each group starts.
        The rank of a name is the number of groups that start at the record's place or before it.
        """
        names = self._columns.names
        counts_by_word = np.bitwise_count(names.group_starts)
        counts_before_word = np.cumsum(counts_by_word, dtype=np.int64) - counts_by_word

        places = names.places[positions].astype(np.int64)
        words = places // BITS_PER_WORD
        bits_after_place = (BITS_PER_WORD - 1 - places % BITS_PER_WORD).astype(np.uint64)
        starts_up_to_place = names.group_starts[words] & (_ALL_BITS >> bits_after_place)
        return np.asarray(counts_before_word[words] + np.bitwise_count(starts_up_to_place))

    def sort_value(self, column: str, position: int) -> Any:
        """Return the value by which one record is sorted; None if it has no value.

        Texts are returned folded, so that records can be compared with those of other parts.
        """
        if column == "dataset_id":
            return self._columns.dataset_ids.integer_at(position)

        positions = np.array([position])
        if column in TEXT_COLUMNS:
            [text] = self._index.texts(column, positions)
            return None if text is None else fold(text)

        [value] = self._sort_values(column, positions).tolist()
        return None if np.isnan(value) else value


def _read_order(matches: Words, order: Positions, request: PageRequest, length: int) -> Ints:
    """Read a page of `length` matches from an order; return fewer if the order ends before the page does."""
    page = np.empty(length, np.int64)
    remaining_order = order[request.first_index(order) :]
    page_length = order_kernels.fill_window(matches, remaining_order, request.skip, page)
    return page[:page_length]


def _first_in_order(keys: Sequence[NDArray[Any]], count: int) -> Ints:
    """Return the indices of the first `count` records in ascending order of their keys; ties keep their order.

    The most significant key is given first. Records that come later than the first `count` are not sorted.
    """
    first_key = keys[0]
    if count >= len(first_key):
        all_indices = np.arange(len(first_key))
        return _sort_indices(keys, all_indices)

    # The first key of the last record decides which records come before it, and which are tied with it.
    last_value = np.partition(first_key, count - 1)[count - 1]
    before_last = np.flatnonzero(first_key < last_value)
    tied_with_last = np.flatnonzero(first_key == last_value)

    # Without another key to sort them by, ties keep their order, so that those at the end can be left out at once.
    if len(keys) == 1:
        tied_with_last = tied_with_last[: count - len(before_last)]

    sorted_indices = [_sort_indices(keys, before_last), _sort_indices(keys, tied_with_last)]
    return np.concatenate(sorted_indices)[:count]


def _sort_indices(keys: Sequence[NDArray[Any]], indices: Ints) -> Ints:
    """Return some indices in ascending order of the keys there, the most significant first; ties keep their order."""
    return indices[np.lexsort([key[indices] for key in reversed(keys)])]
