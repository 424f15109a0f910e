"""Sort keys of lists, and the selection of one page of records without sorting all of them."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS, Segment
from touchstone.ranking.criteria import COMPOSITES

_SORTABLE_TEXTS: Final = tuple(name for name in TEXT_COLUMNS if name != "visibility")
_SORTABLE_COLUMNS: Final = (*_SORTABLE_TEXTS, "dataset_id", *NUMBERS, *FLAGS, *COMPOSITES, *INTEGER_COLUMNS)
_ALIASES: Final = {"name": "dataset_name", "num_citations": "citations"}
RELEVANCE: Final = "relevance"
"""The sort key for the relevance of a record for the words that are searched."""
SORT_KEYS: Final[Mapping[str, str]] = MappingProxyType({name: name for name in _SORTABLE_COLUMNS} | _ALIASES)
"""Every name that a list may be sorted by, and the column that it means."""


class PageRequest(NamedTuple):
    """A request for one page of the sorted list of one part's records.

    Attributes:
        column, descending: What the list is sorted by; records without a value come last, and ties are sorted by id.
        skip: How many matches to leave out.
        limit: How many matches to return at most; None for all.
        is_before: Tells whether the record at a position comes before those that the request counts; None if it counts
            from the beginning of the list.
    """

    column: str
    descending: bool
    skip: int
    limit: int | None
    is_before: Callable[[int], bool] | None = None

    def first_index(self, sorted_positions: NDArray[Any]) -> int:
        """Return the index of the first record that the request counts, given positions in the order of the list."""
        is_before = self.is_before
        if is_before is None:
            return 0

        def is_counted(position: int) -> bool:
            return not is_before(int(position))

        return bisect_left(sorted_positions, True, key=is_counted)


def sort_values(segment: Segment, column: str) -> tuple[NDArray[Any], ...]:
    """Return the arrays that a column is sorted by, the most significant first; NaN stands for a missing value.

    Most columns need one array. UUIDs are sorted by their two halves, texts by the rank of their folded form.
    """
    if column == "dataset_id":
        return segment.columns["uuid_high"], segment.columns["uuid_low"]
    if column in COMPOSITES:
        return (segment.criteria[column],)

    values = segment.columns[column]
    if column in TEXT_COLUMNS:
        values = segment.vocabularies[column].ranks[values]
    if column in TEXT_COLUMNS or column in FLAGS:
        values = np.where(values < 0, np.nan, values)
    return (values,)


def to_ascending(values: NDArray[Any], descending: bool) -> NDArray[Any]:
    """Return keys whose ascending order is the order asked for, with missing values (NaN) last in either direction."""
    if values.dtype.kind != "f":
        return ~values if descending else values

    keys = -values if descending else values
    return np.where(np.isnan(values), np.inf, keys)


def select_window(keys: Sequence[NDArray[Any]], skip: int, limit: int | None) -> Ints:
    """Return the indices of one page of records in ascending order of some sort keys, the most significant first.

    The page begins after the first `skip` records and holds up to `limit` records, or all that follow for None. Only
    records that can be on the page are sorted, so a short page of a long list is cheap.
    """
    first_key = keys[0]
    record_count = len(first_key)
    end = record_count if limit is None else min(record_count, skip + limit)
    if end <= skip:
        return np.empty(0, np.int64)

    candidates = select_candidates(first_key, end)
    order = np.lexsort([key[candidates] for key in reversed(keys)])
    return candidates[order[skip:end]]


def select_candidates(first_key: NDArray[Any], end: int) -> Ints:
    """Return the indices of the records that can be among the first `end` in ascending order of a key."""
    record_count = len(first_key)
    if end == 0 or end >= record_count // 2:
        return np.arange(record_count)

    # Records whose first key is larger than that of the page's last record cannot be on it or before it.
    largest_first_key = np.partition(first_key, end - 1)[end - 1]
    return np.flatnonzero(first_key <= largest_first_key)
