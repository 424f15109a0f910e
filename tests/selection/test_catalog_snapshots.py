"""Starts from a snapshot: what has changed since, and files that are damaged or of another database."""

import asyncio
import threading
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from structlog.testing import capture_logs

from tests.ranking.catalogs import position_of
from tests.ranking.test_ranking_snapshot import change_byte
from tests.selection.seeded import draft_of, random_rows
from touchstone.core.detached_threads import THREAD_NAME
from touchstone.core.errors import IndexBuilding
from touchstone.database.engine import Database
from touchstone.database.tables import catalog_snapshots
from touchstone.ranking.catalog.catalog import Layout
from touchstone.ranking.index import text_builder
from touchstone.ranking.index.joint_codes import counted_columns
from touchstone.ranking.index.snapshot_file import map_snapshot
from touchstone.ranking.query.predicates import Contains, FullText, Visible
from touchstone.services.selection.catalog import versioned_catalog
from touchstone.services.selection.catalog.list_ids import SortOrder
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets.dataset_record import DatasetDraft

LAYOUT = Layout(index_from=50, leaf_words=1, is_searchable=False, compiled=False)
OWNER = UUID(int=7)
EVERYBODY = (Visible(None),)


def draft(id_: int, name: str = "first", visibility: str = "public") -> DatasetDraft:
    """Return a record with an id."""
    original = draft_of(random_rows(5, 1)[0])
    attributes = {**original.attributes, "dataset_name": name}
    changes = {"id": id_, "dataset_id": UUID(int=id_), "owner": OWNER, "visibility": visibility}
    return replace(original, attributes=attributes, **changes)


@pytest.fixture
async def snapshot(database: Database, tmp_path: Path) -> Path:
    """Save the index of sixty public records, numbered from 1."""
    path = tmp_path / "catalog.index"
    catalog = LiveCatalog(database, LAYOUT, path)
    async with catalog.writing() as writer:
        for id_ in range(1, 61):
            await writer.insert(draft(id_))
    await catalog.load()
    await catalog.close()
    return path


def is_mapped(catalog: LiveCatalog) -> bool:
    """Return whether the index of a catalog lies in a file and not in the memory of the process."""
    index = catalog._catalog.columns.index
    return index is not None and not index.columns.positions_by_id.flags.owndata


async def test_private_and_deleted_records_are_removed_before_other_changes_are_applied(
    database: Database, snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start shows nothing that must not be shown any more, however many changes there have been."""
    monkeypatch.setattr(versioned_catalog, "FEW_CHANGES", 4)
    monkeypatch.setattr(versioned_catalog, "MANY_CHANGES", 7)
    writer_process = LiveCatalog(database, LAYOUT)
    for id_ in range(1, 41):
        async with writer_process.writing() as writer:
            await writer.update(id_, draft(id_, "second"))
    async with writer_process.writing() as writer:
        await writer.update(50, draft(50, "second", visibility="private"))
        await writer.delete(51)

    catalog = LiveCatalog(database, LAYOUT, snapshot)
    await catalog.load()
    has_changes_left = not catalog.is_up_to_date
    assert has_changes_left
    assert catalog.view.count((Contains("dataset_name", "second"),)) == 7
    assert catalog.view.count(EVERYBODY) == 58
    assert position_of(catalog.view, 50) is None
    assert position_of(catalog.view, 51) is None

    # Records that this process makes private meanwhile stay visible to their owner.
    async with catalog.writing() as writer:
        await writer.update(52, draft(52, "own", visibility="private"))
    while not catalog.is_up_to_date:
        await catalog._refresh_once()
        assert catalog.view.count(EVERYBODY) == 57
        assert catalog.view.count((Visible(OWNER), Contains("dataset_name", "own"))) == 1

    assert catalog.view.count((Contains("dataset_name", "second"),)) == 41
    assert catalog.view.count((Visible(OWNER),)) == 59
    await catalog.close()


async def test_a_snapshot_that_the_database_does_not_know_is_refused(database: Database, snapshot: Path) -> None:
    """A database that was restored from a backup may have other records at the same version."""
    async with database.writing() as transaction:
        await transaction.execute(sa.delete(catalog_snapshots))
        await transaction.execute(sa.text("DELETE FROM datasets WHERE id = 60"))

    catalog = LiveCatalog(database, LAYOUT, snapshot)
    await catalog.load()
    assert catalog.view.size == 59
    await catalog.close()


async def test_a_damaged_snapshot_is_replaced_while_it_is_in_use(database: Database, snapshot: Path) -> None:
    """The arrays are verified after the start, and the catalog is loaded from the database if they are damaged."""
    change_byte(snapshot, -200)
    catalog = LiveCatalog(database, LAYOUT, snapshot)
    await catalog.load()
    assert catalog._verification_task is not None
    await catalog._verification_task
    assert catalog.view.size == 60
    assert is_mapped(catalog)
    await catalog.close()

    restarted_catalog = LiveCatalog(database, LAYOUT, snapshot)
    await restarted_catalog.load()
    assert restarted_catalog._verification_task is not None
    await restarted_catalog.close()


async def test_a_start_that_fails_because_of_damage_reads_the_database(database: Database, snapshot: Path) -> None:
    """A damaged code of a word cannot be looked up, so that the start notices the damage before the verification."""
    mapped = map_snapshot(snapshot)
    codes_by_column = {name: codes for name, codes, _count in counted_columns(mapped.index.columns)}
    end_of_file = mapped._array_bytes.ctypes.data + mapped._array_bytes.nbytes
    change_byte(snapshot, codes_by_column["language"].ctypes.data - end_of_file)

    catalog = LiveCatalog(database, LAYOUT, snapshot)
    with capture_logs() as entries:
        await catalog.load()
    assert [entry["event"] for entry in entries if entry["log_level"] == "error"] == ["catalog snapshot damaged"]
    assert catalog.view.size == 60
    await catalog.close()


async def test_a_catalog_that_is_replaced_takes_the_cached_records_with_it(database: Database, snapshot: Path) -> None:
    """The new one may contain a change of another process that was never applied to the one before."""
    change_byte(snapshot, -200)
    catalog = LiveCatalog(database, LAYOUT, snapshot)
    await catalog.load()
    assert catalog._verification_task is not None
    assert await catalog.records.encoded_records([7], None)
    async with LiveCatalog(database, LAYOUT).writing() as writer:
        await writer.update(7, draft(7, "second"))

    await catalog._verification_task
    await catalog.refresh()
    [record] = await catalog.records.encoded_records([7], None)
    assert b'"second"' in record.body
    await catalog.close()


async def test_a_snapshot_is_verified_first_if_the_last_process_ended_before_that(
    database: Database, snapshot: Path
) -> None:
    """A damaged file that has stopped the process cannot stop it again."""
    change_byte(snapshot, -200)
    snapshot.with_suffix(".unverified").touch()
    catalog = LiveCatalog(database, LAYOUT, snapshot)
    await catalog.load()
    assert catalog._verification_task is None
    assert catalog.view.size == 60
    await catalog.close()


async def test_a_process_that_is_stopped_before_it_has_verified_its_snapshot_leaves_no_doubt(
    database: Database, snapshot: Path
) -> None:
    """The next start is as quick as the first one."""
    catalog = LiveCatalog(database, LAYOUT, snapshot)
    await catalog.load()
    assert snapshot.with_suffix(".unverified").exists()
    await catalog.close()
    assert not snapshot.with_suffix(".unverified").exists()


async def test_processes_that_start_at_once_share_one_file(database: Database, snapshot: Path) -> None:
    """The first one builds the index, and the others map it; none of them keeps the arrays in its own memory."""
    snapshot.unlink()
    catalogs = [LiveCatalog(database, LAYOUT, snapshot) for _ in range(3)]
    await asyncio.gather(*(catalog.load() for catalog in catalogs))
    assert [is_mapped(catalog) for catalog in catalogs] == [True, True, True]
    assert sum(catalog._verification_task is None for catalog in catalogs) == 1
    for catalog in catalogs:
        await catalog.close()


async def test_texts_are_indexed_after_the_first_start(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs the order of long texts, or words, is refused until these are indexed; everything else is answered."""
    monkeypatch.setattr(text_builder, "_MAX_QUICKLY_SORTED_TEXTS", 1)
    layout = LAYOUT._replace(is_searchable=True)
    async with LiveCatalog(database, layout).writing() as writer:
        for id_ in range(1, 61):
            await writer.insert(replace(draft(id_), description=f"Text {60 - id_:02}"))

    catalog = LiveCatalog(database, layout, tmp_path / "catalog.index")
    await catalog.load()
    with pytest.raises(IndexBuilding):
        await catalog.list_ids(EVERYBODY, SortOrder("description"))
    with pytest.raises(IndexBuilding):
        await catalog.list_ids((FullText("text"),), SortOrder("id"))
    listing_by_name = await catalog.list_ids(EVERYBODY, SortOrder("dataset_name"))
    assert listing_by_name.total_count == 60

    follow_task = asyncio.create_task(catalog.follow())
    while catalog.is_renewing_index:
        await asyncio.sleep(0.02)
    listing_by_description = await catalog.list_ids(EVERYBODY, SortOrder("description"))
    assert list(listing_by_description.ids) == list(range(60, 0, -1))
    follow_task.cancel()


async def test_one_process_renews_the_index_for_all(database: Database, tmp_path: Path) -> None:
    """Words are indexed and the index is built again by one process; the others map its file and keep their changes."""
    layout = LAYOUT._replace(is_searchable=True)
    async with LiveCatalog(database, layout).writing() as writer:
        for id_ in range(1, 61):
            await writer.insert(draft(id_))
    catalogs = [LiveCatalog(database, layout, tmp_path / "catalog.index") for _ in range(2)]

    with capture_logs() as logs:
        await asyncio.gather(*(catalog.load() for catalog in catalogs))
        follow_tasks = [asyncio.create_task(catalog.follow()) for catalog in catalogs]
        while any(catalog.is_renewing_index for catalog in catalogs):
            await asyncio.sleep(0.02)
            async with catalogs[0].writing() as writer:
                await writer.update(60, draft(60, "last"))

    events = [entry["event"] for entry in logs]
    assert events.count("texts indexed") == 1
    assert events.count("catalog index of another process mapped") == 1
    for catalog in catalogs:
        await catalog.refresh()
        assert catalog.view.count((FullText("last"),)) == 1
        assert catalog.view.size == 60
    for task in follow_tasks:
        task.cancel()
    for catalog in catalogs:
        await catalog.close()


async def test_a_first_start_and_a_rebuild_do_without_a_file_that_cannot_be_written(
    database: Database, snapshot: Path, tmp_path: Path
) -> None:
    catalog = LiveCatalog(database, LAYOUT, tmp_path / "missing" / "catalog.index")
    with capture_logs() as logs:
        await catalog.load()
        await catalog._index_upkeep._rebuild()

    problems = [entry for entry in logs if entry["event"] == "catalog snapshot not written"]
    assert len(problems) == 2
    assert catalog.view.size == 60
    assert catalog.view.is_indexed
    await catalog.close()


async def test_an_index_is_built_in_threads_that_a_stop_does_not_wait_for(database: Database, snapshot: Path) -> None:
    """Reading all rows, indexing the texts and building a new index use detached threads."""
    catalog = LiveCatalog(database, LAYOUT, snapshot.with_name("new.index"))
    for build in (catalog.load, catalog._index_upkeep._index_texts, catalog._index_upkeep._rebuild):
        building = asyncio.create_task(build())
        thread_names: set[str] = set()
        while not building.done():
            thread_names |= {thread.name for thread in threading.enumerate()}
            await asyncio.sleep(0)
        await building
        assert THREAD_NAME in thread_names
    await catalog.close()


async def test_a_rebuild_is_mapped_from_a_file_that_the_next_start_uses(database: Database, snapshot: Path) -> None:
    catalog = LiveCatalog(database, LAYOUT, snapshot)
    await catalog.load()
    async with catalog.writing() as writer:
        await writer.insert(draft(61))
    await catalog._index_upkeep._rebuild()
    assert is_mapped(catalog)
    await catalog.close()

    next_catalog = LiveCatalog(database, LAYOUT, snapshot)
    await next_catalog.load()
    index = next_catalog._catalog.columns.index
    assert index is not None
    assert index.columns.size == 61
    await next_catalog.close()
