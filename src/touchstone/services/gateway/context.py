"""The state of the gateway application, and the context of a request for its handlers."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request
from starlette.types import Scope

from touchstone.core.errors import AdministratorsOnly, RegistrationClosed
from touchstone.core.identity import Caller
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.error_responses import request_locale
from touchstone.services.gateway.access_tokens import AccessTokens
from touchstone.services.gateway.authentication import IDENTITY, Authenticator, Identity
from touchstone.services.gateway.device_cookies import DeviceCookies
from touchstone.services.gateway.login_throttle import LoginThrottle
from touchstone.services.gateway.oidc.identity_providers import IdentityProviders
from touchstone.services.gateway.sessions import Device


@dataclass(frozen=True, slots=True)
class GatewayState:
    """The settings, the database and the authentication services, created once per process.

    Attributes:
        successor_key: the key with which each refresh token is derived from the previous token of its session.
    """

    settings: Settings
    database: Database
    access_tokens: AccessTokens
    authenticator: Authenticator
    throttle: LoginThrottle
    device_cookies: DeviceCookies
    successor_key: bytes
    identity_providers: IdentityProviders

    @property
    def session_lifetime(self) -> timedelta:
        """The time after which an unused session expires."""
        return timedelta(days=self.settings.refresh_token_days)


@dataclass(frozen=True, slots=True)
class GatewayContext:
    """The context of a request, with the state of the application and information about the client."""

    state: GatewayState
    scope: Scope

    @property
    def database(self) -> Database:
        """The database."""
        return self.state.database

    @property
    def identity(self) -> Identity:
        """The identity of the user, which the proxy has verified for all routes that are not open."""
        return cast(Identity, self.scope[IDENTITY])

    @property
    def caller(self) -> Caller:
        """The signed-in user."""
        return self.identity.caller

    @property
    def address(self) -> str:
        """The network address of the client, taking trusted proxies into account."""
        client = self.scope.get("client")
        return str(client[0]) if client else "local"

    @property
    def device(self) -> Device:
        """The device that sent the request."""
        for name, value in self.scope["headers"]:
            if name == b"user-agent":
                user_agent = value.decode("utf-8", "replace").replace("\x00", "")
                return Device(user_agent, self.address)
        return Device(user_agent=None, address=self.address)

    @property
    def locale(self) -> str:
        """The language for the response."""
        return request_locale(self.scope)

    def count_registration(self) -> None:
        """Check that the client may create an account, and count the account before it is created.

        Raises:
            RegistrationClosed: users may not create their own accounts.
            TooManyAttempts: too many accounts have been created from this network address.
        """
        if self.state.settings.registration == "closed":
            raise RegistrationClosed
        self.state.throttle.count_registration(self.address)


async def _create_context(request: Request) -> GatewayContext:
    """Return the context of a request for handlers with a parameter of type `Context`."""
    return GatewayContext(request.app.state.gateway, request.scope)


# The parameter type of a handler that needs the context of the request.
Context = Annotated[GatewayContext, Depends(_create_context)]


async def require_administrator(ctx: Context) -> None:
    """Check that the user is an administrator. The routes for administrators depend on this.

    Raises:
        AdministratorsOnly: the user is not an administrator.
    """
    if not ctx.caller.is_admin:
        raise AdministratorsOnly
