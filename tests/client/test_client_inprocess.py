"""The transport to an application in the same process."""

import asyncio
from typing import Any

import httpx2
import pytest

from touchstone.client import AsyncTouchstone, InProcess

pytestmark = pytest.mark.anyio


async def read_all(receive: Any) -> bytes:
    body, more_body = b"", True
    while more_body:
        message = await receive()
        body, more_body = body + message["body"], message["more_body"]
    return body


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = await read_all(receive)
    client_address = scope["client"][0].encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-path", scope["raw_path"])]})
    await send({"type": "http.response.body", "body": client_address + b" " + body, "more_body": False})


async def test_requests_reach_the_app_as_from_a_server() -> None:
    """The path, the body and the address of the user arrive, and the response returns with its headers."""
    async with httpx2.AsyncClient(transport=InProcess(echo), base_url="http://touchstone") as http:
        request = http.build_request("POST", "/a%2Fb", content=b"hello", extensions={"client": ("192.0.2.7", 5)})
        answer = await http.send(request)
        assert (answer.text, answer.headers["x-path"]) == ("192.0.2.7 hello", "/a%2Fb")


async def test_answers_are_read_while_they_arrive() -> None:
    """The first event is read before the application sends the second, and it notices when the reader leaves."""
    may_continue, reader_left = asyncio.Event(), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await may_continue.wait()
        try:
            await send({"type": "http.response.body", "body": b"two", "more_body": True})
            await asyncio.Event().wait()
        finally:
            reader_left.set()

    async with (
        httpx2.AsyncClient(transport=InProcess(app), base_url="http://t") as http,
        http.stream("GET", "/") as answer,
    ):
        chunks = answer.aiter_bytes()
        assert await anext(chunks) == b"one"
        may_continue.set()
        assert await anext(chunks) == b"two"
    assert reader_left.is_set()


async def test_an_app_that_raises_is_heard() -> None:
    """An exception of the application reaches the caller, before and during the response."""

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/late":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("broken")

    async with httpx2.AsyncClient(transport=InProcess(broken), base_url="http://t") as http:
        for path in ("/", "/late"):
            with pytest.raises(RuntimeError, match="broken"):
                await http.get(path)


async def test_a_caller_that_gives_up_ends_the_app() -> None:
    """Cancelling the call cancels the work of the application."""
    app_ended = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            app_ended.set()

    async with AsyncTouchstone("http://t", transport=InProcess(slow)) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.get_health(), 0.05)
    assert app_ended.is_set()
