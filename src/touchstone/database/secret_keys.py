"""Random keys, which are generated when the schema is created and stored in the database."""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader
from touchstone.database.tables import secret_keys

# The key for the tokens that represent a version of the catalog.
CATALOG_VERSION: Final = "catalog_version"


async def read_secret_key(connection: Reader, name: str) -> bytes:
    """Return the key with this name, such as `CATALOG_VERSION`."""
    key: bytes = await connection.scalar(sa.select(secret_keys.c.key).where(secret_keys.c.name == name))
    return key
