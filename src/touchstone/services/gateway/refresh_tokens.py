"""Rotation of refresh tokens. Each token can be used once, and reusing it ends the session.

Each token of a session has exactly one successor.
"""

import base64
import hmac
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from touchstone.core.errors import InvalidRefreshToken
from touchstone.database.engine import Database, Reader, Writer
from touchstone.services.gateway import session_store, sessions, user_store
from touchstone.services.gateway.random_tokens import digest_token
from touchstone.services.gateway.session_store import RefreshTokenRecord, SessionRecord
from touchstone.services.gateway.sessions import SessionCredentials

# The time in which a token may be used again (see `rotate_refresh_token`).
GRACE_PERIOD: Final = timedelta(seconds=10)


async def rotate_refresh_token(
    database: Database, token: str, *, key: bytes, lifetime: timedelta
) -> SessionCredentials:
    """Exchange a refresh token for its successor, and return the session with the new token.

    If a token is used again, it may have been stolen, so the session ends. However, the same successor is returned
    again within `GRACE_PERIOD` while the successor is unused, because two browser tabs may refresh together, or the
    first response may have been lost.

    Args:
        database: the database that contains the session.
        token: the refresh token.
        key: the key for deriving the successor.
        lifetime: the time after which the successor expires if it is not used.

    Raises:
        InvalidRefreshToken: the token is unknown, expired or reused, or its session has ended.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        credentials = await _rotate_or_revoke(transaction, token, key, lifetime)

    # Raising the error in the transaction would roll back the revocation of the session.
    if credentials is None:
        raise InvalidRefreshToken
    return credentials


def derive_successor(token: str, key: bytes) -> str:
    """Return the refresh token that replaces `token` in its session.

    It is derived instead of random, so that the same successor can be issued twice although only digests are stored.
    Without the key, it is as unpredictable as a random token.
    """
    successor = hmac.digest(key, token.encode(), "sha256")
    return base64.urlsafe_b64encode(successor).rstrip(b"=").decode()


async def _rotate_or_revoke(
    transaction: Writer, token: str, key: bytes, lifetime: timedelta
) -> SessionCredentials | None:
    """Replace a refresh token by its successor, or revoke its session if it may be stolen.

    Return None if the token cannot be used, because an exception would roll back the revocation of the session.
    """
    digest = digest_token(token)
    stored_token = await session_store.read_refresh_token(transaction, digest)
    if stored_token is None:
        return None

    session = await _lock_active_session(transaction, stored_token.session_id)
    if session is None:
        return None

    # Another request may have used the token before its session was locked, so it is read again.
    now = datetime.now(UTC)
    stored_token = await session_store.read_refresh_token(transaction, digest)
    if stored_token is None or stored_token.expires_at <= now:
        return None

    successor = derive_successor(token, key)
    if stored_token.used_at is None:
        await session_store.mark_refresh_token_used(transaction, digest, now)
        successor_record = RefreshTokenRecord(
            digest_token(successor), session.id, created_at=now, expires_at=now + lifetime
        )
        await session_store.insert_refresh_token(transaction, successor_record)
    elif not await _is_harmless_reuse(transaction, stored_token.used_at, successor, now):
        await sessions.revoke_session(transaction, session.user_id, session.id)
        return None

    await session_store.update_session_use(transaction, session.id, now)
    return SessionCredentials(session.user_id, session.id, refresh_token=successor)


async def _lock_active_session(transaction: Writer, session_id: UUID) -> SessionRecord | None:
    """Lock and return a session, or return None if the session or its user is not active."""
    session = await session_store.lock_session(transaction, session_id)
    if session is None or session.revoked_at is not None:
        return None

    user = await user_store.read_user(transaction, session.user_id)
    if user is None or not user.is_active:
        return None
    return session


async def _is_harmless_reuse(connection: Reader, used_at: datetime, successor: str, now: datetime) -> bool:
    """Return whether a token first used at `used_at` may be used again.

    This is allowed within `GRACE_PERIOD`, as long as its `successor` has not been used.
    """
    is_recent = now - used_at <= GRACE_PERIOD
    stored_successor = await session_store.read_refresh_token(connection, digest_token(successor))
    return is_recent and stored_successor is not None and stored_successor.used_at is None
