"""Limits on what a user can store, and on the size of a response."""

from typing import Any
from uuid import UUID

import httpx2
import msgspec
import pytest
import sqlalchemy as sa

from tests.selection.conftest import ADA, FOUR, client_of, create_record
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.services.selection.app import Selection
from touchstone.services.selection.json_fields import MAX_JSON_BYTES
from touchstone.services.selection.response_size_limit import PAGE_BYTES

MIB = 1024 * 1024


def metadata_of(size: int) -> dict[str, Any]:
    """Return `metadata` with this many bytes of JSON."""
    empty_size = len(msgspec.json.encode({"note": ""}))
    return {"note": "x" * (size - empty_size)}


async def enlarge(database: Database, dataset_id: int, size: int) -> None:
    """Give a record as much `metadata` as records of earlier releases may have."""
    update = sa.update(datasets).where(datasets.c.id == dataset_id)
    async with database.writing() as transaction:
        await transaction.execute(update.values(metadata=metadata_of(size), bytes=size))


async def test_metadata_have_a_limit(ada: httpx2.AsyncClient) -> None:
    """64 KiB of JSON are accepted; one byte more is refused with 422 and the limit, for new records and for changes."""
    full_metadata, oversized_metadata = metadata_of(MAX_JSON_BYTES), metadata_of(MAX_JSON_BYTES + 1)
    record = await create_record(ada, metadata=full_metadata)
    assert record["metadata"] == full_metadata
    for answer in (
        await ada.post("/datasets/", json={**FOUR, "metadata": oversized_metadata}),
        await ada.patch(f"/datasets/{record['id']}", json={"metadata": oversized_metadata}),
        await ada.post("/projects", json={"name": "x", "criteria": oversized_metadata}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")
        assert str(MAX_JSON_BYTES) in answer.text


async def test_what_the_service_measured_does_not_count(ada: httpx2.AsyncClient) -> None:
    """A client may send back what it has read, including `measured`, whatever its size."""
    metadata = metadata_of(MAX_JSON_BYTES) | {"measured": metadata_of(MIB), "unmeasured": "too_slow"}
    record = await create_record(ada, metadata=metadata)
    assert record["metadata"] == metadata_of(MAX_JSON_BYTES)


@pytest.mark.parametrize("cached", [True, False])
async def test_a_page_has_a_limit(
    selection: Selection, database: Database, ada: httpx2.AsyncClient, cached: bool
) -> None:
    """Records beyond the limit of a page are sent without metadata and marked; later records that fit are complete."""
    records = [await create_record(ada, metadata={"number": number}) for number in range(4)]
    for record in records[:3]:
        await enlarge(database, record["id"], PAGE_BYTES * 2 // 5)
    selection.services.catalog.records.cache.drop([record["id"] for record in records])
    if cached:
        for record in records:
            await ada.get(f"/datasets/{record['id']}")
    paths = ("/datasets/", "/datasets/?page=1", "/datasets/?sort_by=dataset_name")
    pages = [(await ada.get(path)).json() for path in paths]
    pages[1] = pages[1]["datasets"]
    pages.append((await ada.post("/datasets/search", json={})).json())
    for page in pages:
        assert [record["id"] for record in page] == [record["id"] for record in records]
        assert [record.get("metadata_omitted", False) for record in page] == [False, False, True, False]
        assert page[2]["metadata"] is None
        assert {**page[2], "metadata": records[2]["metadata"], "metadata_omitted": None} == {
            **records[2],
            "metadata_omitted": None,
        }
        assert page[3]["metadata"] == {"number": 3}
        assert len(msgspec.json.encode(page)) < PAGE_BYTES
    single_record = (await ada.get(f"/datasets/{records[2]['id']}")).json()
    assert len(single_record["metadata"]["note"]) > MIB
    assert "metadata_omitted" not in single_record


async def test_oversized_records_of_earlier_releases_can_be_edited(
    selection: Selection, database: Database, ada: httpx2.AsyncClient
) -> None:
    """A record with more metadata than is now allowed keeps them when other fields change."""
    record = await create_record(ada)
    await enlarge(database, record["id"], MIB)
    selection.services.catalog.records.cache.drop([record["id"]])
    change_response = await ada.patch(f"/datasets/{record['id']}", json={"year": 2001})
    assert (change_response.status_code, change_response.json()["year"]) == (200, 2001)
    assert change_response.json()["metadata"] == metadata_of(MIB)
    shrink_response = await ada.patch(f"/datasets/{record['id']}", json={"metadata": {"note": "short"}})
    assert shrink_response.json()["metadata"] == {"note": "short"}


async def test_the_records_of_a_user_have_a_quota(settings: Settings, database: Database) -> None:
    """Beyond the quota, records can be neither created nor enlarged until others of the same user are deleted."""
    limited_settings = settings.model_copy(update={"record_quota_bytes": 100_000})
    selection = await Selection.open(limited_settings, database, None)
    metadata = {"note": "x" * 45_000}
    async with client_of(selection) as ada, client_of(selection, UUID(int=0xB0B)) as bob:
        first_record, second_record = (
            await create_record(ada, metadata=metadata),
            await create_record(ada, metadata=metadata),
        )
        for answer in (
            await ada.post("/datasets/", json={**FOUR, "metadata": metadata}, headers={"Accept-Language": "en"}),
            await ada.patch(
                f"/datasets/{first_record['id']}",
                json={"description": "y" * 60_000},
                headers={"Accept-Language": "en"},
            ),
        ):
            assert (answer.status_code, answer.json()["code"]) == (413, "record_quota_exceeded")
            assert "100000" in answer.json()["detail"]
        assert (await ada.get(f"/datasets/{first_record['id']}")).json() == first_record
        assert len((await ada.get("/datasets/")).json()) == 2
        await create_record(bob, metadata=metadata)
        assert (await ada.delete(f"/datasets/{second_record['id']}")).status_code == 204
        await create_record(ada, metadata=metadata)
    await selection.close()


async def test_who_is_over_a_lowered_quota_can_still_shrink(settings: Settings, database: Database) -> None:
    """A change that makes a record smaller is accepted even if its owner exceeds the quota."""
    selection = await Selection.open(settings, database, None)
    async with client_of(selection, ADA) as ada:
        record = await create_record(ada, metadata={"note": "x" * 50_000})
    await selection.close()
    limited_selection = await Selection.open(settings.model_copy(update={"record_quota_bytes": 2000}), database, None)
    async with client_of(limited_selection, ADA) as ada:
        answer = await ada.patch(f"/datasets/{record['id']}", json={"metadata": {"note": "x" * 10_000}})
        assert answer.status_code == 200, answer.text
    await limited_selection.close()


async def test_the_quota_of_projects_counts_bytes(settings: Settings, database: Database) -> None:
    """A letter beyond ASCII takes two bytes, in a text as in the criteria, and backslashes are no escapes."""
    selection = await Selection.open(settings.model_copy(update={"project_quota_bytes": 5000}), database, None)
    async with client_of(selection) as ada:
        for fields in ({"description": "é" * 2200}, {"criteria": {"q": "é" * 200}, "description": "é" * 2000}):
            answer = await ada.post("/projects", json={"name": "too large", **fields})
            assert (answer.status_code, answer.json()["code"]) == (413, "project_quota_exceeded")
        assert (await ada.post("/projects", json={"name": "n", "description": "\\x" * 1500})).status_code == 201
    await selection.close()


async def test_the_projects_of_a_user_have_a_quota(settings: Settings, database: Database) -> None:
    """The quota limits the number and the size of projects; whoever exceeds it can still shrink them."""
    selection = await Selection.open(settings.model_copy(update={"project_quota_bytes": 20_000}), database, None)
    async with client_of(selection) as ada, client_of(selection, UUID(int=0xB0B)) as bob:
        answers = [await ada.post("/projects", json={"name": f"n{number}"}) for number in range(20)]
        assert [answer.status_code for answer in answers] == [201] * 19 + [413]
        assert answers[-1].json()["code"] == "project_quota_exceeded"
        assert "20000" in answers[-1].json()["detail"]
        path = f"/projects/{answers[0].json()['id']}"
        assert (await ada.put(path, json={"description": "d" * 2000})).status_code == 413
        assert (await ada.put(path, json={"description": "d"})).status_code == 200
        assert (await bob.post("/projects", json={"name": "x", "description": "d" * 10_000})).status_code == 201
        assert (await ada.delete(path)).status_code == 204
        assert (await ada.post("/projects", json={"name": "again"})).status_code == 201
    await selection.close()
