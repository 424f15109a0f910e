"""The public site, which combines the web pages and the public API at one address."""

from collections.abc import Awaitable, Hashable

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core.errors import ServiceError
from touchstone.core.settings import Settings
from touchstone.http.admission import SameTicketMiddleware
from touchstone.http.error_responses import error_response
from touchstone.http.middleware import BodyPaths, EdgeMiddleware, client_address
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.public_routes import LARGE_BODY_PATHS, STREAMED_BODY_PATHS
from touchstone.startup.open_services import OpenServices
from touchstone.web.app import LARGE_BODY_PATHS as LARGE_PAGES
from touchstone.web.app import WebApp
from touchstone.web.cookies import authorization_headers
from touchstone.web.public_records import PublicRecords


async def open_public_site(settings: Settings, gateway: Gateway, services: OpenServices) -> ASGIApp:
    """Open the web pages, and return the application for the pages and the API of the gateway."""
    # A page and its API requests count as one request. Otherwise, the API requests of all running pages could have to
    # wait until another page finishes, which would be a deadlock.
    api_for_pages = SameTicketMiddleware(gateway.app)
    public_records = PublicRecords(gateway.selection) if settings.public_pages == "open" else None
    pages = await services.add(WebApp.open(settings, api_for_pages, public_records))

    site = PublicSite(pages, gateway)
    return EdgeMiddleware(
        site,
        settings,
        body_paths=BodyPaths(LARGE_BODY_PATHS | LARGE_PAGES, STREAMED_BODY_PATHS),
        respond_to_error=site.error_response,
        caller_of=site.caller_of,
    )


class PublicSite:
    """The web pages under `/app/` and the API at one address."""

    def __init__(self, pages: WebApp, gateway: Gateway) -> None:
        self.pages = pages
        self.gateway = gateway

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass `/` and `/app…` on to the pages, and everything else to the gateway."""
        app = self.pages.app if _is_page(scope) else self.gateway.app
        return app(scope, receive, send)

    def error_response(self, error: ServiceError, scope: Scope) -> ASGIApp:
        """Return the response for a request that is refused before it reaches the pages or the gateway."""
        if _is_page(scope):
            return self.pages.refusal(error, scope)
        return error_response(error, scope)

    def caller_of(self, scope: Scope) -> Hashable:
        """Return the user with a cached authentication for these credentials, or the client's address without one."""
        headers = authorization_headers(scope) if _is_page(scope) else scope["headers"]
        return self.gateway.cached_user_id(headers) or client_address(scope)


def _is_page(scope: Scope) -> bool:
    """Return whether a request is for a page, and not for the API."""
    path = scope.get("path", "")
    return path in ("/", "/app", "/favicon.ico") or path.startswith("/app/")
