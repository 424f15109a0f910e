"""Paging: the window of a list that a caller asks for, either by `skip` and `limit` or by `page` and `page_size`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from touchstone.core.attributes import INT53_MAX
from touchstone.http.responses import JsonResponse
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType, ParameterValues

MAXLIMIT: Final = 1000
DEFAULT_PAGE_SIZE: Final = 12

SKIP: Final = Parameter(
    name="skip",
    type=ParameterType.INTEGER,
    description="How many to leave out first.",
    minimum=0,
    maximum=INT53_MAX,
    default=0,
)
LIMIT: Final = Parameter(
    name="limit",
    type=ParameterType.INTEGER,
    description="How many at most.",
    minimum=1,
    maximum=MAXLIMIT,
    default=100,
)
# These two have no default: only a value that is given asks for the page form.
PAGE: Final = Parameter(
    name="page",
    type=ParameterType.INTEGER,
    description="Page, from 1. It or `page_size` asks for the page form; skip and limit are then ignored.",
    minimum=1,
    maximum=INT53_MAX,
)
PAGE_SIZE: Final = Parameter(
    name="page_size",
    type=ParameterType.INTEGER,
    description="Records on a page, 12 unless given.",
    minimum=1,
    maximum=MAXLIMIT,
)
PAGE_PARAMETERS: Final = ParameterTable(SKIP, LIMIT, PAGE, PAGE_SIZE)
# For lists that are always paged.
PAGE_FORM_PARAMETERS: Final = ParameterTable(PAGE, PAGE_SIZE)


class PageInfo(msgspec.Struct, frozen=True):
    """The members that the page form of a list has beside its records."""

    total_count: int
    page: int
    page_size: int
    total_pages: int


@dataclass(frozen=True, slots=True)
class PageWindow:
    """A window of a list; `page` is None if the caller does not ask for the page form."""

    skip: int
    limit: int
    page: int | None = None

    def page_info(self, total_count: int) -> PageInfo | None:
        """Return the numbers that a page has beside its records, or None if the caller does not ask for a page.

        `total_count` is the number of all records that match.
        """
        if self.page is None:
            return None

        total_pages = math.ceil(total_count / self.limit)
        return PageInfo(total_count, self.page, self.limit, total_pages)


def parse_page_window(values: ParameterValues) -> PageWindow:
    """Return the part of a list that a caller asks for, given the parsed query parameters.

    A caller either counts records, with `skip` and `limit`, or pages, with `page` and `page_size`. If one of the latter
    is given, the former are ignored.
    """
    if PAGE.name not in values and PAGE_SIZE.name not in values:
        return PageWindow(skip=SKIP.integer_in(values), limit=LIMIT.integer_in(values))

    return parse_page(values)


def parse_page(values: ParameterValues) -> PageWindow:
    """Return the page that a caller asks for, the first one unless it says otherwise."""
    page = PAGE.integer_in(values, default=1)
    page_size = PAGE_SIZE.integer_in(values, default=DEFAULT_PAGE_SIZE)
    return PageWindow(skip=(page - 1) * page_size, limit=page_size, page=page)


def list_response(key: str, items: Sequence[Any], window: PageWindow, total_count: int) -> JsonResponse:
    """Return the response with one window of a list: a bare array, or a page if the caller asks for one.

    A page is an object that has the items under `key`, beside its position.
    """
    headers = {"X-Total-Count": str(total_count)}
    page_info = window.page_info(total_count)
    if page_info is None:
        return JsonResponse(items, headers=headers)

    page = {key: items, **msgspec.structs.asdict(page_info)}
    return JsonResponse(page, headers=headers)
