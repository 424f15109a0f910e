"""Migrations of the database schema (Alembic), and the check that the schema matches the code."""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Database
from touchstone.database.migrations.alembic_runner import FOLDER, UnknownRevision, run_pending_migrations

UPGRADE_COMMAND: Final = "touchstone db upgrade"
# Alembic's table with the revision of the database.
_VERSION_TABLE: Final = sa.table("alembic_version", sa.column("version_num", sa.String))


class SchemaError(Exception):
    """The schema of the database does not match the code. The message contains the command to run."""


def required_revision() -> str:
    """Return the revision that this code needs."""
    return _known_revisions()[-1]


async def current_revision(database: Database) -> str | None:
    """Return the revision of the database, or None if the database is empty."""
    return await database.run_sync(_read_revision)


def is_older_revision(revision: str | None) -> bool:
    """Return whether this code can upgrade a database with this revision."""
    return revision is not None and revision != required_revision() and _is_known(revision)


async def upgrade_schema(database: Database) -> None:
    """Upgrade the schema to the revision that this code needs.

    All migrations run in one transaction, and in one process at a time.

    Raises:
        SchemaError: the database is newer than this code.
    """
    await database.run_exclusively(_run_migrations)


async def prepare_schema(database: Database) -> None:
    """Create the schema of an empty database, or check that the existing one matches this code.

    Raises:
        SchemaError: the schema is older or newer than this code.
    """
    revision = await current_revision(database)
    if revision is None:
        await upgrade_schema(database)
    else:
        _require_matching_revision(revision)


async def check_schema(database: Database) -> str:
    """Check that the schema matches this code, without changing anything, and return its revision.

    Raises:
        SchemaError: the database is empty, or its schema is older or newer than this code.
    """
    revision = await current_revision(database)
    if revision is None:
        raise SchemaError(f"Database is empty. Run: {UPGRADE_COMMAND}")
    _require_matching_revision(revision)
    return revision


def _require_matching_revision(revision: str) -> None:
    """Raise SchemaError if the schema is older or newer than this code."""
    if revision != required_revision():
        raise SchemaError(_mismatch_message(revision))


def _read_revision(connection: sa.Connection) -> str | None:
    """Return the revision of the database, or None if the database is empty."""
    if not sa.inspect(connection).has_table(_VERSION_TABLE.name):
        return None
    return connection.scalar(sa.select(_VERSION_TABLE.c.version_num))


def _run_migrations(connection: sa.Connection) -> None:
    """Run all pending migrations.

    Raises:
        SchemaError: the database is newer than this code.
    """
    try:
        run_pending_migrations(connection)
    except UnknownRevision as error:
        raise SchemaError(_mismatch_message(error.revision)) from error


def _mismatch_message(revision: str) -> str:
    """Return a message with the revisions of the database and the code, and the command to run."""
    needed_revision = required_revision()
    if _is_known(revision):
        return f"Database is at {revision}, code needs {needed_revision}. Run: {UPGRADE_COMMAND}"

    return (
        f"Database is at {revision}, newer than this code ({needed_revision}). "
        f"Install that newer version, then run: {UPGRADE_COMMAND}"
    )


def _is_known(revision: str) -> bool:
    """Return whether this code has the migration to a revision."""
    return revision in _known_revisions()


def _known_revisions() -> list[str]:
    """Return the revisions of this code in ascending order, from the beginnings of the file names."""
    files = (FOLDER / "versions").glob("[0-9]*.py")
    return sorted(file.name.partition("_")[0] for file in files)
