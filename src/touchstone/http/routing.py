"""Routing: strictly parsed request bodies, trailing slashes, 405 responses, and a fast path to fixed addresses."""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed
from touchstone.http.error_responses import ERROR_RESPONSES, EXCEPTION_HANDLERS, error_response, handle_exception
from touchstone.http.json_body import parse_json

Handler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]


class StrictRoute(APIRoute):
    """A route that parses its body strictly as JSON, whatever media type the client claims.

    A handler whose only parameter is `request` is called directly and returns a Response of its own.
    """

    @property
    def is_bare(self) -> bool:
        """Whether the request is the handler's only parameter."""
        return list(inspect.signature(self.endpoint).parameters) == ["request"]

    def get_route_handler(self) -> Handler:
        """Return the handler, wrapped so that it receives a body that `parse_json` has accepted."""
        if self.is_bare:
            # FastAPI has nothing to inject or convert here, and its machinery would cost more than a hot response.
            bare_handler: Handler = self.endpoint
            return bare_handler

        handler = super().get_route_handler()
        if self.body_field is None:
            return handler

        async def parse_body_and_handle(request: Request) -> Response:
            body = await request.body()
            value = parse_json(body) if body else None
            return await handler(_ParsedRequest(request, body, value))

        return parse_body_and_handle


class _ParsedRequest(Request):
    """A request whose body has been read and parsed."""

    def __init__(self, request: Request, body: bytes, value: Any) -> None:
        headers = [(name, content) for name, content in request.scope["headers"] if name != b"content-type"]
        headers.append((b"content-type", b"application/json"))
        super().__init__({**request.scope, "headers": headers}, request.receive)
        self._body = body
        self._json = value


def strict_router(**options: Any) -> APIRouter:
    """Return a router with strictly parsed bodies and documented error responses."""
    return APIRouter(route_class=StrictRoute, responses=ERROR_RESPONSES, **options)


class TrailingSlashMiddleware:
    """Treats an address with and without a trailing slash as the same one, under the form that is registered."""

    def __init__(self, app: ASGIApp, slashed: frozenset[str]) -> None:
        self.app = app
        self.slashed = slashed  # registered paths that end with a slash, written without it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the registered form of its path."""
        if scope["type"] == "http":
            path = scope["path"]
            bare_path = path[:-1] if len(path) > 1 and path.endswith("/") else path
            registered_path = bare_path + "/" if bare_path in self.slashed else bare_path
            if registered_path != path:
                scope = {**scope, "path": registered_path}

        await self.app(scope, receive, send)


class AllowedMethodsMiddleware:
    """Responds with 405 and a complete `Allow` header to a method that an address does not support.

    Starlette's router tries the next matching address when the method does not fit: `DELETE /datasets/score` would
    delete a dataset called "score", and `Allow` would list the methods of a single route only.
    """

    def __init__(self, app: ASGIApp, *routers: APIRouter) -> None:
        self.app = app

        methods_by_path: dict[str, set[str]] = {}
        for router in routers:
            for route in router.routes:
                if isinstance(route, APIRoute):
                    methods_by_path.setdefault(route.path, set()).update(route.methods or ())
        self.allowed_methods = [
            (compile_path(path)[0], frozenset(methods)) for path, methods in methods_by_path.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless its address is known and does not support its method."""
        if scope["type"] == "http":
            for path_regex, methods in self.allowed_methods:
                if path_regex.match(scope["path"]):
                    if scope["method"] not in methods:
                        error = MethodNotAllowed(allowed=methods)
                        await error_response(error, scope)(scope, receive, send)
                        return
                    break

        await self.app(scope, receive, send)


class _BufferedRequest(Request):
    """A request that reads its body without the async generator of Starlette, which costs more than a hot response."""

    async def body(self) -> bytes:
        """Return the whole body.

        Raises:
            ClientDisconnect: the client went away before the body was complete.
        """
        if not hasattr(self, "_body"):
            chunks = []
            more_body = True
            while more_body:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                chunks.append(message.get("body", b""))
                more_body = message.get("more_body", False)
            self._body = b"".join(chunks)
        return self._body


class FastPathMiddleware:
    """Calls the bare handlers of fixed addresses directly and leaves every other request to `app`.

    Matching all routes and running the layers around a handler costs several times as much as a hot response.
    `application` is the FastAPI application that handlers see as `request.app`; `app` may have middleware around it.
    """

    def __init__(self, app: ASGIApp, application: FastAPI, *routers: APIRouter) -> None:
        self.app = app
        self.application = application
        self.handlers: dict[tuple[str, str], Handler] = {
            (method, route.path): route.endpoint
            for router in routers
            for route in router.routes
            if isinstance(route, StrictRoute) and route.is_bare and "{" not in route.path
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the handler of this method and path, or pass the request on if it is not a fixed address."""
        handler = self.handlers.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if handler is None:
            await self.app(scope, receive, send)
            return

        request = _BufferedRequest({**scope, "app": self.application}, receive)
        try:
            response = await handler(request)
        except tuple(EXCEPTION_HANDLERS) as error:
            response = await handle_exception(request, error)
        await response(request.scope, receive, send)
