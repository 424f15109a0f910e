"""Handlers that are called without searching the routes respond exactly as through the whole application."""

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

router = strict_router(prefix="/things")


@router.post("/bare")
async def bare_handler(request: Request) -> Response:
    if request.query_params.get("fail") == "refused":
        raise DatasetNotFound
    if request.query_params.get("fail") == "http":
        raise HTTPException(404)
    return JsonResponse({"title": request.app.title, "body": (await request.body()).decode()})


@router.get("/bare/{name}")
async def handler_with_path_value(request: Request) -> Response:
    return JsonResponse(request.path_params["name"])


@router.get("/solved")
async def handler_with_query_parameter(number: int) -> Response:
    return JsonResponse(number)


def client(app: ASGIApp) -> httpx2.AsyncClient:
    """Return a client that calls the application without a network."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.fixture
def app() -> FastAPI:
    return create_app("things", router)


def test_only_bare_handlers_at_fixed_addresses_are_called_directly(app: FastAPI) -> None:
    """A handler with values in its path, or with parameters to convert, needs the whole application."""
    assert FastPathMiddleware(app, app, router).handlers == {("POST", "/things/bare"): bare_handler}


async def test_a_body_may_come_in_chunks(app: FastAPI) -> None:
    """The handler gets the chunks joined together."""

    async def body_chunks() -> AsyncIterator[bytes]:
        for chunk in (b"one ", b"", b"two"):
            yield chunk

    async with client(FastPathMiddleware(app, app, router)) as http:
        assert (await http.post("/things/bare", content=body_chunks())).json()["body"] == "one two"


async def test_a_client_that_disconnects_before_its_body_is_complete_gets_no_response(app: FastAPI) -> None:
    """Reading the body raises Starlette's exception in the handler."""

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    scope = {"type": "http", "method": "POST", "path": "/things/bare", "headers": [], "query_string": b""}
    with pytest.raises(ClientDisconnect):
        await FastPathMiddleware(app, app, router)(scope, receive, send)


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
async def test_the_response_is_that_of_the_application(app: FastAPI, method: str, target: str) -> None:
    """Status, headers and body are the same with and without the shortcut, and so are error responses."""
    async with client(app) as full_client, client(FastPathMiddleware(app, app, router)) as fast_client:
        expected = await full_client.request(method, target, content=b"body")
        response = await fast_client.request(method, target, content=b"body")
    assert (response.status_code, response.headers, response.content) == (
        expected.status_code,
        expected.headers,
        expected.content,
    )
