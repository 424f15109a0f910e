"""The administrator account for a new installation."""

import secrets
from dataclasses import dataclass
from typing import Final

from touchstone.database.engine import Database
from touchstone.services.gateway.accounts import create_user, find_user_record, has_administrators

FIRST_ADMIN_DOMAIN: Final = "touchstone.localhost"
FIRST_ADMIN: Final = f"admin@{FIRST_ADMIN_DOMAIN}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The e-mail address and the password of an account."""

    email: str
    password: str


async def create_first_administrator(database: Database) -> Credentials | None:
    """Create an administrator with a random password, if there is no administrator yet.

    Other accounts may already have been created on the command line.

    Returns:
        the credentials, with the only copy of the password, or None if there is an administrator already.
    """
    if await has_administrators(database):
        return None

    email = FIRST_ADMIN
    if await find_user_record(database, email) is not None:
        email = f"admin-{secrets.token_hex(4)}@{FIRST_ADMIN_DOMAIN}"

    credentials = Credentials(email, secrets.token_urlsafe(12))
    await create_user(database, email=credentials.email, password=credentials.password, is_superuser=True)
    return credentials
