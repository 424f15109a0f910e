"""Cursors and links of lists: the addresses at which a list continues.

A cursor says behind which sort value and id the list continues. So no record is repeated or skipped when others are
added or deleted in the meantime, and finding the place takes the same time however far the list has been read.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

import msgspec

from touchstone.core.errors import FieldError, InvalidValue
from touchstone.ranking.catalog.merging import ListPlace
from touchstone.ranking.columns.segment import TEXT_COLUMNS
from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.services.selection.catalog.live_catalog import DatasetIds, SortOrder
from touchstone.services.selection.paging import LIMIT, PAGE, PAGE_SIZE, SKIP, PageWindow
from touchstone.services.selection.parameters import Parameter, ParameterType, ParameterValues

_MAX_CURSOR: Final = 4000
_MAX_TEXT_VALUE: Final = 500  # a list that is sorted by longer texts continues by number
CURSOR: Final = Parameter(
    name="cursor",
    type=ParameterType.TEXT,
    max_length=_MAX_CURSOR,
    description="Continue a list where the header `Link` of its last answer says; not together with skip or a page.",
)
_PAGE_NAMES: Final = frozenset({SKIP.name, LIMIT.name, PAGE.name, PAGE_SIZE.name, CURSOR.name})


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    """What a cursor holds: the order of the list, and the sort value and the id of the last record before it."""

    key: str
    is_descending: bool
    value: str | float | int | None
    id: int


def parse_cursor(values: ParameterValues, order: SortOrder) -> ListPlace | None:
    """Return the place behind which a list in some order continues, or None if no cursor is given.

    Raises:
        InvalidValue: the cursor does not belong to a list in this order, or a page is given as well.
    """
    text = values.get(CURSOR.name)
    if text is None:
        return None
    if any(name in values for name in (SKIP.name, PAGE.name, PAGE_SIZE.name)):
        raise InvalidValue(FieldError(("query", CURSOR.name), "cursor_alone"))

    try:
        cursor = msgspec.json.decode(urlsafe_b64decode(str(text)), type=_Cursor)
        value = _sort_value(cursor)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise InvalidValue(FieldError(("query", CURSOR.name), "cursor_expected")) from error

    if (cursor.key, cursor.is_descending) != (order.key, order.is_descending):
        raise InvalidValue(FieldError(("query", CURSOR.name), "cursor_expected"))
    return ListPlace(value, cursor.id)


def _sort_value(cursor: _Cursor) -> str | float | int | None:
    """Return the sort value of a cursor as it is compared.

    Raises:
        ValueError: the column does not have values of its type.
    """
    column = SORT_KEYS.get(cursor.key)
    if column == "dataset_id":
        return UUID(str(cursor.value)).int

    is_text = column in TEXT_COLUMNS
    if column is None or (cursor.value is not None and isinstance(cursor.value, str) is not is_text):
        raise ValueError(cursor.key)
    return cursor.value


def _encode_cursor(order: SortOrder, place: ListPlace) -> str:
    """Return the cursor of a list that continues behind a place."""
    value = str(UUID(int=place.value)) if SORT_KEYS[order.key] == "dataset_id" else place.value
    cursor = _Cursor(order.key, order.is_descending, value, place.id)
    return urlsafe_b64encode(msgspec.json.encode(cursor)).decode()


def link_header(query_string: bytes, order: SortOrder, window: PageWindow, matches: DatasetIds) -> dict[str, str]:
    """Return the header `Link` (RFC 8288) of a list, with addresses relative to that of the request.

    Pages link to each other by number. Any other list continues behind its last record, and begins with its first.
    """
    if window.page is not None:
        links = _page_links(window.page, window.limit, matches.total_count)
    else:
        links = _window_links(order, window, matches)

    other_parameters = [
        (name, value)
        for name, value in parse_qsl(query_string, keep_blank_values=True)
        if name.decode("latin-1") not in _PAGE_NAMES
    ]
    addresses = [f'<?{urlencode([*other_parameters, *links[name].items()])}>; rel="{name}"' for name in links]
    return {"Link": ", ".join(addresses)} if addresses else {}


def _page_links(page: int, page_size: int, total_count: int) -> dict[str, dict[str, str | int]]:
    """Return by relation the paging parameters of the pages that a page links to."""
    last_page = max(1, -(-total_count // page_size))
    pages = {"first": 1, "prev": min(page - 1, last_page), "next": page + 1, "last": last_page}
    if page <= 1:
        del pages["prev"]
    if page >= last_page:
        del pages["next"]
    return {relation: {PAGE.name: number, PAGE_SIZE.name: page_size} for relation, number in pages.items()}


def _window_links(order: SortOrder, window: PageWindow, matches: DatasetIds) -> dict[str, dict[str, str | int]]:
    """Return by relation the paging parameters of the lists that a list links to."""
    links: dict[str, dict[str, str | int]] = {"first": {LIMIT.name: window.limit}}
    if window.skip:
        links["prev"] = {SKIP.name: max(0, window.skip - window.limit), LIMIT.name: window.limit}
    if not matches.has_more:
        return links

    place = matches.last_place
    is_long_text = place is not None and isinstance(place.value, str) and len(place.value) > _MAX_TEXT_VALUE
    if place is None or is_long_text:
        links["next"] = {SKIP.name: window.skip + window.limit, LIMIT.name: window.limit}
    else:
        links["next"] = {CURSOR.name: _encode_cursor(order, place), LIMIT.name: window.limit}
    return links
