"""The schema of the database, step by step (Alembic), and the rule that code never runs on an older one."""

from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from touchstone.database.engine import Database
from touchstone.database.tables import metadata

FOLDER: Final = Path(__file__).parent
UPGRADE_COMMAND: Final = "touchstone db upgrade"


class SchemaError(Exception):
    """The database's schema is not the one this code needs; the message says what to run."""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    return config


def head() -> str:
    """The revision that this code needs."""
    found = ScriptDirectory.from_config(_config()).get_current_head()
    assert found is not None
    return found


def revision(connection: sa.Connection) -> str | None:
    """The revision that the database is at; None for an empty database."""
    return MigrationContext.configure(connection).get_current_revision()


async def current(database: Database) -> str | None:
    """The revision that the database is at; None for an empty database."""
    found: str | None = await database.run_sync(revision)
    return found


def is_older(found: str | None) -> bool:
    """Return whether this code can bring a database at that revision to `head`."""
    return found is not None and found != head() and _knows(found)


async def upgrade(database: Database) -> None:
    """Bring the schema to `head`, in one transaction that nobody else can be in at the same time.

    Raises:
        SchemaError: the database is newer than this code.
    """
    await database.run_alone(_upgrade)


async def prepare(database: Database) -> None:
    """Make the schema of an empty database; accept a current one.

    Raises:
        SchemaError: the schema is older or newer than this code.
    """
    found = await current(database)
    if found is None:
        await upgrade(database)
    elif found != head():
        raise SchemaError(_mismatch(found))


def _upgrade(connection: sa.Connection) -> None:
    config = _config()
    script = ScriptDirectory.from_config(config)

    def steps(found: Any, _context: Any) -> Any:
        try:
            return script._upgrade_revs("head", found)  # what Alembic's own upgrade command calls
        except CommandError as problem:
            raise SchemaError(_mismatch(str(found))) from problem

    with EnvironmentContext(config, script, fn=steps) as environment:
        environment.configure(connection=connection, target_metadata=metadata)
        environment.run_migrations()


def _mismatch(found: str) -> str:
    needed = head()
    if _knows(found):
        return f"Database is at {found}, code needs {needed}. Run: {UPGRADE_COMMAND}"
    return (
        f"Database is at {found}, newer than this code ({needed}). "
        f"Install that newer version, then run: {UPGRADE_COMMAND}"
    )


def _knows(found: str) -> bool:
    try:
        return ScriptDirectory.from_config(_config()).get_revision(found) is not None
    except CommandError:
        return False
