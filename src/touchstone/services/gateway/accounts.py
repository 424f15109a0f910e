"""Management of user accounts, for the routes of the gateway and for the command line."""

import unicodedata
from dataclasses import dataclass, replace
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
    """The names and the preferred language of a new user.

    The pseudonym is public, unlike the other names. Without a preferred language, each request decides.
    """

    pseudo: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    locale: str | None = None


def fold_email(email: str) -> str:
    """Return the normalized form of an e-mail address, for comparisons.

    Case is ignored, but accents are not, because they distinguish mailboxes.
    """
    return unicodedata.normalize("NFC", email.strip()).casefold()


async def create_user(
    database: Database, *, email: str, password: str, is_superuser: bool = False, profile: UserProfile | None = None
) -> UserView:
    """Create an active account, and return its public view.

    Raises:
        WeakPassword: the password is too short, too long, too common, or the e-mail address itself.
        EmailTaken: another account has this address, ignoring case.
    """
    passwords.check_strength(password, email)
    password_hash = await passwords.hash_password(password)

    user = replace(new_user(email, profile or UserProfile()), password_hash=password_hash, is_superuser=is_superuser)

    async with database.writing() as transaction:
        await user_store.insert_user(transaction, user)
    return UserView.from_record(user, oauth_accounts=[])


def new_user(email: str, profile: UserProfile) -> UserRecord:
    """Return the record of a new active user without a password, which has not been stored yet."""
    return UserRecord(
        id=uuid4(),
        email=email.strip(),
        email_folded=fold_email(email),
        password_hash=None,
        is_active=True,
        is_superuser=False,
        is_curator=False,
        is_verified=False,
        pseudo=profile.pseudo,
        given_name=profile.given_name,
        family_name=profile.family_name,
        locale=profile.locale,
        picture_digest=None,
        created_at=datetime.now(UTC),
    )


async def has_administrators(database: Database) -> bool:
    """Return whether there are any administrators, including inactive ones."""
    async with database.reading() as connection:
        return await user_store.has_administrators(connection)


async def find_user_record(database: Database, email: str) -> UserRecord | None:
    """Return the record of the user with this e-mail address, ignoring case, or None if there is none."""
    async with database.reading() as connection:
        return await user_store.read_user_by_email(connection, fold_email(email))


async def find_user(database: Database, email: str) -> UserView:
    """Return the user with this e-mail address, ignoring case.

    Raises:
        UserNotFound: there is no such user.
    """
    async with database.reading() as connection:
        user = await user_store.read_user_by_email(connection, fold_email(email))
        return await _build_user_view(connection, user, DEFAULT_LOCALE)


async def read_user(database: Database, user_id: UUID, *, locale: str = DEFAULT_LOCALE) -> UserView:
    """Return the user with this id.

    Args:
        database: the database that contains the user.
        user_id: the id of the user.
        locale: the language to return for a user who has not chosen one.

    Raises:
        UserNotFound: there is no such user.
    """
    async with database.reading() as connection:
        user = await user_store.read_user(connection, user_id)
        return await _build_user_view(connection, user, locale)


async def list_users(
    database: Database, *, email_part: str = "", offset: int = 0, limit: int = 100
) -> tuple[list[UserView], int]:
    """Return a page of the users whose e-mail address contains a text, ignoring case, and the number of all of them.

    The page has at most `limit` users from `offset` on, the oldest account first.
    """
    folded_part = fold_email(email_part)
    async with database.reading() as connection:
        total_count = await user_store.count_users(connection, folded_part)
        users = await user_store.read_users(connection, folded_part, offset=offset, limit=limit)
        user_ids = [user.id for user in users]
        oauth_accounts = await user_store.read_oauth_accounts(connection, user_ids)

    views = [UserView.from_record(user, oauth_accounts) for user in users]
    return views, total_count


async def change_profile(
    database: Database, user_id: UUID, change: ProfileChange, *, locale: str = DEFAULT_LOCALE
) -> UserView:
    """Change the fields of a user's profile that the client has sent, and return the changed user.

    Args:
        database: the database that contains the user.
        user_id: the id of the user.
        change: the new values of the fields. A field that the client has sent as null is cleared.
        locale: the language to return for a user who has not chosen one. It is not stored.

    Raises:
        UserNotFound: there is no such user.
    """
    new_values = change.provided_fields()
    if new_values:
        async with database.writing() as transaction:
            await user_store.update_user(transaction, user_id, **new_values)
            if "pseudo" in new_values:
                # Other processes cache the pseudonym (`pseudo`), which is shown with the user's records and claims.
                await change_counters.increment_version(transaction, change_counters.NAMES)

    return await read_user(database, user_id, locale=locale)


async def change_user(
    database: Database, user_id: UUID, *, is_active: bool | None = None, is_curator: bool | None = None
) -> UserView:
    """Change the state or the role of a user, and return the changed user.

    Deactivation ends all sessions of the user in the same transaction.

    Args:
        database: the database that contains the user.
        user_id: the id of the user.
        is_active: whether the user may sign in, or None for no change.
        is_curator: whether the user may review claims, or None for no change.

    Raises:
        UserNotFound: there is no such user.
        LastAdministrator: no active administrator would be left, so nothing is changed.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        if is_active is False:
            # Otherwise two administrators could deactivate each other at the same time.
            await user_store.lock_administrators(transaction)
        if await user_store.lock_user(transaction, user_id) is None:
            raise UserNotFound

        if is_curator is not None:
            await user_store.update_user(transaction, user_id, is_curator=is_curator)
            # Other processes cache the roles of users until this counter changes.
            await change_counters.increment_version(transaction, change_counters.ACCOUNTS)
        if is_active is not None:
            await _set_active(transaction, user_id, is_active=is_active)

    return await read_user(database, user_id)


async def _set_active(transaction: Writer, user_id: UUID, *, is_active: bool) -> None:
    """Activate a user, or deactivate a user and end all of the user's sessions.

    Raises:
        LastAdministrator: no active administrator would be left.
    """
    await user_store.update_user(transaction, user_id, is_active=is_active)
    if is_active:
        return

    # The check follows the update, so that this user is no longer counted.
    if await user_store.is_last_administrator(transaction, user_id):
        raise LastAdministrator
    await sessions.revoke_all_sessions(transaction, user_id)


async def _build_user_view(connection: Reader, user: UserRecord | None, locale: str) -> UserView:
    """Return the public view of a user, including the accounts at external providers.

    Args:
        connection: the database connection.
        user: the record of the user, or None if the user was not found.
        locale: the language to return for a user who has not chosen one.

    Raises:
        UserNotFound: `user` is None.
    """
    if user is None:
        raise UserNotFound

    oauth_accounts = await user_store.read_oauth_accounts(connection, [user.id])
    return UserView.from_record(user, oauth_accounts, locale=locale)
