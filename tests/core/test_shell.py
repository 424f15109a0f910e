"""Handlers that are called without searching the routes answer as the application around them would."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message

from touchstone.core.errors import DatasetNotFound
from touchstone.http.app import create_app
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import FastPathMiddleware, strict_router

things = strict_router(prefix="/things")


@things.post("/bare")
async def bare(request: Request) -> Response:
    if request.query_params.get("fail") == "refused":
        raise DatasetNotFound
    if request.query_params.get("fail") == "http":
        raise HTTPException(404)
    return JsonResponse({"title": request.app.title, "body": (await request.body()).decode()})


@things.get("/bare/{name}")
async def named(request: Request) -> Response:
    return JsonResponse(request.path_params["name"])


@things.get("/solved")
async def solved(number: int) -> Response:
    return JsonResponse(number)


def client(app: ASGIApp) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.fixture
def app() -> FastAPI:
    return create_app("things", things)


def test_only_bare_handlers_at_fixed_addresses_are_called_at_once(app: FastAPI) -> None:
    """What has values in its path, or parameters to solve, needs the application."""
    assert FastPathMiddleware(app, app, things).handlers == {("POST", "/things/bare"): bare}


async def test_a_body_may_come_in_pieces(app: FastAPI) -> None:
    """They are put together."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"one ", b"", b"two"):
            yield piece

    async with client(FastPathMiddleware(app, app, things)) as http:
        assert (await http.post("/things/bare", content=pieces())).json()["body"] == "one two"


async def test_a_client_that_goes_away_before_its_body_is_whole_is_not_answered(app: FastAPI) -> None:
    """As in Starlette, the handler is left."""

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    scope = {"type": "http", "method": "POST", "path": "/things/bare", "headers": [], "query_string": b""}
    with pytest.raises(ClientDisconnect):
        await FastPathMiddleware(app, app, things)(scope, receive, send)


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", "/things/bare"),
        ("POST", "/things/bare?fail=refused"),
        ("POST", "/things/bare?fail=http"),
        ("GET", "/things/bare"),
        ("GET", "/things/bare/one"),
        ("GET", "/things/solved?number=1"),
        ("GET", "/things/solved?number=x"),
        ("GET", "/nothing"),
    ],
)
async def test_the_answer_is_the_applications(app: FastAPI, method: str, target: str) -> None:
    """Status, headers and body are the same with and without the shortcut, refusals included."""
    async with client(app) as long, client(FastPathMiddleware(app, app, things)) as short:
        expected = await long.request(method, target, content=b"body")
        found = await short.request(method, target, content=b"body")
    assert (found.status_code, found.headers, found.content) == (
        expected.status_code,
        expected.headers,
        expected.content,
    )
