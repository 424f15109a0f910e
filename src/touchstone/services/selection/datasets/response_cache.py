"""A cache of recent responses, which is valid until the catalog changes."""

from typing import Final, NamedTuple
from uuid import UUID

from starlette.responses import Response

from touchstone.ranking.catalog.view import View

CAPACITY_BYTES: Final = 16 * 1024 * 1024
MAX_RESPONSE_BYTES: Final = 128 * 1024


class CacheKey(NamedTuple):
    """Everything in a request that the response depends on. The viewer determines which records are visible."""

    viewer: UUID | None
    locale: str
    query_string: bytes
    body: bytes


class ResponseCache:
    """A cache of short responses for one state of the catalog.

    The state is identified by the view at the assurance `declared`. Every write creates a new view, and the first
    response for a new view empties the cache. The requested assurance is part of the key, because it is contained in
    the query string or in the body.
    """

    def __init__(self) -> None:
        self._view: View | None = None
        self._responses: dict[CacheKey, Response] = {}
        self._used_bytes = 0

    def get(self, view: View, key: CacheKey) -> Response | None:
        """Return the cached response to the same request for the same view, or None if there is none."""
        if view is not self._view:
            return None

        return self._responses.get(key)

    def put(self, view: View, key: CacheKey, response: Response) -> Response:
        """Cache a response for later requests with the same key, and return the response.

        Long and streamed responses are not cached. The cache is emptied first if it is full, or if `view` is new.
        """
        body = getattr(response, "body", None)  # A streamed response has no body.
        if not isinstance(body, bytes) or len(body) > MAX_RESPONSE_BYTES:
            return response

        entry_bytes = len(body) + len(key.query_string) + len(key.body)
        is_full = self._used_bytes + entry_bytes > CAPACITY_BYTES
        if view is not self._view or is_full:
            self._view = view
            self._responses = {}
            self._used_bytes = 0

        self._responses[key] = response
        self._used_bytes += entry_bytes
        return response
