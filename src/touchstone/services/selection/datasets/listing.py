"""Lists of records: which ids, in which order, and their encoded bodies put together."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import Contains, FlagEquals, Query, Range, Visible
from touchstone.services.selection.datasets.sort_and_page import Window, order_of
from touchstone.services.selection.filters import query_of
from touchstone.services.selection.live_catalog import LiveCatalog, PageRoom
from touchstone.services.selection.parameters import Values

CHUNK: Final = 500
SHORT: Final = 1000  # a window that ends here is found without looking at the rest


class Listed(NamedTuple):
    """The ids of a window in their order, and how many records match in all."""

    ids: list[int]
    total_count: int


async def listed(catalog: LiveCatalog, values: Values, window: Window, viewer: UUID | None) -> Listed:
    """The window of the list that a caller asks for."""
    query, (key, descending) = query_of(values, viewer), order_of(values)

    def question(view: View) -> Listed:
        skip = min(window.skip, view.size)
        found = view.sort(query, key, descending=descending, skip=skip, limit=window.limit)
        return Listed(view.ids(found.positions).tolist(), found.total_count)

    return await catalog.ask(question, is_short=window.skip + window.limit <= SHORT)


def search_query(viewer: UUID | None, *, name_contains: str | None, min_rows: int | None, tags: Sequence[str]) -> Query:
    """What a search (interface, section 2.3) asks of a record."""
    query: list[Any] = [Visible(viewer), *(FlagEquals(tag, True) for tag in tags)]
    if name_contains:
        query.append(Contains("dataset_name", name_contains))
    if min_rows is not None:
        query.append(Range("instances_number", min_rows, None))
    return tuple(query)


async def searched(catalog: LiveCatalog, query: Query) -> list[int]:
    """The ids of every record that matches, ascending."""

    def question(view: View) -> list[int]:
        found = view.sort(query, "id", descending=False, skip=0, limit=None)
        return [int(id_) for id_ in view.ids(found.positions).tolist()]

    return await catalog.ask(question)


async def page_body(catalog: LiveCatalog, found: Listed, window: Window, viewer: UUID | None) -> bytes:
    """The answer of a list: a bare array, or an object in the page form."""
    bodies = b",".join(await catalog.bodies(found.ids, viewer, PageRoom()))
    if window.page is None:
        return b"[" + bodies + b"]"
    return b'{"datasets":[' + bodies + b"]," + msgspec.json.encode(window.numbers(found.total_count))[1:]


async def stream(catalog: LiveCatalog, ids: Sequence[int], viewer: UUID | None) -> AsyncIterator[bytes]:
    """A long bare array, some records at a time."""
    comma, room = b"[", PageRoom()
    for start in range(0, len(ids), CHUNK):
        bodies = await catalog.bodies(ids[start : start + CHUNK], viewer, room)
        if bodies:
            yield comma + b",".join(bodies)
            comma = b","
    yield b"[]" if comma == b"[" else b"]"
