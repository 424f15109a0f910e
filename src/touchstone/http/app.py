"""The shell of every part: an application with its documents, health, error answers and strict bodies."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, TypeAlias

import msgspec
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from swagger_ui_bundle import swagger_ui_path

from touchstone.core.errors import BadRequest, Fault, Invalid, MethodNotAllowed, NotFound, ServiceError, UnknownName
from touchstone.http.json_body import Problem, parse_json
from touchstone.http.shutdown import stopping
from touchstone.messages import locale_of

HEALTH_SECONDS: Final = 3.0
OCTETS: Final = "application/octet-stream"
# Content of any kind. Generated clients know this media type and no other binary one; where an answer has another,
# this one stands first, so that they read bytes.
BINARY: Final[dict[str, Any]] = {OCTETS: {"schema": {"type": "string", "format": "binary"}}}
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"model": Problem, "description": "Refused; the sentence says why."},
    "5XX": {"model": Problem, "description": "Not possible now."},
}
_DOCS: Final = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="docs/static/swagger-ui.css"></head><body><div id="swagger-ui"></div>
<script src="docs/static/swagger-ui-bundle.js"></script><script src="docs/start.js"></script></body></html>"""
_DOCS_START: Final = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true});'


Handler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that must answer before the part is ready: its name and how to ask it."""

    name: str
    ping: Callable[[], Awaitable[None]]


class Json(Response):
    """A JSON answer, encoded by msgspec; `bytes` are taken as encoded already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return content if isinstance(content, bytes) else msgspec.json.encode(content)


class StrictRoute(APIRoute):
    """A route whose body is read whole, within the limits, and parsed strictly, whatever media type is claimed.

    A handler that takes `request` alone is called with it as it stands, and answers with a Response of its own.
    """

    @property
    def is_bare(self) -> bool:
        """Whether the handler takes the request alone."""
        return list(inspect.signature(self.endpoint).parameters) == ["request"]

    def get_route_handler(self) -> Handler:
        """Wrap the handler so that its body has been through `parse_json`."""
        if self.is_bare:
            # Nothing for FastAPI to solve or convert: its machinery would cost more than a hot answer itself.
            bare: Handler = self.endpoint
            return bare
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def strict(request: Request) -> Response:
            body = await request.body()
            value = parse_json(body) if body else None
            return await handle(_Parsed(request, body, value))

        return strict


class _Parsed(Request):
    """A request whose body has been read and parsed."""

    def __init__(self, request: Request, body: bytes, value: Any) -> None:
        headers = [(n, v) for n, v in request.scope["headers"] if n != b"content-type"]
        headers.append((b"content-type", b"application/json"))
        super().__init__({**request.scope, "headers": headers}, request.receive)
        self._body = body
        self._json = value


def router(**options: Any) -> APIRouter:
    """A router whose routes parse bodies strictly and document their refusals."""
    return APIRouter(route_class=StrictRoute, responses=REFUSALS, **options)


def make_app(
    name: str,
    *routers: APIRouter,
    resources: tuple[Resource, ...] = (),
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """An application with `/docs`, `/openapi.json`, `/health/*` and answers in the contract's error shape."""
    app = FastAPI(
        title=f"Touchstone {name}",
        version=version("touchstone"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
        lifespan=lifespan,
    )
    for one in routers:
        app.include_router(one)
    app.include_router(_health(resources))
    _serve_docs(app)
    for kind, refuse in _REFUSING.items():
        app.add_exception_handler(kind, refuse)
    return app


def caller_locale(scope: Scope) -> str:
    """The language of the answer: what `Accept-Language` prefers."""
    for name, value in scope["headers"]:
        if name == b"accept-language":
            return locale_of(value.decode("latin-1"))
    return locale_of(None)


def refusal(error: ServiceError, scope: Scope) -> Response:
    """The answer that carries a refusal, in the caller's language."""
    return Json(error.body(caller_locale(scope)), status_code=error.status, headers=error.headers)


class Slashes:
    """With and without a trailing slash are one route: the form that is registered is the one passed on."""

    def __init__(self, app: ASGIApp, slashed: frozenset[str]) -> None:
        self.app = app
        self.slashed = slashed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on under its registered form."""
        if scope["type"] == "http":
            path = scope["path"]
            bare = path[:-1] if len(path) > 1 and path.endswith("/") else path
            registered = bare + "/" if bare in self.slashed else bare
            if registered != path:
                scope = {**scope, "path": registered}
        await self.app(scope, receive, send)


class Methods:
    """Answers a method that an address does not have with 405 and all that it has.

    The router goes on to the next address that fits when the method does not: `DELETE /datasets/score` would be the
    deletion of a dataset called "score", and `Allow` would name the methods of a single route.
    """

    def __init__(self, app: ASGIApp, *routers: APIRouter) -> None:
        self.app = app
        by_path: dict[str, set[str]] = {}
        for one in routers:
            for route in one.routes:
                if isinstance(route, APIRoute):
                    by_path.setdefault(route.path, set()).update(route.methods or ())
        self.addresses = [(compile_path(path)[0], frozenset(methods)) for path, methods in by_path.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless its address is known and its method is not."""
        if scope["type"] == "http":
            allowed = next((methods for path, methods in self.addresses if path.match(scope["path"])), None)
            if allowed is not None and scope["method"] not in allowed:
                problem = MethodNotAllowed(headers={"Allow": ", ".join(sorted(allowed))})
                await refusal(problem, scope)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class _Whole(Request):
    """A request whose body is put together without a generator."""

    async def body(self) -> bytes:
        """The whole body. Raises ClientDisconnect when its rest does not come."""
        if not hasattr(self, "_body"):
            pieces, more = [], True
            while more:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                pieces.append(message.get("body", b""))
                more = message.get("more_body", False)
            self._body = b"".join(pieces)
        return self._body


class Shortcut:
    """Calls the bare handlers at fixed addresses of these routers at once; the application answers everything else.

    Searching the routes and the layers around a handler cost several times what a hot answer itself does. `app` is
    the application with whatever else stands before it.
    """

    def __init__(self, app: ASGIApp, application: FastAPI, *routers: APIRouter) -> None:
        self.app = app
        self.application = application
        self.handlers: dict[tuple[str, str], Handler] = {
            (method, route.path): route.endpoint
            for one in routers
            for route in one.routes
            if isinstance(route, StrictRoute) and route.is_bare and "{" not in route.path
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        handler = self.handlers.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if handler is None:
            await self.app(scope, receive, send)
            return
        request = _Whole({**scope, "app": self.application}, receive)
        try:
            response = await handler(request)
        except tuple(_REFUSING) as problem:
            response = await _refused(request, problem)
        await response(request.scope, receive, send)


async def readiness(resources: tuple[Resource, ...]) -> Mapping[str, bool]:
    """Which resources answer within three seconds, by name."""
    answers = await asyncio.gather(
        *(asyncio.wait_for(one.ping(), HEALTH_SECONDS) for one in resources), return_exceptions=True
    )
    return {one.name: not isinstance(answer, BaseException) for one, answer in zip(resources, answers, strict=True)}


def _health(resources: tuple[Resource, ...]) -> APIRouter:
    health = APIRouter(prefix="/health", tags=["health"], responses=REFUSALS)

    @health.get("/live", summary="The process answers")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @health.get("/ready", summary="Every resource answers")
    async def ready(request: Request) -> Response:
        stop = stopping(request.scope)
        if stop is not None and stop.is_set():
            return Json({"status": "stopping", "resources": {}}, status_code=503)
        found = await readiness(resources)
        ok = all(found.values())
        states = {name: "ok" if up else "down" for name, up in found.items()}
        return Json({"status": "ready" if ok else "not ready", "resources": states}, status_code=200 if ok else 503)

    return health


def _serve_docs(app: FastAPI) -> None:
    # The assets come with the service: its own documents must open on a closed network and under a strict CSP.
    app.mount("/docs/static", StaticFiles(directory=swagger_ui_path), name="docs-static")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(_DOCS.format(title=app.title))

    @app.get("/docs/start.js", include_in_schema=False)
    async def start() -> Response:
        return Response(_DOCS_START, media_type="text/javascript")


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return refusal(error, request.scope)


async def _refuse_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # The input is never echoed: it may hold a password, and need not be valid text.
    faults = [Fault(tuple(e["loc"]), e["type"], e.get("ctx") or {}, e["msg"]) for e in error.errors()]
    kind = UnknownName if faults[0].kind == "unknown_name" else Invalid
    return refusal(kind(*faults), request.scope)


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kinds: dict[int, type[ServiceError]] = {404: NotFound, 405: MethodNotAllowed}
    kind = kinds.get(error.status_code, BadRequest)
    return refusal(kind(headers=dict(error.headers or {})), request.scope)


_REFUSING: Final[Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]] = {
    ServiceError: _refuse,
    RequestValidationError: _refuse_invalid,
    HTTPException: _refuse_http,
}


async def _refused(request: Request, problem: Exception) -> Response:
    refuse = next(refuse for kind, refuse in _REFUSING.items() if isinstance(problem, kind))
    return await refuse(request, problem)
