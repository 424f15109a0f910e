"""Pages of lists that are divided into pages."""

from typing import Protocol

from touchstone.web.page_context import PageContext
from touchstone.web.rank_state import parse_small_integer


class NumberedPage(Protocol):
    """A page of a list, with its number and the number of all pages."""

    @property
    def page(self) -> int:
        """The number of the page, from 1."""

    @property
    def total_pages(self) -> int:
        """The number of pages, or 0 if the list is empty."""


def requested_page(ctx: PageContext) -> int:
    """Return the number of the page that the address asks for, or 1 if it contains no valid number."""
    return parse_small_integer(ctx.request.query_params.get("page", "")) or 1


def is_beyond_last_page(page: NumberedPage) -> bool:
    """Return whether a page is empty only because its number is too large.

    This happens after the last entry of a page has been deleted, for example.
    """
    return page.page > page.total_pages > 0
