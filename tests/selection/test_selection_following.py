"""Several processes on one database: each sees the writes of the others in any order, and its own at once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from tests.ranking.catalogs import OWNERS, position_of
from tests.selection.conftest import ADA, client_of, create_record
from tests.selection.seeded import draft_of, random_rows, seed
from touchstone.core.errors import Unavailable
from touchstone.core.settings import Settings
from touchstone.database.change_counters import CATALOG, increment_version
from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.query.predicates import Contains, Visible
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES
from touchstone.services.selection.app import Selection
from touchstone.services.selection.catalog import changes_store, versioned_catalog
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetDraft


@asynccontextmanager
async def second_backend(settings: Settings) -> AsyncIterator[tuple[Selection, httpx2.AsyncClient]]:
    """Open a second backend with its own connections to the same database, as in another process."""
    database = Database(settings.effective_database_url)
    selection = await Selection.open(settings, database, None)
    async with client_of(selection) as client:
        yield selection, client
    await selection.close()
    await database.close()


async def wait_for_response(client: httpx2.AsyncClient, path: str, expected_body: Any) -> None:
    """Repeat a request until it has the expected response; the timeout of the test ends a wait in vain."""
    while (await client.get(path)).json() != expected_body:
        await asyncio.sleep(0.02)


async def test_writes_reach_the_other_process(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """What one process creates, changes and deletes appears in the lists of the other."""
    first_record = await create_record(ada, name="before")
    async with second_backend(settings) as (_, second_client):
        assert (await second_client.get("/datasets")).json() == [first_record]
        second_record = await create_record(ada, name="after")
        await wait_for_response(second_client, "/datasets", [first_record, second_record])
        changed_record = (await ada.patch(f"/datasets/{first_record['id']}", json={"year": 2001})).json()
        await wait_for_response(second_client, "/datasets?year_min=2001", [changed_record])
        assert (await second_client.get(f"/datasets/{first_record['id']}")).json() == changed_record
        await second_client.delete(f"/datasets/{second_record['id']}")
        await wait_for_response(ada, "/datasets", [changed_record])


async def test_own_writes_never_hide_those_of_others(database: Database) -> None:
    """Applying a newer version of one's own does not skip an older version of another process."""
    our_catalog, their_catalog = LiveCatalog(database), LiveCatalog(database)
    for turn in range(3):
        for catalog in (their_catalog, our_catalog):
            async with catalog.writing() as writer:
                await writer.insert(_draft(f"{turn}"))
        assert their_catalog.view.size < 2 * (turn + 1)
        for catalog in (our_catalog, their_catalog):
            await catalog.refresh()
            assert catalog.view.size == 2 * (turn + 1)


async def test_own_writes_outlive_changes_that_were_read_before(database: Database) -> None:
    """What another process has written to a record does not replace what this one has written since."""
    await seed(database, random_rows(1, 3))
    our_catalog, their_catalog = LiveCatalog(database), LiveCatalog(database)
    for catalog in (our_catalog, their_catalog):
        await catalog.load()

    async def rename(catalog: LiveCatalog, ids: Sequence[int], name: str) -> None:
        async with catalog.writing() as writer:
            for id_ in ids:
                await writer.update(id_, _draft(name))

    await rename(their_catalog, [1, 2, 3], "theirs")
    changes = await our_catalog._catalog.read_next_changes(database)
    await rename(our_catalog, [1], "ours")
    assert our_catalog._catalog.is_outdated(changes)

    for turn in range(10):
        await rename(their_catalog, [1, 2, 3], f"theirs {turn}")
        await asyncio.gather(our_catalog.refresh(), rename(our_catalog, [1], f"ours {turn}"))
        await our_catalog.refresh()
        assert our_catalog.view.count((Contains("dataset_name", f"ours {turn}"),)) == 1
        assert our_catalog.view.count((Contains("dataset_name", f"theirs {turn}"),)) == 2


async def test_many_changes_of_another_process_are_applied_like_single_ones(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes that are read as columns, while this process writes, lead to the same catalog as reading every row."""
    monkeypatch.setattr(versioned_catalog, "FEW_CHANGES", 5)
    monkeypatch.setattr(versioned_catalog, "MANY_CHANGES", 8)
    monkeypatch.setattr(changes_store, "ROWS_PER_BATCH", 3)
    our_catalog, their_catalog = LiveCatalog(database), LiveCatalog(database)
    async with our_catalog.writing() as writer:
        for row in random_rows(1, 60):
            await writer.insert(replace(draft_of(row), id=None))
    for catalog in (our_catalog, their_catalog):
        await catalog.load()

    async def change_records(catalog: LiveCatalog, ids: Sequence[int], seed_of_values: int) -> None:
        """Give some records random values, delete one of them, and insert another one."""
        async with catalog.writing() as writer:
            for id_, row in zip(ids, random_rows(seed_of_values, len(ids)), strict=True):
                await writer.update(id_, draft_of(row))
            await writer.delete(ids[0])
            await writer.insert(_draft(f"inserted {seed_of_values}"))

    for turn in range(3):
        await change_records(their_catalog, range(1 + turn, 50), seed_of_values=10 + turn)
        await asyncio.gather(
            our_catalog.refresh(), change_records(our_catalog, [55 + turn, *range(40, 50)], seed_of_values=20 + turn)
        )
        await our_catalog.refresh()
        await their_catalog.refresh()

        reloaded_catalog = LiveCatalog(database)
        await reloaded_catalog.load()
        expected_contents = visible_contents(reloaded_catalog)
        assert visible_contents(our_catalog) == visible_contents(their_catalog) == expected_contents


async def test_requests_are_answered_while_many_changes_are_applied(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes are applied in parts, between which other tasks run."""
    monkeypatch.setattr(versioned_catalog, "FEW_CHANGES", 5)
    monkeypatch.setattr(changes_store, "ROWS_PER_BATCH", 10)
    our_catalog, their_catalog = LiveCatalog(database), LiveCatalog(database)
    async with their_catalog.writing() as writer:
        for number in range(40):
            await writer.insert(_draft(f"n{number}"))

    refresh_task = asyncio.ensure_future(our_catalog.refresh())
    sizes = set()
    while not refresh_task.done():
        sizes.add(our_catalog.view.size)
        await asyncio.sleep(0)
    assert sizes >= {0, 10, 20, 30, 40}


async def test_columns_that_cannot_be_read_are_logged_and_read_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure of the connection that reads many changes is logged like an outage, and nothing is missed."""
    monkeypatch.setattr(versioned_catalog, "FEW_CHANGES", 5)
    our_catalog, their_catalog = LiveCatalog(database), LiveCatalog(database)
    async with their_catalog.writing() as writer:
        for number in range(8):
            await writer.insert(_draft(f"n{number}"))

    url = database.url
    with capture_logs() as log_entries:
        database.url = f"{url}_missing"
        with pytest.raises(Unavailable):
            await our_catalog.refresh()
        database.url = url
        await our_catalog.refresh()

    assert [entry["event"] for entry in log_entries] == ["database sends no columns", "database sends columns again"]
    assert our_catalog.view.size == 8


async def test_private_records_that_were_written_while_changes_were_read_are_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record may be newer than the version that was read just before, after which removals are read the next time."""
    monkeypatch.setattr(versioned_catalog, "FEW_CHANGES", 20)
    rows = random_rows(1, 60)
    assert any(row.visibility == "private" for row in rows[:20])

    # The records get version 1, while the version in the database is still 0.
    await seed(database, rows)
    catalog = VersionedCatalog(Catalog(), version=0)
    catalog.apply(await catalog.read_next_changes(database))
    async with database.writing() as writer:
        assert await increment_version(writer, CATALOG) == 1

    await catalog.catch_up(database)
    assert catalog.columns.view.size == 60


def visible_contents(catalog: LiveCatalog) -> list[tuple[int, int, dict[int, float]]]:
    """Return how many records everybody and some users see, how many of them were inserted, and all scores by id."""
    weights = PROFILES[DEFAULT_PROFILE].weights
    contents = []
    for viewer in OWNERS:
        query = (Visible(viewer),)
        ranking = catalog.view.rank(query, weights, skip=0, limit=None)
        scores = dict(zip(catalog.view.ids(ranking.positions).tolist(), ranking.scores.tolist(), strict=True))
        inserted_count = catalog.view.count((*query, Contains("dataset_name", "inserted")))
        contents.append((len(scores), inserted_count, scores))
    return contents


async def test_a_write_is_committed_before_its_answer(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """A record that has been acknowledged can be read at once through another connection."""
    database = Database(settings.effective_database_url)
    for index in range(5):
        record = await create_record(ada, name=f"n{index}")
        async with database.reading() as connection:
            stored_record = await store.visible_dataset(connection, record["id"], ADA)
        assert stored_record is not None
        assert stored_record.attributes["dataset_name"] == f"n{index}"
    await database.close()


async def test_a_failed_write_leaves_no_trace(database: Database) -> None:
    """A transaction that fails changes neither the columns nor the version."""
    catalog = LiveCatalog(database)
    try:
        async with catalog.writing() as writer:
            await writer.insert(_draft())
            raise RuntimeError("stopped half-way")
    except RuntimeError:
        pass
    async with catalog.writing() as writer:
        assert writer.version == 1
    assert catalog.view.size == 0


async def test_concurrent_writes_are_all_seen(ada: httpx2.AsyncClient, settings: Settings) -> None:
    """Thirty records that are created concurrently through two processes exist in both."""
    async with second_backend(settings) as (_, second_client):
        records = await asyncio.gather(
            *(create_record((ada, second_client)[number % 2], name=f"n{number}") for number in range(30))
        )
        assert len({record["id"] for record in records}) == 30
        expected_records = sorted(records, key=lambda record: int(record["id"]))
        for client in (ada, second_client):
            await wait_for_response(client, "/datasets", expected_records)


async def test_a_row_read_before_a_write_is_not_kept(database: Database) -> None:
    """An encoded record that was read while it changed is returned once, and then read again."""
    await seed(database, random_rows(1, 3))
    catalog = LiveCatalog(database)
    await catalog.load()

    async def rename(name: str) -> None:
        async with catalog.writing() as writer:
            await writer.update(1, _draft(name))

    for turn in range(10):
        catalog.records.cache.drop((1,))
        await asyncio.gather(catalog.records.encoded_records([1], None), rename(f"n{turn}"))
        assert f'"n{turn}"'.encode() in (await catalog.records.encoded_records([1], None))[0].body


async def test_cached_records_are_never_older_than_the_columns(database: Database) -> None:
    """At no moment does a process show a change of another one in lists, and the record as it was before."""
    await seed(database, random_rows(1, 3))
    our_catalog, their_catalog = LiveCatalog(database), LiveCatalog(database)
    for catalog in (our_catalog, their_catalog):
        await catalog.load()
    assert await our_catalog.records.encoded_records([1], None)
    async with their_catalog.writing() as writer:
        await writer.update(1, _draft("renamed"))

    refresh_task = asyncio.ensure_future(our_catalog.refresh())
    while our_catalog.version < their_catalog.version:
        assert not refresh_task.done()
        await asyncio.sleep(0)
    assert our_catalog.records.cache.get(1) is None
    await refresh_task


async def test_a_large_catalog_is_indexed_while_it_answers(database: Database) -> None:
    """An index is built in the background when it pays off, and includes writes that were made meanwhile."""
    catalog = LiveCatalog(database, Layout(index_from=500, compiled=False))
    async with catalog.writing() as writer:
        for index in range(400):
            await writer.insert(_draft(f"first {index}"))
    await catalog.load()
    assert not catalog.view.is_indexed
    follow_task = asyncio.ensure_future(catalog.follow())
    for index in range(200):
        async with catalog.writing() as writer:
            await writer.insert(_draft(f"n{index}"))
    await wait_until_indexed(catalog)
    assert catalog.view.size == 600
    follow_task.cancel()
    await catalog.close()


async def test_a_catalog_starts_from_a_snapshot_and_what_changed_since(database: Database, tmp_path: Path) -> None:
    """Writes, changes and deletions after the snapshot are applied; a damaged or foreign file is ignored."""
    layout, snapshot_path = Layout(index_from=50, compiled=False), tmp_path / "catalog.index"
    first_catalog = LiveCatalog(database, layout, snapshot_path)
    async with first_catalog.writing() as writer:
        for index in range(60):
            await writer.insert(_draft(f"first {index}"))
    await first_catalog.load()
    assert snapshot_path.exists()
    async with first_catalog.writing() as writer:
        await writer.insert(_draft("later"))
        await writer.delete(1)
        await writer.update(2, _draft("renamed"))
    restarted_catalog = LiveCatalog(database, layout, snapshot_path)
    await restarted_catalog.load()
    assert restarted_catalog.view.unindexed_size == 2
    assert restarted_catalog.view.size == 60
    assert position_of(restarted_catalog.view, 1) is None
    assert restarted_catalog.view.count((Contains("dataset_name", "renamed"),)) == 1
    snapshot_path.write_bytes(snapshot_path.read_bytes()[:-100])
    reloaded_catalog = LiveCatalog(database, layout, snapshot_path)
    await reloaded_catalog.load()
    assert reloaded_catalog.view.unindexed_size == 0
    assert reloaded_catalog.view.size == 60


@pytest.mark.slow
async def test_only_a_catalog_never_written_gets_the_demo(settings: Settings, database: Database) -> None:
    """The demo records are loaded once, and a catalog that has been emptied stays empty."""
    demo_settings = settings.model_copy(update={"demo": True})
    async with second_backend(demo_settings) as (selection, client):
        count = selection.services.catalog.view.size
        assert count >= 1500
        records = (
            await client.get("/datasets?limit=1000&file_type=csv,parquet&instances_min=1&sort_by=file_path")
        ).json()
        demo_records = [record for record in records if record["file_path"].startswith("demo/")]
        assert len(demo_records) >= 25
        for record in demo_records:
            assert record["metadata"]["measured"]["rows"] == record["instances_number"]
            assert (await client.get(f"/datasets/{record['id']}/source")).json()["record"] == record
    async with second_backend(demo_settings) as (selection, _):
        assert selection.services.catalog.view.size == count
    async with database.writing() as writer:
        version = await increment_version(writer, CATALOG)
        for id_ in range(1, count + 1):
            await store.delete_dataset(writer, id_, version)
    async with second_backend(demo_settings) as (selection, _):
        assert selection.services.catalog.view.size == 0


def _draft(name: str = "") -> DatasetDraft:
    draft = draft_of(random_rows(5, 1)[0])
    attributes = {**draft.attributes, "dataset_name": name or draft.attributes["dataset_name"]}
    return replace(draft, id=None, dataset_id=uuid4(), visibility="public", attributes=attributes)


async def wait_until_indexed(catalog: LiveCatalog) -> None:
    """Wait until the index of a catalog has been built in the background."""
    while not catalog.view.is_indexed:
        await asyncio.sleep(0.02)
