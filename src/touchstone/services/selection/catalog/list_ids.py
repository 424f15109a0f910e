"""The ids of the records in a window of a sorted list, such as a page."""

from typing import NamedTuple

from touchstone.ranking.catalog.result_merging import ListPlace, ListWindow
from touchstone.ranking.catalog.results import SortedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.query.sort_order import RELEVANCE


class SortOrder(NamedTuple):
    """The sort key of a list, and the direction."""

    key: str
    is_descending: bool = False


class IdWindow(NamedTuple):
    """The ids of the records in a window of a sorted list.

    Attributes:
        ids: the ids in order.
        total_count: the number of all matching records.
        has_more: whether further records follow the window.
        last_place: the sort value and the id of the last record. None if it was not requested, if the window is empty,
            or if the list is sorted by relevance.
    """

    ids: list[int]
    total_count: int
    has_more: bool
    last_place: ListPlace | None


def read_ids(view: View, query: Query, order: SortOrder, window: ListWindow, *, with_last_place: bool) -> IdWindow:
    """Return the ids in a window of the sorted list of records that match a query.

    Args:
        view: the catalog.
        query: the query.
        order: the sort order of the list.
        window: the part of the list to return.
        with_last_place: whether to return the sort value of the last record. Reading it is slow if the list is sorted
            by description, because descriptions are compressed.
    """
    matches = _sort_window_and_next(view, query, order, window)
    positions = matches.positions[: window.limit]
    has_more = len(matches.positions) > len(positions)

    last_place = None
    if with_last_place and len(positions) > 0 and order.key != RELEVANCE:
        last_place = view.place(order.key, int(positions[-1]))
    return IdWindow(view.ids(positions).tolist(), matches.total_count, has_more, last_place)


def _sort_window_and_next(view: View, query: Query, order: SortOrder, window: ListWindow) -> SortedWindow:
    """Return the records in a window and the record after it, which shows whether the list continues."""
    limit = None if window.limit is None else window.limit + 1
    skip = min(window.skip, view.size)
    if window.after is None:
        return view.sort(query, order.key, descending=order.is_descending, skip=skip, limit=limit)

    longer_window = ListWindow(skip, limit, window.after)
    return view.sort_window(query, order.key, longer_window, descending=order.is_descending)
