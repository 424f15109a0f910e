"""Password changes with the current password or with a reset token.

A password change ends all sessions of the user.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from touchstone.core.errors import InvalidResetToken, NoPassword, UserNotFound, WrongPassword
from touchstone.database.engine import Database, Writer
from touchstone.services.gateway import passwords, reset_token_store, sessions, user_store
from touchstone.services.gateway.random_tokens import digest_token, generate_token
from touchstone.services.gateway.reset_token_store import ResetTokenRecord
from touchstone.services.gateway.schemas import ResetToken


async def change_password(database: Database, user_id: UUID, current_password: str, new_password: str) -> None:
    """Replace the password after verifying the current one, and end all sessions of the user.

    Raises:
        NoPassword: the account has no password, because its user signs in with an identity provider.
        WrongPassword: the current password is wrong, or was replaced while it was verified.
        WeakPassword: the new password is not acceptable.
    """
    async with database.reading() as connection:
        user = await user_store.read_user(connection, user_id)
    if user is not None and user.password_hash is None:
        raise NoPassword
    if user is None or not await passwords.verify_password(current_password, user.password_hash):
        raise WrongPassword

    passwords.check_strength(new_password, user.email)
    new_password_hash = await passwords.hash_password(new_password)

    async with database.writing(may_use_reserve=True) as transaction:
        # The user may have replaced a stolen password in the meantime. The thief must not replace the new one.
        current_user = await user_store.lock_user(transaction, user_id)
        if current_user is None or current_user.password_hash != user.password_hash:
            raise WrongPassword
        await _replace_password(transaction, user_id, new_password_hash)


async def issue_reset_token(database: Database, user_id: UUID, *, lifetime: timedelta) -> ResetToken:
    """Issue a token that lets a user who has forgotten the password set a new one.

    Earlier tokens of the user become invalid. Only the digest of the token is stored, so the result is the only copy.

    Raises:
        UserNotFound: there is no such user.
    """
    token = generate_token()
    expires_at = datetime.now(UTC) + lifetime

    async with database.writing(may_use_reserve=True) as transaction:
        user = await user_store.lock_user(transaction, user_id)
        if user is None:
            raise UserNotFound

        await reset_token_store.delete_reset_tokens(transaction, user_id)
        record = ResetTokenRecord(digest=digest_token(token), user_id=user_id, expires_at=expires_at)
        await reset_token_store.insert_reset_token(transaction, record)

    return ResetToken(token=token, expires_at=expires_at)


async def reset_password(database: Database, token: str, new_password: str) -> None:
    """Set a new password for the owner of a reset token, and end all sessions of the user.

    Raises:
        InvalidResetToken: the token is unknown, used or expired.
        WeakPassword: the new password is not acceptable. The token remains valid.
    """
    digest = digest_token(token)
    async with database.reading() as connection:
        user = await user_store.read_reset_token_owner(connection, digest, datetime.now(UTC))
    if user is None:
        raise InvalidResetToken

    passwords.check_strength(new_password, user.email)
    # Hashing is slow, and SQLite has one writer at a time, so the password is hashed before the transaction begins.
    new_password_hash = await passwords.hash_password(new_password)

    # A user who replaces a stolen password must be able to do so even if the disk is full.
    async with database.writing(may_use_reserve=True) as transaction:
        # The token is checked again, because it may have been used or replaced while the password was hashed.
        is_still_valid = await reset_token_store.use_reset_token(transaction, digest, datetime.now(UTC))
        if not is_still_valid:
            raise InvalidResetToken
        await _replace_password(transaction, user.id, new_password_hash)


async def _replace_password(transaction: Writer, user_id: UUID, password_hash: str) -> None:
    """Store the hash of a new password, delete the user's reset tokens, and end all sessions.

    The old password may have been stolen, so everything obtained with it becomes invalid.
    """
    await user_store.update_user(transaction, user_id, password_hash=password_hash)
    await reset_token_store.delete_reset_tokens(transaction, user_id)
    await sessions.revoke_all_sessions(transaction, user_id)
