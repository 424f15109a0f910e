"""Opening of the database at startup, and preparation of its schema."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import structlog

from touchstone.core.data_folder import prepare_data_folder
from touchstone.core.settings import Settings, SettingsError
from touchstone.database.engine import Database
from touchstone.database.migrations import (
    current_revision,
    is_older_revision,
    prepare_schema,
    required_revision,
    upgrade_schema,
)
from touchstone.database.sqlite import sqlite_path
from touchstone.startup.database_error_messages import database_variable, startup_errors

log = structlog.get_logger("touchstone.start")


@asynccontextmanager
async def open_prepared_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database for a service, with the schema that this code needs.

    The schema is created in an empty database. An older schema is only upgraded in the embedded default database,
    because other processes may be using any other database.

    Raises:
        SettingsError: the database cannot be opened.
        SchemaError: the database needs `touchstone db upgrade`, or is newer than this code.
    """
    async with open_database(settings) as database:
        with startup_errors(settings):
            revision = await current_revision(database)
            if _is_embedded(settings) and is_older_revision(revision):
                await _back_up_and_upgrade(database, settings)
            await prepare_schema(database)

        yield database


@asynccontextmanager
async def open_database(settings: Settings, *, must_exist: bool = False) -> AsyncIterator[Database]:
    """Open the database without checking its schema, and close it at the end of the block.

    Args:
        settings: where the database is.
        must_exist: whether a missing SQLite database is an error; otherwise, it is created.

    Raises:
        SettingsError: the database file or the data folder cannot be used, or a database that must exist is missing.
    """
    url = settings.effective_database_url
    if must_exist:
        _check_database_exists(settings)

    with startup_errors(settings):
        prepare_data_folder(settings, sqlite_path(url))
        database = Database(url, reserve_bytes=settings.reserve_bytes)

    try:
        yield database
    finally:
        await database.close()


def _check_database_exists(settings: Settings) -> None:
    """Raise SettingsError, with the path, if the settings name an SQLite database that does not exist.

    Nothing is created, unlike by opening the database.
    """
    path = sqlite_path(settings.effective_database_url)
    if path is None or Path(path).exists():
        return

    variable = database_variable(settings)
    raise SettingsError(f"{variable}: there is no database at {path}; touchstone serve creates one.")


async def upgrade_database(settings: Settings) -> tuple[str | None, str]:
    """Upgrade the database to the schema of this code, and return the revisions before and after.

    The embedded default database is copied first, as it is when a service upgrades it.
    """
    async with open_database(settings) as database:
        with startup_errors(settings):
            revision_before = await current_revision(database)
            if _is_embedded(settings) and is_older_revision(revision_before):
                await _back_up_and_upgrade(database, settings)
            else:
                await upgrade_schema(database)
            return revision_before, required_revision()


def _is_embedded(settings: Settings) -> bool:
    """Return whether the database is the default one, an SQLite file in the data folder."""
    return settings.database_url is None


async def _back_up_and_upgrade(database: Database, settings: Settings) -> None:
    """Copy the embedded database to a file in the same folder, and then upgrade its schema.

    The name of the copy ends with the old revision of the schema and the time. It is logged, because operators have to
    delete the copy, and may not know of the upgrade.
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
    log.info("database upgraded", revision=required_revision(), previous_revision=revision, copy=str(backup))
