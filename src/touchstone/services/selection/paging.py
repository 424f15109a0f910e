"""Paging of lists, either by `skip` and `limit` or by `page` and `page_size`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from touchstone.core.attributes import INT53_MAX
from touchstone.http.responses import JsonResponse
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType, ParameterValues

MAX_LIMIT: Final = 1000
DEFAULT_PAGE_SIZE: Final = 12

SKIP: Final = Parameter(
    name="skip",
    type=ParameterType.INTEGER,
    description="The number of items to skip.",
    minimum=0,
    maximum=INT53_MAX,
    default=0,
)
LIMIT: Final = Parameter(
    name="limit",
    type=ParameterType.INTEGER,
    description="The maximum number of items.",
    minimum=1,
    maximum=MAX_LIMIT,
    default=100,
)
# These have no defaults, because the page form is only used if one of them is given.
PAGE: Final = Parameter(
    name="page",
    type=ParameterType.INTEGER,
    description="Page number, from 1. The response is then an object, and `skip` and `limit` are ignored.",
    minimum=1,
    maximum=INT53_MAX,
)
PAGE_SIZE: Final = Parameter(
    name="page_size",
    type=ParameterType.INTEGER,
    description="The maximum number of items on a page, 12 by default. Without `page`, the first page is returned.",
    minimum=1,
    maximum=MAX_LIMIT,
)
PAGE_PARAMETERS: Final = ParameterTable(SKIP, LIMIT, PAGE, PAGE_SIZE)
# For lists that are always paged.
PAGE_FORM_PARAMETERS: Final = ParameterTable(PAGE, PAGE_SIZE)


class PageInfo(msgspec.Struct, frozen=True):
    """The members of a page object in addition to its records."""

    total_count: int
    page: int
    page_size: int
    total_pages: int


@dataclass(frozen=True, slots=True)
class PageWindow:
    """A window of a list.

    Attributes:
        skip: the number of items before the window.
        limit: the maximum number of items in the window.
        page: the number of the page, counted from 1, or None if the caller does not request the page form.
    """

    skip: int
    limit: int
    page: int | None = None

    def page_info(self, total_count: int) -> PageInfo | None:
        """Return the position of the page in the list, or None if the page form was not requested."""
        if self.page is None:
            return None

        total_pages = math.ceil(total_count / self.limit)
        return PageInfo(total_count, self.page, self.limit, total_pages)


def parse_page_window(values: ParameterValues) -> PageWindow:
    """Return the requested window of a list from parsed query parameters."""
    if PAGE.name not in values and PAGE_SIZE.name not in values:
        return PageWindow(skip=SKIP.integer_in(values), limit=LIMIT.integer_in(values))

    return parse_page(values)


def parse_page(values: ParameterValues) -> PageWindow:
    """Return the requested page as a window, by default the first one."""
    page = PAGE.integer_in(values, default=1)
    page_size = PAGE_SIZE.integer_in(values, default=DEFAULT_PAGE_SIZE)
    return PageWindow(skip=(page - 1) * page_size, limit=page_size, page=page)


def list_response(key: str, items: Sequence[Any], window: PageWindow, total_count: int) -> JsonResponse:
    """Return a response with one window of a list, as a page object or as a bare array.

    Args:
        key: the key of the items in a page object.
        items: the items in the window.
        window: the window, which determines the form of the response.
        total_count: the number of items in the whole list.
    """
    headers = {"X-Total-Count": str(total_count)}
    page_info = window.page_info(total_count)
    if page_info is None:
        return JsonResponse(items, headers=headers)

    page = {key: items, **msgspec.structs.asdict(page_info)}
    return JsonResponse(page, headers=headers)
