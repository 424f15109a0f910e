"""Changing a password, with the current one or with a reset token; either ends all sessions of the user."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from touchstone.core.errors import InvalidResetToken, UserNotFound, WrongPassword
from touchstone.database.engine import Database, Writer
from touchstone.services.gateway import passwords, reset_token_store, sessions, user_store
from touchstone.services.gateway.random_tokens import digest_token, generate_token
from touchstone.services.gateway.reset_token_store import ResetTokenRecord
from touchstone.services.gateway.schemas import ResetToken


async def change_password(database: Database, user_id: UUID, current_password: str, new_password: str) -> None:
    """Replace the password of a user who knows the current one.

    Raises:
        WrongPassword: the current password is wrong.
        WeakPassword: the new password is not acceptable.
    """
    async with database.reading() as rows:
        user = await user_store.read_user(rows, user_id)
    if user is None or not await passwords.verify_password(current_password, user.password_hash):
        raise WrongPassword

    passwords.check_strength(new_password, user.email)
    password_hash = await passwords.hash_password(new_password)

    async with database.writing(essential=True) as rows:
        await _replace_password(rows, user_id, password_hash)


async def issue_reset_token(database: Database, user_id: UUID, *, lifetime: timedelta) -> ResetToken:
    """Return a token with which the user can set a new password, and withdraw earlier tokens.

    Raises:
        UserNotFound: there is no such user.
    """
    token = generate_token()
    expires_at = datetime.now(UTC) + lifetime

    async with database.writing(essential=True) as rows:
        if await user_store.lock_user(rows, user_id) is None:
            raise UserNotFound
        await reset_token_store.delete_reset_tokens(rows, user_id)
        await reset_token_store.insert_reset_token(rows, ResetTokenRecord(digest_token(token), user_id, expires_at))

    return ResetToken(token=token, expires_at=expires_at)


async def reset_password(database: Database, token: str, new_password: str) -> None:
    """Replace the password of the user for whom the reset token was issued.

    Raises:
        InvalidResetToken: the token is unknown, used or expired.
        WeakPassword: the new password is not acceptable; the token remains valid.
    """
    digest = digest_token(token)
    async with database.reading() as rows:
        user = await user_store.read_user_of_reset_token(rows, digest, datetime.now(UTC))
    if user is None:
        raise InvalidResetToken

    passwords.check_strength(new_password, user.email)
    # Hashing takes long, so it happens outside the transaction, which would block all other writers of SQLite.
    password_hash = await passwords.hash_password(new_password)

    async with database.writing(essential=True) as rows:
        if not await reset_token_store.use_reset_token(rows, digest, datetime.now(UTC)):
            raise InvalidResetToken
        await _replace_password(rows, user.id, password_hash)


async def _replace_password(rows: Writer, user_id: UUID, password_hash: str) -> None:
    await user_store.update_password_hash(rows, user_id, password_hash)
    await reset_token_store.delete_reset_tokens(rows, user_id)
    await sessions.revoke_all_sessions(rows, user_id)
