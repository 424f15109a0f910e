"""The gateway as an application: its own routes, and the proxy in front of them and of the backends."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final, Self
from uuid import UUID

from fastapi import APIRouter
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from touchstone.core.errors import Unauthorized
from touchstone.core.identity import Headers, InternalTokens
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.app import create_app
from touchstone.http.health import Resource
from touchstone.http.responses import JsonResponse
from touchstone.http.upstream import AbsentBackend, Upstream
from touchstone.services.gateway import admin_routes, auth_routes, profile_routes
from touchstone.services.gateway.access_tokens import AccessTokens
from touchstone.services.gateway.authenticating_proxy import FORWARDED_HEADERS, AuthenticatingProxy
from touchstone.services.gateway.authentication import Authenticator
from touchstone.services.gateway.context import GatewayState
from touchstone.services.gateway.device_cookies import DeviceCookies
from touchstone.services.gateway.login_throttle import LoginThrottle
from touchstone.services.gateway.openapi import PublicDocument
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES
from touchstone.services.gateway.signing_key import derive_key, load_signing_key

_EXPOSED_HEADERS: Final = (
    "X-Total-Count",
    "X-Request-ID",
    "ETag",
    "Location",
    "Retry-After",
    "Content-Disposition",
    "Allow",
)


class Gateway:
    """The gateway as an ASGI app, with the resources that must respond before it is ready.

    It is opened once per process, on a running event loop, and has to be closed.
    """

    def __init__(
        self, app: ASGIApp, resources: tuple[Resource, ...], *, authenticator: Authenticator, document: PublicDocument
    ) -> None:
        """Keep the parts of an opened gateway, and start to watch the accounts for changes by other processes."""
        self.app = app
        self.resources = resources
        self._authenticator = authenticator
        self._document = document
        self._watch_task = asyncio.create_task(authenticator.watch_accounts())

    @classmethod
    async def open(
        cls, settings: Settings, database: Database, tokens: InternalTokens | None, upstreams: Mapping[str, Upstream]
    ) -> Self:
        """Open the gateway in front of the backends `selection`, `training` and `explanation`.

        `tokens` signs the requests that are forwarded to backends in other processes.

        Raises:
            SettingsError: the file of the signing key is not safe to use.
        """
        state = _create_state(settings, database)
        resources = (Resource("database", database.ping), *_backend_resources(upstreams))

        # The application with the gateway's own routes: accounts, sessions and health.
        routers = (auth_routes.router, profile_routes.router, admin_routes.router)
        gateway_app = create_app("gateway", *routers, resources=resources)
        gateway_app.state.gateway = state

        document = PublicDocument(
            PUBLIC_ROUTES, gateway_document=gateway_app.openapi, upstreams=upstreams, tokens=tokens
        )
        gateway_app.include_router(_document_router(document))

        # The proxy in front of that application and of the backends: every public request enters here.
        proxy = AuthenticatingProxy(
            PUBLIC_ROUTES,
            gateway_app=gateway_app,
            upstreams=upstreams,
            authenticator=state.authenticator,
            tokens=tokens,
        )
        public_app = _add_cors(proxy, settings.cors_origins)
        return cls(public_app, resources, authenticator=state.authenticator, document=document)

    async def openapi(self) -> dict[str, Any]:
        """Return the public OpenAPI document, which covers the gateway and all backends that respond."""
        return await self._document.read()

    def known_user(self, headers: Headers) -> UUID | None:
        """Return the user whom the headers of a request identify, if the cache of identities knows the user.

        Admission control calls this for every request. None is returned wherever authentication would take more work,
        and also if it would fail.
        """
        try:
            identity = self._authenticator.cached_identity(headers)
        except Unauthorized:
            return None

        return identity.caller.id if identity else None

    async def close(self) -> None:
        """Stop watching the accounts."""
        self._watch_task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watch_task


def _create_state(settings: Settings, database: Database) -> GatewayState:
    """Return the services that the gateway's handlers share, with all keys derived from the signing key.

    Raises:
        SettingsError: the file of the signing key is not safe to use.
    """
    signing_key = load_signing_key(settings)
    access_tokens = AccessTokens(signing_key, settings.access_token_seconds)

    return GatewayState(
        settings=settings,
        database=database,
        access_tokens=access_tokens,
        authenticator=Authenticator(database, access_tokens),
        throttle=LoginThrottle(settings.registrations_per_hour),
        device_cookies=DeviceCookies(derive_key(signing_key, "device cookies")),
        successor_key=derive_key(signing_key, "successors of refresh tokens"),
    )


def _backend_resources(upstreams: Mapping[str, Upstream]) -> list[Resource]:
    """Return the backends whose health the gateway reports.

    A backend that is not part of the installation is neither up nor down, so it is left out.
    """
    return [
        Resource(name, upstream.ping) for name, upstream in upstreams.items() if not isinstance(upstream, AbsentBackend)
    ]


def _document_router(document: PublicDocument) -> APIRouter:
    """Return a router with one route, which serves the public OpenAPI document."""
    router = APIRouter()

    @router.get("/openapi/public.json", include_in_schema=False)
    async def read_public_document() -> Response:
        """Return the public OpenAPI document as JSON."""
        return JsonResponse(await document.read())

    return router


def _add_cors(app: ASGIApp, origins: tuple[str, ...]) -> ASGIApp:
    """Return the application wrapped so that pages from these origins may call it (Cross-Origin Resource Sharing).

    Browsers may then send every method of the public routes and every header that the gateway forwards. Without any
    origins, the application is returned as it is, and browsers allow only pages from its own origin.
    """
    if not origins:
        return app

    allowed_methods = sorted({route.method for route in PUBLIC_ROUTES})
    forwarded_headers = [name.decode().title() for name in sorted(FORWARDED_HEADERS)]
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=allowed_methods,
        allow_headers=["Authorization", *forwarded_headers],
        expose_headers=_EXPOSED_HEADERS,
    )
