"""Accounts: made, found, signed in, given a new password. What the gateway's routes and the command line do alike."""

import unicodedata
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from touchstone.core.errors import InvalidCredentials, InvalidResetToken, LastAdministrator, UserNotFound, WrongPassword
from touchstone.database.engine import Database, Writer
from touchstone.messages.locales import DEFAULT_LOCALE
from touchstone.services.gateway import passwords, sessions, store
from touchstone.services.gateway.schemas import ProfileChange, ResetToken, UserView


@dataclass(frozen=True, slots=True)
class Profile:
    """What users say of themselves; without a `locale` they have the language of their client."""

    pseudo: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    locale: str | None = None


def folded(email: str) -> str:
    """The form in which addresses are compared: case is ignored, accents are not, since they name other mailboxes."""
    return unicodedata.normalize("NFC", email.strip()).casefold()


async def create_user(
    database: Database, *, email: str, password: str, is_superuser: bool = False, profile: Profile | None = None
) -> UserView:
    """Make an account.

    Raises:
        WeakPassword: the password is not accepted.
        EmailTaken: the address has an account.
    """
    passwords.check_strength(password, email)
    row = {
        "id": uuid4(),
        "email": email.strip(),
        "email_folded": folded(email),
        "password_hash": await passwords.hashed(password),
        "is_active": True,
        "is_superuser": is_superuser,
        "is_verified": False,
        "picture_digest": None,
        "created_at": datetime.now(UTC),
        **asdict(profile or Profile()),
    }
    async with database.writing() as rows:
        await store.insert_user(rows, row)
    return UserView.of(row, [])


async def any_user(database: Database) -> bool:
    """Whether anybody has an account."""
    async with database.reading() as rows:
        return await store.any_user(rows)


async def find_user(database: Database, email: str) -> UserView:
    """The user with this address, in any case.

    Raises:
        UserNotFound: there is none.
    """
    async with database.reading() as rows:
        user = await store.user_by_email(rows, folded(email))
        if user is None:
            raise UserNotFound
        return UserView.of(user, await store.oauth_accounts_of(rows, [user["id"]]))


async def read_user(database: Database, user_id: UUID, *, locale: str = DEFAULT_LOCALE) -> UserView:
    """Return the user with this id, in the language `locale` if the account has chosen none.

    Raises:
        UserNotFound: there is none.
    """
    async with database.reading() as rows:
        user = await store.user_by_id(rows, user_id)
        if user is None:
            raise UserNotFound
        return UserView.of(user, await store.oauth_accounts_of(rows, [user_id]), locale=locale)


async def list_users(database: Database, *, offset: int = 0, size: int = 100) -> tuple[int, list[UserView]]:
    """How many users there are, and `size` of them from `offset`, oldest first."""
    async with database.reading() as rows:
        total, found = await store.users_page(rows, offset=offset, size=size)
        accounts = await store.oauth_accounts_of(rows, [user["id"] for user in found])
    return total, [UserView.of(user, accounts) for user in found]


async def change_profile(
    database: Database, user_id: UUID, change: ProfileChange, *, locale: str = DEFAULT_LOCALE
) -> UserView:
    """Change what the caller gave of the profile, and return the user as `read_user` does.

    Raises:
        UserNotFound: there is no such user.
    """
    if given := change.provided_fields():
        async with database.writing() as rows:
            await store.update_user(rows, user_id, given)
    return await read_user(database, user_id, locale=locale)


async def set_active(database: Database, user_id: UUID, *, is_active: bool) -> UserView:
    """Let a user in, or shut a user out: every session ends at once.

    Raises:
        UserNotFound: there is no such user.
        LastAdministrator: nobody would be left to let anyone in again.
    """
    async with database.writing(essential=True) as rows:
        if not await store.update_user(rows, user_id, {"is_active": is_active}):
            raise UserNotFound
        if not is_active:
            if await store.was_last_administrator(rows, user_id):
                raise LastAdministrator
            await sessions.revoke(rows, user_id)
    return await read_user(database, user_id)


async def authenticate(database: Database, email: str, password: str) -> store.Found:
    """The active user with this address and password.

    Raises:
        InvalidCredentials: no such user, another password, or not active; all three after the same work.
    """
    async with database.reading() as rows:
        user = await store.user_by_email(rows, folded(email))
    is_right = await passwords.matches(password, user["password_hash"] if user else None)
    if user is None or not is_right or not user["is_active"]:
        raise InvalidCredentials
    return user


async def find_row(database: Database, email: str) -> store.Found | None:
    """Return the row of the user with this address, in any case."""
    async with database.reading() as rows:
        return await store.user_by_email(rows, folded(email))


async def start_session(
    database: Database, user: store.Found, device: sessions.Device, *, life: timedelta
) -> sessions.Renewal:
    """Begin a session of a user who has just been authenticated.

    Raises:
        InvalidCredentials: the password was changed, or the user shut out, in the meantime.
    """
    async with database.writing(essential=True) as rows:
        now = await store.lock_user(rows, user["id"])
        if now is None or not now["is_active"] or now["password_hash"] != user["password_hash"]:
            raise InvalidCredentials
        return await sessions.start(rows, user["id"], device, life=life)


async def change_password(database: Database, user_id: UUID, current: str, new: str) -> None:
    """Replace the password, and end every session.

    Raises:
        WrongPassword: the current one is not right.
        WeakPassword: the new one is not accepted.
    """
    async with database.reading() as rows:
        user = await store.user_by_id(rows, user_id)
    if user is None or not await passwords.matches(current, user["password_hash"]):
        raise WrongPassword
    passwords.check_strength(new, user["email"])
    fresh = await passwords.hashed(new)
    async with database.writing(essential=True) as rows:
        await _set_password(rows, user_id, fresh)


async def issue_reset_token(database: Database, user_id: UUID, *, life: timedelta) -> ResetToken:
    """A token with which the user sets a new password; earlier ones are withdrawn.

    Raises:
        UserNotFound: there is no such user.
    """
    token, expires_at = sessions.new_token(), datetime.now(UTC) + life
    row = {"digest": sessions.digest_of(token), "user_id": user_id, "expires_at": expires_at, "used_at": None}
    async with database.writing(essential=True) as rows:
        if await store.lock_user(rows, user_id) is None:
            raise UserNotFound
        await store.delete_reset_tokens(rows, user_id)
        await store.insert_reset_token(rows, row)
    return ResetToken(token=token, expires_at=expires_at)


async def reset_password(database: Database, token: str, new: str) -> None:
    """Set the password that a reset token allows, once, and end every session.

    Raises:
        InvalidResetToken: unknown, used or expired.
        WeakPassword: the new one is not accepted; the token stays good.
    """
    digest = sessions.digest_of(token)
    async with database.reading() as rows:
        user = await store.user_of_reset_token(rows, digest, datetime.now(UTC))
    if user is None:
        raise InvalidResetToken
    passwords.check_strength(new, user["email"])
    # Hashing takes long: outside the transaction, for SQLite has but one writer.
    fresh = await passwords.hashed(new)
    async with database.writing(essential=True) as rows:
        if not await store.use_reset_token(rows, digest, datetime.now(UTC)):
            raise InvalidResetToken
        await _set_password(rows, user["id"], fresh)


async def _set_password(rows: Writer, user_id: UUID, password_hash: str) -> None:
    await store.update_user(rows, user_id, {"password_hash": password_hash})
    await store.delete_reset_tokens(rows, user_id)
    await sessions.revoke(rows, user_id)
