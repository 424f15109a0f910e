"""The outermost layer: limits, admission, deadlines, request ids, and no trace of what broke."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from tests.listening import listening
from touchstone.core.edge import Edge
from touchstone.core.settings import Settings


class Stage:
    """An application with a few behaviours, by path."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.go_on = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await getattr(self, scope["path"].strip("/").split("/")[0])(scope, receive, send)
        finally:
            self.inside -= 1

    async def echo(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        await answer(send, body)

    async def wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.go_on.wait()
        await answer(send, b"done")

    async def crash(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("a secret detail")

    async def health(self, scope: Scope, receive: Receive, send: Send) -> None:
        await answer(send, b"live")

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await answer(send, b"event", content_type=b"text/event-stream", more=True)
        await self.go_on.wait()
        await send({"type": "http.response.body", "body": b""})


async def answer(send: Send, body: bytes, *, content_type: bytes = b"text/plain", more: bool = False) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type)]})
    await send({"type": "http.response.body", "body": body, "more_body": more})


def edge(stage: Stage, tmp_path: Path, **settings: Any) -> Edge:
    names = {f"TOUCHSTONE_{name.upper()}": str(value) for name, value in settings.items()}
    loaded = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path), **names})
    return Edge(stage, loaded, large_bodies=frozenset({"/echo/large"}))


def client(app: Edge) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


async def test_bodies_have_a_limit_of_their_own_for_uploads(tmp_path: Path) -> None:
    """A body over the limit is 413, declared or streamed; an upload may be larger."""
    app = edge(Stage(), tmp_path, body_max_bytes=1024, upload_max_bytes=4096)

    async def pieces() -> Any:
        for _ in range(20):
            yield b"x" * 100

    async with client(app) as http:
        assert (await http.post("/echo", content=b"x" * 1024)).status_code == 200
        refused = await http.post("/echo", content=b"x" * 1025)
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert (await http.post("/echo", content=pieces())).status_code == 413
        assert (await http.post("/echo/large", content=b"x" * 4096)).status_code == 200
        assert (await http.post("/echo/large/", content=b"x" * 4097)).status_code == 413


async def test_headers_have_limits(tmp_path: Path) -> None:
    """Too many or too long ones are 431."""
    async with client(edge(Stage(), tmp_path)) as http:
        assert (await http.get("/echo", headers={f"x-{i}": "1" for i in range(120)})).status_code == 431
        assert (await http.get("/echo", headers={"x-long": "a" * 40_000})).status_code == 431


async def test_requests_over_the_limit_wait_and_then_are_refused(tmp_path: Path) -> None:
    """As many work as are allowed, as many more wait, the rest is told at once; health always answers."""
    stage = Stage()
    async with client(edge(stage, tmp_path, max_concurrency=2)) as http:
        running = [asyncio.ensure_future(http.get("/wait")) for _ in range(4)]
        while stage.inside < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        refused = await http.get("/wait")
        assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (503, "overloaded", "1")
        assert (await http.get("/health/live")).text == "live"
        stage.go_on.set()
        assert [(await one).status_code for one in running] == [200] * 4
        assert (await http.get("/wait")).status_code == 200


async def test_an_event_stream_holds_no_place(tmp_path: Path) -> None:
    """Open streams leave room for work."""
    stage = Stage()
    async with (
        listening(edge(stage, tmp_path, max_concurrency=1)) as address,
        httpx2.AsyncClient() as http,
        http.stream("GET", f"{address}/stream") as stream,
    ):
        assert stream.status_code == 200
        assert (await http.post(f"{address}/echo", content=b"x")).status_code == 200
        stage.go_on.set()


async def test_a_client_that_stops_sending_is_told_so(tmp_path: Path) -> None:
    """The rest of a body must come within the deadline."""
    async with listening(edge(Stage(), tmp_path, receive_timeout_seconds=0.2)) as address:
        host, port = address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        assert b"408" in await asyncio.wait_for(reader.readline(), 10)
        writer.close()


async def test_who_waits_for_a_body_can_be_cancelled(tmp_path: Path) -> None:
    """A stop reaches the server's own channel, which gives back what it holds."""
    given_back = asyncio.Event()

    async def receive() -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            given_back.set()

    async def send(message: Any) -> None:
        raise AssertionError(message)

    scope = {"type": "http", "method": "POST", "path": "/echo", "headers": []}
    waiting = asyncio.ensure_future(edge(Stage(), tmp_path)(scope, receive, send))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert given_back.is_set()


async def test_what_breaks_leaves_no_trace_in_the_answer(tmp_path: Path) -> None:
    """An exception is a 500 in the error shape, with the request id to report."""
    async with client(edge(Stage(), tmp_path)) as http:
        broken = await http.get("/crash", headers={"x-request-id": "my-request-1"})
        assert (broken.status_code, broken.json()["code"]) == (500, "internal_error")
        assert "secret" not in broken.text
        assert broken.headers["x-request-id"] == "my-request-1"


@pytest.mark.parametrize("given", ["short", "a" * 65, "with space", "\x1b[31mred---"])
async def test_a_request_id_that_could_harm_a_log_is_replaced(tmp_path: Path, given: str) -> None:
    """Only plain ids are taken over."""
    async with client(edge(Stage(), tmp_path)) as http:
        assert (await http.get("/health/live", headers={"x-request-id": given})).headers["x-request-id"] != given
