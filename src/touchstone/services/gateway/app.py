"""The gateway, opened: its own routes, the gate in front of them and of the backends, and who watches the accounts."""

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
from touchstone.services.gateway.access_tokens import AccessTokens, derived_key, signing_key
from touchstone.services.gateway.context import Desk
from touchstone.services.gateway.device_cookies import DeviceCookies
from touchstone.services.gateway.gate import FORWARDED, Gate
from touchstone.services.gateway.identities import Identities
from touchstone.services.gateway.login_throttle import Throttle
from touchstone.services.gateway.openapi import PublicDocument
from touchstone.services.gateway.route_table import PUBLIC_ROUTES
from touchstone.services.gateway.routes import ROUTERS

_EXPOSED: Final = ("X-Total-Count", "X-Request-ID", "ETag", "Location", "Retry-After", "Content-Disposition", "Allow")


class Gateway:
    """The public door as an ASGI app, with the resources that it needs to be ready."""

    def __init__(
        self, app: ASGIApp, resources: tuple[Resource, ...], *, identities: Identities, document: PublicDocument
    ) -> None:
        self.app = app
        self.resources = resources
        self._identities = identities
        self._document = document
        self._watch = asyncio.create_task(identities.watch())

    @classmethod
    async def open(
        cls, settings: Settings, database: Database, tokens: InternalTokens | None, upstreams: Mapping[str, Upstream]
    ) -> Self:
        """Open the gateway in front of its backends `selection`, `training` and `explanation`.

        Raises:
            SettingsError: the signing key's file cannot be trusted.
        """
        key = signing_key(settings)
        access = AccessTokens(key, settings.access_token_seconds)
        identities = Identities(database, access)
        # What is no part of the installation is neither "ok" nor "down": it is not listed.
        there = {name: upstream for name, upstream in upstreams.items() if not isinstance(upstream, AbsentBackend)}
        resources = (Resource("database", database.ping), *(Resource(n, u.ping) for n, u in there.items()))
        own = create_app("gateway", *ROUTERS, resources=resources)
        own.state.desk = Desk(
            settings,
            database,
            access,
            identities,
            Throttle(settings.registrations_per_hour),
            DeviceCookies(derived_key(key, "device cookies")),
            derived_key(key, "successors of refresh tokens"),
        )
        document = PublicDocument(PUBLIC_ROUTES, own=own.openapi, upstreams=upstreams, tokens=tokens)
        own.include_router(_documents(document))
        gate = Gate(PUBLIC_ROUTES, own=own, upstreams=upstreams, identities=identities, tokens=tokens)
        return cls(_with_origins(gate, settings.cors_origins), resources, identities=identities, document=document)

    async def openapi(self) -> dict[str, Any]:
        """The public OpenAPI document."""
        return await self._document.current()

    def known_user(self, headers: Headers) -> UUID | None:
        """Return the user who was verified for the same headers a moment ago; None where that would take more work."""
        try:
            identity = self._identities.known(headers)
        except Unauthorized:
            return None
        return identity.caller.id if identity else None

    async def close(self) -> None:
        """Stop watching the accounts."""
        self._watch.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watch


def _documents(document: PublicDocument) -> APIRouter:
    documents = APIRouter()

    @documents.get("/openapi/public.json", include_in_schema=False)
    async def public() -> Response:
        return JsonResponse(await document.current())

    return documents


def _with_origins(gate: ASGIApp, origins: tuple[str, ...]) -> ASGIApp:
    if not origins:
        return gate
    return CORSMiddleware(
        gate,
        allow_origins=origins,
        allow_methods=sorted({route.method for route in PUBLIC_ROUTES}),
        allow_headers=["Authorization", *(name.decode().title() for name in sorted(FORWARDED))],
        expose_headers=_EXPOSED,
    )
