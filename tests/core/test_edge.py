"""The outermost middleware: limits, admission, deadlines, request ids, and error responses without details."""

import asyncio
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.listening import listening
from touchstone.core.errors import Unavailable
from touchstone.core.metrics import REGISTRY
from touchstone.core.settings import Settings
from touchstone.http.app import create_app
from touchstone.http.middleware import BodyPaths, EdgeMiddleware
from touchstone.http.routing import strict_router


class ManyBehaviours:
    """An application that behaves in a way named by the first component of the path.

    Attributes:
        running: the number of requests that it is handling.
        go_on: the event that lets waiting requests end.
    """

    def __init__(self) -> None:
        self.running = 0
        self.go_on = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        behaviour = scope["path"].strip("/").split("/")[0]
        self.running += 1
        try:
            await getattr(self, behaviour)(scope, receive, send)
        finally:
            self.running -= 1

    async def echo(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        await respond(send, body)

    async def wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.go_on.wait()
        await respond(send, b"done")

    async def crash(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("a secret detail")

    async def break_off(self, scope: Scope, receive: Receive, send: Send) -> None:
        await respond(send, b"the beginning", more_body=True)
        raise Unavailable

    async def health(self, scope: Scope, receive: Receive, send: Send) -> None:
        await respond(send, b"live")

    async def save(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        while message.get("more_body"):
            message = await receive()
        if message["type"] == "http.disconnect":
            await send({"type": "http.response.start", "status": 500, "headers": []})
            raise ClientDisconnect
        await respond(send, b"saved")

    async def endless(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(1000):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})

    async def sized(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"5")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"12345"})

    async def method_not_allowed(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 405, "headers": [(b"allow", b"GET, DELETE")]})
        await send({"type": "http.response.body", "body": b""})

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await respond(send, b"event", content_type=b"text/event-stream", more_body=True)
        wait_tasks = [asyncio.ensure_future(awaitable) for awaitable in (self.go_on.wait(), disconnected(receive))]
        await asyncio.wait(wait_tasks, return_when=asyncio.FIRST_COMPLETED)
        for wait_task in wait_tasks:
            wait_task.cancel()
        await send({"type": "http.response.body", "body": b""})


async def disconnected(receive: Receive) -> None:
    """Wait until the client has disconnected or has got its response."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def respond(send: Send, body: bytes, *, content_type: bytes = b"text/plain", more_body: bool = False) -> None:
    """Send a response, or with `more_body` the beginning of one."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type)]})
    await send({"type": "http.response.body", "body": body, "more_body": more_body})


def edge(
    app: ASGIApp, tmp_path: Path, *, upload_paths: Collection[str] = ("/echo/large",), **changes: Any
) -> EdgeMiddleware:
    """Return the middleware around an application, with changed settings, and with these paths for uploads."""
    variables = {f"TOUCHSTONE_{name.upper()}": str(value) for name, value in changes.items()}
    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path), **variables})
    return EdgeMiddleware(app, settings, body_paths=BodyPaths(uploads=frozenset(upload_paths)))


def client(app: EdgeMiddleware) -> httpx2.AsyncClient:
    """Return a client that calls the application without a network."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


async def test_uploads_have_a_higher_limit_than_other_bodies(tmp_path: Path) -> None:
    """A body over the limit gets 413, whether its length is declared or not; an upload may be larger."""
    app = edge(ManyBehaviours(), tmp_path, body_max_bytes=1024, upload_max_bytes=4096)

    async def body_chunks() -> Any:
        for _ in range(20):
            yield b"x" * 100

    async with client(app) as http:
        assert (await http.post("/echo", content=b"x" * 1024)).status_code == 200
        refusal = await http.post("/echo", content=b"x" * 1025)
        assert (refusal.status_code, refusal.json()["code"]) == (413, "too_large")
        assert (await http.post("/echo", content=body_chunks())).status_code == 413
        assert (await http.post("/echo/large", content=b"x" * 4096)).status_code == 200
        assert (await http.post("/echo/large/", content=b"x" * 4097)).status_code == 413


async def test_headers_have_limits(tmp_path: Path) -> None:
    """Too many headers or too long ones get 431."""
    async with client(edge(ManyBehaviours(), tmp_path)) as http:
        assert (await http.get("/echo", headers={f"x-{number}": "1" for number in range(120)})).status_code == 431
        assert (await http.get("/echo", headers={"x-long": "a" * 40_000})).status_code == 431


@pytest.mark.parametrize(("coding", "status"), [("gzip", 415), ("identity, br", 415), ("Identity", 200), ("", 200)])
async def test_compressed_bodies_are_refused(tmp_path: Path, coding: str, status: int) -> None:
    """A body with a content coding is refused, also by the routes for uploads; the response names what is accepted."""
    async with client(edge(ManyBehaviours(), tmp_path)) as http:
        for path in ("/echo", "/echo/large"):
            answer = await http.post(path, content=b"data", headers={"Content-Encoding": coding})
            assert answer.status_code == status
            if status == 415:
                assert answer.json()["code"] == "unsupported_media"
                assert answer.headers["accept-encoding"] == "identity"
        assert (await http.get("/echo", headers={"Content-Encoding": coding})).status_code == 200


async def test_requests_over_the_limit_wait_and_then_are_refused(tmp_path: Path) -> None:
    """As many requests as allowed run, as many more wait, and others are refused at once; health always responds."""
    app = ManyBehaviours()
    async with client(edge(app, tmp_path, max_concurrency=2, queue_seconds=30)) as http:
        pending_responses = [asyncio.ensure_future(http.get("/wait")) for _ in range(4)]
        while app.running < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        refusal = await http.get("/wait")
        assert (refusal.status_code, refusal.json()["code"], refusal.headers["retry-after"]) == (503, "overloaded", "1")
        assert (await http.get("/health/live")).text == "live"
        app.go_on.set()
        assert [(await response).status_code for response in pending_responses] == [200] * 4
        assert (await http.get("/wait")).status_code == 200


async def test_a_request_that_would_wait_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Not even its body is read; health always responds."""
    app = ManyBehaviours()
    middleware = edge(app, tmp_path, max_concurrency=1, queue_seconds=30)
    middleware.caller_of = lambda scope: scope["client"][0]

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def status_of(address: str, path: str = "/wait") -> int:
        statuses: list[int] = []

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": path, "client": (address, 1)}
        await middleware({**scope, "headers": [(b"host", b"test")]}, receive, send)
        return statuses[0]

    running_request, waiting_request = (asyncio.ensure_future(status_of("192.0.2.1")) for _ in range(2))
    await asyncio.sleep(0.05)
    assert await asyncio.wait_for(status_of("192.0.2.1"), 10) == 503
    assert await asyncio.wait_for(status_of("192.0.2.1", "/health/live"), 10) == 200
    app.go_on.set()
    assert [await running_request, await waiting_request] == [200, 200]


async def test_a_refused_client_can_ask_again_on_the_same_connection(tmp_path: Path) -> None:
    """The refusal has the headers of every response, and the connection serves the next request."""
    app = ManyBehaviours()
    middleware = edge(app, tmp_path, max_concurrency=1, queue_seconds=30)
    async with listening(middleware) as address, httpx2.AsyncClient() as http:
        pending_responses = [asyncio.ensure_future(http.get(f"{address}/wait")) for _ in range(2)]
        while app.running < 1 or middleware._admission.waiting_count < 1:
            await asyncio.sleep(0.01)

        reader, writer = await begin_request(
            address, b"GET /wait HTTP/1.1\r\nHost: x\r\nX-Request-ID: my-request-1\r\n\r\n"
        )
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        for line in (b"x-request-id: my-request-1", b"x-content-type-options: nosniff", b"retry-after: 1", b"date: "):
            assert b"\r\n" + line in head.lower()
        assert b"connection: close" not in head.lower()
        body = await asyncio.wait_for(reader.readuntil(b"}"), 10)
        assert json.loads(body)["code"] == "overloaded"

        app.go_on.set()
        assert [(await response).status_code for response in pending_responses] == [200, 200]
        writer.write(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in await asyncio.wait_for(reader.readline(), 10)
        writer.close()


async def test_an_event_stream_holds_no_place(tmp_path: Path) -> None:
    """While a stream is open, other requests can run in its place."""
    app = ManyBehaviours()
    async with (
        listening(edge(app, tmp_path, max_concurrency=1)) as address,
        httpx2.AsyncClient() as http,
        http.stream("GET", f"{address}/stream") as stream,
    ):
        assert stream.status_code == 200
        assert (await http.post(f"{address}/echo", content=b"x")).status_code == 200
        app.go_on.set()


async def test_a_client_that_stops_sending_gets_a_timeout(tmp_path: Path) -> None:
    """The rest of a body must arrive within the deadline."""
    async with listening(edge(ManyBehaviours(), tmp_path, receive_timeout_seconds=0.2)) as address:
        host, port = address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        assert b"408" in await asyncio.wait_for(reader.readline(), 10)
        writer.close()


async def test_a_request_that_waits_for_its_body_can_be_cancelled(tmp_path: Path) -> None:
    """The cancellation reaches the `receive` of the server, which can then clean up."""
    cleaned_up = asyncio.Event()

    async def receive() -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned_up.set()

    async def send(message: Any) -> None:
        raise AssertionError(message)

    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/echo", "headers": [(b"host", b"test")]}
    request_task = asyncio.ensure_future(edge(ManyBehaviours(), tmp_path)(scope, receive, send))
    await asyncio.sleep(0.05)
    request_task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request_task
    assert cleaned_up.is_set()


async def test_the_response_to_an_unexpected_exception_has_no_details(tmp_path: Path) -> None:
    """An exception gets a 500 in the usual form, with the request id that its user can report."""
    async with client(edge(ManyBehaviours(), tmp_path)) as http:
        response = await http.get("/crash", headers={"x-request-id": "my-request-1"})
        assert (response.status_code, response.json()["code"]) == (500, "internal_error")
        assert "secret" not in response.text
        assert response.headers["x-request-id"] == "my-request-1"


async def test_a_response_that_breaks_off_is_logged_in_one_line(tmp_path: Path) -> None:
    """An outage during a long response is no defect, so the log names its reason without a traceback."""
    with structlog.testing.capture_logs() as entries:
        async with listening(edge(ManyBehaviours(), tmp_path)) as address, httpx2.AsyncClient(base_url=address) as http:
            with pytest.raises(httpx2.RemoteProtocolError):
                await http.get("/break_off", headers={"x-request-id": "my-request-1"})

    [failure] = [entry for entry in entries if entry["log_level"] == "error" and "request_id" in entry]
    assert (failure["event"], failure["request_id"]) == ("response cut off", "my-request-1")
    assert (failure["problem"], "exc_info" in failure) == ("unavailable", False)


async def test_a_defect_of_a_backend_is_reported_in_the_usual_form(tmp_path: Path) -> None:
    """The handlers of a part of the service answer like the rest of it, and the log still gets the traceback."""
    router = strict_router()

    @router.get("/broken")
    async def fail() -> None:
        raise ValueError("a secret detail")

    with structlog.testing.capture_logs() as entries:
        async with client(edge(create_app("backend", router), tmp_path)) as http:
            response = await http.get("/broken", headers={"accept-language": "en"})

    assert (response.status_code, response.headers["content-type"]) == (500, "application/json")
    assert response.json() == {
        "detail": "Internal error; please report the request id",
        "code": "internal_error",
        "errors": [],
    }
    [failure] = [entry for entry in entries if entry["event"] == "request failed"]
    assert failure["exc_info"] is True


@pytest.mark.parametrize("request_id", ["short", "a" * 65, "with space", "\x1b[31mred---"])
async def test_a_request_id_that_could_harm_a_log_is_replaced(tmp_path: Path, request_id: str) -> None:
    """Only a request id of plain characters and of moderate length is kept."""
    async with client(edge(ManyBehaviours(), tmp_path)) as http:
        response = await http.get("/health/live", headers={"x-request-id": request_id})
        assert response.headers["x-request-id"] != request_id


def request_count(method: str, status: int) -> float:
    """Return how many requests of this method have got this status so far."""
    labels = {"method": method, "status": str(status)}
    return REGISTRY.get_sample_value("touchstone_requests_total", labels) or 0.0


async def send_and_read_all(address: str, request_bytes: bytes) -> bytes:
    """Send these bytes and return what the server sends until it closes the connection."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request_bytes)
    response = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return response


AMBIGUOUS_REQUESTS = {
    "a transfer coding beside chunked": (
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
    ),
    "another transfer coding": b"POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
    "HTTP/0.9": b"GET /echo\r\n\r\n",
    "HTTP/2.0 in clear text": b"GET /echo HTTP/2.0\r\nHost: x\r\n\r\n",
    "no host": b"GET /echo HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /echo HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "one host twice": b"GET /health/live HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", AMBIGUOUS_REQUESTS.values(), ids=AMBIGUOUS_REQUESTS.keys())
async def test_a_head_that_two_servers_could_read_differently_is_refused(tmp_path: Path, request_bytes: bytes) -> None:
    """The error response has the usual form, and the connection is closed after it."""
    async with listening(edge(ManyBehaviours(), tmp_path)) as address:
        head, _, body = (await send_and_read_all(address, request_bytes)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in head.lower()
    assert json.loads(body) == {"detail": "Requête mal formée", "code": "bad_request", "errors": []}


async def test_old_and_chunked_requests_are_answered(tmp_path: Path) -> None:
    """HTTP/1.0 needs no Host, and the server decodes the transfer coding `chunked` in any case of letters."""
    chunked_head = b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n"
    async with listening(edge(ManyBehaviours(), tmp_path)) as address:
        assert b"\r\n\r\n4\r\nlive\r\n" in await send_and_read_all(address, b"GET /health/live HTTP/1.0\r\n\r\n")
        assert b"\r\nabc\r\n" in await send_and_read_all(address, chunked_head + b"3\r\nabc\r\n0\r\n\r\n")


async def test_a_client_that_goes_away_is_no_error_of_the_service(tmp_path: Path) -> None:
    """An interrupted upload is counted as 499 and logged without a traceback, whatever the application raises."""
    counts_before = request_count("POST", 499), request_count("POST", 500)
    upload = b"POST /save/large HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc"
    app = ManyBehaviours()
    with structlog.testing.capture_logs() as events:
        async with listening(edge(app, tmp_path, upload_paths=("/save/large",))) as address:
            host, port = address.removeprefix("http://").split(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(upload)
            while app.running == 0:
                await asyncio.sleep(0.01)
            writer.transport.abort()
            while app.running:
                await asyncio.sleep(0.01)
    assert [event for event in events if event["log_level"] == "error"] == []
    assert (request_count("POST", 499), request_count("POST", 500)) == (counts_before[0] + 1, counts_before[1])


async def test_head_is_answered_with_the_headers_of_get(tmp_path: Path) -> None:
    """No body is sent, not even the beginning of an endless one, and the request is counted as HEAD."""
    count_before = request_count("HEAD", 200)
    async with listening(edge(ManyBehaviours(), tmp_path)) as address, httpx2.AsyncClient() as http:
        for path in ("/health/live", "/sized", "/stream"):
            response = await http.head(f"{address}{path}")
            assert (response.status_code, response.content) == (200, b"")
        assert (await http.head(f"{address}/sized")).headers["content-length"] == "5"
    assert request_count("HEAD", 200) == count_before + 4


async def test_allow_names_head_beside_get(tmp_path: Path) -> None:
    """A client learns from `Allow` that it may send HEAD."""
    async with client(edge(ManyBehaviours(), tmp_path)) as http:
        assert (await http.put("/method_not_allowed")).headers["allow"] == "DELETE, GET, HEAD"


def post_head(path: str, length: int) -> bytes:
    """Return the head of a request with a body of this length."""
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode()


async def begin_request(address: str, request_bytes: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send the beginning of a request on a new connection, and return the connection."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request_bytes)
    await writer.drain()
    return reader, writer


async def test_incomplete_requests_and_unread_answers_hold_no_slot(tmp_path: Path) -> None:
    """With a single slot, requests run beside an incomplete body, an unfinished upload and a response nobody reads."""
    middleware = edge(ManyBehaviours(), tmp_path, upload_paths=("/save/large",), max_concurrency=1)
    async with listening(middleware) as address, httpx2.AsyncClient() as http:
        connections = [
            await begin_request(address, post_head("/echo", 10) + b"abc"),
            await begin_request(address, post_head("/save/large", 1000) + b"abc"),
            await begin_request(address, b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n"),
        ]
        await asyncio.sleep(0.2)
        for _ in range(3):
            assert (await http.post(f"{address}/echo", content=b"x")).text == "x"
        for _, writer in connections:
            writer.transport.abort()


async def test_uploads_have_slots_of_their_own(tmp_path: Path) -> None:
    """One address gets at most half of the slots; a further upload is refused, with the time to wait."""
    middleware = edge(ManyBehaviours(), tmp_path, upload_paths=("/save/large",), max_uploads=4)
    async with listening(middleware) as address, httpx2.AsyncClient() as http:
        uploads = [await begin_request(address, post_head("/save/large", 1000) + b"abc") for _ in range(2)]
        await asyncio.sleep(0.2)
        refusal = await http.post(f"{address}/save/large", content=b"x")
        assert (refusal.status_code, refusal.json()["code"]) == (503, "overloaded")
        assert refusal.headers["retry-after"] == "5"
        for _, writer in uploads:
            writer.transport.abort()
        await asyncio.sleep(0.2)
        assert (await http.post(f"{address}/save/large", content=b"x")).text == "saved"


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/echo", "/save/large"])
async def test_a_body_below_the_minimum_rate_is_refused_within_ten_seconds(tmp_path: Path, path: str) -> None:
    """Sending a byte now and then does not prevent the refusal."""
    async with listening(edge(ManyBehaviours(), tmp_path, upload_paths=("/save/large",))) as address:
        reader, writer = await begin_request(address, post_head(path, 10_000))
        status_line = asyncio.ensure_future(reader.readline())
        for _ in range(30):
            writer.write(b"a")
            await asyncio.sleep(0.5)
            if status_line.done():
                break
        assert b" 408 " in await status_line
        writer.close()


async def test_an_upload_may_take_longer_than_a_body(tmp_path: Path) -> None:
    """An upload has a minimum rate, but no overall deadline."""
    middleware = edge(ManyBehaviours(), tmp_path, upload_paths=("/save/large",), receive_timeout_seconds=0.3)
    async with listening(middleware) as address:
        reader, writer = await begin_request(address, post_head("/save/large", 10))
        for _ in range(10):
            await asyncio.sleep(0.1)
            writer.write(b"a")
        assert b" 200 " in await asyncio.wait_for(reader.readline(), 10)
        writer.close()


async def test_large_bodies_share_a_limited_memory(tmp_path: Path) -> None:
    """Large bodies that would exceed the shared memory are refused; small ones are not."""
    middleware = edge(ManyBehaviours(), tmp_path, max_concurrency=1, body_max_bytes=200_000)
    async with listening(middleware) as address, httpx2.AsyncClient() as http:
        _, first_writer = await begin_request(address, post_head("/echo", 200_000) + b"a" * 150_000)
        await asyncio.sleep(0.2)
        refusal = await http.post(f"{address}/echo", content=b"a" * 150_000)
        assert (refusal.status_code, refusal.json()["code"]) == (503, "overloaded")
        assert (await http.post(f"{address}/echo", content=b"a" * 10_000)).status_code == 200
        first_writer.transport.abort()
        await asyncio.sleep(0.2)
        assert (await http.post(f"{address}/echo", content=b"a" * 150_000)).status_code == 200
