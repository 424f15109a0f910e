"""Accounts of users, as the routes of the gateway and the command line manage them."""

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from touchstone.core.errors import LastAdministrator, UserNotFound
from touchstone.database.engine import Database, Reader
from touchstone.messages.locales import DEFAULT_LOCALE
from touchstone.services.gateway import passwords, sessions, user_store
from touchstone.services.gateway.schemas import ProfileChange, UserView
from touchstone.services.gateway.user_store import UserRecord


@dataclass(frozen=True, slots=True)
class UserProfile:
    """The names and the preferred language of a new user; without a `locale`, the language of the client is used."""

    pseudo: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    locale: str | None = None


def fold_email(email: str) -> str:
    """Return the form in which addresses are compared.

    Case is ignored. Accents are not, because addresses that differ in them are different mailboxes.
    """
    return unicodedata.normalize("NFC", email.strip()).casefold()


async def create_user(
    database: Database, *, email: str, password: str, is_superuser: bool = False, profile: UserProfile | None = None
) -> UserView:
    """Create an account.

    Raises:
        WeakPassword: the password is not acceptable.
        EmailTaken: another account has this address.
    """
    passwords.check_strength(password, email)
    profile = profile or UserProfile()
    user = UserRecord(
        id=uuid4(),
        email=email.strip(),
        email_folded=fold_email(email),
        password_hash=await passwords.hash_password(password),
        is_active=True,
        is_superuser=is_superuser,
        is_verified=False,
        pseudo=profile.pseudo,
        given_name=profile.given_name,
        family_name=profile.family_name,
        locale=profile.locale,
        picture_digest=None,
        created_at=datetime.now(UTC),
    )

    async with database.writing() as rows:
        await user_store.insert_user(rows, user)
    return UserView.from_record(user, [])


async def has_users(database: Database) -> bool:
    """Return whether there is any account."""
    async with database.reading() as rows:
        return await user_store.has_users(rows)


async def find_user_record(database: Database, email: str) -> UserRecord | None:
    """Return the record of the user with this address, in whatever case."""
    async with database.reading() as rows:
        return await user_store.read_user_by_email(rows, fold_email(email))


async def find_user(database: Database, email: str) -> UserView:
    """Return the user with this address, in whatever case.

    Raises:
        UserNotFound: there is no such user.
    """
    async with database.reading() as rows:
        user = await user_store.read_user_by_email(rows, fold_email(email))
        return await _view_user(rows, user, DEFAULT_LOCALE)


async def read_user(database: Database, user_id: UUID, *, locale: str = DEFAULT_LOCALE) -> UserView:
    """Return the user with this id; `locale` is the language of a user who has not chosen one.

    Raises:
        UserNotFound: there is no such user.
    """
    async with database.reading() as rows:
        user = await user_store.read_user(rows, user_id)
        return await _view_user(rows, user, locale)


async def list_users(database: Database, *, offset: int = 0, limit: int = 100) -> tuple[int, list[UserView]]:
    """Return the number of all users, and at most `limit` of them from `offset`, oldest first."""
    async with database.reading() as rows:
        total = await user_store.count_users(rows)
        users = await user_store.read_users(rows, offset=offset, limit=limit)
        oauth_accounts = await user_store.read_oauth_accounts(rows, [user.id for user in users])

    return total, [UserView.from_record(user, oauth_accounts) for user in users]


async def change_profile(
    database: Database, user_id: UUID, change: ProfileChange, *, locale: str = DEFAULT_LOCALE
) -> UserView:
    """Change the fields of the profile that the client sent, and return the user as `read_user` does.

    Raises:
        UserNotFound: there is no such user.
    """
    changes = change.provided_fields()
    if changes:
        async with database.writing() as rows:
            await user_store.update_profile(rows, user_id, changes)
    return await read_user(database, user_id, locale=locale)


async def set_active(database: Database, user_id: UUID, *, is_active: bool) -> UserView:
    """Activate a user, or deactivate a user and end all sessions of that user at once.

    Raises:
        UserNotFound: there is no such user.
        LastAdministrator: no active administrator would be left.
    """
    async with database.writing(essential=True) as rows:
        if not await user_store.update_is_active(rows, user_id, is_active=is_active):
            raise UserNotFound

        if not is_active:
            if await user_store.is_last_administrator(rows, user_id):
                raise LastAdministrator
            await sessions.revoke_all_sessions(rows, user_id)

    return await read_user(database, user_id)


async def _view_user(rows: Reader, user: UserRecord | None, locale: str) -> UserView:
    if user is None:
        raise UserNotFound
    oauth_accounts = await user_store.read_oauth_accounts(rows, [user.id])
    return UserView.from_record(user, oauth_accounts, locale=locale)
