"""What the gateway's routes work with: things of the process, opened once, and things of one request."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request
from starlette.types import Scope

from touchstone.core.errors import AdministratorsOnly
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.error_responses import request_locale
from touchstone.services.gateway.access_tokens import AccessTokens
from touchstone.services.gateway.device_cookies import DeviceCookies
from touchstone.services.gateway.identities import IDENTITY, Identities, Identity
from touchstone.services.gateway.login_throttle import Throttle
from touchstone.services.gateway.schemas import Grant
from touchstone.services.gateway.sessions import Device, Renewal


@dataclass(frozen=True, slots=True)
class Desk:
    """The things of the process."""

    settings: Settings
    database: Database
    tokens: AccessTokens
    identities: Identities
    throttle: Throttle
    devices: DeviceCookies
    successor_key: bytes

    @property
    def session_life(self) -> timedelta:
        """How long a session lives without being used."""
        return timedelta(days=self.settings.refresh_token_days)

    def grant(self, session: Renewal) -> Grant:
        """The tokens handed out for a session that was begun or renewed."""
        access = self.tokens.issue(session.user_id, session.session_id)
        return Grant(access_token=access, expires_in=self.tokens.seconds, refresh_token=session.refresh_token)


@dataclass(frozen=True, slots=True)
class Context:
    """The things of one request."""

    desk: Desk
    scope: Scope

    @property
    def database(self) -> Database:
        """The database."""
        return self.desk.database

    @property
    def me(self) -> Identity:
        """Who is signed in; the gate has let nobody else through to a route that asks."""
        return cast(Identity, self.scope[IDENTITY])

    @property
    def address(self) -> str:
        """The client's address: the listener's peer, or the one that a trusted proxy forwarded."""
        client = self.scope.get("client")
        return str(client[0]) if client else "local"

    @property
    def device(self) -> Device:
        """Where the request comes from."""
        agents = [value.decode("utf-8", "replace") for name, value in self.scope["headers"] if name == b"user-agent"]
        return Device(agents[0].replace("\x00", "") if agents else None, self.address)

    @property
    def locale(self) -> str:
        """The language that the request prefers."""
        return request_locale(self.scope)

    def administrator(self) -> Identity:
        """Who is signed in, as an administrator.

        Raises:
            AdministratorsOnly: it is somebody else.
        """
        if not self.me.caller.is_admin:
            raise AdministratorsOnly
        return self.me


async def _context(request: Request) -> Context:
    return Context(request.app.state.desk, request.scope)


Ctx = Annotated[Context, Depends(_context)]
