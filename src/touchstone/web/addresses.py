"""Addresses within the pages: building them, and accepting them from requests."""

from typing import Any, Final
from urllib.parse import urlencode

HOME: Final = "/app/"
_FORBIDDEN_CHARACTERS: Final = frozenset("\\\r\n\t\x00")


def build_address(path: str, **query: Any) -> str:
    """Append a query to a path, omitting parameters that are None and repeating those that are lists."""
    parameters = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path


def page_address(path: str, page_number: int) -> str:
    """Return the address of a page of a list."""
    return build_address(path, page=page_number)


def extend_query(query: str, **parameters: Any) -> str:
    """Append further parameters to a query, which is empty or begins with `?`."""
    separator = "&" if query else "?"
    return f"{query}{separator}{urlencode(parameters)}"


def local_address(target: str | None) -> str:
    """Return `target` if it lies within the pages, else the start page, so that no redirect leads to another site."""
    if target is None or not target.startswith(HOME) or not _FORBIDDEN_CHARACTERS.isdisjoint(target):
        return HOME
    return target
