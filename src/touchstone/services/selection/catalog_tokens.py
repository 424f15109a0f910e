"""Opaque tokens that stand for a version of the catalog.

Two tokens are equal if nothing in the catalog has changed in between. The version itself stays inside the service,
because it counts everybody's writes, private records included.
"""

import hmac
from hashlib import sha256
from typing import Final, Self

from touchstone.database.engine import Database
from touchstone.database.secret_keys import CATALOG_VERSION, read_secret_key

_TOKEN_DIGITS: Final = 32


class CatalogTokens:
    """Makes the tokens of one database, whichever process asks."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    async def load(cls, database: Database) -> Self:
        """Return the tokens of a database."""
        async with database.reading() as connection:
            return cls(await read_secret_key(connection, CATALOG_VERSION))

    def token(self, version: int) -> str:
        """Return the token of a version of the catalog."""
        return hmac.new(self._key, str(version).encode(), sha256).hexdigest()[:_TOKEN_DIGITS]
