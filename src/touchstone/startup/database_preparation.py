"""Opening of the database at startup, and preparation of its schema."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from touchstone.core.data_folder import prepare_data_folder
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.migrations import (
    current_revision,
    is_older_revision,
    prepare_schema,
    required_revision,
    upgrade_schema,
)
from touchstone.database.sqlite import sqlite_path
from touchstone.startup.database_error_messages import startup_errors


@asynccontextmanager
async def open_prepared_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database for a service, with the schema that this code needs.

    The schema is created in an empty database. An older schema is only upgraded in the embedded default database,
    because other processes may be using any other database.

    Raises:
        SettingsError: the database cannot be opened.
        SchemaError: the database needs `touchstone db upgrade`, or is newer than this code.
    """
    is_embedded = settings.database_url is None

    async with open_database(settings) as database:
        with startup_errors(settings):
            revision = await current_revision(database)
            if is_embedded and is_older_revision(revision):
                await _back_up_and_upgrade(database, settings)
            await prepare_schema(database)

        yield database


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database without checking its schema, and close it at the end of the block.

    Raises:
        SettingsError: the database file or the data folder cannot be used.
    """
    url = settings.effective_database_url
    with startup_errors(settings):
        prepare_data_folder(settings, sqlite_path(url))
        database = Database(url, reserve_bytes=settings.reserve_bytes)

    try:
        yield database
    finally:
        await database.close()


async def upgrade_database(settings: Settings) -> tuple[str | None, str]:
    """Upgrade the database to the schema of this code, and return the revisions before and after."""
    async with open_database(settings) as database:
        with startup_errors(settings):
            revision_before = await current_revision(database)
            await upgrade_schema(database)
            return revision_before, required_revision()


async def _back_up_and_upgrade(database: Database, settings: Settings) -> None:
    """Copy the embedded database to a file in the same folder, and then upgrade its schema.

    The name of the copy ends with the old revision of the schema and the time.
    """
    revision = await current_revision(database)
    timestamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    backup = settings.data_dir / f"touchstone.db.{revision}-{timestamp}"
    await database.backup(backup)

    try:
        await upgrade_schema(database)
    except BaseException:
        # The database is unchanged, so the copy is not needed. Otherwise, each attempt to start would leave one.
        backup.unlink(missing_ok=True)
        raise
