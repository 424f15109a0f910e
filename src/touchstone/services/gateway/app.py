"""The gateway as an application: its routes, and the gate in front of them and of the backends."""

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
from touchstone.services.gateway.authentication import Authenticator
from touchstone.services.gateway.context import GatewayState
from touchstone.services.gateway.device_cookies import DeviceCookies
from touchstone.services.gateway.gate import FORWARDED_HEADERS, Gate
from touchstone.services.gateway.login_throttle import LoginThrottle
from touchstone.services.gateway.openapi import PublicDocument
from touchstone.services.gateway.route_table import PUBLIC_ROUTES
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
    """The gateway as an ASGI app, with the resources that must respond before it is ready."""

    def __init__(
        self, app: ASGIApp, resources: tuple[Resource, ...], *, authenticator: Authenticator, document: PublicDocument
    ) -> None:
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

        Raises:
            SettingsError: the file of the signing key is not safe to use.
        """
        state = _create_state(settings, database)

        # A backend that is not part of the installation is neither up nor down, so its health is not reported.
        installed = {name: upstream for name, upstream in upstreams.items() if not isinstance(upstream, AbsentBackend)}
        backend_resources = [Resource(name, upstream.ping) for name, upstream in installed.items()]
        resources = (Resource("database", database.ping), *backend_resources)

        routers = (auth_routes.router, profile_routes.router, admin_routes.router)
        gateway_app = create_app("gateway", *routers, resources=resources)
        gateway_app.state.gateway = state

        document = PublicDocument(
            PUBLIC_ROUTES, gateway_document=gateway_app.openapi, upstreams=upstreams, tokens=tokens
        )
        gateway_app.include_router(_document_router(document))

        gate = Gate(
            PUBLIC_ROUTES,
            gateway_app=gateway_app,
            upstreams=upstreams,
            authenticator=state.authenticator,
            tokens=tokens,
        )
        app = _add_cors(gate, settings.cors_origins)
        return cls(app, resources, authenticator=state.authenticator, document=document)

    async def openapi(self) -> dict[str, Any]:
        """Return the public OpenAPI document."""
        return await self._document.read()

    def known_user(self, headers: Headers) -> UUID | None:
        """Return the user of these headers if the cache knows it; None where authentication would take more work."""
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
    key = load_signing_key(settings)
    access_tokens = AccessTokens(key, settings.access_token_seconds)
    return GatewayState(
        settings=settings,
        database=database,
        access_tokens=access_tokens,
        authenticator=Authenticator(database, access_tokens),
        throttle=LoginThrottle(settings.registrations_per_hour),
        device_cookies=DeviceCookies(derive_key(key, "device cookies")),
        successor_key=derive_key(key, "successors of refresh tokens"),
    )


def _document_router(document: PublicDocument) -> APIRouter:
    router = APIRouter()

    @router.get("/openapi/public.json", include_in_schema=False)
    async def read_public_document() -> Response:
        return JsonResponse(await document.read())

    return router


def _add_cors(gate: ASGIApp, origins: tuple[str, ...]) -> ASGIApp:
    """Allow browsers on these origins to call the API (Cross-Origin Resource Sharing)."""
    if not origins:
        return gate

    forwarded_headers = [name.decode().title() for name in sorted(FORWARDED_HEADERS)]
    return CORSMiddleware(
        gate,
        allow_origins=origins,
        allow_methods=sorted({route.method for route in PUBLIC_ROUTES}),
        allow_headers=["Authorization", *forwarded_headers],
        expose_headers=_EXPOSED_HEADERS,
    )
