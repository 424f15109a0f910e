"""The administrator account for a new installation."""

import secrets
from dataclasses import dataclass
from typing import Final

from touchstone.database.engine import Database
from touchstone.services.gateway.accounts import create_user, has_users

FIRST_ADMIN: Final = "admin@touchstone.localhost"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The e-mail address and the password of an account."""

    email: str
    password: str


async def create_first_administrator(database: Database) -> Credentials | None:
    """Create an administrator with a random password, if there are no users yet.

    Returns:
        The credentials, with the only copy of the password, or None if there are users already.
    """
    if await has_users(database):
        return None

    credentials = Credentials(FIRST_ADMIN, secrets.token_urlsafe(12))
    await create_user(database, email=credentials.email, password=credentials.password, is_superuser=True)
    return credentials
