"""Response headers for the security of pages and the caching of static files."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.web.static_files import STATIC_PREFIX

# Everything is loaded from this origin. Inline scripts and styles are blocked, because an attacker may inject them.
CONTENT_SECURITY_POLICY: Final = "; ".join(
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
SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_CACHE_FOR_EVER: Final = "public, max-age=31536000, immutable"
_REVALIDATE: Final = "no-cache"


class SecurityHeadersMiddleware:
    """ASGI middleware that adds the security headers to every page, and cache headers to static files."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application, and add the headers to its response.

        An ASGI application sends its headers with the first message of the response, before the body.
        """
        is_static = scope["type"] == "http" and scope["path"].startswith(STATIC_PREFIX)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # A page may have stricter headers of its own. The caching of static files is decided only here.
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if is_static:
                    headers["cache-control"] = _static_cache_control(scope["query_string"])
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _static_cache_control(query: bytes) -> str:
    """Return the Cache-Control header for a static file.

    The content at an address with a digest or a version never changes, so it may be cached for ever. Scripts import one
    another without a digest, so browsers must check whether these files have changed.
    """
    is_versioned = query.startswith(b"v=")
    return _CACHE_FOR_EVER if is_versioned else _REVALIDATE
