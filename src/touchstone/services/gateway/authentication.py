"""Authentication of requests: from the bearer token to the user, with a cache that changes of accounts invalidate."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import structlog

from touchstone.core.errors import ServiceError, Unauthorized
from touchstone.core.identity import Caller, Headers
from touchstone.core.uninterrupted import run_uninterrupted
from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.services.gateway import session_store
from touchstone.services.gateway.access_tokens import (
    LEEWAY_SECONDS,
    AccessTokens,
    parse_bearer_token,
    read_authorization,
)

# The largest number of identities that are cached.
CACHE_SIZE: Final = 10_000
POLL_SECONDS: Final = 0.4
TRUST_SECONDS: Final = 1.0
# The key in the ASGI scope under which the proxy passes the identity to the routes of the gateway.
IDENTITY: Final = "touchstone.identity"
log = structlog.get_logger("touchstone.services.gateway")


@dataclass(frozen=True, slots=True)
class Identity:
    """A user who is signed in, with the session and the expiry of the access token (seconds since 1970)."""

    caller: Caller
    session_id: UUID
    expires: int


class Authenticator:
    """Resolves Authorization headers to identities.

    Identities are cached until the `accounts` version changes, which is read more than once a second. When it cannot
    be read, the cache is not trusted any longer, and every request queries the database.
    """

    def __init__(self, database: Database, tokens: AccessTokens) -> None:
        self._database = database
        self._tokens = tokens
        self._cache: dict[bytes, Identity] = {}
        self._cache_generation = 0
        self._accounts_version: int | None = None
        self._cache_confirmed_at = -TRUST_SECONDS

    async def authenticate(self, headers: Headers) -> Identity:
        """Return the identity that the headers of a request prove, and cache it for the next request.

        This queries the database, so callers first try `cached_identity`.

        Raises:
            Unauthorized: there is no valid token, or its session or its user is no longer active.
        """
        generation = self._cache_generation
        authorization = read_authorization(headers)
        claims = self._tokens.verify(parse_bearer_token(authorization))

        async with self._database.reading() as connection:
            caller = await session_store.read_caller(connection, user_id=claims.user_id, session_id=claims.session_id)
        if caller is None:
            raise Unauthorized
        identity = Identity(caller, claims.session_id, claims.expires)

        # If the cache was cleared during the query, the identity may be outdated, and must not be cached.
        if generation == self._cache_generation:
            self._add_to_cache(authorization, identity)
        return identity

    def cached_identity(self, headers: Headers) -> Identity | None:
        """Return the identity that the headers of a request prove, or None if it is not in the cache.

        None is also returned if the access token has expired, or if it has been too long since this process has checked
        that no account has changed.

        Raises:
            Unauthorized: the Authorization header is missing or repeated.
        """
        identity = self._cache.get(read_authorization(headers))
        if identity is None:
            return None

        is_cache_up_to_date = time.monotonic() - self._cache_confirmed_at < TRUST_SECONDS
        is_token_valid = time.time() < identity.expires + LEEWAY_SECONDS
        return identity if is_cache_up_to_date and is_token_valid else None

    def clear_cache(self) -> None:
        """Drop all cached identities, because an account or a session has changed."""
        self._cache_generation += 1
        self._cache.clear()

    async def watch_accounts(self) -> None:
        """Clear the cache whenever an account or a session has changed, in whatever process; run until cancelled.

        Every such change increments a version number in the database, which is read here every `POLL_SECONDS`. While
        it cannot be read, the cache is not confirmed, and `cached_identity` soon stops using it.
        """
        while True:
            await run_uninterrupted(self._check_accounts_version())
            await asyncio.sleep(POLL_SECONDS)

    async def _check_accounts_version(self) -> None:
        """Clear the cache if the version of the accounts has changed; an error is logged, and confirms nothing."""
        started_at = time.monotonic()
        try:
            async with self._database.reading() as connection:
                version = await change_counters.read_version(connection, change_counters.ACCOUNTS)
        except ServiceError:
            return  # The database has logged the outage.
        except Exception:
            log.exception("the accounts version cannot be read")
            return

        if version != self._accounts_version:
            self.clear_cache()
        self._accounts_version = version
        self._cache_confirmed_at = started_at

    def _add_to_cache(self, authorization: bytes, identity: Identity) -> None:
        """Cache the identity of an Authorization header, in place of the oldest entry if the cache is full."""
        if len(self._cache) >= CACHE_SIZE:
            oldest_authorization = next(iter(self._cache))
            del self._cache[oldest_authorization]

        self._cache[authorization] = identity
