"""Build addresses of pages, and check addresses that come from requests."""

from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request

HOME: Final = "/app/"
DATASET_PATH: Final = "/app/datasets/{dataset_id}"
"""The path of the page of a dataset, with a placeholder for its id."""
# Browsers treat a backslash like a slash and drop the control characters, so such an address may lead elsewhere.
_FORBIDDEN_CHARACTERS: Final = frozenset("\\\r\n\t\x00")


def build_address(path: str, **query: Any) -> str:
    """Append a query to a path.

    Parameters that are None are omitted, and parameters that are lists are repeated.
    """
    parameters = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path


def dataset_address(dataset_id: int) -> str:
    """Return the address of the page of a dataset."""
    return DATASET_PATH.format(dataset_id=dataset_id)


def list_page_address(path: str, page_number: int, **query: Any) -> str:
    """Return the address of one page of a paginated list. `query` holds further parameters of the list."""
    return build_address(path, **query, page=page_number)


def extend_query(query: str, **parameters: Any) -> str:
    """Append parameters to a query that is empty or begins with `?`."""
    separator = "&" if query else "?"
    return f"{query}{separator}{urlencode(parameters)}"


def local_address(target: str | None) -> str:
    """Return `target` if it is the address of one of our pages, or the start page otherwise.

    Redirects use it for addresses that come from a request, so that they never lead to another site.
    """
    if target is not None and target.startswith(HOME) and _FORBIDDEN_CHARACTERS.isdisjoint(target):
        return target
    return HOME


def request_address(request: Request) -> str:
    """Return the path and the query of a request."""
    url = request.url
    return f"{url.path}?{url.query}" if url.query else url.path
