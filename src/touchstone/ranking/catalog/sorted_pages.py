"""Pages of sorted lists of indexed records.

The order of all records by a column is computed once and cached. A page is read from it by skipping records that do not
match. If only a few records match, sorting them is faster.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import Assurance
from touchstone.core.text import fold
from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.bitmaps import list_bits
from touchstone.ranking.columns.evidence_columns import ASSURED_COLUMNS
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS
from touchstone.ranking.criteria import COMPOSITES
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.order_cache import OrderKey, Positions
from touchstone.ranking.kernels import order_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.query.sort_order import PageRequest, select_window, to_ascending

MIN_BEGINNING: Final = 65_536
"""The minimum number of records at the beginning of an order, so that only large catalogs have beginnings."""
_BEGINNING_DIVISOR: Final = 8  # the beginning of an order is one eighth of it
# The costs are relative to the cost of reading one entry of an order.
_KEY_COST: Final = 15  # reading the sort key of a match
_SORTING_COST: Final = 100  # sorting one record before the end of the page
_ALL_BITS: Final = np.uint64(2**64 - 1)


class SortedPages:
    """Reads pages of sorted lists from an index.

    Computing the order of all records of a large catalog is slow. It is therefore computed on first use, and at first
    only its beginning. The rest is only computed for a page beyond the beginning.
    """

    def __init__(self, index: CatalogIndex, sort_up_to: int) -> None:
        """Prepare to read pages from an index, sorting at most `sort_up_to` matches for a page."""
        self._index = index
        self._columns = index.columns
        self._sort_up_to = sort_up_to

    def read(self, matches: Words, match_count: int, request: PageRequest) -> Ints:
        """Return the positions of the records on a page, given a bitmap of all matches and their number."""
        length = max(0, match_count - request.skip)
        if request.limit is not None:
            length = min(length, request.limit)
        if length == 0:
            return np.empty(0, np.int64)

        if self._is_sorting_cheaper(match_count, request, length):
            return self._sort(matches, match_count, request)

        page = _read_page(matches, self._beginning(request), request, length)
        if len(page) == length:
            return page

        # The sorted beginning contains too few matches to fill the page.
        if match_count <= self._sort_up_to:
            return self._sort(matches, match_count, request)
        return _read_page(matches, self._permutation(request), request, length)

    def _is_sorting_cheaper(self, match_count: int, request: PageRequest, length: int) -> bool:
        """Return whether sorting the matches is probably faster than reading an order up to the end of the page."""
        if match_count > self._sort_up_to:
            return False
        if request.is_before is not None:
            return True  # the page can be anywhere in the order

        if match_count <= self._sort_up_to // 20:
            return True

        end = request.skip + length
        expected_entries_to_end = end * self._columns.size / match_count
        sorting_cost = _KEY_COST * match_count + _SORTING_COST * end
        return sorting_cost < expected_entries_to_end

    def _sort(self, matches: Words, match_count: int, request: PageRequest) -> Ints:
        """Sort the matches, and return the page."""
        positions = list_bits(matches, match_count)
        keys = [*self._sort_keys(request, positions), self._index.integers("id", positions)]
        if request.is_before is None:
            return positions[select_window(keys, request.skip, request.limit)]

        sorted_positions = positions[np.lexsort(keys[::-1])]
        start = request.first_index(sorted_positions) + request.skip
        return sorted_positions[start:][: request.limit]

    def _beginning(self, request: PageRequest) -> Positions:
        """Return the beginning of the order of all records, or the whole order if it is available at no cost."""
        columns = self._columns
        if request.column == "id":
            by_id = columns.positions_by_id
            return by_id[::-1] if request.descending else by_id
        if request.column == "dataset_name" and not request.descending:
            return columns.names.permutation

        count = max(MIN_BEGINNING, columns.size // _BEGINNING_DIVISOR)
        if count >= columns.size:
            return self._permutation(request)

        cache = self._index.orders
        key = self._order_key(request)
        with cache.lock:
            beginning = cache.beginnings.get(key)
            if beginning is None:
                beginning = self._compute_order(request, count)
                cache.beginnings.put(key, beginning)
            return beginning

    def _permutation(self, request: PageRequest) -> Positions:
        """Return the positions of all records in the order of a list, which are cached."""
        cache = self._index.orders
        key = self._order_key(request)
        with cache.lock:
            permutation = cache.permutations.get(key)
            if permutation is None:
                permutation = self._compute_order(request, self._columns.size)
                cache.permutations.put(key, permutation)
            return permutation

    def _order_key(self, request: PageRequest) -> OrderKey:
        """Return the cache key for the order of a list.

        Most orders do not depend on the assurance.
        """
        assurance = self._columns.assurance if request.column in ASSURED_COLUMNS else Assurance.DECLARED
        return OrderKey(assurance, request.column, request.descending)

    def _compute_order(self, request: PageRequest, count: int) -> Positions:
        """Compute the first `count` positions in the order of a list."""
        by_id = self._columns.positions_by_id
        keys = self._sort_keys(request, by_id)
        return np.asarray(by_id[_first_in_order(keys, count)])

    def _sort_keys(self, request: PageRequest, positions: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the keys for an ascending sort, the most significant first, excluding the id as the tie-breaker."""
        if request.column == "dataset_id":
            uuids = self._columns.dataset_ids
            high, low = uuids.high[positions], uuids.low[positions]
            return [to_ascending(high, request.descending), to_ascending(low, request.descending)]
        return [to_ascending(self._sort_values(request.column, positions), request.descending)]

    def _sort_values(self, column: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return numbers in the order of the values of a column, with NaN for missing values."""
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
        """Return the rank of the folded name of each record. Equal names have the same rank.

        Records with the same name form a group in the alphabetical order of all records, and a bitmap marks the start
        of each group. The rank of a name is the number of groups that start at or before its record.
        """
        names = self._columns.names
        counts_by_word = np.bitwise_count(names.group_starts)
        counts_before_word = np.cumsum(counts_by_word, dtype=np.int64) - counts_by_word

        indices = names.places[positions].astype(np.int64)
        words = indices // BITS_PER_WORD
        bits_after_index = (BITS_PER_WORD - 1 - indices % BITS_PER_WORD).astype(np.uint64)
        starts_up_to_index = names.group_starts[words] & (_ALL_BITS >> bits_after_index)
        return np.asarray(counts_before_word[words] + np.bitwise_count(starts_up_to_index))

    def sort_value(self, column: str, position: int) -> Any:
        """Return the sort value of one record, or None if it has none.

        Texts are folded, so that the value is comparable across parts.
        """
        if column == "dataset_id":
            return self._columns.dataset_ids.integer_at(position)

        positions = np.array([position])
        if column in TEXT_COLUMNS:
            [text] = self._index.texts(column, positions)
            return None if text is None else fold(text)

        [value] = self._sort_values(column, positions).tolist()
        return None if np.isnan(value) else value


def _read_page(matches: Words, order: Positions, request: PageRequest, length: int) -> Ints:
    """Read a page of `length` matches from an order, or fewer matches if the order ends before the page does."""
    page = np.empty(length, np.int64)
    remaining_order = order[request.first_index(order) :]
    page_length = order_kernels.fill_window(matches, remaining_order, request.skip, page)
    return page[:page_length]


def _first_in_order(keys: Sequence[NDArray[Any]], count: int) -> Ints:
    """Return the indices of the first `count` records in a stable ascending sort.

    Records that cannot be among them are not sorted.

    Args:
        keys: the sort keys, the most significant first.
        count: the number of records to return.
    """
    first_key = keys[0]
    if count >= len(first_key):
        all_indices = np.arange(len(first_key))
        return _sort_indices(keys, all_indices)

    # Compare the first keys of all records with the first key of the last record to return.
    last_value = np.partition(first_key, count - 1)[count - 1]
    before_last = np.flatnonzero(first_key < last_value)
    tied_with_last = np.flatnonzero(first_key == last_value)

    # Without further keys, a stable sort does not change the order of ties, so surplus ties can be dropped immediately.
    if len(keys) == 1:
        tied_with_last = tied_with_last[: count - len(before_last)]

    sorted_indices = [_sort_indices(keys, before_last), _sort_indices(keys, tied_with_last)]
    return np.concatenate(sorted_indices)[:count]


def _sort_indices(keys: Sequence[NDArray[Any]], indices: Ints) -> Ints:
    """Sort indices stably in ascending order of the keys at these indices, the most significant key first."""
    return indices[np.lexsort([key[indices] for key in reversed(keys)])]
