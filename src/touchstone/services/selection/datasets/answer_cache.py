"""Answers that were given a moment ago: the same question to the same state of the catalog is not computed again."""

from typing import Final
from uuid import UUID

from starlette.responses import Response

from touchstone.ranking.catalog.view import View

CAPACITY_BYTES: Final = 16 * 1024 * 1024
LARGEST_BYTES: Final = 128 * 1024

Question = tuple[UUID | None, bytes, bytes]


class RememberedAnswers:
    """Short answers by who asked (what one may see differs), the query string and the body.

    They belong to one view of the catalog: any write makes another view, and everything is forgotten.
    """

    def __init__(self) -> None:
        self._view: View | None = None
        self._answers: dict[Question, Response] = {}
        self._size = 0

    def get(self, view: View, question: Question) -> Response | None:
        """The answer to the same question over the same view, if it is remembered."""
        return self._answers.get(question) if view is self._view else None

    def put(self, view: View, question: Question, response: Response) -> Response:
        """Remember an answer, unless it is long or is streamed, and give it back."""
        body = getattr(response, "body", None)
        if isinstance(body, bytes) and len(body) <= LARGEST_BYTES:
            size = len(body) + len(question[1]) + len(question[2])
            if view is not self._view or self._size + size > CAPACITY_BYTES:
                self._view, self._answers, self._size = view, {}, 0
            self._answers[question] = response
            self._size += size
        return response
