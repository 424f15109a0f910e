"""Accounts of users, as the routes of the gateway and the command line manage them."""

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from touchstone.core.errors import LastAdministrator, UserNotFound
from touchstone.database import change_counters
from touchstone.database.engine import Database, Reader, Writer
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
    """Return the form of an e-mail address in which addresses are compared.

    Case is ignored. Accents are not, because addresses that differ in them are different mailboxes.
    """
    return unicodedata.normalize("NFC", email.strip()).casefold()


async def create_user(
    database: Database, *, email: str, password: str, is_superuser: bool = False, profile: UserProfile | None = None
) -> UserView:
    """Create an active account with a hashed password, and return it as its user sees it.

    Raises:
        WeakPassword: the password is too short, too common, or the e-mail address itself.
        EmailTaken: another account has this address, in whatever case.
    """
    passwords.check_strength(password, email)
    password_hash = await passwords.hash_password(password)

    if profile is None:
        profile = UserProfile()
    user = UserRecord(
        id=uuid4(),
        email=email.strip(),
        email_folded=fold_email(email),
        password_hash=password_hash,
        is_active=True,
        is_superuser=is_superuser,
        is_curator=False,
        is_verified=False,
        pseudo=profile.pseudo,
        given_name=profile.given_name,
        family_name=profile.family_name,
        locale=profile.locale,
        picture_digest=None,
        created_at=datetime.now(UTC),
    )

    async with database.writing() as transaction:
        await user_store.insert_user(transaction, user)
    return UserView.from_record(user, oauth_accounts=[])


async def has_administrators(database: Database) -> bool:
    """Return whether any account is one of an administrator, active or not."""
    async with database.reading() as connection:
        return await user_store.has_administrators(connection)


async def find_user_record(database: Database, email: str) -> UserRecord | None:
    """Return the record of the user with this e-mail address, in whatever case, or None if there is none."""
    async with database.reading() as connection:
        return await user_store.read_user_by_email(connection, fold_email(email))


async def find_user(database: Database, email: str) -> UserView:
    """Return the user with this e-mail address, in whatever case.

    Raises:
        UserNotFound: there is no such user.
    """
    async with database.reading() as connection:
        user = await user_store.read_user_by_email(connection, fold_email(email))
        return await _view_user(connection, user, DEFAULT_LOCALE)


async def read_user(database: Database, user_id: UUID, *, locale: str = DEFAULT_LOCALE) -> UserView:
    """Return the user with this id; `locale` is the language of a user who has not chosen one.

    Raises:
        UserNotFound: there is no such user.
    """
    async with database.reading() as connection:
        user = await user_store.read_user(connection, user_id)
        return await _view_user(connection, user, locale)


async def list_users(database: Database, *, offset: int = 0, limit: int = 100) -> tuple[int, list[UserView]]:
    """Return one page of the users for an administrator, and the number of all users.

    The oldest account comes first. The page has at most `limit` users and starts after `offset` others.
    """
    async with database.reading() as connection:
        total_count = await user_store.count_users(connection)
        users = await user_store.read_users(connection, offset=offset, limit=limit)
        user_ids = [user.id for user in users]
        oauth_accounts = await user_store.read_oauth_accounts(connection, user_ids)

    views = [UserView.from_record(user, oauth_accounts) for user in users]
    return total_count, views


async def change_profile(
    database: Database, user_id: UUID, change: ProfileChange, *, locale: str = DEFAULT_LOCALE
) -> UserView:
    """Change those fields of a user's profile that the client has sent, and return the user after the change.

    A field that was sent as null is cleared. `locale` is the language of a user who has not chosen one.

    Raises:
        UserNotFound: there is no such user.
    """
    changes = change.provided_fields()
    if changes:
        async with database.writing() as transaction:
            await user_store.update_profile(transaction, user_id, changes)
            if "pseudo" in changes:
                # The records and claims of the user show this name.
                await change_counters.increment_version(transaction, change_counters.NAMES)

    return await read_user(database, user_id, locale=locale)


async def change_user(
    database: Database, user_id: UUID, *, is_active: bool | None = None, is_curator: bool | None = None
) -> UserView:
    """Change the state or the role of a user on behalf of an administrator, and return the user after the change.

    What is None stays as it is. Deactivation ends all sessions of the user in the same transaction.

    Raises:
        UserNotFound: there is no such user.
        LastAdministrator: no active administrator would be left; nothing is changed.
    """
    async with database.writing(even_if_disk_full=True) as transaction:
        if await user_store.lock_user(transaction, user_id) is None:
            raise UserNotFound

        if is_curator is not None:
            await user_store.update_is_curator(transaction, user_id, is_curator=is_curator)
            # Other processes cache who is a curator until this counter changes.
            await change_counters.increment_version(transaction, change_counters.ACCOUNTS)
        if is_active is not None:
            await _update_is_active(transaction, user_id, is_active=is_active)

    return await read_user(database, user_id)


async def _update_is_active(transaction: Writer, user_id: UUID, *, is_active: bool) -> None:
    """Activate or deactivate a user; deactivation ends all sessions of the user.

    Raises:
        LastAdministrator: no active administrator would be left.
    """
    await user_store.update_is_active(transaction, user_id, is_active=is_active)
    if is_active:
        return

    # This is checked after the update, so that only the administrators who would be left are counted.
    if await user_store.is_last_administrator(transaction, user_id):
        raise LastAdministrator
    await sessions.revoke_all_sessions(transaction, user_id)


async def _view_user(connection: Reader, user: UserRecord | None, locale: str) -> UserView:
    """Return a stored user as the API shows it, with the external accounts that sign this user in.

    `locale` is the language of a user who has not chosen one.

    Raises:
        UserNotFound: `user` is None, because the look-up has not found anybody.
    """
    if user is None:
        raise UserNotFound

    oauth_accounts = await user_store.read_oauth_accounts(connection, [user.id])
    return UserView.from_record(user, oauth_accounts, locale=locale)
