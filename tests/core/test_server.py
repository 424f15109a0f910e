"""The server around an application: deadlines, malformed requests, limits of connections, and its address."""

import asyncio
import contextlib
import grp
import json
import os
import select
import socket
import stat
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.listening import listening
from touchstone.core.client_address import TrustedProxies
from touchstone.core.settings import Settings, SettingsError
from touchstone.http.connection_deadlines import HEADER_SECONDS
from touchstone.http.connection_limits import (
    CONNECTION_BURST,
    CONNECTIONS_PER_SECOND,
    ConnectionLimits,
    RefusalBudget,
)
from touchstone.http.listener import listener_address, open_listener
from touchstone.http.server import serve
from touchstone.startup.startup_message import startup_lines

APP = PlainTextResponse("ok")
SLACK_SECONDS = 15.0  # added to deadlines, because the machine may be busy


async def send_and_read_all(address: str, request_bytes: bytes) -> bytes:
    """Send these bytes and return what the server sends until it closes the connection."""
    reader, writer = await asyncio.open_connection(*host_and_port(address))
    writer.write(request_bytes)
    response = await reader.read()
    writer.close()
    return response


def host_and_port(address: str) -> tuple[str, int]:
    """Return the host and the port in the address of a server."""
    host, port = address.removeprefix("http://").split(":")
    return host, int(port)


async def test_bytes_that_are_not_http_get_the_usual_error_response() -> None:
    """Even an error of the HTTP parser is reported as JSON with a code."""
    async with listening(APP) as address:
        head, _, body = (await send_and_read_all(address, b"\x16\x03\x01 hello\r\n\r\n")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body) == {"detail": "Requête mal formée", "code": "bad_request", "errors": []}


async def test_input_that_the_parser_refuses_is_answered_in_the_language_of_its_client() -> None:
    """The headers that were parsed before the mistake count, and too long an address is named as the reason."""
    headers = b"Accept-Language: en\r\nHost: x\r\n"
    malformed_request = b"GET / HTTP/1.1\r\n" + headers + b"bad line\r\n\r\n"
    long_request = b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n" + headers + b"\r\n"
    async with listening(APP) as address:
        malformed, too_long = [
            await send_and_read_all(address, request_bytes) for request_bytes in (malformed_request, long_request)
        ]
    assert malformed.startswith(b"HTTP/1.1 400 ")
    assert b"Malformed request" in malformed
    assert too_long.startswith(b"HTTP/1.1 431 ")
    assert b"The address or the headers are too long" in too_long


@pytest.mark.slow
@pytest.mark.parametrize("beginning", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
async def test_a_connection_that_never_finishes_its_headers_is_closed(beginning: bytes) -> None:
    """A silent connection and one with half a request are closed after five seconds."""
    async with listening(APP) as address:
        started_at = time.monotonic()
        response = send_and_read_all(address, beginning)
        assert await asyncio.wait_for(response, HEADER_SECONDS + SLACK_SECONDS) == b""
        assert time.monotonic() - started_at < HEADER_SECONDS + SLACK_SECONDS


COMPLETE_REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "further_bytes", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", COMPLETE_REQUEST + COMPLETE_REQUEST]
)
async def test_an_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch, further_bytes: bytes) -> None:
    """The connection is closed even in the middle of another request, but all complete requests get responses first."""
    monkeypatch.setattr("touchstone.http.connection_deadlines.KEEP_ALIVE_SECONDS", 0.2)
    monkeypatch.setattr("touchstone.http.connection_deadlines.HEADER_SECONDS", 0.2)
    async with listening(APP) as address:
        responses = await asyncio.wait_for(send_and_read_all(address, COMPLETE_REQUEST + further_bytes), SLACK_SECONDS)
    assert responses.count(b"HTTP/1.1 200 OK") == 1 + further_bytes.count(COMPLETE_REQUEST)


async def test_a_slow_response_keeps_its_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is not idle while the application works on its request."""
    monkeypatch.setattr("touchstone.http.connection_deadlines.KEEP_ALIVE_SECONDS", 0.2)

    async def respond_slowly(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.5)
        await APP(scope, receive, send)

    async with listening(respond_slowly) as address:
        assert b"HTTP/1.1 200 OK" in await asyncio.wait_for(send_and_read_all(address, COMPLETE_REQUEST), SLACK_SECONDS)


async def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    """The start stops with the name of the variable to change."""
    with socket.create_server(("127.0.0.1", 0)) as other_listener:
        port = str(other_listener.getsockname()[1])
        settings = Settings.load({"TOUCHSTONE_PORT": port, "TOUCHSTONE_DATA_DIR": str(tmp_path)})
        with pytest.raises(SettingsError, match=r"TOUCHSTONE_PORT: cannot listen on 127\.0\.0\.1"):
            await serve(nullcontext(APP), settings, ready=print)


def unix_settings(path: Path, **variables: str) -> Settings:
    """Return the settings of a server that listens on a unix socket at this path, with further variables."""
    return Settings.load({"TOUCHSTONE_HOST": f"unix:{path}", **variables})


def test_the_socket_of_a_process_that_has_ended_is_replaced(tmp_path: Path) -> None:
    """A process that is killed leaves its socket behind, and the next start needs the same path."""
    path = tmp_path / "socket"
    open_listener(unix_settings(path)).close()
    assert path.is_socket()
    with open_listener(unix_settings(path)), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_a_socket_is_private_unless_a_group_is_named(tmp_path: Path) -> None:
    """A reverse proxy of another user connects as a member of the group."""
    path = tmp_path / "socket"
    with open_listener(unix_settings(path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    group = grp.getgrgid(os.getegid()).gr_name
    with open_listener(unix_settings(path, TOUCHSTONE_SOCKET_GROUP=group)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert path.group() == group


def test_a_group_that_does_not_exist_is_reported_in_one_line(tmp_path: Path) -> None:
    """The start stops with the name of the variable to change."""
    settings = unix_settings(tmp_path / "socket", TOUCHSTONE_SOCKET_GROUP="no such group")
    with pytest.raises(SettingsError, match=r"^TOUCHSTONE_SOCKET_GROUP: there is no group 'no such group'$"):
        open_listener(settings)


def test_the_socket_of_a_running_server_is_left_alone(tmp_path: Path) -> None:
    """A second server does not start, even if the first one has no room for further connections."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server, contextlib.ExitStack() as clients:
        server.bind(str(path))
        server.listen(0)
        for _ in range(3):
            with pytest.raises(SettingsError, match=f"^TOUCHSTONE_HOST: .* unix:{path}: it is already in use$"):
                open_listener(unix_settings(path))
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(str(path))
    assert path.is_socket()


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_a_file_is_not_replaced_by_a_socket(kind: str, tmp_path: Path) -> None:
    """A mistyped path must not cost the operator a file."""
    path, target = tmp_path / "path", tmp_path / "target"
    target.write_text("content")
    if kind == "file":
        path.write_text("content")
    elif kind == "link":
        path.symlink_to(target)
    else:
        path.mkdir()
    with pytest.raises(SettingsError, match=f"^TOUCHSTONE_HOST: .* unix:{path}: a file is in the way$"):
        open_listener(unix_settings(path))
    assert kind == "folder" or path.read_text() == "content"


def test_a_socket_that_cannot_be_opened_is_named_without_a_port(tmp_path: Path) -> None:
    """The line says what is wrong with the path."""
    for path, reason in ((tmp_path / "missing" / "s", "No such file"), (tmp_path / ("s" * 108), "AF_UNIX path too lo")):
        with pytest.raises(SettingsError, match=f"^TOUCHSTONE_HOST: cannot listen on unix:{path}: {reason}"):
            open_listener(unix_settings(path))


def test_the_address_of_a_listener_is_written_as_people_use_it(tmp_path: Path) -> None:
    """The address is a URL, or the path of a unix socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert listener_address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert listener_address(listener) == f"unix:{tmp_path}/s"


def test_the_startup_lines_name_no_address_that_a_browser_cannot_open() -> None:
    """The pages and the command line need an address over TCP, which a server on a Unix socket does not have."""
    assert [*startup_lines(None, "unix:/run/touchstone.sock", None)] == [
        "Touchstone answers at unix:/run/touchstone.sock"
    ]
    lines = [*startup_lines(None, "http://127.0.0.1:8000", None)]
    assert "Pages: http://127.0.0.1:8000/app/" in lines[1]
    assert lines[2].endswith("login --url http://127.0.0.1:8000")


async def send_large_response(scope: Scope, receive: Receive, send: Send) -> None:
    """Send a response that is larger than all buffers between the application and the client."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1000):
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def refuse_body(scope: Scope, receive: Receive, send: Send) -> None:
    """Send a response without reading the body of the request."""
    await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


SLOW_CLIENTS = {
    "headers of a second request": (APP, COMPLETE_REQUEST + b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "),
    "a response that is never read": (send_large_response, COMPLETE_REQUEST),
    "the rest of a refused body": (refuse_body, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nabc"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("app", "request_bytes"), SLOW_CLIENTS.values(), ids=SLOW_CLIENTS.keys())
async def test_a_slow_connection_is_closed_within_ten_seconds(app: ASGIApp, request_bytes: bytes) -> None:
    """The connection is closed whatever it is slow at, even if it sends a byte now and then."""
    async with listening(app) as address:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(host_and_port(address))
            client.sendall(request_bytes)
            poller = select.poll()
            poller.register(client, select.POLLRDHUP)
            started_at = time.monotonic()
            while not await asyncio.to_thread(poller.poll, 500):
                assert time.monotonic() - started_at < 10 + SLACK_SECONDS
                with contextlib.suppress(OSError):
                    client.send(b"a")


@pytest.mark.slow
async def test_a_steady_reader_gets_the_complete_response() -> None:
    """A client that reads all the time may take longer than every deadline."""
    async with listening(send_large_response) as address:
        reader, writer = await asyncio.open_connection(*host_and_port(address))
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        byte_count = 0
        while chunk := await reader.read(250_000):
            byte_count += len(chunk)
            await asyncio.sleep(0.015)
        writer.close()
    assert byte_count > 100_000_000


async def test_connections_of_one_address_are_limited() -> None:
    """A connection over the limit is refused at once; trusted proxies and other addresses are not affected."""
    limits = ConnectionLimits(max_per_address=2, proxies=TrustedProxies.parse(["127.0.0.3"]))

    async def connect_from(source: str) -> tuple[asyncio.StreamWriter, bytes]:
        reader, writer = await asyncio.open_connection(*host_and_port(address), local_addr=(source, 0))
        writer.write(COMPLETE_REQUEST)
        return writer, await reader.readline()

    async with listening(APP, limits=limits) as address:
        connections = [await connect_from(source) for source in ["127.0.0.2"] * 3 + ["127.0.0.3"] * 4 + ["127.0.0.1"]]
        assert [line.split()[1] for _, line in connections] == [b"200", b"200", b"503", *[b"200"] * 5]
        connections[0][0].close()
        await asyncio.sleep(0.1)
        connections.append(await connect_from("127.0.0.2"))
        assert connections[-1][1].split()[1] == b"200"
        for writer, _ in connections:
            writer.close()


@pytest.mark.slow
async def test_slow_connections_of_one_address_are_limited() -> None:
    """Slow connections over the limit are closed long before their deadline, and others stay open."""
    limits = ConnectionLimits(max_per_address=100, max_slow_per_address=2)
    async with listening(APP, limits=limits) as address:
        idle_reader, idle_writer = await asyncio.open_connection(*host_and_port(address))
        idle_writer.write(COMPLETE_REQUEST)
        assert b"200" in await idle_reader.readline()
        started_at = time.monotonic()
        slow_requests = [
            send_and_read_all(address, COMPLETE_REQUEST + b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") for _ in range(6)
        ]
        connections = [asyncio.ensure_future(slow_request) for slow_request in slow_requests]
        closed_connections, _ = await asyncio.wait(connections, timeout=HEADER_SECONDS - 1)
        assert len(closed_connections) == 4, time.monotonic() - started_at
        await asyncio.gather(*connections, return_exceptions=True)
        idle_writer.write(COMPLETE_REQUEST)
        assert b"HTTP/1.1 200" in await idle_reader.readuntil(b"HTTP/1.1 200")
        idle_writer.close()


class OverloadedApp:
    """An application that has the server refuse every request except those for `/health`, before it is called.

    Attributes:
        refusal_count: the number of requests refused so far.
    """

    def __init__(self) -> None:
        self.refusal_count = 0

    def quick_refusal(self, scope: Scope) -> Response | None:
        if scope["path"] == "/health":
            return None
        self.refusal_count += 1
        return PlainTextResponse("not now", 503, {"Retry-After": "1"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("live", headers={"Connection": "close"})(scope, receive, send)


HEALTH_REQUEST = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
REFUSED_REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"


async def test_a_connection_goes_on_after_a_refusal() -> None:
    """The body of a refused request is not taken for the next request."""
    async with listening(OverloadedApp(), limits=ConnectionLimits(max_per_address=10)) as address:
        responses = await asyncio.wait_for(
            send_and_read_all(address, REFUSED_REQUEST + REFUSED_REQUEST + HEALTH_REQUEST), SLACK_SECONDS
        )
    assert responses.count(b"HTTP/1.1 503 Service Unavailable\r\n") == responses.count(b"\r\n\r\nnot now") == 2
    assert b"\r\ndate: " in responses
    assert responses.endswith(b"\r\n\r\nlive")


@pytest.mark.slow
async def test_a_client_that_asks_again_at_once_after_every_refusal_has_to_wait() -> None:
    """Once refusals take too much time, the next request on such a connection is not even read for a second."""
    app = OverloadedApp()
    budget = RefusalBudget(share=0.0)
    async with listening(app, limits=ConnectionLimits(max_per_address=10, refusals=budget)) as address:
        reader, writer = await asyncio.open_connection(*host_and_port(address))
        started_at = time.monotonic()
        for _ in range(4):  # there is no wait after the first refusal, which says when to ask again
            writer.write(REFUSED_REQUEST)
            await asyncio.wait_for(reader.readuntil(b"not now"), 10)
        assert time.monotonic() - started_at >= 2
        assert app.refusal_count == 4
        writer.close()


async def test_a_trusted_proxy_does_not_have_to_wait() -> None:
    """The next request on its connection may be from another user."""
    limits = ConnectionLimits(
        max_per_address=10, refusals=RefusalBudget(share=0.0), proxies=TrustedProxies.parse(["127.0.0.1"])
    )
    async with listening(OverloadedApp(), limits=limits) as address:
        reader, writer = await asyncio.open_connection(*host_and_port(address))
        for _ in range(100):
            writer.write(REFUSED_REQUEST)
            await asyncio.wait_for(reader.readuntil(b"not now"), SLACK_SECONDS)
        writer.close()


async def test_a_refused_connection_that_does_not_come_back_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is closed long before one that is idle after a successful response."""
    monkeypatch.setattr("touchstone.http.connection_deadlines.REFUSED_IDLE_SECONDS", 0.2)
    async with listening(OverloadedApp(), limits=ConnectionLimits(max_per_address=10)) as address:
        assert b"not now" in await asyncio.wait_for(send_and_read_all(address, REFUSED_REQUEST), SLACK_SECONDS)


def test_refusals_may_take_a_share_of_the_time() -> None:
    """A burst is allowed, and then the share; a pause allows another burst, but no more than that."""
    budget = RefusalBudget(share=0.1)
    assert [budget.charge(100.0, 0.01) for _ in range(4)] == [True, True, False, False]
    assert budget.charge(100.5, 0.01)
    assert [budget.charge(200.0, 0.02), budget.charge(200.1, 0.02), budget.charge(200.1, 0.02)] == [True, False, False]


async def test_a_flood_of_connections_from_one_address_is_read_little_by_little() -> None:
    """Every connection gets a response in the end, and other addresses are not delayed."""
    limits = ConnectionLimits(max_per_address=1000)
    delays = [limits.schedule_first_read("192.0.2.1", 0.0) for _ in range(3 * CONNECTION_BURST)]

    assert delays[:CONNECTION_BURST] == [0.0] * CONNECTION_BURST
    assert delays[-1] == pytest.approx((2 * CONNECTION_BURST - 1) / CONNECTIONS_PER_SECOND)
    assert limits.schedule_first_read("192.0.2.2", 0.0) == 0.0
    assert limits.schedule_first_read("192.0.2.1", 60.0) == 0.0

    async with listening(OverloadedApp(), limits=limits) as address:
        streams = []
        for _ in range(2 * CONNECTION_BURST):
            reader, writer = await asyncio.open_connection(*host_and_port(address))
            # On a busy machine, the first connection would be closed as idle before the last one is open.
            writer.write(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
            streams.append((reader, writer))
        lines = await asyncio.gather(*(reader.readline() for reader, _ in streams))
        for _, writer in streams:
            writer.close()

    assert {line[:9] for line in lines} == {b"HTTP/1.1 "}
