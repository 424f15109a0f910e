"""The ids of the records in one window of a sorted list, such as a page."""

from typing import NamedTuple

from touchstone.ranking.catalog.result_merging import ListPlace, ListWindow
from touchstone.ranking.catalog.results import SortedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.query.sort_order import RELEVANCE


class SortOrder(NamedTuple):
    """The key by which a list is sorted, and its direction."""

    key: str
    is_descending: bool = False


class DatasetIds(NamedTuple):
    """The ids of a window of a sorted list.

    Attributes:
        ids: The ids in order.
        total_count: How many records match in all.
        has_more: Whether further records follow the window.
        last_place: The place of the last record; None if it was not asked for, if there is no record, or if the list is
            sorted by relevance.
    """

    ids: list[int]
    total_count: int
    has_more: bool
    last_place: ListPlace | None


def read_ids(view: View, query: Query, order: SortOrder, window: ListWindow, *, with_last_place: bool) -> DatasetIds:
    """Return the ids in a window of the sorted list of the records that match a query.

    The place of the last record takes long to read if the list is sorted by description, which is compressed.
    """
    matches = _sort_window_and_next(view, query, order, window)
    positions = matches.positions[: window.limit]
    has_more = len(matches.positions) > len(positions)

    last_place = None
    if with_last_place and len(positions) > 0 and order.key != RELEVANCE:
        last_place = view.place(order.key, int(positions[-1]))
    return DatasetIds(view.ids(positions).tolist(), matches.total_count, has_more, last_place)


def _sort_window_and_next(view: View, query: Query, order: SortOrder, window: ListWindow) -> SortedWindow:
    """Return the records in a window, and the next one, which shows that the list goes on."""
    limit = None if window.limit is None else window.limit + 1
    skip = min(window.skip, view.size)
    if window.after is None:
        return view.sort(query, order.key, descending=order.is_descending, skip=skip, limit=limit)

    longer_window = ListWindow(skip, limit, window.after)
    return view.sort_window(query, order.key, longer_window, descending=order.is_descending)
