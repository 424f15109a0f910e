"""The rows of people, their sessions, and the digests of their single-use tokens."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import EmailTaken
from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import oauth_accounts, refresh_tokens, reset_tokens, sessions, users

Row = Mapping[Any, Any]
Found = sa.RowMapping
# The picture's bytes stay out of every row but the picture's own.
_USER = tuple(column for column in users.c if column.name != "picture")


async def insert_user(rows: Writer, user: Row) -> None:
    """Add a user.

    Raises:
        EmailTaken: the address has an account, whatever the case of its letters.
    """
    try:
        await rows.execute(sa.insert(users).values(user))
    except IntegrityError as problem:
        raise EmailTaken from problem


async def any_user(rows: Reader) -> bool:
    """Whether anybody has an account."""
    return await rows.scalar(sa.select(users.c.id).limit(1)) is not None


async def user_by_id(rows: Reader, user_id: UUID) -> Found | None:
    """The user, without the picture's bytes."""
    return await rows.first(sa.select(*_USER).where(users.c.id == user_id))


async def user_by_email(rows: Reader, email_folded: str) -> Found | None:
    """The user with this folded address, without the picture's bytes."""
    return await rows.first(sa.select(*_USER).where(users.c.email_folded == email_folded))


async def oauth_accounts_of(rows: Reader, user_ids: Sequence[UUID]) -> Sequence[Found]:
    """The external accounts of these users."""
    return await rows.all(
        sa.select(oauth_accounts).where(oauth_accounts.c.user_id.in_(user_ids)).order_by(oauth_accounts.c.id)
    )


async def users_page(rows: Reader, *, offset: int, size: int) -> tuple[int, Sequence[Found]]:
    """How many users there are, and `size` of them from `offset`, oldest first."""
    total = await rows.scalar(sa.select(sa.func.count()).select_from(users))
    query = sa.select(*_USER).order_by(users.c.created_at, users.c.id).offset(offset).limit(size)
    return int(total or 0), await rows.all(query)


async def update_user(rows: Writer, user_id: UUID, changes: Row) -> bool:
    """Change fields of a user; whether there is such a user."""
    return (await rows.execute(sa.update(users).where(users.c.id == user_id).values(changes))).rowcount == 1


async def was_last_administrator(rows: Reader, user_id: UUID) -> bool:
    """Whether this user is an administrator, and no administrator is active."""
    administrators = sa.select(users.c.id, users.c.is_active).where(users.c.is_superuser)
    found = await rows.all(administrators)
    return any(one["id"] == user_id for one in found) and not any(one["is_active"] for one in found)


async def picture_of(rows: Reader, user_id: UUID) -> Found | None:
    """The `picture` and `picture_digest` of the user; None when there is no picture."""
    return await rows.first(
        sa.select(users.c.picture, users.c.picture_digest).where(users.c.id == user_id, users.c.picture.is_not(None))
    )


async def signed_in_user(rows: Reader, *, user_id: UUID, session_id: UUID) -> Found | None:
    """The active user of a session that has not been revoked."""
    return await rows.first(
        sa.select(users.c.id, users.c.email, users.c.is_superuser)
        .join(sessions, sessions.c.user_id == users.c.id)
        .where(users.c.id == user_id, users.c.is_active, sessions.c.id == session_id, sessions.c.revoked_at.is_(None))
    )


async def lock_user(rows: Writer, user_id: UUID) -> Found | None:
    """The user as of now, whom no other transaction changes before this one ends."""
    return await rows.first(sa.select(*_USER).where(users.c.id == user_id).with_for_update())


async def insert_session(rows: Writer, session: Row) -> None:
    """Add a session."""
    await rows.execute(sa.insert(sessions).values(session))


async def lock_session(rows: Writer, session_id: UUID) -> Found | None:
    """The session as of now, which no other transaction changes before this one ends."""
    return await rows.first(sa.select(sessions).where(sessions.c.id == session_id).with_for_update())


async def touch_session(rows: Writer, session_id: UUID, now: datetime) -> None:
    """Note that the session was used."""
    await rows.execute(sa.update(sessions).where(sessions.c.id == session_id).values(used_at=now))


async def live_sessions(rows: Reader, user_id: UUID, *, used_since: datetime) -> Sequence[Found]:
    """The user's sessions that are neither revoked nor run out, latest use first."""
    return await rows.all(
        sa.select(sessions)
        .where(sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None), sessions.c.used_at >= used_since)
        .order_by(sessions.c.used_at.desc(), sessions.c.id)
    )


async def revoke_sessions(rows: Writer, user_id: UUID, now: datetime, session_id: UUID | None = None) -> int:
    """End one session of the user, or all of them; how many were ended."""
    query = sa.update(sessions).where(sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None))
    if session_id is not None:
        query = query.where(sessions.c.id == session_id)
    return (await rows.execute(query.values(revoked_at=now))).rowcount


async def delete_old_sessions(rows: Writer, user_id: UUID, *, used_before: datetime) -> None:
    """Forget the user's sessions, and their tokens, that nobody can use any more."""
    await rows.execute(sa.delete(sessions).where(sessions.c.user_id == user_id, sessions.c.used_at < used_before))


async def insert_refresh_token(rows: Writer, token: Row) -> None:
    """Add a refresh token."""
    await rows.execute(sa.insert(refresh_tokens).values(token))


async def refresh_token(rows: Reader, digest: str) -> Found | None:
    """The refresh token with this digest."""
    return await rows.first(sa.select(refresh_tokens).where(refresh_tokens.c.digest == digest))


async def use_refresh_token(rows: Writer, digest: str, now: datetime) -> None:
    """Note the first use of a refresh token."""
    query = sa.update(refresh_tokens).where(refresh_tokens.c.digest == digest)
    await rows.execute(query.values(used_at=now))


async def insert_reset_token(rows: Writer, token: Row) -> None:
    """Add a password reset token."""
    await rows.execute(sa.insert(reset_tokens).values(token))


async def user_of_reset_token(rows: Reader, digest: str, now: datetime) -> Found | None:
    """The user whom a reset token was made for; None when it is unknown, used or has run out."""
    valid = (reset_tokens.c.digest == digest, reset_tokens.c.used_at.is_(None), reset_tokens.c.expires_at > now)
    return await rows.first(sa.select(*_USER).join(reset_tokens, reset_tokens.c.user_id == users.c.id).where(*valid))


async def use_reset_token(rows: Writer, digest: str, now: datetime) -> bool:
    """Use up a reset token; False when it is unknown, used or has run out."""
    valid = (reset_tokens.c.digest == digest, reset_tokens.c.used_at.is_(None), reset_tokens.c.expires_at > now)
    return (await rows.execute(sa.update(reset_tokens).where(*valid).values(used_at=now))).rowcount == 1


async def delete_reset_tokens(rows: Writer, user_id: UUID) -> None:
    """Withdraw every reset token of the user."""
    await rows.execute(sa.delete(reset_tokens).where(reset_tokens.c.user_id == user_id))
