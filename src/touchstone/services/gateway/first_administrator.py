"""The administrator account that is created for an installation without any users."""

import secrets
from dataclasses import dataclass
from typing import Final

from touchstone.database.engine import Database
from touchstone.services.gateway.accounts import create_user, has_users

FIRST_ADMIN: Final = "admin@touchstone.localhost"


@dataclass(frozen=True, slots=True)
class Credentials:
    """An e-mail address and the password of its account."""

    email: str
    password: str


async def create_first_administrator(database: Database) -> Credentials | None:
    """Create an administrator with a random password, so that somebody can sign in to a new installation.

    Returns the only copy of the password, or None, without creating anybody, if there are users already.
    """
    if await has_users(database):
        return None

    credentials = Credentials(FIRST_ADMIN, secrets.token_urlsafe(12))
    await create_user(database, email=credentials.email, password=credentials.password, is_superuser=True)
    return credentials
