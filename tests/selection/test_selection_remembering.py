"""A response is cached for exactly the same request, catalog and user."""

from uuid import UUID, uuid4

from starlette.responses import Response, StreamingResponse

from touchstone.ranking.catalog.catalog import Catalog
from touchstone.services.selection.datasets.response_cache import CAPACITY_BYTES, MAX_RESPONSE_BYTES, ResponseCache

ADA, BEN = uuid4(), uuid4()


def question(
    viewer: UUID | None = ADA, locale: str = "fr", query: bytes = b"", body: bytes = b"{}"
) -> tuple[UUID | None, str, bytes, bytes]:
    return viewer, locale, query, body


def test_only_the_same_question_is_answered_again() -> None:
    """Another user, language, query or body makes it another request."""
    answers, view = ResponseCache(), Catalog.build([]).view
    kept = answers.put(view, question(), Response(b"[]"))
    assert answers.get(view, question()) is kept
    others = (question(BEN), question(None), question(locale="en"), question(query=b"limit=1"), question(body=b"{ }"))
    assert [answers.get(view, other) for other in others] == [None] * 5


def test_a_write_forgets_everything() -> None:
    """Another view of the catalog has none of the old responses."""
    answers, old, new = ResponseCache(), Catalog.build([]).view, Catalog.build([]).view
    answers.put(old, question(), Response(b"[]"))
    assert answers.get(new, question()) is None
    answers.put(new, question(BEN), Response(b"[]"))
    assert answers.get(old, question()) is None


def test_memory_is_bounded() -> None:
    """Long and streamed responses are sent but not cached, and a full cache is cleared."""
    answers, view = ResponseCache(), Catalog.build([]).view
    long, streamed = Response(b"x" * (MAX_RESPONSE_BYTES + 1)), StreamingResponse(iter([b"[]"]))
    assert answers.put(view, question(), long) is long
    assert answers.put(view, question(), streamed) is streamed
    assert answers.get(view, question()) is None
    for number in range(CAPACITY_BYTES // MAX_RESPONSE_BYTES + 1):
        answers.put(view, question(body=b"%d" % number), Response(b"x" * MAX_RESPONSE_BYTES))
    assert answers.get(view, question(body=b"0")) is None
