"""Handlers that are called without searching the routes answer as the application around them would."""

import httpx2
import pytest
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from touchstone.core.errors import DatasetNotFound
from touchstone.core.shell import Json, Shortcut, make_app, router

things = router(prefix="/things")


@things.post("/bare")
async def bare(request: Request) -> Response:
    if request.query_params.get("fail") == "refused":
        raise DatasetNotFound
    if request.query_params.get("fail") == "http":
        raise HTTPException(404)
    return Json({"title": request.app.title, "body": (await request.body()).decode()})


@things.get("/bare/{name}")
async def named(request: Request) -> Response:
    return Json(request.path_params["name"])


@things.get("/solved")
async def solved(number: int) -> Response:
    return Json(number)


def client(app: ASGIApp) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.fixture
def app() -> FastAPI:
    return make_app("things", things)


def test_only_bare_handlers_at_fixed_addresses_are_called_at_once(app: FastAPI) -> None:
    """What has values in its path, or parameters to solve, needs the application."""
    assert Shortcut(app, things).handlers == {("POST", "/things/bare"): bare}


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
    async with client(app) as long, client(Shortcut(app, things)) as short:
        expected = await long.request(method, target, content=b"body")
        found = await short.request(method, target, content=b"body")
    assert (found.status_code, found.headers, found.content) == (
        expected.status_code,
        expected.headers,
        expected.content,
    )
