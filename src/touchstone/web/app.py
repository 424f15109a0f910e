"""The pages as an application: its routes, its static files, and the headers that every answer carries."""

from collections.abc import Mapping
from typing import Final, Self

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.client import AsyncTouchstone, InProcess
from touchstone.core.errors import ServiceError
from touchstone.core.settings import Settings
from touchstone.web import chart_script
from touchstone.web.page_context import Desk, broken, missing, refusal_page
from touchstone.web.rendering import STATIC, Pages
from touchstone.web.routes import account, datasets, jobs, projects, ranking

# Everything comes from this origin; no inline script or style runs, whoever managed to write one.
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
# The one page to which people send whole tables.
LARGE_BODIES: Final = frozenset({"/app/datasets/new"})
_FOR_EVER: Final = "public, max-age=31536000, immutable"


class Shield:
    """Puts the protecting headers on every answer, and lets browsers keep static files."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        static = scope["type"] == "http" and scope["path"].startswith("/app/static/")

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if static:
                    # A module is imported by its bare name: only an address with a digest never means anything else.
                    headers["cache-control"] = _FOR_EVER if scope["query_string"].startswith(b"v=") else "no-cache"
            await send(message)

        await self.app(scope, receive, protected)


class Web:
    """The pages, opened."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self.app = app
        self._desk = desk

    @classmethod
    async def open(cls, settings: Settings, api: ASGIApp) -> Self:
        """Open the pages over the public API of the same process."""
        client = AsyncTouchstone("http://touchstone", transport=InProcess(api), timeout=600.0)
        app = Starlette(
            routes=[
                Route("/", _to_home),
                Route("/app", _to_home),
                Route("/favicon.ico", _icon),
                *chart_script.ROUTES,
                Mount("/app/static", StaticFiles(directory=STATIC)),
                *ranking.ROUTES,
                *datasets.ROUTES,
                *projects.ROUTES,
                *jobs.ROUTES,
                *account.ROUTES,
            ],
            middleware=[Middleware(Shield), Middleware(GZipMiddleware, minimum_size=1000, compresslevel=4)],
            exception_handlers={HTTPException: missing, Exception: broken},
        )
        app.state.desk = Desk(settings, Pages(), client)
        return cls(app, app.state.desk)

    def refusal(self, problem: ServiceError, scope: Scope) -> ASGIApp:
        """The page that says what was refused before any page was asked: too large a form, too many at once."""
        return Shield(refusal_page(problem, scope, self._desk))

    async def close(self) -> None:
        """Let go of the client."""
        await self._desk.client.close()


async def _to_home(_: Request) -> Response:
    return RedirectResponse("/app/")


async def _icon(_: Request) -> Response:
    return FileResponse(STATIC / "mark.svg", media_type="image/svg+xml")
