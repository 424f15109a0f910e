"""Authentication of requests by bearer tokens, with a cache that is cleared when accounts change."""

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

# The maximum number of cached identities.
CACHE_SIZE: Final = 10_000
POLL_SECONDS: Final = 0.4
# The cache is used for up to this time after the last check for changes.
TRUST_SECONDS: Final = 1.0
# The scope key for the identity, which the proxy passes to the routes of the gateway.
IDENTITY: Final = "touchstone.identity"
log = structlog.get_logger("touchstone.services.gateway")


@dataclass(frozen=True, slots=True)
class Identity:
    """A signed-in user.

    Attributes:
        caller: the user.
        session_id: the session of the user.
        expires: the time when the access token expires, in seconds since 1970.
    """

    caller: Caller
    session_id: UUID
    expires: int


class Authenticator:
    """Resolves Authorization headers to identities.

    Identities are cached until the `accounts` version in the database changes, which is read more than once a second.
    If it cannot be read, the cache is not used, and every request queries the database.
    """

    def __init__(self, database: Database, tokens: AccessTokens) -> None:
        self._database = database
        self._tokens = tokens
        self._cache: dict[bytes, Identity] = {}
        self._cache_generation = 0
        self._accounts_version: int | None = None
        self._cache_confirmed_at = -TRUST_SECONDS

    async def authenticate(self, headers: Headers) -> Identity:
        """Return the identity of the user whose token is in the headers of a request, and cache it.

        This queries the database, so callers should try `cached_identity` first.

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

        # If the cache was cleared during the query, the identity may be outdated and must not be cached.
        if generation == self._cache_generation:
            self._add_to_cache(authorization, identity)
        return identity

    def cached_identity(self, headers: Headers) -> Identity | None:
        """Return the cached identity for the headers of a request, or None if there is no valid one.

        A cached identity is invalid if its access token has expired, or if this process has not checked for changes of
        accounts within `TRUST_SECONDS`.

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
        """Drop all cached identities. Call this when an account or a session has changed."""
        self._cache_generation += 1
        self._cache.clear()

    async def watch_accounts(self) -> None:
        """Clear the cache whenever any process changes an account or a session, until cancelled.

        Every such change increments a version number in the database, which is read every `POLL_SECONDS`. While it
        cannot be read, the cache is not confirmed, and `cached_identity` soon stops using it.
        """
        while True:
            await run_uninterrupted(self._check_accounts_version())
            await asyncio.sleep(POLL_SECONDS)

    async def _check_accounts_version(self) -> None:
        """Clear the cache if the `accounts` version has changed, and confirm it unless there is an error."""
        started_at = time.monotonic()
        try:
            async with self._database.reading() as connection:
                version = await change_counters.read_version(connection, change_counters.ACCOUNTS)
        except ServiceError:
            return  # the database has already logged the outage
        except Exception:
            log.exception("the accounts version cannot be read")
            return

        if version != self._accounts_version:
            self.clear_cache()
        self._accounts_version = version
        self._cache_confirmed_at = started_at

    def _add_to_cache(self, authorization: bytes, identity: Identity) -> None:
        """Cache the identity for an Authorization header, and evict the oldest entry if the cache is full."""
        if len(self._cache) >= CACHE_SIZE:
            oldest_authorization = next(iter(self._cache))
            del self._cache[oldest_authorization]

        self._cache[authorization] = identity
