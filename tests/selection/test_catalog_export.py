"""Exports of everything that matches: complete records in the order of the list, as JSON Lines and as Parquet."""

import json
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.selection.conftest import BOB, client_of, create_record
from tests.selection.seeded import random_rows
from touchstone.services.selection.app import Selection
from touchstone.services.selection.datasets import catalog_export, parquet_writer

ROWS = random_rows(5, 120)
QUERIES = (
    "",
    "domain=health&sort_by=dataset_name",
    "year_min=2010&sort_by=citations&sort_order=desc",
    "assurance=documented&sort_by=ethical_score&sort_order=desc",
    "informed_consent=true&assurance=documented",
    "dataset_name=no-such-dataset",
)


def records_of(answer: httpx2.Response) -> list[dict[str, Any]]:
    """Return the records of an export as JSON Lines."""
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def table_of(answer: httpx2.Response) -> pa.Table:
    """Return the records of an export as Parquet."""
    assert answer.status_code == 200, answer.text
    return pq.read_table(pa.BufferReader(answer.content))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even a small export consist of many batches and row groups."""
    monkeypatch.setattr(catalog_export, "RECORDS_PER_BATCH", 7)
    monkeypatch.setattr(catalog_export, "BYTES_PER_BATCH", 5000)
    monkeypatch.setattr(parquet_writer, "RECORDS_PER_ROW_GROUP", 20)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.usefixtures("small_batches")
async def test_an_export_has_what_the_list_has(seeded_client: httpx2.AsyncClient, query: str) -> None:
    """Both formats have the records of the list in its order, whatever the filters, the order and the assurance."""
    records = (await seeded_client.get(f"/datasets/?limit=1000&{query}")).json()

    jsonl_response = await seeded_client.get(f"/datasets/export.jsonl?{query}")
    assert records_of(jsonl_response) == records
    assert jsonl_response.headers["X-Total-Count"] == str(len(records))
    assert jsonl_response.headers["Content-Type"] == "application/x-ndjson"

    parquet_response = await seeded_client.get(f"/datasets/export.parquet?{query}")
    table = table_of(parquet_response)
    assert table["id"].to_pylist() == [record["id"] for record in records]
    assert parquet_response.headers["Content-Disposition"] == 'attachment; filename="datasets.parquet"'


@pytest.mark.usefixtures("small_batches")
async def test_parquet_has_every_member_of_a_record(seeded_client: httpx2.AsyncClient) -> None:
    """The columns are the members of the JSON objects, with types of their own and metadata as a JSON text."""
    records = records_of(await seeded_client.get("/datasets/export.jsonl"))
    table = table_of(await seeded_client.get("/datasets/export.parquet"))

    assert set(table.column_names) == set(records[0])
    for record, row in zip(records, table.to_pylist(), strict=True):
        times = {name: row.pop(name).isoformat() for name in ("created_at", "updated_at")}
        assert times == {name: record.pop(name).replace("Z", "+00:00") for name in times}
        metadata = row.pop("metadata")
        assert (None if metadata is None else json.loads(metadata)) == record.pop("metadata")
        assert row == record


async def test_an_export_has_what_its_reader_may_see(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """A private record is exported for its owner alone."""
    public_record = await create_record(ada, name="Open")
    private_record = await create_record(ada, name="Mine", visibility="private")
    async with client_of(selection, BOB) as bob, client_of(selection, None) as anonymous:
        assert records_of(await ada.get("/datasets/export.jsonl")) == [public_record, private_record]
        for client in (bob, anonymous):
            assert records_of(await client.get("/datasets/export.jsonl")) == [public_record]
            assert table_of(await client.get("/datasets/export.parquet")).num_rows == 1


async def test_large_records_are_exported_whole(ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are never reduced, even if each of them fills a batch."""
    monkeypatch.setattr(catalog_export, "BYTES_PER_BATCH", 1000)
    records = [await create_record(ada, name=f"Large {number}", metadata={"notes": "x" * 2000}) for number in range(3)]
    assert records_of(await ada.get("/datasets/export.jsonl")) == records


async def test_unknown_parameters_are_refused(ada: httpx2.AsyncClient) -> None:
    """A misspelled filter must not export everything, and an export has no pages."""
    for query in ("domian=health", "page=2", "limit=5", "sort_by=no-such-key"):
        for name in ("export.jsonl", "export.parquet"):
            answer = await ada.get(f"/datasets/{name}?{query}")
            assert answer.status_code == 422, query
    assert (await ada.delete("/datasets/export.jsonl")).status_code == 405
