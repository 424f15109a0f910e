"""Files whose measurement takes longer than a request should wait are measured in the background."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.selection.claims import evidence
from tests.selection.conftest import client_of, create_record
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.selection.app import Selection
from touchstone.services.selection.files import pending_store

TABLE = b"age,city\n31,Lyon\n,Oslo\n47,?\n"
LEASE_DURATION = timedelta(hours=1)


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings with which no file is measured within a request."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "people.csv").write_bytes(TABLE)
    (tmp_path / "root" / "empty.csv").write_bytes(b"")
    return settings.model_copy(update={"data_roots": (tmp_path / "root",), "profile_wait_seconds": 0})


async def wait_until_measured(client: httpx2.AsyncClient, record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as soon as its file has been measured."""
    async with asyncio.timeout(60):
        while (record["metadata"] or {}).get("unmeasured") == "in_progress":
            await asyncio.sleep(0.05)
            record = (await client.get(f"/datasets/{record['id']}")).json()
    return record


async def test_a_record_is_created_before_its_file_is_measured(ada: httpx2.AsyncClient) -> None:
    """The answer says that the file is being measured; then the record, lists and claims have the result."""
    unmeasured_record = await create_record(ada, file_path="people.csv", metadata={"tags": ["t"]})
    assert unmeasured_record["metadata"] == {"tags": ["t"], "unmeasured": "in_progress"}
    assert unmeasured_record["instances_number"] is None

    record = await wait_until_measured(ada, unmeasured_record)
    assert record["metadata"]["measured"]["rows"] == 3
    assert "unmeasured" not in record["metadata"]
    assert (record["instances_number"], record["has_missing_values"]) == (3, True)
    assert [item["id"] for item in (await ada.get("/datasets?instances_min=3&trainable=true")).json()] == [record["id"]]
    assert (await evidence(ada, record["id"]))["attributes"]["instances_number"]["level"] == "measured"


async def test_what_cannot_be_measured_says_so_in_the_end(ada: httpx2.AsyncClient) -> None:
    """The reason replaces `in_progress`."""
    record = await wait_until_measured(ada, await create_record(ada, file_path="empty.csv"))
    assert record["metadata"] == {"unmeasured": "empty"}


async def test_the_file_that_a_change_names_is_measured_in_the_end(ada: httpx2.AsyncClient) -> None:
    """A change while the first file is being measured leads to the measurement of the new one."""
    record = await create_record(ada, file_path="empty.csv")
    changed_record = (await ada.patch(f"/datasets/{record['id']}", json={"file_path": "people.csv"})).json()
    assert changed_record["metadata"] == {"unmeasured": "in_progress"}
    assert (await wait_until_measured(ada, changed_record))["instances_number"] == 3

    record_without_file = (await ada.patch(f"/datasets/{record['id']}", json={"file_path": "missing.csv"})).json()
    assert record_without_file["metadata"] is None


async def test_a_restart_finishes_what_was_begun(settings: Settings, database: Database) -> None:
    """A file that was being measured when the process stopped is measured by the next one, without being asked to."""
    selection = await Selection.open(settings, database, None)
    async with client_of(selection) as client:
        record = await create_record(client, file_path="people.csv")
    await selection.close()
    async with database.reading() as connection:
        assert await pending_store.find_unleased(connection, datetime.now(UTC)) == record["id"]

    selection = await Selection.open(settings, database, None)
    async with client_of(selection) as client:
        assert (await wait_until_measured(client, record))["instances_number"] == 3
    await selection.close()


async def test_only_one_process_measures_a_file(database: Database, ada: httpx2.AsyncClient) -> None:
    """A lease is given once, and again after it has expired."""
    record = await wait_until_measured(ada, await create_record(ada, file_path="people.csv"))
    now = datetime.now(UTC)
    async with database.writing() as transaction:
        await pending_store.add_pending(transaction, record["id"], now + LEASE_DURATION)
        assert await pending_store.find_unleased(transaction, now) is None
        assert not await pending_store.take_lease(transaction, record["id"], now, now + LEASE_DURATION)
        assert await pending_store.take_lease(transaction, record["id"], now + LEASE_DURATION, now + 2 * LEASE_DURATION)
        assert not await pending_store.take_lease(
            transaction, record["id"], now + LEASE_DURATION, now + 2 * LEASE_DURATION
        )
