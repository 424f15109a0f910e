"""Execution of schema migrations with Alembic.

Alembic is only imported when it is needed, because the import is slow and the schema is usually up to date.
"""

from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from touchstone.database.tables import metadata

FOLDER: Final = Path(__file__).parent


class UnknownRevision(Exception):
    """The database has a revision that this code does not know."""

    def __init__(self, revision: str) -> None:
        super().__init__(revision)
        self.revision = revision


def run_pending_migrations(connection: sa.Connection) -> None:
    """Run all pending migrations.

    Raises:
        UnknownRevision: the database is newer than this code.
    """
    from alembic.config import Config  # noqa: PLC0415
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    # There is no configuration file, and Alembic only needs the location of the migrations.
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    scripts = ScriptDirectory.from_config(config)

    def pending_migrations(revision: Any, _context: Any) -> Any:
        try:
            return scripts._upgrade_revs("head", revision)  # the same call as in Alembic's upgrade command
        except CommandError as error:
            raise UnknownRevision(str(revision)) from error

    with EnvironmentContext(config, scripts, fn=pending_migrations) as environment:
        environment.configure(connection=connection, target_metadata=metadata)
        environment.run_migrations()
