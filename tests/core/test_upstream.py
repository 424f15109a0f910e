"""Responses of a backend in another process, which the gateway passes on while they arrive."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from tests.listening import listening
from touchstone.core.errors import BackendUnavailable, UpstreamTimeout
from touchstone.http import connection_deadlines, upstream
from touchstone.http.responses import ContentStream
from touchstone.http.server import server_config
from touchstone.http.upstream import RemoteBackend

SCOPE: Scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
CHUNK = b"x" * 65_536


class StreamingBackend:
    """A backend with a response that does not end by itself, and which may break."""

    def __init__(self, *, breaks_after: int | None = None) -> None:
        self.breaks_after = breaks_after
        self.has_ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response: StreamingResponse = ContentStream(self._chunks())
        try:
            await response(Request(scope).scope, receive, send)
        finally:
            self.has_ended.set()

    async def _chunks(self) -> AsyncIterator[bytes]:
        chunk_count = 0
        while chunk_count != self.breaks_after:
            yield CHUNK
            await asyncio.sleep(0)
            chunk_count += 1
        raise RuntimeError("the backend fails in the middle of its response")


class DepartingClient:
    """A client that leaves after it has received some bytes."""

    def __init__(self, *, leaves_after: int) -> None:
        self.leaves_after = leaves_after
        self.received_bytes = 0
        self.is_complete = False
        self.has_left = asyncio.Event()

    async def receive(self) -> Message:
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.received_bytes += len(message.get("body", b""))
        self.is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        if self.received_bytes >= self.leaves_after:
            self.has_left.set()
        await asyncio.sleep(0)


async def test_a_backend_stops_when_the_client_has_gone() -> None:
    """A long response is not computed any further for a client of the gateway that has disconnected."""
    backend = StreamingBackend()
    client = DepartingClient(leaves_after=4 * len(CHUNK))
    async with listening(backend) as address:
        upstream = RemoteBackend("selection", address, timeout=10)
        async with asyncio.timeout(10):
            await upstream(SCOPE, client.receive, client.send)
            await backend.has_ended.wait()
        await upstream.close()


async def test_a_response_that_breaks_does_not_look_complete() -> None:
    """If the backend fails in the middle of a long response, so does the gateway's response to its client."""
    backend = StreamingBackend(breaks_after=3)
    client = DepartingClient(leaves_after=1000 * len(CHUNK))
    async with listening(backend) as address:
        upstream = RemoteBackend("selection", address, timeout=10)
        with pytest.raises(BackendUnavailable):
            await upstream(SCOPE, client.receive, client.send)
        await upstream.close()

    assert not client.is_complete


class SlowClient(DepartingClient):
    """A client that pauses before each part of its body."""

    def __init__(self, *, parts: int) -> None:
        super().__init__(leaves_after=1000)
        self.remaining_parts = parts

    async def receive(self) -> Message:
        if self.remaining_parts == 0:
            return await super().receive()
        await asyncio.sleep(0.4)
        self.remaining_parts -= 1
        return {"type": "http.request", "body": b"x", "more_body": self.remaining_parts > 0}


async def _respond_to_long_bodies(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to a body of several parts, and never to a shorter one."""
    if await Request(scope, receive).body() == b"x":
        await receive()
    else:
        await Response()(scope, receive, send)


@pytest.mark.slow
async def test_the_wait_for_a_response_begins_after_the_body() -> None:
    """A body may take longer than the response, which is due soon after the last part of it."""
    scope = {**SCOPE, "method": "POST"}
    slow_client, unanswered_client = SlowClient(parts=4), SlowClient(parts=1)
    async with listening(_respond_to_long_bodies) as address:
        upstream = RemoteBackend("selection", address, timeout=1)
        await upstream(scope, slow_client.receive, slow_client.send)
        assert slow_client.is_complete

        with pytest.raises(UpstreamTimeout):
            await upstream(scope, unanswered_client.receive, unanswered_client.send)
        await upstream.close()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "unix:/no/such/socket"])
async def test_connections_are_given_up_by_the_gateway_first(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a backend could close an idle connection just when the gateway sends a request on it."""
    assert 2 * upstream.KEEP_ALIVE_SECONDS < connection_deadlines.KEEP_ALIVE_SECONDS
    assert server_config(Response(), drain_seconds=1).timeout_keep_alive == connection_deadlines.KEEP_ALIVE_SECONDS

    # The default of the library is the same number, so another one shows that the connections obey the constant.
    monkeypatch.setattr(upstream, "KEEP_ALIVE_SECONDS", 7.0)
    backend = RemoteBackend("selection", address, timeout=1)
    connector = backend._session.connector
    assert connector is not None
    assert connector._keepalive_timeout == 7.0
    await backend.close()
