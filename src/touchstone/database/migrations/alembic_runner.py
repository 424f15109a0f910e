"""Running the migrations of the schema with Alembic.

Alembic is imported when it is needed, because that takes long, and most starts find the schema up to date.
"""

from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from touchstone.database.tables import metadata

FOLDER: Final = Path(__file__).parent


class UnknownRevision(Exception):
    """The database is at a revision to which this code has no migration."""

    def __init__(self, revision: str) -> None:
        super().__init__(revision)
        self.revision = revision


def run_pending_migrations(connection: sa.Connection) -> None:
    """Run the migrations that the database still lacks.

    Raises:
        UnknownRevision: the database is newer than this code.
    """
    from alembic.config import Config  # noqa: PLC0415
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    # The configuration has no file: it only says where the migrations are.
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    scripts = ScriptDirectory.from_config(config)

    def pending_migrations(revision: Any, _context: Any) -> Any:
        try:
            return scripts._upgrade_revs("head", revision)  # as the upgrade command of Alembic does
        except CommandError as problem:
            raise UnknownRevision(str(revision)) from problem

    with EnvironmentContext(config, scripts, fn=pending_migrations) as environment:
        environment.configure(connection=connection, target_metadata=metadata)
        environment.run_migrations()
