"""The schema is made, recognised, and never run on when it is another one."""

import importlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.migrations import FOLDER, SchemaError, current, head, prepare, upgrade
from touchstone.database.tables import datasets, metadata, sessions, users


async def test_an_empty_database_gets_the_schema_of_the_tables(database: Database) -> None:
    """Migrating an empty database makes exactly the tables that the code declares."""

    def differences(connection: sa.Connection) -> list[object]:
        found: list[object] = compare_metadata(MigrationContext.configure(connection), metadata)
        return found

    assert await database.run_sync(differences) == []
    assert await current(database) == head()


async def test_preparing_twice_changes_nothing(database: Database) -> None:
    """A current schema is accepted as it is."""
    await prepare(database)
    await upgrade(database)
    assert await current(database) == head()


@pytest.mark.parametrize("found", ["0000", "9999"])
async def test_another_schema_is_refused_with_the_command_to_run(database: Database, found: str) -> None:
    """The refusal names both revisions and the command."""
    async with database.writing() as rows:
        await rows.execute(sa.text("UPDATE alembic_version SET version_num = :found").bindparams(found=found))
    with pytest.raises(SchemaError, match=rf"{found}.*{head()}.*touchstone db upgrade"):
        await prepare(database)


async def test_a_newer_schema_is_never_downgraded(database: Database) -> None:
    """Upgrading a database that is ahead of the code fails and leaves it as it was."""
    async with database.writing() as rows:
        await rows.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError):
        await upgrade(database)
    assert await current(database) == "9999"


async def test_a_backup_holds_every_row(tmp_path: Path) -> None:
    """The copy made before an upgrade is a whole database."""
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    await prepare(database)
    await database.backup(tmp_path / "b.db")
    await database.close()
    copied = sqlite3.connect(tmp_path / "b.db")
    assert copied.execute("SELECT version_num FROM alembic_version").fetchall() == [(head(),)]
    copied.close()


async def test_records_of_the_first_schema_get_their_sizes(settings: Settings) -> None:
    """Upgrading counts the bytes of the texts and JSON documents of every record that is already there."""
    database = Database(settings.effective_database_url)

    def first_schema(connection: sa.Connection) -> None:
        with Operations.context(MigrationContext.configure(connection)):
            importlib.import_module("touchstone.database.migrations.versions.0001_first_schema").upgrade()
        connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(sa.text("INSERT INTO alembic_version VALUES ('0001')"))
        values = dict.fromkeys(("description", "file_path", "file_type", "dataset_name", "visibility"), "ü")
        values |= {"dataset_id": uuid4(), "created_at": datetime.now(UTC), "updated_at": datetime.now(UTC)}
        names = [column.name for column in datasets.c if column.name != "bytes"]
        old = sa.table("datasets", *(sa.column(name, datasets.c[name].type) for name in names))
        connection.execute(sa.insert(old).values(**values, changed_at_version=1, metadata={"note": "x" * 1000}))

    await database.run_sync(first_schema)
    await upgrade(database)
    async with database.reading() as rows:
        size = await rows.scalar(sa.select(datasets.c.bytes))
    assert 1000 + len('{"note":""}') + 4 * len("ü".encode()) + 1000 <= size <= 2100
    await database.close()


async def test_accounts_keep_their_language_and_their_sessions(database_url: str) -> None:
    """Letting accounts choose no language changes nothing for those that have one, nor for what refers to them."""
    database = Database(database_url)
    user, session = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
    times = "'2026-01-01 00:00:00'"
    try:
        await database.run_sync(lambda connection: upgrade_to(connection, "0002"))
        async with database.writing() as rows:
            await rows.execute(
                sa.text(
                    "INSERT INTO users"
                    " (id, email, email_folded, is_active, is_superuser, is_verified, locale, created_at)"
                    f" VALUES ('{user}', 'a@b.org', 'a@b.org', true, false, false, 'en', {times})"
                )
            )
            await rows.execute(
                sa.text(
                    "INSERT INTO sessions (id, user_id, created_at, used_at)"
                    f" VALUES ('{session}', '{user}', {times}, {times})"
                )
            )
        await upgrade(database)
        async with database.writing() as rows:
            assert await rows.scalar(sa.select(users.c.locale)) == "en"
            assert await rows.scalar(sa.select(sa.func.count()).select_from(sessions)) == 1
            await rows.execute(sa.update(users).values(locale=None))
    finally:
        await database.close()


def upgrade_to(connection: sa.Connection, revision: str) -> None:
    """Bring an empty database to an earlier schema."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    script = ScriptDirectory.from_config(config)
    steps = script.iterate_revisions(revision, "base")
    with Operations.context(MigrationContext.configure(connection)):
        for step in reversed(list(steps)):
            step.module.upgrade()
    connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)"))
    connection.execute(sa.text(f"INSERT INTO alembic_version VALUES ('{revision}')"))
