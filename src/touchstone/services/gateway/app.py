"""The gateway application, with its own routes and a proxy in front of them and the backends."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response
from starlette.types import ASGIApp

from touchstone.core.errors import Unauthorized
from touchstone.core.identity import Headers
from touchstone.core.internal_tokens import InternalTokens
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.app import create_app
from touchstone.http.health import Resource
from touchstone.http.internal_client import InternalClient
from touchstone.http.responses import JsonResponse
from touchstone.http.upstream import AbsentBackend, Upstream
from touchstone.services.gateway import admin_routes, auth_routes, profile_routes
from touchstone.services.gateway.access_tokens import AccessTokens
from touchstone.services.gateway.authenticating_proxy import AuthenticatingProxy
from touchstone.services.gateway.authentication import Authenticator
from touchstone.services.gateway.context import GatewayState
from touchstone.services.gateway.cross_origin import add_cors
from touchstone.services.gateway.device_cookies import DeviceCookies
from touchstone.services.gateway.login_throttle import LoginThrottle
from touchstone.services.gateway.oidc import oidc_routes
from touchstone.services.gateway.oidc.identity_providers import IdentityProviders
from touchstone.services.gateway.openapi import PublicDocument
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES
from touchstone.services.gateway.signing_key import derive_key, load_signing_key


class Gateway:
    """The gateway as an ASGI app, with the resources that must respond before it is ready.

    It is opened once per process, on a running event loop, and has to be closed.

    Attributes:
        app: the ASGI application.
        resources: the resources that must respond before the gateway is ready.
        selection: a client of the selection backend, for public pages.
    """

    def __init__(
        self,
        app: ASGIApp,
        resources: tuple[Resource, ...],
        selection: InternalClient,
        *,
        state: GatewayState,
        document: PublicDocument,
    ) -> None:
        """Store the components of the gateway, and start the task that watches for changed accounts.

        Use `open` to create a gateway. The task runs until `close`.
        """
        self.app = app
        self.resources = resources
        self.selection = selection
        self._state = state
        self._document = document
        self._watch_task = asyncio.create_task(state.authenticator.watch_accounts())

    @classmethod
    async def open(
        cls, settings: Settings, database: Database, tokens: InternalTokens | None, upstreams: Mapping[str, Upstream]
    ) -> Self:
        """Open the gateway in front of the backends.

        Args:
            settings: the settings.
            database: the database, which remains open when the gateway is closed.
            tokens: signs the requests to backends in other processes, or None if there is no internal key.
            upstreams: the backends by name.

        Raises:
            SettingsError: the file with the signing key is not safe to use.
        """
        state = _create_state(settings, database)
        resources = (Resource("database", database.ping), *_backend_resources(upstreams))

        routers = (auth_routes.router, oidc_routes.router, profile_routes.router, admin_routes.router)
        gateway_app = create_app("gateway", *routers, resources=resources)
        gateway_app.state.gateway = state

        document = PublicDocument(
            PUBLIC_ROUTES, build_gateway_document=gateway_app.openapi, upstreams=upstreams, tokens=tokens
        )
        gateway_app.include_router(_document_router(document))

        proxy = AuthenticatingProxy(
            PUBLIC_ROUTES,
            gateway_app=gateway_app,
            upstreams=upstreams,
            authenticator=state.authenticator,
            tokens=tokens,
        )
        public_app = add_cors(proxy, settings.cors_origins)
        selection = InternalClient(upstreams["selection"], tokens)
        return cls(public_app, resources, selection, state=state, document=document)

    async def openapi(self) -> dict[str, Any]:
        """Return the public OpenAPI document for the gateway and all backends that respond."""
        return await self._document.read()

    def cached_user_id(self, headers: Headers) -> UUID | None:
        """Return the id of the user who sends a request, or None if the user is unknown or not cached.

        Admission control calls this before the request is authenticated, to share the capacity fairly between users.
        It must be fast, so it never queries the database.
        """
        try:
            identity = self._state.authenticator.cached_identity(headers)
        except Unauthorized:
            return None

        return identity.caller.id if identity else None

    async def close(self) -> None:
        """Stop watching for changes of accounts, and close the connections to identity providers."""
        self._watch_task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watch_task
        await self._state.identity_providers.close()


def _create_state(settings: Settings, database: Database) -> GatewayState:
    """Create the services shared by all requests to the gateway.

    Device cookies, refresh tokens and external sign-ins have separate keys, which are derived from the signing key.

    Raises:
        SettingsError: the file with the signing key is not safe to use.
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
        identity_providers=IdentityProviders(settings, signing_key),
    )


def _backend_resources(upstreams: Mapping[str, Upstream]) -> list[Resource]:
    """Return the installed backends as resources, so that the gateway reports their health."""
    installed = {name: upstream for name, upstream in upstreams.items() if not isinstance(upstream, AbsentBackend)}
    return [Resource(name, upstream.ping) for name, upstream in installed.items()]


def _document_router(document: PublicDocument) -> APIRouter:
    """Return a router with a route for the public OpenAPI document."""
    router = APIRouter()

    @router.get("/openapi/public.json", include_in_schema=False)
    async def read_public_document() -> Response:
        """Return the public OpenAPI document as JSON."""
        return JsonResponse(await document.read())

    return router
