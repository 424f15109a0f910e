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

from tests.ranking.catalogs import position_of
from tests.selection.conftest import ADA, client_of, created
from tests.selection.seeded import draft_of, random_rows, seed
from touchstone.core.settings import Settings
from touchstone.database.change_counters import CATALOG, increment_version
from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Layout
from touchstone.ranking.query.predicates import Contains
from touchstone.services.selection.app import Selection
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetDraft


@asynccontextmanager
async def another(settings: Settings) -> AsyncIterator[tuple[Selection, httpx2.AsyncClient]]:
    """Open a second backend with its own connections to the same database, as in another process."""
    database = Database(settings.effective_database_url)
    selection = await Selection.open(settings, database, None)
    async with client_of(selection) as client:
        yield selection, client
    await selection.close()
    await database.close()


async def until(client: httpx2.AsyncClient, path: str, wanted: Any) -> None:
    """Repeat a request until it has the expected response; the timeout of the test ends a wait in vain."""
    while (await client.get(path)).json() != wanted:
        await asyncio.sleep(0.02)


async def test_writes_reach_the_other_process(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """What one process creates, changes and deletes appears in the lists of the other."""
    first = await created(ada, name="before")
    async with another(settings) as (_, other):
        assert (await other.get("/datasets")).json() == [first]
        second = await created(ada, name="after")
        await until(other, "/datasets", [first, second])
        changed = (await ada.patch(f"/datasets/{first['id']}", json={"year": 2001})).json()
        await until(other, "/datasets?year_min=2001", [changed])
        assert (await other.get(f"/datasets/{first['id']}")).json() == changed
        await other.delete(f"/datasets/{second['id']}")
        await until(ada, "/datasets", [changed])


async def test_own_writes_never_hide_those_of_others(database: Database) -> None:
    """Applying a newer version of one's own does not skip an older version of another process."""
    ours, theirs = LiveCatalog(database), LiveCatalog(database)
    for turn in range(3):
        for catalog in (theirs, ours):
            async with catalog.writing() as change:
                await change.insert(_draft(f"{turn}"))
        assert theirs.view.size < 2 * (turn + 1)
        for catalog in (ours, theirs):
            await catalog.refresh()
            assert catalog.view.size == 2 * (turn + 1)


async def test_own_writes_outlive_changes_that_were_read_before(database: Database) -> None:
    """What another process has written to a record does not replace what this one has written since."""
    await seed(database, random_rows(1, 3))
    ours, theirs = LiveCatalog(database), LiveCatalog(database)
    for catalog in (ours, theirs):
        await catalog.load()

    async def rename(catalog: LiveCatalog, ids: Sequence[int], name: str) -> None:
        async with catalog.writing() as change:
            for id_ in ids:
                await change.update(id_, _draft(name))

    await rename(theirs, [1, 2, 3], "theirs")
    changes = await ours._catalog.read_next_changes(database)
    await rename(ours, [1], "ours")
    assert ours._catalog.is_outdated(changes)

    for turn in range(10):
        await rename(theirs, [1, 2, 3], f"theirs {turn}")
        await asyncio.gather(ours.refresh(), rename(ours, [1], f"ours {turn}"))
        await ours.refresh()
        assert ours.view.count((Contains("dataset_name", f"ours {turn}"),)) == 1
        assert ours.view.count((Contains("dataset_name", f"theirs {turn}"),)) == 2


async def test_a_write_is_committed_before_its_answer(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """A record that has been acknowledged can be read at once through another connection."""
    database = Database(settings.effective_database_url)
    for index in range(5):
        made = await created(ada, name=f"n{index}")
        async with database.reading() as rows:
            found = await store.visible_dataset(rows, made["id"], ADA)
        assert found is not None
        assert found.attributes["dataset_name"] == f"n{index}"
    await database.close()


async def test_a_failed_write_leaves_no_trace(database: Database) -> None:
    """A transaction that fails changes neither the columns nor the version."""
    catalog = LiveCatalog(database)
    try:
        async with catalog.writing() as change:
            await change.insert(_draft())
            raise RuntimeError("stopped half-way")
    except RuntimeError:
        pass
    async with catalog.writing() as change:
        assert change.version == 1
    assert catalog.view.size == 0


async def test_concurrent_writes_are_all_seen(ada: httpx2.AsyncClient, settings: Settings) -> None:
    """Thirty records that are created concurrently through two processes exist in both."""
    async with another(settings) as (_, other):
        made = await asyncio.gather(*(created((ada, other)[i % 2], name=f"n{i}") for i in range(30)))
        assert len({one["id"] for one in made}) == 30
        whole = sorted(made, key=lambda one: int(one["id"]))
        for client in (ada, other):
            await until(client, "/datasets", whole)


async def test_a_row_read_before_a_write_is_not_kept(database: Database) -> None:
    """An encoded record that was read while it changed is returned once, and then read again."""
    await seed(database, random_rows(1, 3))
    catalog = LiveCatalog(database)
    await catalog.load()

    async def rename(name: str) -> None:
        async with catalog.writing() as change:
            await change.update(1, _draft(name))

    for turn in range(10):
        catalog.records.cache.drop((1,))
        await asyncio.gather(catalog.records.encoded_records([1], None), rename(f"n{turn}"))
        assert f'"n{turn}"'.encode() in (await catalog.records.encoded_records([1], None))[0].body


async def test_cached_records_are_never_older_than_the_columns(database: Database) -> None:
    """At no moment does a process show a change of another one in lists, and the record as it was before."""
    await seed(database, random_rows(1, 3))
    ours, theirs = LiveCatalog(database), LiveCatalog(database)
    for catalog in (ours, theirs):
        await catalog.load()
    assert await ours.records.encoded_records([1], None)
    async with theirs.writing() as change:
        await change.update(1, _draft("renamed"))

    refreshing = asyncio.ensure_future(ours.refresh())
    while ours.version < theirs.version:
        assert not refreshing.done()
        await asyncio.sleep(0)
    assert ours.records.cache.get(1) is None
    await refreshing


async def test_a_large_catalog_is_indexed_while_it_answers(database: Database) -> None:
    """An index is built in the background when it pays off, and includes writes that were made meanwhile."""
    catalog = LiveCatalog(database, Layout(index_from=500, compiled=False))
    async with catalog.writing() as change:
        for index in range(400):
            await change.insert(_draft(f"first {index}"))
    await catalog.load()
    assert not catalog.view.is_indexed
    following = asyncio.ensure_future(catalog.follow())
    for index in range(200):
        async with catalog.writing() as change:
            await change.insert(_draft(f"n{index}"))
    await until_indexed(catalog)
    assert catalog.view.size == 600
    following.cancel()
    await catalog.close()


async def test_a_catalog_starts_from_a_snapshot_and_what_changed_since(database: Database, tmp_path: Path) -> None:
    """Writes, changes and deletions after the snapshot are applied; a damaged or foreign file is ignored."""
    layout, file = Layout(index_from=50, compiled=False), tmp_path / "catalog.index"
    first = LiveCatalog(database, layout, file)
    async with first.writing() as change:
        for index in range(60):
            await change.insert(_draft(f"first {index}"))
    await first.load()
    assert file.exists()
    async with first.writing() as change:
        await change.insert(_draft("later"))
        await change.delete(1)
        await change.update(2, _draft("renamed"))
    taken_up = LiveCatalog(database, layout, file)
    await taken_up.load()
    assert taken_up.view.unindexed_size == 2
    assert taken_up.view.size == 60
    assert position_of(taken_up.view, 1) is None
    assert taken_up.view.count((Contains("dataset_name", "renamed"),)) == 1
    file.write_bytes(file.read_bytes()[:-100])
    afresh = LiveCatalog(database, layout, file)
    await afresh.load()
    assert afresh.view.unindexed_size == 0
    assert afresh.view.size == 60


@pytest.mark.slow
async def test_only_a_catalog_never_written_gets_the_demo(settings: Settings, database: Database) -> None:
    """The demo records are loaded once, and a catalog that has been emptied stays empty."""
    shown = settings.model_copy(update={"demo": True})
    async with another(shown) as (selection, client):
        count = selection.services.catalog.view.size
        assert count >= 1500
        found = (
            await client.get("/datasets?limit=1000&file_type=csv,parquet&instances_min=1&sort_by=file_path")
        ).json()
        tables = [one for one in found if one["file_path"].startswith("demo/")]
        assert len(tables) >= 25
        for one in tables:
            assert one["metadata"]["measured"]["rows"] == one["instances_number"]
            assert (await client.get(f"/datasets/{one['id']}/source")).json()["record"] == one
    async with another(shown) as (selection, _):
        assert selection.services.catalog.view.size == count
    async with database.writing() as rows:
        version = await increment_version(rows, CATALOG)
        for id_ in range(1, count + 1):
            await store.delete_dataset(rows, id_, version)
    async with another(shown) as (selection, _):
        assert selection.services.catalog.view.size == 0


def _draft(name: str = "") -> DatasetDraft:
    draft = draft_of(random_rows(5, 1)[0])
    attributes = {**draft.attributes, "dataset_name": name or draft.attributes["dataset_name"]}
    return replace(draft, id=None, dataset_id=uuid4(), visibility="public", attributes=attributes)


async def until_indexed(catalog: LiveCatalog) -> None:
    """Wait until the index of a catalog has been built in the background."""
    while not catalog.view.is_indexed:
        await asyncio.sleep(0.02)
