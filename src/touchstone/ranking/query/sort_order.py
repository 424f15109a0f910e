"""Sort keys of lists, and selection of one page of records without sorting all of them."""

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
"""The sort key for relevance to the searched words."""
SORT_KEYS: Final[Mapping[str, str]] = MappingProxyType({name: name for name in _SORTABLE_COLUMNS} | _ALIASES)
"""The column for each sort key of lists, including aliases."""


class PageRequest(NamedTuple):
    """A request to a part of the catalog for one page of a sorted list.

    Attributes:
        column: the column to sort by. Records without a value come last, and ties are sorted by id.
        descending: whether to sort in descending order.
        skip: the number of matches to skip.
        limit: the maximum number of matches to return, or None for all.
        is_before: a function that returns whether the record at a position precedes the start of the page, before
            `skip` is applied. None if the page starts at the beginning of the list.
    """

    column: str
    descending: bool
    skip: int
    limit: int | None
    is_before: Callable[[int], bool] | None = None

    def first_index(self, sorted_positions: NDArray[Any]) -> int:
        """Return the index of the first record that is not before the page in `sorted_positions`."""
        is_before = self.is_before
        if is_before is None:
            return 0

        def is_not_before(position: int) -> bool:
            return not is_before(int(position))

        return bisect_left(sorted_positions, True, key=is_not_before)


def sort_values(segment: Segment, column: str) -> tuple[NDArray[Any], ...]:
    """Return the arrays for sorting by a column, the most significant first, with NaN for missing values.

    UUIDs are sorted by their two halves, and texts by the ranks of their folded forms.
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
    """Convert values to keys for an ascending sort, with missing values (NaN) last in either direction."""
    if values.dtype.kind != "f":
        return ~values if descending else values

    keys = -values if descending else values
    return np.where(np.isnan(values), np.inf, keys)


def select_window(keys: Sequence[NDArray[Any]], skip: int, limit: int | None) -> Ints:
    """Return the indices of the records on one page in ascending order of sort keys.

    Only records that can be on the page are sorted, so a short page near the beginning of a long list is cheap.

    Args:
        keys: the sort keys of all records, the most significant first.
        skip: the number of records before the page.
        limit: the maximum number of records on the page, or None for all remaining records.
    """
    first_key = keys[0]
    record_count = len(first_key)
    end = record_count if limit is None else min(record_count, skip + limit)
    if end <= skip:
        return np.empty(0, np.int64)

    candidates = select_candidates(first_key, end)
    # `lexsort` expects the most significant key last.
    order = np.lexsort([key[candidates] for key in reversed(keys)])
    return candidates[order[skip:end]]


def select_candidates(first_key: NDArray[Any], end: int) -> Ints:
    """Return the indices of the records that can be among the first `end` records in ascending order of a key."""
    record_count = len(first_key)
    if end == 0 or end >= record_count // 2:
        return np.arange(record_count)

    # Records with a larger first key than the last record of the page come after the page.
    largest_first_key = np.partition(first_key, end - 1)[end - 1]
    return np.flatnonzero(first_key <= largest_first_key)
