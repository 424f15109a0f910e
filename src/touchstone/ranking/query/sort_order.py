"""The order of a list: sort keys, and the part of an order that a caller asked for without sorting the rest."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS, Segment
from touchstone.ranking.column_types import Ints
from touchstone.ranking.criteria import COMPOSITES

_SORTABLE_TEXTS: Final = tuple(name for name in TEXT_COLUMNS if name != "visibility")
_SORTABLE_COLUMNS: Final = (*_SORTABLE_TEXTS, "dataset_id", *NUMBERS, *FLAGS, *COMPOSITES, *INTEGER_COLUMNS)
_ALIASES: Final = {"name": "dataset_name", "num_citations": "citations"}
SORT_KEYS: Final[Mapping[str, str]] = MappingProxyType({name: name for name in _SORTABLE_COLUMNS} | _ALIASES)
"""Every name that a list may be sorted by, and the column that it means."""


def sort_values(segment: Segment, column: str) -> tuple[NDArray[Any], ...]:
    """Return what a column is sorted by, most significant first; NaN is a record without the value."""
    if column == "dataset_id":
        return segment.columns["uuid_high"], segment.columns["uuid_low"]
    if column in COMPOSITES:
        return (segment.criteria[column],)

    values = segment.columns[column]
    if column in TEXT_COLUMNS:
        values = segment.vocabularies[column].ranks[values]
    if column in TEXT_COLUMNS or column in FLAGS:
        return (np.where(values < 0, np.nan, values),)
    return (values,)


def to_ascending(values: NDArray[Any], descending: bool) -> NDArray[Any]:
    """Return values whose ascending order is the order asked for, with missing values last in either direction."""
    if values.dtype.kind != "f":
        return ~values if descending else values
    return np.where(np.isnan(values), np.inf, -values if descending else values)


def select_window(keys: Sequence[NDArray[Any]], skip: int, limit: int | None) -> Ints:
    """Return the indices of the records from `skip` to `skip + limit` in ascending order of `keys`.

    The most significant key comes first. Only what can reach the window is sorted: records whose first key is larger
    than that of the window's last record are left out beforehand.
    """
    first_key, size = keys[0], len(keys[0])
    end = size if limit is None else min(size, skip + limit)
    if end <= skip:
        return np.empty(0, np.int64)

    candidates = np.arange(size)
    if end < size // 2:
        largest = np.partition(first_key, end - 1)[end - 1]
        candidates = np.flatnonzero(first_key <= largest)
    order = np.lexsort([key[candidates] for key in reversed(keys)])
    return candidates[order[skip:end]]
