"""The accounts of users who sign in with an identity provider.

An account is never found by its e-mail address. The user who registered an address first need not be its owner, and a
provider may state any address. The owner of an existing account links it to the identity by also signing in with the
password, in the same browser.
"""

import time
from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4

from touchstone.core.errors import EmailTaken, InvalidCredentials
from touchstone.core.identity_provider_errors import LastWayToSignIn, OAuthAccountNotFound
from touchstone.database.engine import Database
from touchstone.services.gateway import accounts, user_store
from touchstone.services.gateway.oidc.external_identity import ExternalIdentity
from touchstone.services.gateway.oidc.signed_tokens import SignedTokens
from touchstone.services.gateway.user_store import OAuthAccountRecord, OAuthAccountTaken, UserRecord

# The cookie with the identity that the next sign-in with the password links to the account.
COOKIE_NAME: Final = "touchstone_link"
LIFETIME_SECONDS: Final = 600


async def find_user(database: Database, identity: ExternalIdentity) -> UserRecord | None:
    """Return the user whom this identity signs in, or None if it is not linked to an account.

    Raises:
        InvalidCredentials: the user is deactivated, as at a sign-in with a password.
    """
    async with database.reading() as connection:
        user = await user_store.read_user_of_oauth_account(connection, identity.provider, identity.subject)
    if user is not None and not user.is_active:
        raise InvalidCredentials
    return user


async def create_user(database: Database, identity: ExternalIdentity) -> UserRecord:
    """Create an account without a password that this identity signs in, and return it.

    If another request creates the account at the same time, return that account.

    Raises:
        EmailTaken: another account has this address, ignoring case.
    """
    profile = accounts.UserProfile(given_name=identity.given_name, family_name=identity.family_name)
    user = replace(accounts.new_user(identity.email, profile), is_verified=True)

    try:
        async with database.writing() as transaction:
            await user_store.insert_user(transaction, user)
            await user_store.insert_oauth_account(transaction, _new_link(user.id, identity))
    except (EmailTaken, OAuthAccountTaken):
        existing_user = await find_user(database, identity)
        if existing_user is None:
            raise
        return existing_user
    return user


def sign_link(tokens: SignedTokens, user: UserRecord, identity: ExternalIdentity) -> str:
    """Return a token that lets the user of an account link it to this identity within a few minutes."""
    claims = {
        "user": str(user.id),
        "provider": identity.provider,
        "subject": identity.subject,
        "email": identity.email,
    }
    return tokens.sign(claims, expires_at=int(time.time()) + LIFETIME_SECONDS)


async def link_account(database: Database, user: UserRecord, claims: dict[str, Any] | None) -> None:
    """Link the account of a user who has just entered the password to the identity in a token.

    Nothing happens if the token is invalid (None) or for another account, or if the identity is linked already.
    """
    if claims is None or UUID(claims["user"]) != user.id:
        return

    identity = ExternalIdentity(claims["provider"], claims["subject"], claims["email"])
    try:
        async with database.writing(may_use_reserve=True) as transaction:
            await user_store.insert_oauth_account(transaction, _new_link(user.id, identity))
            await user_store.update_user(transaction, user.id, is_verified=True)
    except OAuthAccountTaken:
        # Another request may have used the same token, or created an account for the identity, at the same time. If
        # the identity has no link, the database has refused the new one for another reason.
        async with database.reading() as connection:
            linked_user = await user_store.read_user_of_oauth_account(connection, identity.provider, identity.subject)
        if linked_user is None:
            raise


async def unlink_account(database: Database, user_id: UUID, oauth_account_id: UUID) -> None:
    """Unlink an account from an identity, so that the user can no longer sign in with it. Sessions continue.

    Raises:
        OAuthAccountNotFound: the user has no such link.
        LastWayToSignIn: the user has neither a password nor another link.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        # Without this lock, two concurrent requests could each delete one of the last two links.
        user = await user_store.lock_user(transaction, user_id)
        links = await user_store.read_oauth_accounts(transaction, [user_id])
        if user is None or oauth_account_id not in {link.id for link in links}:
            raise OAuthAccountNotFound
        if user.password_hash is None and len(links) == 1:
            raise LastWayToSignIn

        await user_store.delete_oauth_account(transaction, oauth_account_id)


def _new_link(user_id: UUID, identity: ExternalIdentity) -> OAuthAccountRecord:
    """Return a new link, with which a user can sign in with an identity."""
    return OAuthAccountRecord(
        id=uuid4(),
        user_id=user_id,
        oauth_name=identity.provider,
        account_id=identity.subject,
        account_email=identity.email,
    )
