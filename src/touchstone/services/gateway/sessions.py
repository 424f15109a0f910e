"""Sessions, each of which is one sign-in on one device, extended by a chain of refresh tokens."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from touchstone.database import change_counters
from touchstone.database.engine import Database, Writer
from touchstone.services.gateway import session_store
from touchstone.services.gateway.random_tokens import digest_token, generate_token
from touchstone.services.gateway.session_store import RefreshTokenRecord, SessionRecord

_MAX_USER_AGENT_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class Device:
    """The browser or program used for a sign-in, and its network address."""

    user_agent: str | None
    address: str


@dataclass(frozen=True, slots=True)
class SessionCredentials:
    """The ids of a started or renewed session, and its new refresh token."""

    user_id: UUID
    session_id: UUID
    refresh_token: str


async def start_session(
    transaction: Writer, user_id: UUID, device: Device, *, lifetime: timedelta
) -> SessionCredentials:
    """Start a session and return it with its first refresh token.

    The user's sessions that expired more than a day ago are deleted.

    Args:
        transaction: the transaction in which the sign-in is stored.
        user_id: the user who signs in.
        device: the user's device.
        lifetime: the time after which the refresh token expires if it is not used.
    """
    now = datetime.now(UTC)
    expired_before = now - lifetime - timedelta(days=1)
    await session_store.delete_sessions(transaction, user_id, used_before=expired_before)

    user_agent = None if device.user_agent is None else device.user_agent[:_MAX_USER_AGENT_LENGTH]
    session = SessionRecord(
        id=uuid4(),
        user_id=user_id,
        user_agent=user_agent,
        address=device.address,
        created_at=now,
        used_at=now,
    )
    await session_store.insert_session(transaction, session)

    refresh_token = generate_token()
    token_record = RefreshTokenRecord(
        digest_token(refresh_token), session.id, created_at=now, expires_at=now + lifetime
    )
    await session_store.insert_refresh_token(transaction, token_record)

    return SessionCredentials(user_id, session.id, refresh_token)


async def revoke_session(transaction: Writer, user_id: UUID, session_id: UUID) -> bool:
    """End a session of the user, including its access tokens. Return False if it was not active."""
    was_active = await session_store.revoke_session(transaction, user_id, session_id, datetime.now(UTC))
    await _invalidate_cached_tokens(transaction)
    return was_active


async def revoke_all_sessions(transaction: Writer, user_id: UUID) -> None:
    """End all sessions of the user, including their access tokens."""
    await session_store.revoke_sessions(transaction, user_id, datetime.now(UTC))
    await _invalidate_cached_tokens(transaction)


async def list_active_sessions(database: Database, user_id: UUID, *, lifetime: timedelta) -> list[SessionRecord]:
    """Return the active sessions of the user, the most recently used first.

    A session expires if it has not been used for `lifetime`.
    """
    used_since = datetime.now(UTC) - lifetime
    async with database.reading() as connection:
        return await session_store.read_active_sessions(connection, user_id, used_since=used_since)


async def _invalidate_cached_tokens(transaction: Writer) -> None:
    """Increment the `accounts` version, so that every process drops its cached access tokens.

    This must be the last step. To avoid deadlocks, all transactions lock users, sessions and versions in this order.
    """
    await change_counters.increment_version(transaction, change_counters.ACCOUNTS)
