"""Queries on users, their external accounts and their profile pictures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import EmailTaken
from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import oauth_accounts, reset_tokens, users

# Pictures are large, so only `read_picture` loads them.
_USER_COLUMNS = tuple(column for column in users.c if column.name != "picture")


@dataclass(frozen=True, slots=True)
class UserRecord:
    """A user, without the profile picture.

    Attributes:
        email_folded: the e-mail address in the form for comparisons (`accounts.fold_email`).
        locale: the preferred language, or None if the user has not chosen one.
    """

    id: UUID
    email: str
    email_folded: str
    password_hash: str | None
    is_active: bool
    is_superuser: bool
    is_curator: bool
    is_verified: bool
    pseudo: str | None
    given_name: str | None
    family_name: str | None
    locale: str | None
    picture_digest: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OAuthAccountRecord:
    """An account at an external provider with which a user can sign in."""

    id: UUID
    user_id: UUID
    oauth_name: str
    account_id: str
    account_email: str


class OAuthAccountTaken(Exception):
    """An account at an external provider already signs in a user."""


@dataclass(frozen=True, slots=True)
class PictureRecord:
    """A profile picture in WebP format, and its digest."""

    picture: bytes
    picture_digest: str


async def insert_user(transaction: Writer, user: UserRecord) -> None:
    """Insert a user.

    Raises:
        EmailTaken: another account has the same address, ignoring case.
    """
    try:
        await transaction.execute(sa.insert(users).values(asdict(user)))
    except IntegrityError as error:
        raise EmailTaken from error


async def has_administrators(connection: Reader) -> bool:
    """Return whether there are any administrators, including inactive ones."""
    return await connection.scalar(sa.select(users.c.id).where(users.c.is_superuser).limit(1)) is not None


async def count_users(connection: Reader, email_part: str = "") -> int:
    """Return the number of users whose folded e-mail address contains `email_part`."""
    query = sa.select(sa.func.count()).select_from(users).where(_email_contains(email_part))
    return int(await connection.scalar(query))


async def read_users(connection: Reader, email_part: str = "", *, offset: int, limit: int) -> list[UserRecord]:
    """Return at most `limit` users from `offset` on whose folded e-mail address contains `email_part`.

    The oldest account comes first.
    """
    query = (
        sa.select(*_USER_COLUMNS)
        .where(_email_contains(email_part))
        .order_by(users.c.created_at, users.c.id)
        .offset(offset)
        .limit(limit)
    )
    return await connection.all_as(UserRecord, query)


def _email_contains(email_part: str) -> sa.ColumnElement[bool]:
    """Return the condition that the folded e-mail address contains a text, in which no sign is a wildcard."""
    return users.c.email_folded.contains(email_part, autoescape=True)


async def read_user(connection: Reader, user_id: UUID) -> UserRecord | None:
    """Return the user with this id, or None."""
    return await connection.first_as(UserRecord, sa.select(*_USER_COLUMNS).where(users.c.id == user_id))


async def read_user_by_email(connection: Reader, email_folded: str) -> UserRecord | None:
    """Return the user with this folded e-mail address, or None."""
    return await connection.first_as(UserRecord, sa.select(*_USER_COLUMNS).where(users.c.email_folded == email_folded))


async def read_reset_token_owner(connection: Reader, digest: str, now: datetime) -> UserRecord | None:
    """Return the owner of a valid reset token, or None if the token is unknown, used or expired."""
    query = (
        sa.select(*_USER_COLUMNS)
        .join(reset_tokens, reset_tokens.c.user_id == users.c.id)
        .where(reset_tokens.c.digest == digest, reset_tokens.c.used_at.is_(None), reset_tokens.c.expires_at > now)
    )
    return await connection.first_as(UserRecord, query)


async def lock_user(transaction: Writer, user_id: UUID) -> UserRecord | None:
    """Return the user, locked against changes by other transactions until this one ends, or None."""
    query = sa.select(*_USER_COLUMNS).where(users.c.id == user_id).with_for_update()
    return await transaction.first_as(UserRecord, query)


async def lock_administrators(transaction: Writer) -> None:
    """Keep other transactions from changing any administrator until this one ends."""
    # All transactions lock the rows in the same order, so that they cannot wait for each other.
    query = sa.select(users.c.id).where(users.c.is_superuser).order_by(users.c.id).with_for_update()
    await transaction.all(query)


async def update_user(transaction: Writer, user_id: UUID, **changes: Any) -> None:
    """Set columns of the user's row to new values. Nothing happens if there is no such user."""
    await transaction.execute(sa.update(users).where(users.c.id == user_id).values(changes))


async def is_last_administrator(connection: Reader, user_id: UUID) -> bool:
    """Return whether this user is an administrator and no active administrator is left."""
    query = sa.select(users.c.id, users.c.is_active).where(users.c.is_superuser)
    administrators = await connection.all(query)

    is_administrator = any(row["id"] == user_id for row in administrators)
    is_any_active = any(row["is_active"] for row in administrators)
    return is_administrator and not is_any_active


async def read_oauth_accounts(connection: Reader, user_ids: Sequence[UUID]) -> list[OAuthAccountRecord]:
    """Return the external accounts of these users."""
    query = sa.select(oauth_accounts).where(oauth_accounts.c.user_id.in_(user_ids)).order_by(oauth_accounts.c.id)
    return await connection.all_as(OAuthAccountRecord, query)


async def read_user_of_oauth_account(connection: Reader, oauth_name: str, account_id: str) -> UserRecord | None:
    """Return the user whom an account at an external provider signs in, or None."""
    query = (
        sa.select(*_USER_COLUMNS)
        .join(oauth_accounts, oauth_accounts.c.user_id == users.c.id)
        .where(oauth_accounts.c.oauth_name == oauth_name, oauth_accounts.c.account_id == account_id)
    )
    return await connection.first_as(UserRecord, query)


async def insert_oauth_account(transaction: Writer, account: OAuthAccountRecord) -> None:
    """Insert an account at an external provider.

    Raises:
        OAuthAccountTaken: it already signs in a user, or the database refuses the row for another reason. The
            transaction must end, and only then can the two cases be distinguished.
    """
    try:
        await transaction.execute(sa.insert(oauth_accounts).values(asdict(account)))
    except IntegrityError as error:
        raise OAuthAccountTaken from error


async def delete_oauth_account(transaction: Writer, account_id: UUID) -> None:
    """Delete an account at an external provider, so that nobody can sign in with it."""
    await transaction.execute(sa.delete(oauth_accounts).where(oauth_accounts.c.id == account_id))


async def read_picture(connection: Reader, user_id: UUID) -> PictureRecord | None:
    """Return the user's profile picture, or None if there is none."""
    query = sa.select(users.c.picture, users.c.picture_digest)
    return await connection.first_as(PictureRecord, query.where(users.c.id == user_id, users.c.picture.is_not(None)))


async def update_picture(transaction: Writer, user_id: UUID, picture: PictureRecord) -> None:
    """Replace the user's profile picture."""
    await update_user(transaction, user_id, **asdict(picture))


async def delete_picture(transaction: Writer, user_id: UUID) -> None:
    """Remove the user's profile picture, if there is one."""
    await update_user(transaction, user_id, picture=None, picture_digest=None)
