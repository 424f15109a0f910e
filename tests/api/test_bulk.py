"""Bulk import through the gateway, in one process and with the selection backend behind HTTP."""

import io
import json
from collections.abc import AsyncIterator
from math import ceil
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.services.selection.bulk.bulk_import import LINES_PER_BATCH

LINES = {"Content-Type": "application/x-ndjson"}
RECORD = {"description": "d" * 1800, "file_path": "none.csv", "file_type": "csv"}


def record_line(number: int) -> bytes:
    """Return the line of a record with a key."""
    source = {"name": "Archive", "key": str(number)}
    return json.dumps({**RECORD, "name": f"Table {number}", "metadata": {"source": source}}).encode() + b"\n"


async def test_a_body_of_any_length_is_imported(service: Any) -> None:
    """The limit on other bodies does not apply, and the chunks of the body need not end where lines end."""
    content = b"".join(record_line(number) for number in range(2500))
    assert len(content) > service.settings.body_max_bytes

    async def body() -> AsyncIterator[bytes]:
        for start in range(0, len(content), 100_000):
            yield content[start : start + 100_000]

    async with await service.register("bulk@example.org") as client:
        answer = await client.post("/api/v1/datasets/bulk", content=body(), headers=LINES)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
        totals = json.loads(answer.text.splitlines()[-1])
        assert (totals["done"], totals["made"]) == (True, 2500)
        assert totals["batches"] == ceil(2500 / LINES_PER_BATCH)

        page = await client.get("/api/v1/datasets/", params={"page": 1, "page_size": 1})
        assert page.json()["total_count"] == 2500

        second_answer = await client.post("/api/v1/datasets/bulk", content=content, headers=LINES)
        assert json.loads(second_answer.text.splitlines()[-1])["unchanged"] == 2500

    async with service.client() as guest:
        assert (await guest.post("/api/v1/datasets/bulk", content=content[:100], headers=LINES)).status_code == 401


async def test_a_parquet_file_is_imported(service: Any) -> None:
    """A file passes through the gateway, may be larger than other bodies, and is refused if it is not Parquet."""
    records = [json.loads(record_line(number)) for number in range(2500)]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), buffer, compression="none", use_dictionary=False)
    content = buffer.getvalue()
    assert len(content) > service.settings.body_max_bytes

    async with await service.register("parquet@example.org") as client:
        parquet = {"Content-Type": "application/vnd.apache.parquet"}
        answer = await client.post("/api/v1/datasets/bulk", content=content, headers=parquet)
        assert answer.status_code == 200, answer.text
        totals = json.loads(answer.text.splitlines()[-1])
        assert (totals["done"], totals["made"], totals["refused"]) == (True, 2500, 0)

        refusal = await client.post("/api/v1/datasets/bulk", content=content[:-1], headers=parquet)
        assert (refusal.status_code, refusal.json()["code"]) == (422, "invalid_value")
