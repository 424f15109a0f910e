"""Routing with strictly parsed request bodies, correct 405 responses, and a fast path."""

import inspect
import re
from collections.abc import Callable, Coroutine, Iterable
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
    """A route that parses its body strictly as JSON, whatever media type the client declares.

    A bare handler, which has `request` as its only parameter, is called directly and must return a `Response`.
    """

    @property
    def is_bare(self) -> bool:
        """Whether the request is the handler's only parameter."""
        return list(inspect.signature(self.endpoint).parameters) == ["request"]

    @property
    def has_fixed_path(self) -> bool:
        """Whether the path has no variable part, such as `{name}`."""
        return "{" not in self.path

    def get_route_handler(self) -> Handler:
        """Return the function that handles each request to this route.

        It parses the body with our strict JSON parser, because FastAPI's parser also accepts `NaN` and infinities.
        """
        if self.is_bare:
            # FastAPI has nothing to inject or convert here, and calling it would take longer than a fast handler.
            bare_handler: Handler = self.endpoint
            return bare_handler

        fastapi_handler = super().get_route_handler()
        expects_body = self.body_field is not None
        if not expects_body:
            return fastapi_handler

        async def parse_body_and_handle(request: Request) -> Response:
            body = await request.body()
            value = parse_json(body) if body else None
            return await fastapi_handler(_ParsedRequest(request, body, value))

        return parse_body_and_handle


class _ParsedRequest(Request):
    """A request with an already parsed body, and `application/json` as its media type."""

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
    """Accepts each path with and without a trailing slash, without a redirect."""

    def __init__(self, app: ASGIApp, slashed_paths: frozenset[str]) -> None:
        self.app = app
        self.slashed_paths = slashed_paths  # the registered paths that end with a slash, but without the slash

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, after adding or removing a trailing slash to match the path of the route."""
        if scope["type"] == "http":
            path = scope["path"]
            has_trailing_slash = path.endswith("/") and path != "/"
            bare_path = path[:-1] if has_trailing_slash else path
            registered_path = bare_path + "/" if bare_path in self.slashed_paths else bare_path

            if registered_path != path:
                scope = {**scope, "path": registered_path}

        await self.app(scope, receive, send)


class AllowedMethodsMiddleware:
    """Responds with 405 and a complete `Allow` header if a path does not support the request method.

    Starlette's router tries the next matching path if the method does not match. For example, `DELETE /datasets/score`
    would delete a dataset called "score". Starlette's own `Allow` header also lists the methods of only one route.
    """

    def __init__(self, app: ASGIApp, *routers: APIRouter) -> None:
        self.app = app
        self._methods_by_path_regex: list[tuple[re.Pattern[str], frozenset[str]]] = []

        for path, methods in _collect_methods(routers).items():
            path_regex, _path_format, _converters = compile_path(path)
            self._methods_by_path_regex.append((path_regex, frozenset(methods)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with 405 if its path exists but does not support its method."""
        if scope["type"] == "http":
            allowed_methods = self._allowed_methods(scope["path"])
            if allowed_methods is not None and scope["method"] not in allowed_methods:
                response = error_response(MethodNotAllowed(allowed=allowed_methods), scope)
                await response(scope, receive, send)
                return

        await self.app(scope, receive, send)

    def _allowed_methods(self, path: str) -> frozenset[str] | None:
        """Return the methods that the first matching path supports, or None if no path matches."""
        for path_regex, methods in self._methods_by_path_regex:
            if path_regex.match(path):
                return methods
        return None


def _collect_methods(routers: Iterable[APIRouter]) -> dict[str, set[str]]:
    """Return the supported methods by path, in the order of registration."""
    methods_by_path: dict[str, set[str]] = {}
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute):
                methods = methods_by_path.setdefault(route.path, set())
                methods.update(route.methods or ())
    return methods_by_path


class _BufferedRequest(Request):
    """A request that reads its body without Starlette's async generator, which is slower."""

    async def body(self) -> bytes:
        """Return the whole body. It is only received by the first call.

        Raises:
            ClientDisconnect: the client disconnected before the body was complete.
        """
        if hasattr(self, "_body"):
            return self._body

        chunks = []
        has_more = True
        while has_more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect

            chunks.append(message.get("body", b""))
            has_more = message.get("more_body", False)

        self._body = b"".join(chunks)
        return self._body


class FastPathMiddleware:
    """Calls bare handlers of fixed paths directly, and passes all other requests on to `app`.

    Matching all routes and running the layers around a handler would take several times as long as a fast handler.
    """

    def __init__(self, app: ASGIApp, application: FastAPI, *routers: APIRouter) -> None:
        """Register the bare handlers with fixed paths.

        Args:
            app: the ASGI app for all other requests, which is `application` with or without middleware.
            application: the FastAPI application, which handlers find in `request.app`.
            *routers: the routers to search for bare handlers.
        """
        self.app = app
        self.application = application
        self.handlers: dict[tuple[str, str], Handler] = {}  # by method and path

        for route in [route for router in routers for route in router.routes]:
            if isinstance(route, StrictRoute) and route.is_bare and route.has_fixed_path:
                for method in route.methods or ():
                    self.handlers[method, route.path] = route.endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the handler for this method and path directly, or pass the request on if there is none.

        Exceptions raised by the handler become the same error responses as in FastAPI.
        """
        handler = None
        if scope["type"] == "http":
            handler = self.handlers.get((scope["method"], scope["path"]))

        if handler is None:
            await self.app(scope, receive, send)
            return

        request = _BufferedRequest({**scope, "app": self.application}, receive)
        try:
            response = await handler(request)
        except tuple(EXCEPTION_HANDLERS) as error:
            response = await handle_exception(request, error)

        await response(request.scope, receive, send)
