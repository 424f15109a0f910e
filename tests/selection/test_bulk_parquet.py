"""Bulk imports of Parquet files: the same records and refusals as of JSON Lines, and one error for other files."""

import io
import json
import math
from collections.abc import Sequence
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.selection.conftest import FOUR, client_of, create_record
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.selection.app import Selection
from touchstone.services.selection.bulk.bulk_import import LINES_PER_BATCH

PARQUET = {"Content-Type": "application/vnd.apache.parquet"}
METADATA_WITH_KEY = {"source": {"name": "Archive", "key": "a"}}

pytestmark = pytest.mark.slow


def as_parquet(rows: Sequence[dict[str, Any]], **options: Any) -> bytes:
    """Return rows as a Parquet file, with a column for each key of the first row."""
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer, **options)
    return buffer.getvalue()


async def import_file(client: httpx2.AsyncClient, content: bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Import a file, and return what was reported of each transaction, and the last line."""
    answer = await client.post("/datasets/bulk", content=content, headers=PARQUET)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    *batches, totals = [json.loads(line) for line in answer.text.splitlines()]
    return batches, totals


async def test_an_export_can_be_imported_as_it_is(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Every member of a record that its owner declares is the same in the copy."""
    await create_record(
        ada, year=2001, domain=["health"], transparency=False, citations=7, metadata={**METADATA_WITH_KEY, "big": 2**53}
    )
    await create_record(ada, name="Plain", missing_values_percentage=2.5)
    exported_file = (await ada.get("/datasets/export.parquet")).content

    _batches, totals = await import_file(bob, exported_file)
    assert (totals["made"], totals["lines"], totals["refused"]) == (2, 2, 0)
    page = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    differing_members = {"id", "dataset_id", "declared_by", "created_at", "updated_at"}
    for original, copy in zip(page[:2], page[2:], strict=True):
        assert {key: original[key] for key in original.keys() - differing_members} == {
            key: copy[key] for key in copy.keys() - differing_members
        }


@pytest.mark.parametrize(
    "metadata", [METADATA_WITH_KEY, json.dumps(METADATA_WITH_KEY, indent=2)], ids=["struct", "text"]
)
async def test_metadata_are_a_struct_or_a_text(ada: httpx2.AsyncClient, metadata: Any) -> None:
    """Both forms have the key of a record, and a member of a struct that is null is left out."""
    if isinstance(metadata, dict):
        metadata = {**metadata, "licence": None}
    content = as_parquet([{**FOUR, "metadata": metadata, "year": None}])

    assert (await import_file(ada, content))[1]["made"] == 1
    assert (await import_file(ada, content))[1]["unchanged"] == 1
    record = (await ada.get("/datasets/")).json()[0]
    assert (record["metadata"], record["year"]) == (METADATA_WITH_KEY, None)


async def test_a_row_without_a_visibility_publishes_nothing(ada: httpx2.AsyncClient) -> None:
    """A missing column and a null leave the visibility of a stored record as it is."""
    row = {**FOUR, "metadata": METADATA_WITH_KEY}
    await import_file(ada, as_parquet([{**row, "visibility": "private"}]))
    null_visibility = pa.Table.from_pylist([row]).append_column("visibility", pa.nulls(1, pa.string()))
    buffer = io.BytesIO()
    pq.write_table(null_visibility, buffer)
    for content in (as_parquet([row]), buffer.getvalue()):
        assert (await import_file(ada, content))[1]["unchanged"] == 1
    assert [record["visibility"] for record in (await ada.get("/datasets/")).json()] == ["private"]


async def test_rows_are_refused_by_number(ada: httpx2.AsyncClient) -> None:
    """A row is refused like a line of JSON, and does not keep others from being imported."""
    rows = [{**FOUR, "year": year, "metadata": metadata} for year, metadata in [(2001, None), (1, None), (2002, "{")]]
    batches, totals = await import_file(ada, as_parquet(rows))
    assert (totals["done"], totals["lines"], totals["made"]) == (True, 3, 1), totals
    assert [(refusal["line"], refusal["code"]) for refusal in batches[0]["refused"]] == [
        (2, "validation_error"),
        (3, "validation_error"),
    ]


async def test_what_json_cannot_say_is_refused(ada: httpx2.AsyncClient) -> None:
    """Infinite numbers and bytes that are no text make a row invalid, wherever they are; not a number is unknown."""
    percentages = [5.0, math.inf, -math.inf, math.nan, None, 5.0, 5.0]
    extents = [1.5, 1.5, 1.5, math.nan, None, math.inf, 1.5]
    notes = [b"a", b"a", b"a", b"\xc3\xa9", None, b"a", b"\xff\n"]
    rows = [
        {**FOUR, "missing_values_percentage": percentage, "metadata": {"extent": [{"x": extent}], "note": note}}
        for percentage, extent, note in zip(percentages, extents, notes, strict=True)
    ]
    batches, totals = await import_file(ada, as_parquet(rows))
    assert (totals["done"], totals["made"]) == (True, 3), totals
    refusals = [(refusal["line"], refusal["code"]) for refusal in batches[0]["refused"]]
    assert refusals == [
        (2, "validation_error"),
        (3, "validation_error"),
        (6, "validation_error"),
        (7, "not_json"),
    ]

    records = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    assert [record["missing_values_percentage"] for record in records] == [5.0, None, None]
    assert [record["metadata"].get("note") for record in records] == ["a", "\xe9", None]
    assert records[0]["metadata"]["extent"] == [{"x": 1.5}]


@pytest.mark.parametrize("data_type", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())], ids=str)
async def test_bytes_are_texts(ada: httpx2.AsyncClient, data_type: pa.DataType) -> None:
    """A column of bytes is read as UTF-8, also metadata and lists; a row with other bytes is refused by its number."""
    metadata = json.dumps(METADATA_WITH_KEY).encode()
    rows = [
        {**FOUR, "description": b"\xc3\xa9t\xc3\xa9", "metadata": metadata, "domain": [b"health"]},
        {**FOUR, "description": b"\xe9t\xe9", "metadata": None, "domain": None},
        {**FOUR, "description": b"b", "metadata": b"\xff", "domain": None},
        {**FOUR, "description": b"b", "metadata": None, "domain": [b"\xff"]},
    ]
    table = pa.Table.from_pylist(rows)
    for name in ("description", "metadata"):
        position = table.schema.get_field_index(name)
        table = table.set_column(position, name, table[name].cast(data_type))
    buffer = io.BytesIO()
    pq.write_table(table, buffer)

    batches, totals = await import_file(ada, buffer.getvalue())
    assert (totals["made"], [refusal["line"] for refusal in batches[0]["refused"]]) == (1, [2, 3, 4])
    [record] = (await ada.get("/datasets/")).json()
    assert (record["description"], record["metadata"], record["domain"]) == ("été", METADATA_WITH_KEY, ["health"])


async def test_a_file_that_cannot_be_read_is_refused(ada: httpx2.AsyncClient) -> None:
    """Nothing is imported from a body that is no Parquet file, is incomplete, or is damaged at its beginning."""
    content = as_parquet([FOUR] * 50, compression="zstd")
    damaged_content = content[:4] + b"\xff" * 60 + content[64:]
    for body in (b"", b'{"name": "a"}\n', content[:-5], damaged_content):
        answer = await ada.post("/datasets/bulk", content=body, headers=PARQUET)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_value")
    assert (await ada.get("/datasets/")).json() == []


async def test_a_file_that_is_damaged_later_is_imported_up_to_there(ada: httpx2.AsyncClient) -> None:
    """The report says that the import has stopped and why; what it says of earlier rows is stored."""
    rows = [{**FOUR, "name": f"Table {number}"} for number in range(3 * LINES_PER_BATCH)]
    content = as_parquet(rows, compression="zstd", row_group_size=LINES_PER_BATCH)
    last_group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(2).column(0)
    start = last_group.dictionary_page_offset
    damaged_content = content[:start] + b"\xff" * 100 + content[start + 100 :]

    batches, totals = await import_file(ada, damaged_content)
    assert (totals["done"], totals["code"]) == (False, "invalid_value")
    stored_count = (await ada.get("/datasets/", params={"page": 1})).json()["total_count"]
    assert stored_count == totals["made"] == sum(batch["made"] for batch in batches) > 0


async def test_the_limit_on_uploads_holds(settings: Settings, database: Database) -> None:
    """A larger file is refused, whether its length is declared or not, and leaves nothing behind."""
    limited_settings = settings.model_copy(update={"upload_max_bytes": 1024})
    selection = await Selection.open(limited_settings, database, None)
    content = as_parquet([{**FOUR, "description": str(number) * 9} for number in range(500)])

    async def chunks() -> Any:
        yield content[:1000]
        yield content[1000:]

    async with client_of(selection) as ada:
        for body in (content, chunks()):
            answer = await ada.post("/datasets/bulk", content=body, headers=PARQUET)
            assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert list(settings.uploads_dir.iterdir()) == []
    await selection.close()
