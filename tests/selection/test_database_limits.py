"""Catalogs in databases that reach a limit: a standby server that allows no writes, and more records than measured."""

from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from structlog.testing import capture_logs

from tests.selection.seeded import draft_of, random_rows
from touchstone.core.errors import Unavailable
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Layout
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog.size_warning import warn_if_larger_than_benchmarked

LAYOUT = Layout(index_from=50, leaf_words=1, is_searchable=False, compiled=False)
READ_ONLY = "options=-c%20default_transaction_read_only%3Don"


async def test_a_standby_server_is_read_and_not_written(settings: Settings, database: Database, tmp_path: Path) -> None:
    """A process whose server allows no writes starts and answers, although it cannot list its snapshot."""
    if database.path is not None:
        return  # SQLite has no standby servers
    async with LiveCatalog(database).writing() as writer:
        for id_, row in enumerate(random_rows(5, 60), start=1):
            await writer.insert(replace(draft_of(row), id=id_, dataset_id=UUID(int=id_)))

    standby = Database(f"{settings.effective_database_url}?{READ_ONLY}")
    catalog = LiveCatalog(standby, LAYOUT, tmp_path / "catalog.index")
    await catalog.load()
    assert catalog.view.size == 60
    with pytest.raises(Unavailable):
        async with catalog.writing():
            pass

    await catalog.close()
    await standby.close()


async def test_the_operator_of_a_catalog_that_is_too_large_is_warned(database: Database) -> None:
    """One record more than has been measured in a database of this kind leads to a warning, and as many to none."""
    with capture_logs() as logs:
        warn_if_larger_than_benchmarked(database, database.measured_records)
        assert logs == []
        warn_if_larger_than_benchmarked(database, database.measured_records + 1)

    assert [entry["event"] for entry in logs] == ["catalog larger than measured"]


async def test_the_log_of_sqlite_is_bounded_and_seldom_copied(tmp_path: Path) -> None:
    """The log grows to 16 MB before its pages are copied to the database file, and is then written anew."""
    path = tmp_path / "blobs.db"
    log_file = tmp_path / "blobs.db-wal"
    database = Database(f"sqlite:///{path}")
    async with database.writing() as transaction:
        await transaction.execute(sa.text("CREATE TABLE blobs (content BLOB)"))

    for megabytes in range(1, 41):
        async with database.writing() as transaction:
            await transaction.execute(sa.text("INSERT INTO blobs VALUES (zeroblob(1000000))"))
        if megabytes == 12:
            assert path.stat().st_size < 1_000_000
    assert 16_000_000 < log_file.stat().st_size < 20_000_000
    assert path.stat().st_size > 20_000_000
    await database.close()
