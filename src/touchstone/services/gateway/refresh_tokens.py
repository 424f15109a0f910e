"""Rotation of refresh tokens: every token is used once, and its reuse ends the session.

The tokens of a session form a family, in which each token has one successor.
"""

import base64
import hmac
from datetime import UTC, datetime, timedelta
from typing import Final

from touchstone.core.errors import InvalidRefreshToken
from touchstone.database.engine import Database, Reader, Writer
from touchstone.services.gateway import session_store, sessions, user_store
from touchstone.services.gateway.random_tokens import digest_token
from touchstone.services.gateway.session_store import RefreshTokenRecord
from touchstone.services.gateway.sessions import SessionCredentials

# Two tabs may refresh at the same moment, and a response may be lost: the token then comes again, but not from a thief.
GRACE_PERIOD: Final = timedelta(seconds=10)


async def rotate_refresh_token(
    database: Database, token: str, *, key: bytes, lifetime: timedelta
) -> SessionCredentials:
    """Exchange a refresh token for its successor, which is derived with `key`.

    A token that is used again within the grace period, while its successor is unused, gets the same successor: two
    tabs have refreshed at once, or a response was lost. Otherwise two parties have the token, and the session ends.

    Raises:
        InvalidRefreshToken: the token is unknown, expired or reused, or its session has ended.
    """
    async with database.writing(essential=True) as rows:
        credentials = await _rotate_or_revoke(rows, token, key, lifetime)

    # This is raised outside the transaction, which must be committed if it has revoked the session.
    if credentials is None:
        raise InvalidRefreshToken
    return credentials


def derive_successor(token: str, key: bytes) -> str:
    """Return the refresh token that follows `token` in its session.

    It is derived, not random, so that the same successor can be issued twice although only digests are stored. Without
    the key it is as unpredictable as a random token.
    """
    successor = hmac.digest(key, token.encode(), "sha256")
    return base64.urlsafe_b64encode(successor).rstrip(b"=").decode()


async def _rotate_or_revoke(rows: Writer, token: str, key: bytes, lifetime: timedelta) -> SessionCredentials | None:
    """Rotate a token, or end its session if the token was stolen; return None if it cannot be used."""
    digest = digest_token(token)
    stored_token = await session_store.read_refresh_token(rows, digest)
    if stored_token is None:
        return None
    session = await session_store.lock_session(rows, stored_token.session_id)
    if session is None or session.revoked_at is not None:
        return None

    now = datetime.now(UTC)
    user = await user_store.read_user(rows, session.user_id)
    # The token is read again under the lock of its session, because another request may have used it meanwhile.
    stored_token = await session_store.read_refresh_token(rows, digest)
    if stored_token is None or stored_token.expires_at <= now or user is None or not user.is_active:
        return None

    successor = derive_successor(token, key)
    if stored_token.used_at is None:
        await session_store.mark_refresh_token_used(rows, digest, now)
        await session_store.insert_refresh_token(
            rows, RefreshTokenRecord(digest_token(successor), session.id, created_at=now, expires_at=now + lifetime)
        )
    elif not await _is_harmless_reuse(rows, stored_token.used_at, successor, now):
        await sessions.revoke_session(rows, user.id, session.id)
        return None

    await session_store.update_session_use(rows, session.id, now)
    return SessionCredentials(user.id, session.id, successor)


async def _is_harmless_reuse(rows: Reader, used_at: datetime, successor: str, now: datetime) -> bool:
    """Return whether the token was first used within the grace period and its successor is unused."""
    stored_successor = await session_store.read_refresh_token(rows, digest_token(successor))
    is_successor_unused = stored_successor is not None and stored_successor.used_at is None
    return is_successor_unused and now - used_at <= GRACE_PERIOD
