"""The schema is created and upgraded, and the code refuses to run on any other one."""

import importlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from touchstone.core.errors import Unavailable
from touchstone.database.change_counters import CATALOG, read_version
from touchstone.database.engine import Database
from touchstone.database.migrations import (
    SchemaError,
    _known_revisions,
    current_revision,
    prepare_schema,
    required_revision,
    upgrade_schema,
)
from touchstone.database.migrations.alembic_runner import FOLDER
from touchstone.database.secret_keys import CATALOG_VERSION, read_secret_key
from touchstone.database.tables import claims, datasets, metadata, project_choices, projects, sessions, users


async def test_an_empty_database_gets_the_schema_of_the_tables(database: Database) -> None:
    """Migrating an empty database creates exactly the tables that the code declares."""

    def compare_tables(connection: sa.Connection) -> list[object]:
        differences: list[object] = compare_metadata(MigrationContext.configure(connection), metadata)
        return differences

    assert await database.run_sync(compare_tables) == []
    assert await current_revision(database) == required_revision()


async def test_preparing_twice_changes_nothing(database: Database) -> None:
    """Neither preparing nor upgrading changes a schema that is current."""
    await prepare_schema(database)
    await upgrade_schema(database)
    assert await current_revision(database) == required_revision()


@pytest.mark.parametrize("revision", ["0000", "9999"])
async def test_another_schema_is_refused_with_the_command_to_run(database: Database, revision: str) -> None:
    """The error names both revisions and the command to run."""
    async with database.writing() as rows:
        await rows.execute(sa.text("UPDATE alembic_version SET version_num = :revision").bindparams(revision=revision))
    with pytest.raises(SchemaError, match=rf"{revision}.*{required_revision()}.*touchstone db upgrade"):
        await prepare_schema(database)


async def test_a_newer_schema_is_never_downgraded(database: Database) -> None:
    """Upgrading a database that is newer than the code fails and changes nothing."""
    async with database.writing() as rows:
        await rows.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError):
        await upgrade_schema(database)
    assert await current_revision(database) == "9999"


async def test_a_user_without_rights_learns_what_is_missing(database_url: str) -> None:
    """On PostgreSQL, only the owner of a database may create tables in it, unless others are given the right."""
    if database_url.startswith("sqlite"):
        return
    owner = Database(database_url)
    async with owner.writing() as rows:
        await rows.execute(sa.text("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    await owner.close()

    database = Database(f"{database_url}?options=-c%20role%3Dpg_monitor")
    with pytest.raises(Unavailable) as refusal:
        await prepare_schema(database)
    await database.close()
    assert "permission denied for schema public" in str(refusal.value.__cause__)


async def test_a_backup_contains_every_row(tmp_path: Path) -> None:
    """The copy that is made before an upgrade is a complete database."""
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    await prepare_schema(database)
    await database.backup(tmp_path / "b.db")
    await database.close()
    connection = sqlite3.connect(tmp_path / "b.db")
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(required_revision(),)]
    connection.close()


async def test_records_of_the_first_schema_get_their_sizes(database_url: str) -> None:
    """Upgrading counts the bytes of the texts and JSON documents of every record that exists already."""
    database = Database(database_url)

    def create_first_schema(connection: sa.Connection) -> None:
        with Operations.context(MigrationContext.configure(connection)):
            importlib.import_module("touchstone.database.migrations.versions.0001_first_schema").upgrade()
        connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(sa.text("INSERT INTO alembic_version VALUES ('0001')"))
        text_columns = ("description", "file_path", "file_type", "dataset_name", "visibility")
        values: dict[str, Any] = dict.fromkeys(text_columns, "ü")
        values |= {"dataset_id": uuid4(), "created_at": datetime.now(UTC), "updated_at": datetime.now(UTC)}
        later_columns = {"bytes", "attribute_evidence", "is_hidden", "hidden_reason"}
        column_names = [column.name for column in datasets.c if column.name not in later_columns]
        first_datasets = sa.table("datasets", *(sa.column(name, datasets.c[name].type) for name in column_names))
        connection.execute(
            sa.insert(first_datasets).values(**values, changed_at_version=1, metadata={"note": "x" * 1000})
        )

    await database.run_sync(create_first_schema)
    await upgrade_schema(database)
    async with database.reading() as rows:
        size = await rows.scalar(sa.select(datasets.c.bytes))
    assert 1000 + len('{"note":""}') + 4 * len("ü".encode()) + 1000 <= size <= 2100
    await database.close()


async def test_accounts_keep_their_language_and_their_sessions(database_url: str) -> None:
    """The migration that allows accounts without a language changes neither existing languages nor sessions."""
    database = Database(database_url)
    user_id, session_id = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
    timestamp = "'2026-01-01 00:00:00'"
    try:
        await database.run_sync(lambda connection: upgrade_to(connection, "0002"))
        async with database.writing() as rows:
            await rows.execute(
                sa.text(
                    "INSERT INTO users"
                    " (id, email, email_folded, is_active, is_superuser, is_verified, locale, created_at)"
                    f" VALUES ('{user_id}', 'a@b.org', 'a@b.org', true, false, false, 'en', {timestamp})"
                )
            )
            await rows.execute(
                sa.text(
                    "INSERT INTO sessions (id, user_id, created_at, used_at)"
                    f" VALUES ('{session_id}', '{user_id}', {timestamp}, {timestamp})"
                )
            )
        await upgrade_schema(database)
        async with database.writing() as rows:
            assert await rows.scalar(sa.select(users.c.locale)) == "en"
            assert await rows.scalar(sa.select(sa.func.count()).select_from(sessions)) == 1
            await rows.execute(sa.update(users).values(locale=None))
    finally:
        await database.close()


async def test_measurements_become_claims(database_url: str) -> None:
    """Earlier measurements become claims, and a record shows them as before unless it declares a value."""
    database = Database(database_url)
    measurement = {"rows": 3, "columns": 2, "missing_values_percentage": 0.0, "column_profiles": [{"name": "y"}]}
    common_values: dict[str, Any] = dict.fromkeys(("description", "file_path", "file_type"), "")
    common_values |= {"visibility": "public", "created_at": datetime.now(UTC), "updated_at": datetime.now(UTC)}
    common_values |= {"changed_at_version": 4, "domain": None, "task": None}
    measured_record = {
        "dataset_name": "measured",
        "metadata": {"measured": measurement, "target": "y"},
        "features_number": 1,
    }
    declared_record = {"dataset_name": "declared", "metadata": {"tags": ["measured"]}, "features_number": None}
    mixed_record = {"dataset_name": "both", "metadata": {"measured": {"rows": 3}}, "features_number": None}
    measured_attributes_by_name: dict[str, Any] = {"measured": ["features_number"], "declared": None, "both": None}
    rows = [
        {
            **common_values,
            **row,
            "dataset_id": uuid4(),
            "instances_number": 7,
            "measured_attributes": measured_attributes_by_name[name],
        }
        for row in (measured_record, declared_record, mixed_record)
        for name in [str(row["dataset_name"])]
    ]
    column_names = list(rows[0])
    old_datasets = sa.table("datasets", *(sa.column(name, datasets.c[name].type) for name in column_names))
    try:
        await database.run_sync(lambda connection: upgrade_to(connection, "0003"))
        async with database.writing() as transaction:
            await transaction.execute(sa.insert(old_datasets), rows)
            await transaction.execute(sa.text("INSERT INTO versions VALUES ('catalog', 4)"))
        await upgrade_schema(database)
        async with database.reading() as connection:
            records = {row["dataset_name"]: row for row in await connection.all(sa.select(datasets))}
            stored_claims = await connection.all(sa.select(claims))
            assert await read_version(connection, CATALOG) == 5
    finally:
        await database.close()

    record = records["measured"]
    assert (record["features_number"], record["instances_number"], record["has_missing_values"]) == (1, 7, False)
    assert record["missing_values_percentage"] == 0
    assert record["changed_at_version"] == 5
    assert record["attribute_evidence"] == {
        "instances_number": {
            "level": "declared",
            "declared": 7,
            "documented": 3,
            "reviewed": 3,
            "stricter_level": "measured",
        },
        "features_number": {"level": "measured", "declared": None, "documented": 1, "reviewed": 1},
        "missing_values_percentage": {"level": "measured", "declared": None, "documented": 0.0, "reviewed": 0.0},
        "has_missing_values": {"level": "measured", "declared": None, "documented": False, "reviewed": False},
    }
    assert (records["declared"]["attribute_evidence"], records["declared"]["changed_at_version"]) == (None, 4)
    assert records["both"]["attribute_evidence"]["instances_number"]["declared"] == 7
    values_by_record: dict[int, dict[str, Any]] = {}
    for claim in stored_claims:
        assert (claim["level"], claim["status"], claim["author"]) == ("measured", "active", None)
        values_by_record.setdefault(claim["dataset_id"], {})[claim["attribute"]] = claim["value"]
    assert values_by_record == {
        record["id"]: {
            "instances_number": 3,
            "features_number": 1,
            "missing_values_percentage": 0.0,
            "has_missing_values": False,
        },
        records["both"]["id"]: {"instances_number": 3},
    }


async def test_existing_choices_begin_the_history(database_url: str) -> None:
    """The choice that a project has is copied with the name of its dataset, unless the owner does not see it."""
    database = Database(database_url)
    owner, timestamps = uuid4(), {"created_at": datetime.now(UTC), "updated_at": datetime.now(UTC)}
    dataset = dict.fromkeys(("description", "file_path", "file_type"), "") | timestamps | {"changed_at_version": 1}
    records: list[dict[str, Any]] = [
        {**dataset, "id": 1, "dataset_id": uuid4(), "dataset_name": "Open", "visibility": "public", "owner": None},
        {
            **dataset,
            "id": 2,
            "dataset_id": uuid4(),
            "dataset_name": "Secret",
            "visibility": "private",
            "owner": uuid4(),
        },
    ]
    project = {"user_id": owner, "name": "p", "criteria": {}, "weights": [], "version": 1, **timestamps}
    choices = [(1, "r"), (2, None), (99, None), (None, "s"), (None, None)]
    rows = [
        {**project, "id": uuid4(), "chosen_dataset_id": dataset_id, "choice_reason": reason}
        for dataset_id, reason in choices
    ]
    old_datasets = sa.table("datasets", *(sa.column(name, datasets.c[name].type) for name in records[0]))
    old_projects = sa.table("projects", *(sa.column(name, projects.c[name].type) for name in rows[0]))
    try:
        await database.run_sync(lambda connection: upgrade_to(connection, "0006"))
        async with database.writing() as transaction:
            await transaction.execute(sa.insert(old_datasets), records)
            await transaction.execute(sa.insert(old_projects), rows)
        await upgrade_schema(database)
        async with database.reading() as connection:
            stored_choices = await connection.all(sa.select(project_choices))
            key = await read_secret_key(connection, CATALOG_VERSION)
    finally:
        await database.close()

    copied_choices = {(row["dataset_id"], row["dataset_name"], row["reason"], row["digest"]) for row in stored_choices}
    assert copied_choices == {
        (1, "Open", "r", None),
        (2, None, None, None),
        (99, None, None, None),
        (None, None, "s", None),
    }
    assert {row["author"] for row in stored_choices} == {owner}
    assert len(key) == 32


def upgrade_to(connection: sa.Connection, revision: str) -> None:
    """Create an earlier schema in an empty database."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    scripts = ScriptDirectory.from_config(config)
    migrations = list(scripts.iterate_revisions(revision, "base"))
    with Operations.context(MigrationContext.configure(connection)):
        for migration in reversed(migrations):
            migration.module.upgrade()
    connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)"))
    connection.execute(sa.text(f"INSERT INTO alembic_version VALUES ('{revision}')"))


def test_the_names_of_the_files_tell_the_revisions() -> None:
    """Whether the schema is up to date is known without Alembic, which would make each start slower."""
    scripts = ScriptDirectory(str(FOLDER))
    assert required_revision() == scripts.get_current_head()
    assert {script.revision for script in scripts.walk_revisions()} == set(_known_revisions())
