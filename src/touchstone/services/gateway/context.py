"""What the handlers of the gateway work with: the state of the application, and the context of a request."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request
from starlette.types import Scope

from touchstone.core.errors import AdministratorsOnly
from touchstone.core.identity import Caller
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.error_responses import request_locale
from touchstone.services.gateway.access_tokens import AccessTokens
from touchstone.services.gateway.authentication import IDENTITY, Authenticator, Identity
from touchstone.services.gateway.device_cookies import DeviceCookies
from touchstone.services.gateway.login_throttle import LoginThrottle
from touchstone.services.gateway.sessions import Device


@dataclass(frozen=True, slots=True)
class GatewayState:
    """What is created once per process: the settings, the database, and the services of the sign-in."""

    settings: Settings
    database: Database
    access_tokens: AccessTokens
    authenticator: Authenticator
    throttle: LoginThrottle
    device_cookies: DeviceCookies
    successor_key: bytes

    @property
    def session_lifetime(self) -> timedelta:
        """How long a session lasts without being used."""
        return timedelta(days=self.settings.refresh_token_days)


@dataclass(frozen=True, slots=True)
class GatewayContext:
    """The context of a request: the state of the application, and what the request says about its sender."""

    state: GatewayState
    scope: Scope

    @property
    def database(self) -> Database:
        """The database."""
        return self.state.database

    @property
    def identity(self) -> Identity:
        """The identity of the user; the proxy lets nobody else through to a route that needs one."""
        return cast(Identity, self.scope[IDENTITY])

    @property
    def caller(self) -> Caller:
        """The user who is signed in."""
        return self.identity.caller

    @property
    def address(self) -> str:
        """The network address of the client, or the one that a trusted proxy has forwarded."""
        client = self.scope.get("client")
        return str(client[0]) if client else "local"

    @property
    def device(self) -> Device:
        """The device that has sent the request."""
        for name, value in self.scope["headers"]:
            if name == b"user-agent":
                user_agent = value.decode("utf-8", "replace").replace("\x00", "")
                return Device(user_agent, self.address)
        return Device(user_agent=None, address=self.address)

    @property
    def locale(self) -> str:
        """The language that the request prefers."""
        return request_locale(self.scope)


async def _create_context(request: Request) -> GatewayContext:
    """Return the context of a request, as FastAPI passes it to a handler with a parameter of type `Context`."""
    return GatewayContext(request.app.state.gateway, request.scope)


# The parameter type of a handler that needs the context of the request.
Context = Annotated[GatewayContext, Depends(_create_context)]


async def require_administrator(ctx: Context) -> None:
    """Check that the user is an administrator; the routes for administrators depend on this.

    Raises:
        AdministratorsOnly: the user is not an administrator.
    """
    if not ctx.caller.is_admin:
        raise AdministratorsOnly
