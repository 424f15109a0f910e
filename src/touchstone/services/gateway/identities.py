"""From a bearer token to the user behind it: verified once, remembered while no account has changed."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import structlog

from touchstone.core.errors import ServiceError, Unauthorized
from touchstone.core.identity import Caller, Headers
from touchstone.database import versions
from touchstone.database.engine import Database
from touchstone.services.gateway import store
from touchstone.services.gateway.access_tokens import LEEWAY_SECONDS, AccessTokens, Claims, authorization, bearer_token

CAPACITY: Final = 10_000
POLL_SECONDS: Final = 0.4
TRUST_SECONDS: Final = 1.0
IDENTITY: Final = "touchstone.identity"
log = structlog.get_logger("touchstone.services.gateway")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is signed in, in which session, until when (seconds since 1970)."""

    caller: Caller
    session_id: UUID
    expires: int


class Identities:
    """Resolves Authorization headers.

    What was found is kept while the `accounts` version stays the same. The version is looked at more than once a
    second; when it could not be, nothing kept is trusted any longer, and every request asks the database.
    """

    def __init__(self, database: Database, tokens: AccessTokens) -> None:
        self._database = database
        self._tokens = tokens
        self._known: dict[bytes, Identity] = {}
        self._generation = 0
        self._confirmed = -TRUST_SECONDS

    def known(self, headers: Headers) -> Identity | None:
        """The identity that was found for the same headers a moment ago and can still be trusted.

        Raises:
            Unauthorized: no token, or several.
        """
        found = self._known.get(authorization(headers))
        if found is None or time.monotonic() - self._confirmed >= TRUST_SECONDS:
            return None
        return found if time.time() < found.expires + LEEWAY_SECONDS else None

    async def of(self, headers: Headers) -> Identity:
        """The identity that a request's headers prove.

        Raises:
            Unauthorized: no token, several, not a valid one, or its session or user is no longer active.
        """
        return self.known(headers) or await self._resolved(authorization(headers))

    def forget(self) -> None:
        """Trust nothing that was found before now: an account has changed."""
        self._generation += 1
        self._known.clear()

    async def watch(self) -> None:
        """Follow the `accounts` version until cancelled."""
        seen = None
        while True:
            asked = time.monotonic()
            try:
                async with self._database.reading() as rows:
                    found = await versions.current(rows, versions.ACCOUNTS)
            except ServiceError:
                pass  # the database has logged it; nothing that was found before is trusted for long without it
            except Exception:
                log.exception("the accounts version cannot be read")
            else:
                if found != seen:
                    self.forget()
                seen, self._confirmed = found, asked
            await asyncio.sleep(POLL_SECONDS)

    async def _resolved(self, value: bytes) -> Identity:
        generation = self._generation
        found = await self._active(self._tokens.read(bearer_token(value)))
        # A change that came in between may not be in what was read.
        if generation == self._generation:
            if len(self._known) >= CAPACITY:
                self._known.pop(next(iter(self._known)))
            self._known[value] = found
        return found

    async def _active(self, claims: Claims) -> Identity:
        async with self._database.reading() as rows:
            user = await store.signed_in_user(rows, user_id=claims.user_id, session_id=claims.session_id)
        if user is None:
            raise Unauthorized
        return Identity(Caller(user["id"], user["email"], user["is_superuser"]), claims.session_id, claims.expires)
