"""Bulk imports of Parquet files: the same records and refusals as of JSON Lines, and one error for other files."""

import asyncio
import io
import json
import math
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.selection.conftest import ADA, BOB, FOUR, client_of, create_record
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


class SlowReaders:
    """Users who import a file each, and do not read the response until a test says so."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._may_read: dict[str, asyncio.Event] = {}
        self.tasks: list[asyncio.Task[httpx2.Response]] = []
        self.with_response: list[str] = []

    async def begin(self, name: str, user: UUID) -> None:
        """Begin an import, and give it time to get a place or to wait for one."""
        self._may_read[name] = asyncio.Event()
        self.tasks.append(asyncio.create_task(self._import(name, user)))
        await asyncio.sleep(0.2)

    def read(self, name: str) -> None:
        """Read the response of an import, which then ends."""
        self._may_read[name].set()

    async def wait_for_responses(self, count: int) -> None:
        """Wait until as many imports have begun to respond."""
        async with asyncio.timeout(20):
            while len(self.with_response) < count:
                await asyncio.sleep(0.01)

    async def _import(self, name: str, user: UUID) -> httpx2.Response:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_slowly(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self.with_response.append(name)
                await self._may_read[name].wait()
                await send(message)

            await self._selection.app(scope, receive, send_slowly)

        headers = {**PARQUET, "X-User-ID": str(user)}
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://selection.test") as client:
            return await client.post("/datasets/bulk", content=as_parquet([FOUR]), headers=headers)


async def test_the_next_file_to_be_read_is_that_of_another_user(selection: Selection) -> None:
    """A user with several files delays mainly their own."""
    readers = SlowReaders(selection)
    await readers.begin("first of Ada", ADA)
    await readers.begin("second of Ada", ADA)
    await readers.wait_for_responses(2)
    await readers.begin("third of Ada", ADA)
    await readers.begin("first of Bob", BOB)

    readers.read("first of Ada")
    await readers.wait_for_responses(3)
    assert readers.with_response == ["first of Ada", "second of Ada", "first of Bob"]

    for name in ("second of Ada", "first of Bob", "third of Ada"):
        readers.read(name)
    responses = await asyncio.gather(*readers.tasks)
    assert [response.status_code for response in responses] == [200] * 4
