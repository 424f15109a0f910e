"""The web pages as an ASGI application."""

from typing import Final, Self

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Scope

from touchstone.client import AsyncTouchstone, InProcess
from touchstone.core.errors import ServiceError
from touchstone.core.settings import Settings
from touchstone.http.packaged_files import PackagedFiles
from touchstone.web import chart_script, static_files
from touchstone.web.addresses import HOME
from touchstone.web.error_pages import (
    handle_http_exception,
    handle_service_error,
    handle_unexpected_error,
    render_early_error,
)
from touchstone.web.page_context import PagesState
from touchstone.web.public_records import PublicRecords
from touchstone.web.routes import (
    account,
    dataset_comparison,
    dataset_page,
    datasets,
    document_import,
    evidence,
    external_sign_in,
    hidden_datasets,
    job_start,
    jobs,
    preferences,
    project_records,
    projects,
    ranking,
    ranking_export,
    review,
    sign_in,
    users,
)
from touchstone.web.security_headers import SecurityHeadersMiddleware
from touchstone.web.template_renderer import TemplateRenderer

# Only these pages accept uploaded files.
LARGE_BODY_PATHS: Final = frozenset({"/app/datasets/new", "/app/datasets/import"})
_API_TIMEOUT_SECONDS: Final = 600.0
_MIN_GZIP_BYTES: Final = 1000  # shorter responses are sent uncompressed
_GZIP_LEVEL: Final = 4  # higher levels take longer than they save


class WebApp:
    """The web pages and the API client that they use.

    Attributes:
        app: the ASGI application that serves the pages.
    """

    def __init__(self, app: Starlette, client: AsyncTouchstone) -> None:
        self.app: ASGIApp = app
        self._starlette = app
        self._client = client

    @classmethod
    async def open(cls, settings: Settings, api: ASGIApp, public_records: PublicRecords | None = None) -> Self:
        """Create the web app and the in-process API client that it uses.

        The client calls `api` within this process, without a network connection. It sends the same requests as any
        other client, so the pages can do nothing that the API does not offer to everybody. The only exception is
        `public_records`, which the pages also show to readers who have not signed in.

        Args:
            settings: the settings of the service.
            api: the public API as an ASGI application.
            public_records: the records that readers may see without signing in; None if they always have to sign in.
        """
        client = AsyncTouchstone("http://touchstone", transport=InProcess(api), timeout=_API_TIMEOUT_SECONDS)

        middleware = [
            Middleware(SecurityHeadersMiddleware),
            Middleware(GZipMiddleware, minimum_size=_MIN_GZIP_BYTES, compresslevel=_GZIP_LEVEL),
        ]
        error_pages = {
            HTTPException: handle_http_exception,
            ServiceError: handle_service_error,
            Exception: handle_unexpected_error,
        }
        app = Starlette(routes=_all_routes(), middleware=middleware, exception_handlers=error_pages)
        app.state.pages = PagesState(
            settings=settings, templates=TemplateRenderer(), client=client, public_records=public_records
        )
        return cls(app, client)

    def refusal(self, error: ServiceError, scope: Scope) -> ASGIApp:
        """Return the error page for a request that was refused before it reached the pages.

        An example is a form that exceeds the size limit.
        """
        request = Request({**scope, "app": self._starlette})
        return SecurityHeadersMiddleware(render_early_error(error, request))

    async def close(self) -> None:
        """Close the API client."""
        await self._client.close()


def _all_routes() -> list[BaseRoute]:
    """Return the routes of the pages and of their static files."""
    return [
        Route("/", redirect_to_home),
        Route("/app", redirect_to_home),
        Route("/favicon.ico", favicon),
        # The chart script is served below /app/static, so its route must precede the mount.
        *chart_script.ROUTES,
        Mount("/app/static", PackagedFiles(static_files.FOLDER)),
        *ranking.ROUTES,
        *ranking_export.ROUTES,
        *dataset_comparison.ROUTES,
        *datasets.ROUTES,
        *dataset_page.ROUTES,
        *document_import.ROUTES,
        *evidence.ROUTES,
        *review.ROUTES,
        *projects.ROUTES,
        *project_records.ROUTES,
        *job_start.ROUTES,
        *jobs.ROUTES,
        *sign_in.ROUTES,
        *external_sign_in.ROUTES,
        *preferences.ROUTES,
        *account.ROUTES,
        *users.ROUTES,
        *hidden_datasets.ROUTES,
    ]


async def redirect_to_home(_: Request) -> Response:
    """Redirect to the rank page."""
    return RedirectResponse(HOME)


async def favicon(_: Request) -> Response:
    """Return the icon for browsers that request `/favicon.ico` without being told to."""
    return FileResponse(static_files.FOLDER / "mark.svg", media_type="image/svg+xml")
