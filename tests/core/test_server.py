"""The server around an application: deadlines, refusals of what is not HTTP, and where it listens."""

import asyncio
import contextlib
import json
import select
import socket
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
from touchstone.http.listener import listener_address
from touchstone.http.server import serve

APP = PlainTextResponse("ok")
SLACK = 5.0


async def talk(where: str, raw: bytes) -> bytes:
    """What comes back until the server closes the connection."""
    host, port = where.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(raw)
    answer = await reader.read()
    writer.close()
    return answer


async def test_what_is_not_http_is_refused_in_the_contracts_shape() -> None:
    """Even the parser's refusal is JSON with a code."""
    async with listening(APP) as where:
        head, _, body = (await talk(where, b"\x16\x03\x01 hello\r\n\r\n")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body) == {"detail": "Requête mal formée", "code": "bad_request", "errors": []}


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
async def test_a_connection_that_never_finishes_its_headers_is_closed(begun: bytes) -> None:
    """A silent or half-sent request is given five seconds."""
    async with listening(APP) as where:
        started = time.monotonic()
        assert await asyncio.wait_for(talk(where, begun), HEADER_SECONDS + SLACK) == b""
        assert time.monotonic() - started < HEADER_SECONDS + SLACK


ANSWERED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("then", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", ANSWERED + ANSWERED])
async def test_a_connection_that_rests_is_closed(monkeypatch: pytest.MonkeyPatch, then: bytes) -> None:
    """After its last whole answer, be it silent or half way through another request; what is whole is answered."""
    monkeypatch.setattr("touchstone.http.connection_deadlines.KEEP_ALIVE_SECONDS", 0.2)
    async with listening(APP) as where:
        answer = await asyncio.wait_for(talk(where, ANSWERED + then), SLACK)
    assert answer.count(b"HTTP/1.1 200 OK") == 1 + then.count(ANSWERED)


async def test_an_answer_that_takes_long_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody rests while an answer is being made."""
    monkeypatch.setattr("touchstone.http.connection_deadlines.KEEP_ALIVE_SECONDS", 0.2)

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.5)
        await APP(scope, receive, send)

    async with listening(slow) as where:
        assert b"HTTP/1.1 200 OK" in await asyncio.wait_for(talk(where, ANSWERED), SLACK)


async def test_a_taken_port_is_said_in_one_line(tmp_path: Path) -> None:
    """The start stops with the variables to change."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        settings = Settings.load({"TOUCHSTONE_PORT": port, "TOUCHSTONE_DATA_DIR": str(tmp_path)})
        with pytest.raises(SettingsError, match=r"TOUCHSTONE_PORT: cannot listen on 127\.0\.0\.1"):
            await serve(nullcontext(APP), settings, ready=print)


def test_addresses_are_written_as_people_open_them(tmp_path: Path) -> None:
    """IPv6 in brackets, sockets by their path."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert listener_address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert listener_address(listener) == f"unix:{tmp_path}/s"


def listener_of(where: str) -> tuple[str, int]:
    """The host and port of an address."""
    host, port = where.removeprefix("http://").split(":")
    return host, int(port)


async def large(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with more than any buffer on the way holds."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1000):
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer without reading the body."""
    await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


SLOW = {
    "headers of a second request": (APP, ANSWERED + b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "),
    "an answer that is never read": (large, ANSWERED),
    "the rest of a refused body": (refuse, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nabc"),
}


@pytest.mark.parametrize(("app", "sent"), SLOW.values(), ids=SLOW.keys())
async def test_a_slow_connection_is_closed_within_ten_seconds(app: ASGIApp, sent: bytes) -> None:
    """Whatever it is slow at, and although it sends or reads a byte now and then."""
    async with listening(app) as where:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(listener_of(where))
            client.sendall(sent)
            poll = select.poll()
            poll.register(client, select.POLLRDHUP)
            started = time.monotonic()
            while not await asyncio.to_thread(poll.poll, 500):
                assert time.monotonic() - started < 10 + SLACK
                with contextlib.suppress(OSError):
                    client.send(b"a")


async def test_a_steady_reader_gets_its_whole_answer() -> None:
    """One that takes longer than every deadline, but reads all the time."""
    async with listening(large) as where:
        reader, writer = await asyncio.open_connection(*listener_of(where))
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        size = 0
        while part := await reader.read(250_000):
            size += len(part)
            await asyncio.sleep(0.015)
        writer.close()
    assert size > 100_000_000


async def test_connections_of_one_address_are_limited() -> None:
    """The one too many is told so at once; a trusted proxy and the others are not concerned."""
    limits = ConnectionLimits(per_address=2, proxies=TrustedProxies.parse(["127.0.0.3"]))

    async def ask_from(source: str) -> tuple[asyncio.StreamWriter, bytes]:
        reader, writer = await asyncio.open_connection(*listener_of(where), local_addr=(source, 0))
        writer.write(ANSWERED)
        return writer, await reader.readline()

    async with listening(APP, limits=limits) as where:
        answers = [await ask_from(source) for source in ["127.0.0.2"] * 3 + ["127.0.0.3"] * 4 + ["127.0.0.1"]]
        assert [line.split()[1] for _, line in answers] == [b"200", b"200", b"503", *[b"200"] * 5]
        answers[0][0].close()
        await asyncio.sleep(0.1)
        answers.append(await ask_from("127.0.0.2"))
        assert answers[-1][1].split()[1] == b"200"
        for writer, _ in answers:
            writer.close()


async def test_slow_connections_of_one_address_are_limited() -> None:
    """The many are closed long before their deadline, and one that is not slow stays."""
    limits = ConnectionLimits(per_address=100, slow_per_address=2)
    async with listening(APP, limits=limits) as where:
        idle_reader, idle = await asyncio.open_connection(*listener_of(where))
        idle.write(ANSWERED)
        assert b"200" in await idle_reader.readline()
        started = time.monotonic()
        slow = [talk(where, ANSWERED + b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") for _ in range(6)]
        ended = [asyncio.ensure_future(one) for one in slow]
        done, _ = await asyncio.wait(ended, timeout=HEADER_SECONDS - 1)
        assert len(done) == 4, time.monotonic() - started
        await asyncio.gather(*ended, return_exceptions=True)
        idle.write(ANSWERED)
        assert b"HTTP/1.1 200" in await idle_reader.readuntil(b"HTTP/1.1 200")
        idle.close()


class Refusing:
    """An application whose server refuses every request but those for `/health`, before it is called."""

    def __init__(self) -> None:
        self.refused = 0

    def refusal_at_once(self, scope: Scope) -> Response | None:
        if scope["path"] == "/health":
            return None
        self.refused += 1
        return PlainTextResponse("not now", 503, {"Retry-After": "1"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("live", headers={"Connection": "close"})(scope, receive, send)


HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
REFUSED = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"


async def test_a_connection_goes_on_after_a_refusal() -> None:
    """The body that came with the refused request is not taken for the next one."""
    async with listening(Refusing(), limits=ConnectionLimits(per_address=10)) as where:
        answers = await asyncio.wait_for(talk(where, REFUSED + REFUSED + HEALTH), SLACK)
    assert answers.count(b"HTTP/1.1 503 Service Unavailable\r\n") == answers.count(b"\r\n\r\nnot now") == 2
    assert b"\r\ndate: " in answers
    assert answers.endswith(b"\r\n\r\nlive")


async def test_who_asks_again_at_once_after_every_refusal_is_made_to_wait() -> None:
    """Once refusals take too much of the time, not even the next request of such a connection is read for a second."""
    app = Refusing()
    budget = RefusalBudget(share=0.0)
    async with listening(app, limits=ConnectionLimits(per_address=10, refusals=budget)) as where:
        reader, writer = await asyncio.open_connection(*listener_of(where))
        asked = time.monotonic()
        for _ in range(4):  # the first answer says when to come back, and is followed by no rest
            writer.write(REFUSED)
            await asyncio.wait_for(reader.readuntil(b"not now"), 10)
        assert time.monotonic() - asked >= 2
        assert app.refused == 4
        writer.close()


async def test_a_trusted_proxy_is_not_made_to_wait() -> None:
    """Its next request may be another user's."""
    limits = ConnectionLimits(
        per_address=10, refusals=RefusalBudget(share=0.0), proxies=TrustedProxies.parse(["127.0.0.1"])
    )
    async with listening(Refusing(), limits=limits) as where:
        reader, writer = await asyncio.open_connection(*listener_of(where))
        for _ in range(100):
            writer.write(REFUSED)
            await asyncio.wait_for(reader.readuntil(b"not now"), SLACK)
        writer.close()


async def test_a_refused_connection_that_does_not_come_back_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before one that rests after a useful answer."""
    monkeypatch.setattr("touchstone.http.connection_deadlines.REFUSED_IDLE_SECONDS", 0.2)
    async with listening(Refusing(), limits=ConnectionLimits(per_address=10)) as where:
        assert b"not now" in await asyncio.wait_for(talk(where, REFUSED), SLACK)


def test_refusals_have_a_share_of_the_time() -> None:
    """A burst is allowed, then as much as the share; a pause refills the burst, and no more than that."""
    budget = RefusalBudget(share=0.1)
    assert [budget.use(100.0, 0.01) for _ in range(4)] == [True, True, False, False]
    assert budget.use(100.5, 0.01)
    assert [budget.use(200.0, 0.02), budget.use(200.1, 0.02), budget.use(200.1, 0.02)] == [True, False, False]


async def test_a_flood_of_connections_from_one_address_is_read_little_by_little() -> None:
    """Every connection is answered in the end, and other addresses have a schedule of their own."""
    limits = ConnectionLimits(per_address=1000)
    delays = [limits.read_delay_seconds("192.0.2.1", 0.0) for _ in range(3 * CONNECTION_BURST)]

    assert delays[:CONNECTION_BURST] == [0.0] * CONNECTION_BURST
    assert delays[-1] == pytest.approx((2 * CONNECTION_BURST - 1) / CONNECTIONS_PER_SECOND)
    assert limits.read_delay_seconds("192.0.2.2", 0.0) == 0.0
    assert limits.read_delay_seconds("192.0.2.1", 60.0) == 0.0

    async with listening(Refusing(), limits=limits) as where:
        host, port = where.removeprefix("http://").split(":")
        streams = [await asyncio.open_connection(host, int(port)) for _ in range(2 * CONNECTION_BURST)]
        for _, writer in streams:
            writer.write(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        lines = await asyncio.gather(*(reader.readline() for reader, _ in streams))
        for _, writer in streams:
            writer.close()

    assert {line[:9] for line in lines} == {b"HTTP/1.1 "}
