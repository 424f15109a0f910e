"""Random keys that the service makes for itself when it creates the schema, and keeps in its database."""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader
from touchstone.database.tables import secret_keys

# The key of the tokens that stand for a version of the catalog.
CATALOG_VERSION: Final = "catalog_version"


async def read_secret_key(connection: Reader, name: str) -> bytes:
    """Return the key for a purpose such as `CATALOG_VERSION`."""
    key: bytes = await connection.scalar(sa.select(secret_keys.c.key).where(secret_keys.c.name == name))
    return key
