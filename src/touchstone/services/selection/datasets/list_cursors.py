"""Cursors and links for reading a list in parts.

A cursor contains the sort value and the id of the last record that was read, and the list continues after this record.
No record is repeated or skipped if others are added or deleted between two requests, and finding the next part takes
the same time at any point of the list.
"""

import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Final, TypeAlias
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from touchstone.core.attributes import INT53_MAX
from touchstone.core.errors import FieldError, InvalidValue
from touchstone.core.json_decoding import decode_json
from touchstone.ranking.catalog.result_merging import ListPlace, ListWindow
from touchstone.ranking.columns.segment import TEXT_COLUMNS
from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.services.selection.catalog.list_ids import IdWindow, SortOrder
from touchstone.services.selection.paging import LIMIT, PAGE, PAGE_SIZE, SKIP, PageWindow
from touchstone.services.selection.parameters import Parameter, ParameterType, ParameterValues, split_query

_MAX_CURSOR: Final = 4000
# Longer sort values do not fit into a cursor.
_MAX_TEXT_VALUE: Final = 500
# In characters. Up to four links repeat the filters, and many proxies accept at most 16 KiB of headers.
_MAX_FILTERS: Final = 4000
CURSOR: Final = Parameter(
    name="cursor",
    type=ParameterType.TEXT,
    max_length=_MAX_CURSOR,
    description="The cursor in the header `Link` of a list, which continues it. Not together with `skip` or a page.",
)
_PAGING_PARAMETER_NAMES: Final = frozenset({SKIP.name, LIMIT.name, PAGE.name, PAGE_SIZE.name, CURSOR.name})

_PagingParameters: TypeAlias = dict[str, str | int]
_Links: TypeAlias = dict[str, _PagingParameters]
"""The paging parameters of each link, by the relation of the link, such as `next`."""


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The contents of a cursor.

    Attributes:
        key, is_descending: the order of the list.
        value, id: the sort value and the id of a record that was read.
        skip: the number of records after it that were read as well.
    """

    key: str
    is_descending: bool
    value: str | float | int | None
    id: int
    skip: Annotated[int, msgspec.Meta(ge=0, le=INT53_MAX)] = 0


def parse_list_window(values: ParameterValues, order: SortOrder, page_window: PageWindow) -> ListWindow:
    """Return the requested window of a list, from the cursor of the request or, without one, from `page_window`.

    Raises:
        InvalidValue: the cursor is malformed, belongs to another sort order, or is combined with a page.
    """
    text = values.get(CURSOR.name)
    if text is None:
        return ListWindow(page_window.skip, page_window.limit)
    if any(name in values for name in (SKIP.name, PAGE.name, PAGE_SIZE.name)):
        raise InvalidValue(FieldError(("query", CURSOR.name), "cursor_alone"))

    try:
        cursor = _decode_cursor(str(text), order)
        last_record = ListPlace(_sort_value(cursor), cursor.id)
    except ValueError as error:
        raise InvalidValue(FieldError(("query", CURSOR.name), "cursor_expected")) from error
    return ListWindow(cursor.skip, page_window.limit, after=last_record)


def _decode_cursor(text: str, order: SortOrder) -> _Cursor:
    """Decode the cursor of a list in the given order.

    Raises:
        ValueError: the cursor is malformed, or belongs to another sort order.
    """
    cursor = decode_json(urlsafe_b64decode(text), _Cursor)
    if (cursor.key, cursor.is_descending) != (order.key, order.is_descending):
        raise ValueError(cursor.key)
    return cursor


def _sort_value(cursor: _Cursor) -> str | float | int | None:
    """Return the sort value of a cursor, converted to the type of its column.

    Raises:
        ValueError: lists with this sort key have no cursors, or the type of the value does not match the column.
    """
    column = SORT_KEYS.get(cursor.key)
    if column is None:
        raise ValueError(cursor.key)
    if column == "dataset_id":
        return UUID(str(cursor.value)).int
    if cursor.value is None:
        return None

    is_text_expected = column in TEXT_COLUMNS
    if isinstance(cursor.value, str) != is_text_expected:
        raise ValueError(cursor.key)
    return cursor.value


def _encode_cursor(order: SortOrder, last_record: ListPlace, skip: int = 0) -> str:
    """Return a cursor for the part of a list that follows a record and the next `skip` records."""
    value = last_record.value
    if SORT_KEYS[order.key] == "dataset_id":
        value = str(UUID(int=value))
    cursor = _Cursor(order.key, order.is_descending, value, last_record.id, skip)
    return urlsafe_b64encode(msgspec.json.encode(cursor)).decode()


def link_header(
    query_string: bytes, order: SortOrder, *, page_window: PageWindow, window: ListWindow, matches: IdWindow
) -> dict[str, str]:
    """Return the header `Link` (RFC 8288) of a list.

    The addresses are relative to the address of the request. Pages link to each other by number. Other lists continue
    with a cursor, or with `skip` if a cursor is not possible. Lists with very long filters have no links, because
    servers and clients reject long headers.

    Args:
        query_string: the query string of the request.
        order: the sort order of the list.
        page_window: the requested page, or the requested number of records.
        window: the part of the list in the response.
        matches: the records in the response.

    Raises:
        Invalid: the query string is too long, or not UTF-8.
    """
    filters = _encode_filters(query_string)
    if len(filters) > _MAX_FILTERS:
        return {}

    if page_window.page is not None:
        links = _page_links(page_window.page, page_window.limit, matches.total_count)
    else:
        links = _list_links(order, page_window, window, matches)

    addresses = []
    for relation, paging_parameters in links.items():
        query = filters + urlencode(paging_parameters)
        addresses.append(f'<?{query}>; rel="{relation}"')
    return {"Link": ", ".join(addresses)}


def _encode_filters(query_string: bytes) -> str:
    """Return all parameters except for paging, percent-encoded and each followed by `&`.

    Raises:
        Invalid: the query string is too long, or not UTF-8.
    """
    values_by_name = split_query(query_string)
    filters = {name: values for name, values in values_by_name.items() if name not in _PAGING_PARAMETER_NAMES}
    encoded_filters = urlencode(filters, doseq=True)
    return f"{encoded_filters}&" if encoded_filters else ""


def _page_links(page: int, page_size: int, total_count: int) -> _Links:
    """Return the links from a page to the first, previous, next and last page."""
    last_page = max(1, math.ceil(total_count / page_size))

    pages = {"first": 1}
    if page > 1:
        pages["prev"] = min(page - 1, last_page)
    if page < last_page:
        pages["next"] = page + 1
    pages["last"] = last_page
    return {relation: {PAGE.name: number, PAGE_SIZE.name: page_size} for relation, number in pages.items()}


def _list_links(order: SortOrder, page_window: PageWindow, window: ListWindow, matches: IdWindow) -> _Links:
    """Return the links to the first, previous and next part of a list without page numbers.

    Cursors only lead forward, so there is no link to the previous part if the request has a cursor.
    """
    limit = page_window.limit
    links: _Links = {"first": {LIMIT.name: limit}}

    has_cursor = window.after is not None
    if not has_cursor and window.skip > 0:
        previous_skip = max(0, window.skip - limit)
        links["prev"] = {SKIP.name: previous_skip, LIMIT.name: limit}

    if matches.has_more:
        read_count = window.skip + len(matches.ids)
        continuation = _continuation_parameters(order, window.after, read_count, matches.last_place)
        links["next"] = {**continuation, LIMIT.name: limit}

    return links


def _continuation_parameters(
    order: SortOrder, start: ListPlace | None, read_count: int, last_place: ListPlace | None
) -> _PagingParameters:
    """Return the parameter that continues a list.

    Args:
        order: the sort order of the list.
        start: the record in the cursor of the request, or None if the request has no cursor.
        read_count: the number of records between `start`, or the beginning of the list, and the next part.
        last_place: the last record that was read, or None if lists in this order have no cursors.
    """
    if last_place is not None and _fits_into_cursor(last_place.value):
        return {CURSOR.name: _encode_cursor(order, last_place)}
    if start is not None:
        return {CURSOR.name: _encode_cursor(order, start, skip=read_count)}
    return {SKIP.name: read_count}


def _fits_into_cursor(sort_value: str | float | int | None) -> bool:
    """Return whether a sort value is short enough for a cursor, which is part of a URL."""
    return not isinstance(sort_value, str) or len(sort_value) <= _MAX_TEXT_VALUE
