"""The server around an application: deadlines, refusals of what is not HTTP, and where it listens."""

import asyncio
import json
import socket
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.listening import listening
from touchstone.core.settings import Settings, SettingsError
from touchstone.server import HEADER_SECONDS, address, serve

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
    monkeypatch.setattr("touchstone.server.KEEP_ALIVE_SECONDS", 0.2)
    async with listening(APP) as where:
        answer = await asyncio.wait_for(talk(where, ANSWERED + then), SLACK)
    assert answer.count(b"HTTP/1.1 200 OK") == 1 + then.count(ANSWERED)


async def test_an_answer_that_takes_long_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody rests while an answer is being made."""
    monkeypatch.setattr("touchstone.server.KEEP_ALIVE_SECONDS", 0.2)

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
        assert address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert address(listener) == f"unix:{tmp_path}/s"
