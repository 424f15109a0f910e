"""Signing in with an e-mail address and a password."""

from datetime import timedelta

from touchstone.core.errors import InvalidCredentials
from touchstone.database.engine import Database
from touchstone.services.gateway import accounts, passwords, sessions, user_store
from touchstone.services.gateway.sessions import Device, SessionCredentials
from touchstone.services.gateway.user_store import UserRecord


async def authenticate(database: Database, email: str, password: str) -> UserRecord:
    """Verify an e-mail address and a password, and return the user.

    The password is verified even if there is no such user, so that the response time does not reveal which addresses
    have an account.

    Raises:
        InvalidCredentials: no user has this address, the password is wrong, or the user is deactivated.
    """
    user = await accounts.find_user_record(database, email)
    password_hash = user.password_hash if user else None
    is_password_correct = await passwords.verify_password(password, password_hash)

    if user is None or not is_password_correct or not user.is_active:
        raise InvalidCredentials
    return user


async def start_session(
    database: Database, user: UserRecord, device: Device, *, lifetime: timedelta
) -> SessionCredentials:
    """Start a session of an authenticated user, and return it with its first refresh token.

    Raises:
        InvalidCredentials: after `authenticate`, the password was changed, or the user was deactivated or deleted.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        # The user may have changed while the password was verified.
        current_user = await user_store.lock_user(transaction, user.id)
        if current_user is None or not current_user.is_active:
            raise InvalidCredentials
        if current_user.password_hash != user.password_hash:
            raise InvalidCredentials

        return await sessions.start_session(transaction, user.id, device, lifetime=lifetime)
