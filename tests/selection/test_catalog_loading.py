"""The answers of a process while its catalog is being loaded."""

import asyncio
import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from tests.selection.conftest import FOUR, client_of
from tests.selection.seeded import random_rows
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.error_rendering import render_detail
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.services.selection.app import Selection
from touchstone.services.selection.catalog import live_catalog
from touchstone.services.selection.catalog.load_progress import LoadAbandoned, LoadProgress


@contextmanager
def building_elsewhere(settings: Settings) -> Iterator[None]:
    """Let another process build the index, which this one then waits for, until the end of the block."""
    settings.index_file.parent.mkdir(parents=True, exist_ok=True)
    with settings.index_file.with_suffix(".lock").open("wb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


async def wait_until_ready(client: httpx2.AsyncClient) -> None:
    """Wait until the process is ready."""
    while (await client.get("/health/ready")).status_code != 200:
        await asyncio.sleep(0.05)


async def test_requests_while_the_catalog_is_loading(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is loading its catalog says so, refuses what needs the catalog, and then answers."""
    monkeypatch.setattr(live_catalog, "OPEN_SECONDS", 0.01)
    with building_elsewhere(settings):
        selection = await Selection.open(settings, database, None)
        async with client_of(selection) as client:
            readiness = await client.get("/health/ready")
            refusals = [await client.get("/datasets/"), await client.post("/datasets/", json=FOUR)]

    assert readiness.status_code == 503
    assert readiness.json() == {
        "status": "loading",
        "resources": {"database": "ok", "catalog": "loading"},
        "records": 0,
        "total_records": 0,
    }
    for refusal in refusals:
        assert refusal.status_code == 503
        assert refusal.json()["code"] == "catalog_loading"
        assert not re.search(r"\d", refusal.json()["detail"])  # how many records there are is not known yet
        assert refusal.headers["Retry-After"] == "5"

    async with client_of(selection) as client:
        await wait_until_ready(client)
        creation = await client.post("/datasets/", json=FOUR)
        list_response = await client.get("/datasets/")
    await selection.close()

    assert creation.status_code == 201
    assert list_response.headers["X-Total-Count"] == "1"


async def test_stop_while_the_catalog_is_loading(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process can be stopped while it waits for its catalog."""
    monkeypatch.setattr(live_catalog, "OPEN_SECONDS", 0.01)
    with building_elsewhere(settings):
        selection = await Selection.open(settings, database, None)
        await selection.close()


def test_detail_of_the_error_while_records_are_read() -> None:
    """Once the number of all records is known, the error says how many of them have been read."""
    progress = LoadProgress()
    progress.begin(total_records=70_000)
    assert "0 of 70000" in render_detail(progress.to_error(), "en")


def test_progress_of_a_load() -> None:
    """Records count as loaded once they have been used, and an abandoned load ends at the next batch."""
    batches = [to_record_batch(random_rows(seed=3, count=count)) for count in (5, 7, 9)]
    progress = LoadProgress()
    tracked_batches = progress.track(batches)

    next(tracked_batches)
    next(tracked_batches)
    assert progress.records == 5
    progress.abandon()
    with pytest.raises(LoadAbandoned):
        next(tracked_batches)
    assert progress.records == 12
