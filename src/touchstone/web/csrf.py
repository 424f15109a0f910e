"""Protection against forged requests (CSRF): only our own pages may send forms."""

from typing import Final

from starlette.requests import Request

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def is_forged(request: Request) -> bool:
    """Return whether a request that may change something was sent by another site's page.

    Browsers state the origin in Sec-Fetch-Site or Origin, and no script can set either header.
    """
    if request.method in _SAFE_METHODS:
        return False

    fetch_site = request.headers.get("sec-fetch-site")
    if fetch_site is not None:
        return fetch_site != "same-origin"

    own_origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return request.headers.get("origin") != own_origin
