"""Access for web pages of other origins (Cross-Origin Resource Sharing)."""

from typing import Final

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from touchstone.core.errors import FieldError, InvalidValue
from touchstone.http.error_responses import error_response
from touchstone.services.gateway.authenticating_proxy import FORWARDED_HEADERS
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES

_EXPOSED_HEADERS: Final = (
    "X-Total-Count",
    "X-Request-ID",
    "ETag",
    "Location",
    "Link",
    "Retry-After",
    "Content-Disposition",
    "Allow",
)


def add_cors(app: ASGIApp, origins: tuple[str, ...]) -> ASGIApp:
    """Allow web pages from these origins to call the application.

    Without origins, the application is returned unchanged, and browsers only allow pages of the same origin.
    """
    if not origins:
        return app

    allowed_methods = sorted({route.method for route in PUBLIC_ROUTES})
    forwarded_headers = [name.decode().title() for name in sorted(FORWARDED_HEADERS)]
    return CrossOriginMiddleware(
        app,
        allow_origins=origins,
        allow_methods=allowed_methods,
        allow_headers=["Authorization", *forwarded_headers],
        expose_headers=_EXPOSED_HEADERS,
    )


class CrossOriginMiddleware(CORSMiddleware):
    """Starlette's middleware, with refusals in the usual format of errors instead of plain text."""

    def preflight_response(self, request_headers: Headers) -> Response:
        """Return the response to a preflight request, in which a browser asks whether it may send a request."""
        response = super().preflight_response(request_headers)
        if response.status_code == 200:
            return response

        error = InvalidValue(FieldError(("header", self._refused_header(request_headers)), "cross_origin_refused"))
        refusal = error_response(error, {"headers": request_headers.raw})
        for name, value in response.headers.items():
            refusal.headers.setdefault(name, value)
        return refusal

    def _refused_header(self, request_headers: Headers) -> str:
        """Return the name of the header because of which a preflight request is refused."""
        if not self.is_allowed_origin(request_headers["origin"]):
            return "Origin"
        if request_headers["access-control-request-method"] not in self.allow_methods:
            return "Access-Control-Request-Method"
        return "Access-Control-Request-Headers"
