"""A cache of recent answers, valid for as long as the catalog does not change."""

from typing import Final
from uuid import UUID

from starlette.responses import Response

from touchstone.ranking.catalog.view import View

CAPACITY_BYTES: Final = 16 * 1024 * 1024
MAX_ANSWER_BYTES: Final = 128 * 1024

# The viewer, on whom it depends which records are visible; the query string; and the body.
AnswerKey = tuple[UUID | None, bytes, bytes]


class AnswerCache:
    """Short answers to requests over one view of the catalog.

    Every write creates a new view, and the first answer over a new view empties the cache.
    """

    def __init__(self) -> None:
        self._view: View | None = None
        self._answers: dict[AnswerKey, Response] = {}
        self._size = 0

    def get(self, view: View, key: AnswerKey) -> Response | None:
        """Return the cached answer to the same request over the same view, if there is one."""
        if view is not self._view:
            return None

        return self._answers.get(key)

    def put(self, view: View, key: AnswerKey, response: Response) -> Response:
        """Cache an answer unless it is long or streamed, and return it in either case."""
        body = getattr(response, "body", None)
        if not isinstance(body, bytes) or len(body) > MAX_ANSWER_BYTES:
            return response

        _, query_string, request_body = key
        size = len(body) + len(query_string) + len(request_body)
        if view is not self._view or self._size + size > CAPACITY_BYTES:
            self._view = view
            self._answers = {}
            self._size = 0

        self._answers[key] = response
        self._size += size
        return response
