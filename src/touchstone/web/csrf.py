"""Protection against forged requests (CSRF): only our own pages may send forms."""

from typing import Final

from starlette.requests import Request

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def is_forged(request: Request) -> bool:
    """Return whether a request that may change data was not sent by one of our own pages.

    Browsers state the origin of a request in the header Sec-Fetch-Site, older browsers in Origin. Scripts on other
    sites cannot set these headers. A request with neither of them counts as forged.
    """
    if request.method in _SAFE_METHODS:
        return False

    fetch_site = request.headers.get("sec-fetch-site")
    if fetch_site is not None:
        return fetch_site != "same-origin"

    host = request.headers.get("host", "")
    own_origin = f"{request.url.scheme}://{host}"
    return request.headers.get("origin") != own_origin
