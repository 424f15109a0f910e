"""A response is cached for exactly the same request, catalog and user."""

from uuid import UUID, uuid4

from starlette.responses import Response, StreamingResponse

from touchstone.ranking.catalog.catalog import Catalog
from touchstone.services.selection.datasets.response_cache import (
    CAPACITY_BYTES,
    MAX_RESPONSE_BYTES,
    CacheKey,
    ResponseCache,
)

ADA, BEN = uuid4(), uuid4()


def cache_key(viewer: UUID | None = ADA, locale: str = "fr", query: bytes = b"", body: bytes = b"{}") -> CacheKey:
    return CacheKey(viewer, locale, query, body)


def test_only_the_same_question_is_answered_again() -> None:
    """Another user, language, query or body makes it another request."""
    cache, view = ResponseCache(), Catalog.build([]).view
    response = cache.put(view, cache_key(), Response(b"[]"))
    assert cache.get(view, cache_key()) is response
    other_keys = (
        cache_key(BEN),
        cache_key(None),
        cache_key(locale="en"),
        cache_key(query=b"limit=1"),
        cache_key(body=b"{ }"),
    )
    assert [cache.get(view, key) for key in other_keys] == [None] * 5


def test_a_write_forgets_everything() -> None:
    """Another view of the catalog has none of the old responses."""
    cache, old_view, new_view = ResponseCache(), Catalog.build([]).view, Catalog.build([]).view
    cache.put(old_view, cache_key(), Response(b"[]"))
    assert cache.get(new_view, cache_key()) is None
    cache.put(new_view, cache_key(BEN), Response(b"[]"))
    assert cache.get(old_view, cache_key()) is None


def test_memory_is_bounded() -> None:
    """Long and streamed responses are sent but not cached, and a full cache is cleared."""
    cache, view = ResponseCache(), Catalog.build([]).view
    long_response, streamed_response = Response(b"x" * (MAX_RESPONSE_BYTES + 1)), StreamingResponse(iter([b"[]"]))
    assert cache.put(view, cache_key(), long_response) is long_response
    assert cache.put(view, cache_key(), streamed_response) is streamed_response
    assert cache.get(view, cache_key()) is None
    for number in range(CAPACITY_BYTES // MAX_RESPONSE_BYTES + 1):
        cache.put(view, cache_key(body=b"%d" % number), Response(b"x" * MAX_RESPONSE_BYTES))
    assert cache.get(view, cache_key(body=b"0")) is None
