"""Queries on sessions and their refresh tokens."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from touchstone.core.identity import Caller
from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import refresh_tokens, sessions, users


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A sign-in on one device, with the time when its refresh token was last used."""

    id: UUID
    user_id: UUID
    user_agent: str | None
    address: str | None
    created_at: datetime
    used_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RefreshTokenRecord:
    """A refresh token of a session. Only its digest is stored."""

    digest: str
    session_id: UUID
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None


async def read_caller(connection: Reader, *, user_id: UUID, session_id: UUID) -> Caller | None:
    """Return the user of a session as the caller of a request.

    The result is None if the session does not exist or has been revoked, or if the user is not active.
    """
    query = (
        sa.select(users.c.id, users.c.email, users.c.is_superuser, users.c.is_curator)
        .join(sessions, sessions.c.user_id == users.c.id)
        .where(users.c.id == user_id, users.c.is_active)
        .where(sessions.c.id == session_id, sessions.c.revoked_at.is_(None))
    )
    row = await connection.first(query)
    if row is None:
        return None

    return Caller(
        id=row["id"],
        email=row["email"],
        is_admin=row["is_superuser"],
        is_curator=row["is_superuser"] or row["is_curator"],
    )


async def insert_session(transaction: Writer, session: SessionRecord) -> None:
    """Insert a session."""
    await transaction.execute(sa.insert(sessions).values(asdict(session)))


async def lock_session(transaction: Writer, session_id: UUID) -> SessionRecord | None:
    """Return the session, locked against changes by other transactions until this one ends, or None."""
    query = sa.select(sessions).where(sessions.c.id == session_id).with_for_update()
    return await transaction.first_as(SessionRecord, query)


async def read_active_sessions(connection: Reader, user_id: UUID, *, used_since: datetime) -> list[SessionRecord]:
    """Return the user's active sessions used since `used_since`, the most recently used first."""
    query = (
        sa.select(sessions)
        .where(sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None), sessions.c.used_at >= used_since)
        .order_by(sessions.c.used_at.desc(), sessions.c.id)
    )
    return await connection.all_as(SessionRecord, query)


async def update_session_use(transaction: Writer, session_id: UUID, now: datetime) -> None:
    """Record the use of a session, which extends its lifetime."""
    await transaction.execute(sa.update(sessions).where(sessions.c.id == session_id).values(used_at=now))


async def revoke_session(transaction: Writer, user_id: UUID, session_id: UUID, now: datetime) -> bool:
    """Revoke a session of the user. Return False if it was not active."""
    update = sa.update(sessions).where(
        sessions.c.id == session_id, sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None)
    )
    result = await transaction.execute(update.values(revoked_at=now))
    return result.rowcount == 1


async def revoke_sessions(transaction: Writer, user_id: UUID, now: datetime) -> None:
    """Revoke every session of the user."""
    update = sa.update(sessions).where(sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None))
    await transaction.execute(update.values(revoked_at=now))


async def delete_sessions(transaction: Writer, user_id: UUID, *, used_before: datetime) -> None:
    """Delete the user's sessions that were last used before this time, including their refresh tokens."""
    await transaction.execute(
        sa.delete(sessions).where(sessions.c.user_id == user_id, sessions.c.used_at < used_before)
    )


async def insert_refresh_token(transaction: Writer, token: RefreshTokenRecord) -> None:
    """Insert a refresh token."""
    await transaction.execute(sa.insert(refresh_tokens).values(asdict(token)))


async def read_refresh_token(connection: Reader, digest: str) -> RefreshTokenRecord | None:
    """Return the refresh token with this digest, or None."""
    query = sa.select(refresh_tokens).where(refresh_tokens.c.digest == digest)
    return await connection.first_as(RefreshTokenRecord, query)


async def mark_refresh_token_used(transaction: Writer, digest: str, now: datetime) -> None:
    """Record the first use of a refresh token."""
    await transaction.execute(sa.update(refresh_tokens).where(refresh_tokens.c.digest == digest).values(used_at=now))
