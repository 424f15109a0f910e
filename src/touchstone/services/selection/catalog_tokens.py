"""Opaque tokens for versions of the catalog.

Two tokens are equal if the catalog has not changed in between. The version itself is not published, because it would
reveal the number of writes, including writes to private records.
"""

import hmac
from hashlib import sha256
from typing import Final, Self

from touchstone.database.engine import Database
from touchstone.database.secret_keys import CATALOG_VERSION, read_secret_key

_TOKEN_DIGITS: Final = 32


class CatalogTokens:
    """Creates version tokens with a key from the database, so that all processes create the same tokens."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    async def load(cls, database: Database) -> Self:
        """Read the key from the database."""
        async with database.reading() as connection:
            return cls(await read_secret_key(connection, CATALOG_VERSION))

    def token(self, version: int) -> str:
        """Return the token of a version of the catalog."""
        return hmac.new(self._key, str(version).encode(), sha256).hexdigest()[:_TOKEN_DIGITS]
