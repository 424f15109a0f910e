"""Bulk import: the lines of a body become records, a key makes it repeatable, and what is wrong is reported by line."""

import asyncio
import codecs
import json
import math
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any
from uuid import RFC_4122, UUID

import httpx2
import msgspec
import pytest
import sqlalchemy as sa
from hypothesis import given, strategies
from pydantic import ValidationError

from tests.selection.claims import ADMINISTRATOR, CURATOR, calling_as, evidence, review_claim, state
from tests.selection.conftest import ADA, BOB, FOUR, client_of, create_record
from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.errors import ServiceError
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.services.selection.app import Selection
from touchstone.services.selection.bulk import bulk_import
from touchstone.services.selection.bulk.batch_writer import BatchWriter, PreparedBatch, RecordLine
from touchstone.services.selection.bulk.body_lines import LineSplitter
from touchstone.services.selection.bulk.record_parser import RecordParser, parse_with_schema
from touchstone.services.selection.catalog import single_writes
from touchstone.services.selection.datasets.schemas import SERVICE_FIELDS, DatasetCreate, DatasetView

JSON_LINES = {"Content-Type": "application/x-ndjson"}


def record_with_key(key: str, **fields: Any) -> dict[str, Any]:
    """Return a record with a key."""
    return {**FOUR, "name": f"Table {key}", "metadata": {"source": {"name": "Archive", "key": key}}, **fields}


def as_lines(records: Sequence[Any]) -> bytes:
    """Return records as JSON Lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


async def import_lines(
    client: httpx2.AsyncClient, body: bytes, language: str = "fr"
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Import a body, and return what was reported of each transaction, and the last line."""
    answer = await client.post("/datasets/bulk", content=body, headers={**JSON_LINES, "Accept-Language": language})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    *batches, totals = [json.loads(line) for line in answer.text.splitlines()]
    return batches, totals


async def import_all(client: httpx2.AsyncClient, records: Sequence[Any]) -> dict[str, Any]:
    """Import records, none of which is refused, and return the totals."""
    _batches, totals = await import_lines(client, as_lines(records))
    assert (totals["done"], totals["refused"]) == (True, 0), totals
    return totals


async def test_uuids_are_in_the_order_of_creation(ada: httpx2.AsyncClient) -> None:
    """A new record has a UUID of version 7, which begins with the time of its creation (RFC 9562, section 5.7)."""
    await create_record(ada, name="First")
    await import_all(ada, [record_with_key("a"), record_with_key("b"), record_with_key("c")])
    await create_record(ada, name="Last")

    records = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    uuids = [UUID(record["dataset_id"]) for record in records]
    assert {(uuid.version, uuid.variant) for uuid in uuids} == {(7, RFC_4122)}
    assert len(set(uuids)) == 5

    creation_times = [datetime.fromisoformat(record["created_at"]).timestamp() for record in records]
    assert [uuid.int >> 80 for uuid in uuids] == [int(seconds * 1000) for seconds in creation_times]


async def test_records_are_made_and_found_at_once(ada: httpx2.AsyncClient) -> None:
    """Imported records are in lists and rankings, like records that were created alone."""
    created_record = await create_record(
        ada, **record_with_key("a", citations=100, domain=["Health"], transparency=True)
    )
    totals = await import_all(ada, [record_with_key("b", citations=100, domain=["Health"], transparency=True)])
    assert (totals["made"], totals["updated"], totals["unchanged"], totals["lines"]) == (1, 0, 0, 1)

    page = (await ada.get("/datasets/", params={"domain": "health", "sort_by": "id"})).json()
    assert [record["name"] for record in page] == ["Table a", "Table b"]
    differing_members = {"id", "dataset_id", "name", "dataset_name", "metadata", "created_at", "updated_at"}
    assert {key: page[1][key] for key in page[1].keys() - differing_members} == {
        key: created_record[key] for key in created_record.keys() - differing_members
    }
    items = (await ada.post("/datasets/score", json={"weights": []})).json()
    assert items[0]["score"] == items[1]["score"] > 0


async def test_the_same_lines_change_nothing(ada: httpx2.AsyncClient) -> None:
    """A repeated import leaves every record as it is; a changed line replaces what its owner declares."""
    records = [
        record_with_key("a", year=2020, citations=3),
        record_with_key("b", metadata=record_with_key("b")["metadata"] | {"x": [1, True]}),
    ]
    await import_all(ada, records)
    records_before = (await ada.get("/datasets/")).json()

    assert (await import_all(ada, records))["unchanged"] == 2
    assert (await ada.get("/datasets/")).json() == records_before

    changed_line = record_with_key("b", metadata=record_with_key("b")["metadata"] | {"x": [True, 1]})
    totals = await import_all(ada, [record_with_key("a", year=2021), changed_line])
    assert (totals["made"], totals["updated"], totals["unchanged"]) == (0, 2, 0)
    records_after = (await ada.get("/datasets/")).json()
    assert [record["id"] for record in records_after] == [record["id"] for record in records_before]
    assert (records_after[0]["year"], records_after[0]["citations"]) == (2021, None)
    assert records_after[1]["metadata"]["x"][0] is True


async def test_a_line_without_a_visibility_publishes_nothing(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """What a line leaves out about the visibility stays as the owner has set it; a new record is public."""
    await import_all(ada, [record_with_key("a", visibility="private"), record_with_key("b")])
    _private, public = (await ada.get("/datasets/")).json()
    assert public["visibility"] == "public"
    await ada.patch(f"/datasets/{public['id']}", json={"visibility": "private"})

    # The second line is checked by the schema of single records, because the fast decoder does not accept its name.
    lines = [record_with_key("a"), record_with_key("b", name=" Table b")]
    assert (await import_all(ada, lines))["made"] == 0
    assert [record["visibility"] for record in (await ada.get("/datasets/")).json()] == ["private", "private"]
    assert (await bob.get("/datasets/")).json() == []

    assert (await import_all(ada, [record_with_key("a", visibility="public")]))["updated"] == 1
    assert len((await bob.get("/datasets/")).json()) == 1


async def test_importing_an_exported_hidden_record_changes_nothing(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """A hidden record is exported as private, but remains public for the day when it is shown again."""
    await import_all(ada, [record_with_key("a"), record_with_key("b", visibility="private")])
    record_ids = [record["id"] for record in (await ada.get("/datasets/", params={"sort_by": "id"})).json()]
    async with calling_as(selection, ADMINISTRATOR) as administrator:
        await administrator.put(f"/admin/datasets/{record_ids[0]}/hidden", json={"hidden": True})
        exported_lines = (await ada.get("/datasets/export.jsonl")).content
        exported_file = (await ada.get("/datasets/export.parquet")).content
        exported_records = [json.loads(line) for line in exported_lines.splitlines()]
        assert {record["visibility"] for record in exported_records} == {"private"}

        changed_records = [{**record, "name": f" {record['name']}", "year": 2001} for record in exported_records]
        assert (await import_all(ada, exported_records))["unchanged"] == 2
        parquet_headers = {"Content-Type": "application/vnd.apache.parquet"}
        answer = await ada.post("/datasets/bulk", content=exported_file, headers=parquet_headers)
        assert json.loads(answer.text.splitlines()[-1])["unchanged"] == 2
        assert (await import_all(ada, changed_records))["updated"] == 2
        await administrator.put(f"/admin/datasets/{record_ids[0]}/hidden", json={"hidden": False})

    assert [record["id"] for record in (await bob.get("/datasets/")).json()] == record_ids[:1]
    # Whether the record was public cannot be seen from the export, so a copy of it is private.
    await import_all(bob, exported_records)
    assert len((await ada.get("/datasets/")).json()) == 2

    hidden_lines = [record for record in exported_records if record["hidden"]]
    assert (await import_all(ada, [{**hidden_lines[0], "hidden": False}]))["updated"] == 1
    assert (await bob.get(f"/datasets/{record_ids[0]}")).status_code == 404


async def test_a_rejected_declaration_is_not_made_again(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """The same value in a later import counts as left out, until the owner declares it with a single request."""
    lines = [record_with_key("a", informed_consent=True, transparency=True), record_with_key("b")]
    await import_all(ada, lines)
    record_id = (await ada.get("/datasets/?informed_consent=true")).json()[0]["id"]
    path = f"/datasets/{record_id}"
    claims = (await evidence(ada, record_id))["claims"]
    [consent] = [claim for claim in claims if claim["attribute"] == "informed_consent"]
    async with calling_as(selection, CURATOR) as curator:
        await review_claim(curator, consent, "reject")

    assert (await import_all(ada, lines))["unchanged"] == 2
    assert (await import_all(ada, [{**lines[0], "year": 2001}, {**lines[1], "informed_consent": True}]))["updated"] == 2
    record = (await ada.get(path)).json()
    assert (record["year"], record["transparency"], record["informed_consent"]) == (2001, True, None)
    assert len((await ada.get("/datasets/?informed_consent=true")).json()) == 1

    # Other values were not rejected.
    await import_all(ada, [{**lines[0], "informed_consent": False}])
    assert (await ada.get(path)).json()["informed_consent"] is False

    await ada.patch(path, json={"informed_consent": True})
    assert (await import_all(ada, lines[:1]))["unchanged"] == 1
    await import_all(ada, [{**lines[0], "year": 2002}])
    record = (await ada.get(path)).json()
    assert (record["year"], record["informed_consent"]) == (2002, True)


async def test_a_rejection_during_an_import_counts(
    selection: Selection, ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is rejected after a batch was compared with the records is left out of what the batch writes."""
    await import_all(ada, [record_with_key("a", informed_consent=True)])
    [record] = (await ada.get("/datasets/")).json()
    [consent] = (await evidence(ada, record["id"]))["claims"]
    prepare = BatchWriter.prepare

    async def prepare_and_reject(writer: BatchWriter, lines: Sequence[RecordLine]) -> PreparedBatch:
        batch = await prepare(writer, lines)
        async with calling_as(selection, CURATOR) as curator:
            await review_claim(curator, consent, "reject")
        return batch

    monkeypatch.setattr(BatchWriter, "prepare", prepare_and_reject)
    await import_all(ada, [record_with_key("a", informed_consent=True, year=2001)])
    [record] = (await ada.get("/datasets/")).json()
    assert (record["year"], record["informed_consent"]) == (2001, None)


async def test_what_a_curator_has_confirmed_stays(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """A line that leaves a confirmed value out does not withdraw it; another value and a single request do."""
    line = record_with_key("a", informed_consent=True, year=2001)
    await import_all(ada, [line])
    [record] = (await ada.get("/datasets/")).json()
    consent = next(claim for claim in (await evidence(ada, record["id"]))["claims"] if claim["value"] is True)
    async with calling_as(selection, CURATOR) as curator:
        await review_claim(curator, consent, "confirm")

    line_without_values = record_with_key("a")
    assert (await import_all(ada, [line_without_values]))["updated"] == 1
    assert (await import_all(ada, [line_without_values]))["unchanged"] == 1
    [record] = (await ada.get("/datasets/")).json()
    assert (record["informed_consent"], record["year"]) == (True, None)
    consent_state = await state(ada, record["id"])
    assert (consent_state["level"], consent_state["declared"]) == ("reviewed", True)

    changed_record = await ada.patch(f"/datasets/{record['id']}", json={"informed_consent": None})
    assert changed_record.json()["informed_consent"] is None

    await import_all(ada, [line])
    consent = next(
        claim
        for claim in (await evidence(ada, record["id"]))["claims"]
        if claim["value"] is True and claim["status"] == "active"
    )
    async with calling_as(selection, CURATOR) as curator:
        await review_claim(curator, consent, "confirm")
    await import_all(ada, [{**line, "informed_consent": False}])
    consent_state = await state(ada, record["id"])
    assert (consent_state["value"], consent_state["reviewed"]) == (False, None)


async def test_keys_belong_to_their_owner(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """The same key of another owner is another record, and records without a key are always made."""
    await import_all(ada, [record_with_key("a")])
    assert (await import_all(bob, [record_with_key("a")]))["made"] == 1
    assert (await import_all(bob, [FOUR, FOUR]))["made"] == 2
    assert (await import_all(bob, [FOUR]))["made"] == 1
    assert (await ada.get("/datasets/", params={"page": 1})).json()["total_count"] == 5


async def test_a_repeated_key_updates_the_record_of_the_same_body(ada: httpx2.AsyncClient) -> None:
    """Of two lines with one key, the later one wins, whatever batch they are in."""
    totals = await import_all(
        ada, [record_with_key("a", year=2001), record_with_key("b"), record_with_key("a", year=2002)]
    )
    assert (totals["made"], totals["updated"], totals["batches"]) == (2, 1, 2)
    page = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    assert [record["year"] for record in page] == [2002, None]


async def test_each_batch_is_compared_with_the_batches_before(
    ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that declares what is stored still changes its record if a line shortly before it has changed that."""
    monkeypatch.setattr(bulk_import, "LINES_PER_BATCH", 2)
    await import_all(ada, [record_with_key("a", year=2001)])

    totals = await import_all(
        ada,
        [record_with_key("a", year=2002), record_with_key("b"), record_with_key("a", year=2001), record_with_key("c")],
    )
    assert (totals["made"], totals["updated"], totals["unchanged"]) == (2, 2, 0)
    page = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    assert [record["year"] for record in page] == [2001, None, None]


async def test_imports_of_the_same_keys_meet(ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two imports of the same lines at once create each record once, whichever import comes first."""
    monkeypatch.setattr(bulk_import, "LINES_PER_BATCH", 3)
    records = [record_with_key(str(number)) for number in range(20)]
    totals = await asyncio.gather(import_all(ada, records), import_all(ada, records))

    assert sum(total["made"] for total in totals) == 20
    assert sum(total["unchanged"] for total in totals) == 20
    page = (await ada.get("/datasets/", params={"page": 1, "page_size": 100})).json()
    assert sorted(record["name"] for record in page["datasets"]) == sorted(record["name"] for record in records)


async def test_values_are_stored_as_they_were_sent(ada: httpx2.AsyncClient) -> None:
    """Characters and numbers that mean something to a database come back unchanged, also an empty text."""
    awkward_values = {
        "description": "a\n\\.\nb\r\n\t\"c\", 'd'; \\N \\x é \U0001f600",
        "file_path": "",
        "file_type": "\\N",
        "objective": "",
        "domain": ['say "yes", then \\no'],
        "missing_values_percentage": 1e-07,
        "instances_number": 2_000_000_000,
        "has_missing_values": False,
    }
    await import_all(ada, [record_with_key("a", **awkward_values)])
    single_record = await create_record(ada, **record_with_key("b", **awkward_values))
    imported_record = (await ada.get("/datasets/", params={"sort_by": "id"})).json()[0]

    assert {name: imported_record[name] for name in awkward_values} == awkward_values
    differing_members = {"id", "dataset_id", "name", "dataset_name", "metadata", "created_at", "updated_at"}
    assert {name: imported_record[name] for name in imported_record.keys() - differing_members} == {
        name: single_record[name] for name in single_record.keys() - differing_members
    }


async def test_a_key_may_be_a_whole_number(ada: httpx2.AsyncClient) -> None:
    """A number identifies a record like the text of its digits, and is kept as it is; other values identify nothing."""
    records = [{**FOUR, "metadata": {"source": {"name": "Archive", "key": key}}} for key in (17, True, 1.5, None, "")]
    assert (await import_all(ada, records))["made"] == 5
    totals = await import_all(ada, records)
    assert (totals["made"], totals["unchanged"]) == (4, 1)
    assert (await import_all(ada, [record_with_key("17", year=2001)]))["updated"] == 1

    single_record = {**FOUR, "metadata": {"source": {"name": "Archive", "key": 17}}}
    response = await ada.post("/datasets/", json=single_record)
    assert (response.status_code, response.json()["code"]) == (409, "source_taken")


async def test_parameters_of_other_imports_are_refused(ada: httpx2.AsyncClient) -> None:
    """Whoever asks for a dry run or for private records does not publish records by mistake."""
    for parameters in ({"dry_run": "true"}, {"visibility": "private"}, {"dry_run": "true", "visibility": "private"}):
        answer = await ada.post("/datasets/bulk", params=parameters, content=as_lines([FOUR]), headers=JSON_LINES)
        assert answer.status_code == 422, answer.text
        assert [error["loc"] for error in answer.json()["errors"]] == [["query", name] for name in parameters]
        assert {error["type"] for error in answer.json()["errors"]} == {"no_parameters"}
    assert (await ada.get("/datasets/")).json() == []


async def test_refused_lines_are_reported_by_number(ada: httpx2.AsyncClient) -> None:
    """A line that is refused says why, as a single record would, and does not keep others from being imported."""
    record_with_bad_year = {**FOUR, "year": 1492}
    lines = [
        json.dumps(record_with_key("a")).encode(),
        json.dumps(record_with_bad_year).encode(),
        b"   ",
        b"{not json",
        b"[1]",
        json.dumps({**FOUR, "yaer": 2000}).encode() + b"\r",
        json.dumps({**FOUR, "dataset_name": "Other"}).encode(),
        json.dumps(record_with_key("b")).encode(),
    ]
    batches, totals = await import_lines(ada, b"\n".join(lines))
    codes_by_line = {refusal["line"]: refusal["code"] for refusal in batches[0]["refused"]}
    assert codes_by_line == {
        2: "validation_error",
        4: "not_json",
        5: "validation_error",
        6: "unknown_name",
        7: "conflicting_values",
    }
    assert totals == {"done": True, "batches": 1, "lines": 8, "made": 2, "updated": 0, "unchanged": 0, "refused": 5}
    single_response = await ada.post("/datasets/", json=record_with_bad_year)
    assert batches[0]["refused"][0]["detail"] == single_response.json()["detail"]


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        (b'{"n\xc3\xa9": ?}', "not_json", "The line is not valid JSON from character 8 on"),
        (b'{"name": "a",', "not_json", "The line is not valid JSON: it ends too early"),
        ('{"name": "é"}'.encode("latin-1"), "not_json", "The line is not text in UTF-8"),
        (b"\x1f\x8b\x08\x00", "not_json", "The line is not text in UTF-8"),
        (b"[" * 10_000, "not_json", "The line is not valid JSON"),
        (b"[1]", "validation_error", "Invalid value for the line: a JSON object is expected"),
        (b'{"year": 1e999}', "validation_error", "Invalid value for the line: a number is out of range"),
        (b'{"name": "' + b"a" * 2**22 + b'"}', "too_large", "The line is too long: at most 4194304 bytes"),
    ],
    ids=["wrong word", "incomplete", "other encoding", "compressed", "too deep", "list", "infinite", "too long"],
)
async def test_unreadable_lines_say_what_is_wrong(
    ada: httpx2.AsyncClient, line: bytes, code: str, sentence: str
) -> None:
    """The sentence is about the line and not about the whole body, and names the place where it ceases to be JSON."""
    batches, _totals = await import_lines(ada, b"\n" + line, language="en")
    assert batches[0]["refused"] == [{"line": 2, "code": code, "detail": sentence}]


async def test_batches_have_a_bounded_size(ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long body is stored in several transactions, each of which is reported."""
    monkeypatch.setattr(bulk_import, "LINES_PER_BATCH", 4)
    batches, totals = await import_lines(ada, as_lines([record_with_key(str(number)) for number in range(10)]))
    assert [(batch["batch"], batch["last_line"], batch["made"]) for batch in batches] == [
        (1, 4, 4),
        (2, 8, 4),
        (3, 10, 2),
    ]
    assert totals["made"] == 10


async def test_batches_are_stored_in_the_order_of_their_lines(
    ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches are prepared side by side and stored one after the other, and refused lines count towards their size."""
    monkeypatch.setattr(bulk_import, "LINES_PER_BATCH", 2)
    lines = [json.dumps(record_with_key(str(number))).encode() for number in range(40)]
    lines[20] = b"{}"
    batches, totals = await import_lines(ada, b"\n".join(lines))

    assert [len(batch["refused"]) + batch["made"] for batch in batches] == [2] * 20
    assert [batch["last_line"] for batch in batches] == list(range(2, 41, 2))
    assert (totals["made"], totals["refused"]) == (39, 1)

    page = (await ada.get("/datasets/", params={"sort_by": "id", "limit": 100})).json()
    keys = [record["metadata"]["source"]["key"] for record in page]
    assert keys == [str(number) for number in range(40) if number != 20]


async def test_batches_may_lack_new_records(ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch whose lines change nothing, or change records, or are refused, may stand before one with new records."""
    monkeypatch.setattr(bulk_import, "LINES_PER_BATCH", 2)
    await import_all(ada, [record_with_key(key) for key in ("a", "b", "c", "d")])

    lines = [json.dumps(record_with_key(key, year=year)).encode() for key, year in (("c", 2001), ("d", 2002))]
    lines += [json.dumps(record_with_key(key)).encode() for key in ("a", "b")]
    lines += [b"{}", b"[]"]
    lines += [json.dumps(record_with_key(key)).encode() for key in ("e", "f", "g")]
    _batches, totals = await import_lines(ada, b"\n".join(lines))
    counts = {name: totals[name] for name in ("made", "updated", "unchanged", "refused")}
    assert counts == {"made": 3, "updated": 2, "unchanged": 2, "refused": 2}

    records = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    assert [record["year"] for record in records] == [None, None, 2001, 2002, None, None, None]
    assert [record["metadata"]["source"]["key"] for record in records] == list("abcdefg")


async def test_batches_are_smaller_while_others_write_single_records(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single write waits for one batch, so that batches are stored more quickly once there has been one."""
    monkeypatch.setattr(bulk_import, "LINES_PER_BATCH", 10)
    monkeypatch.setattr(bulk_import, "LINES_PER_BATCH_DURING_SINGLE_WRITES", 2)
    totals = await import_all(ada, [record_with_key(str(number)) for number in range(10)])
    assert totals["batches"] == 1

    assert (await bob.post("/datasets/", json=FOUR | {"name": "Single"})).status_code == 201
    totals = await import_all(ada, [record_with_key(str(number)) for number in range(10, 20)])
    assert (totals["batches"], totals["made"]) == (5, 10)


async def test_an_import_waits_while_a_single_record_is_written(
    selection: Selection, ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Single writes go first, and the import goes on when they are done."""
    monkeypatch.setattr(single_writes, "_MAX_WAIT_SECONDS", math.inf)
    # The first import of a process loads libraries, which takes a moment.
    await import_all(ada, [record_with_key("first")])

    with selection.services.catalog.single_writes.track():
        import_task = asyncio.ensure_future(import_all(ada, [record_with_key("a")]))
        await asyncio.sleep(0.5)
        assert not import_task.done()

    assert (await import_task)["made"] == 1


async def test_exported_records_can_be_imported_again(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """What an export writes is a body of an import; the service's own members are dropped."""
    await import_all(ada, [record_with_key("a", year=2001, domain=["health"], transparency=False, citations=7), FOUR])
    exported_lines = (await ada.get("/datasets/export.jsonl")).content

    _batches, totals = await import_lines(bob, exported_lines)
    assert (totals["made"], totals["refused"]) == (2, 0)
    page = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    differing_members = {"id", "dataset_id", "declared_by", "created_at", "updated_at"}
    for original, copy in zip(page[:2], page[2:], strict=True):
        assert {key: original[key] for key in original.keys() - differing_members} == {
            key: copy[key] for key in copy.keys() - differing_members
        }


def test_service_fields_are_those_that_cannot_be_declared() -> None:
    """The members of a record that an import drops are exactly those that a new record cannot have."""
    assert set(DatasetView.model_fields) - set(DatasetCreate.model_fields) == SERVICE_FIELDS


async def test_the_quota_holds_line_by_line(settings: Settings, database: Database) -> None:
    """Lines beyond the owner's quota are refused, and an update that shrinks a record makes room again."""
    limited_settings = settings.model_copy(update={"record_quota_bytes": 4096})
    selection = await Selection.open(limited_settings, database, None)
    async with client_of(selection) as ada:
        long_text, short_text = "d" * 1500, "d"
        batches, totals = await import_lines(
            ada, as_lines([record_with_key(key, description=long_text) for key in "abc"])
        )
        assert totals["made"] == 1 or totals["made"] == 2
        assert {refusal["code"] for refusal in batches[0]["refused"]} == {"record_quota_exceeded"}
        single_refusal = await ada.post("/datasets/", json={**FOUR, "description": long_text})
        assert (single_refusal.status_code, single_refusal.json()["detail"]) == (
            413,
            batches[0]["refused"][0]["detail"],
        )

        shrunk_records = [record_with_key("a", description=short_text), record_with_key("b", description=short_text)]
        _batches, totals = await import_lines(ada, as_lines(shrunk_records))
        assert totals["refused"] == 0
        for record in (await ada.get("/datasets/")).json():
            assert (await ada.delete(f"/datasets/{record['id']}")).status_code == 204
        _batches, totals = await import_lines(ada, as_lines([record_with_key("z", description=long_text)]))
        assert totals["made"] == 1
    await selection.close()


async def test_imported_records_take_as_much_of_the_quota(ada: httpx2.AsyncClient, database: Database) -> None:
    """An imported record is as large as the same record that was created alone."""
    fields = {"description": 'é "quoted"\n\t', "domain": ["health", "équité"], "transparency": False, "citations": 12}
    for key in ("a", "b"):
        record = record_with_key(key, **fields, missing_values_percentage=0.5)
        await import_all(ada, [record])
        record["metadata"]["source"].pop("key")
        await import_all(ada, [record])
        await create_record(ada, **record)

    async with database.reading() as connection:
        rows = await connection.all(sa.select(datasets.c.bytes).order_by(datasets.c.id))
    sizes = [row["bytes"] for row in rows]
    bytes_of_key = len(',"key":"a"')
    assert sizes == [sizes[0], sizes[0] - bytes_of_key, sizes[0] - bytes_of_key] * 2


async def test_claims_outlive_an_import(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """A line replaces what the owner declares; what others claim, and the service has imported, stays."""
    await import_all(ada, [record_with_key("a", transparency=True, citations=1)])
    record = (await ada.get("/datasets/")).json()[0]
    claim = {"attribute": "informed_consent", "value": True, "quote": "All signed."}
    assert (await ada.post(f"/datasets/{record['id']}/evidence", json=claim)).status_code == 201

    totals = await import_all(ada, [record_with_key("a", transparency=True, citations=2, informed_consent=True)])
    assert totals["updated"] == 1
    states = (await ada.get(f"/datasets/{record['id']}/evidence")).json()["attributes"]
    assert (states["informed_consent"]["value"], states["citations"]["value"]) == (True, 2)

    await import_all(ada, [record_with_key("a", transparency=True, citations=2, informed_consent=False)])
    states = (await ada.get(f"/datasets/{record['id']}/evidence")).json()["attributes"]
    assert states["informed_consent"]["value"] is False


async def test_private_records_need_an_owner(selection: Selection) -> None:
    """Nobody could see a private record without an owner, so its line is refused."""
    async with client_of(selection, None) as nobody:
        batches, totals = await import_lines(
            nobody, as_lines([{**FOUR, "visibility": "private"}, record_with_key("a")])
        )
    assert (totals["made"], [refusal["line"] for refusal in batches[0]["refused"]]) == (1, [1])


async def test_only_json_lines_are_taken(ada: httpx2.AsyncClient) -> None:
    """A body of another media type is refused before it is read."""
    answer = await ada.post("/datasets/bulk", json=FOUR)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media")


async def test_a_single_write_is_not_kept_waiting(ada: httpx2.AsyncClient) -> None:
    """While a body arrives, others create records, which they see at once."""
    seen_counts: list[int] = []

    async def body() -> AsyncIterator[bytes]:
        for number in range(3):
            yield as_lines([record_with_key(f"{number}-{index}") for index in range(600)])
            record = await create_record(ada, name=f"Single {number}")
            page = (await ada.get("/datasets/", params={"dataset_name": "single", "page": 1})).json()
            assert record["id"] in {listed_record["id"] for listed_record in page["datasets"]}
            seen_counts.append(page["total_count"])

    answer = await ada.post("/datasets/bulk", content=body(), headers=JSON_LINES)
    assert json.loads(answer.text.splitlines()[-1])["made"] == 1800
    assert seen_counts == [1, 2, 3]


def test_long_lines_are_cut_off() -> None:
    """A line over the limit has no content, and nothing of it is kept; the lines after it are complete."""
    splitter = LineSplitter(max_bytes=10)
    lines = []
    for chunk in (b"one\ntw", b"o\n" + b"x" * 8, b"x" * 8, b"x\nthree\n\n", b"four"):
        lines += splitter.split(chunk)
    lines += splitter.last_line()
    assert [(line.number, line.content) for line in lines] == [
        (1, b"one"),
        (2, b"two"),
        (3, None),
        (4, b"three"),
        (6, b"four"),
    ]


async def test_a_byte_order_mark_is_no_part_of_the_first_line(ada: httpx2.AsyncClient) -> None:
    """Editors on Windows begin files with it; anywhere else it makes a line malformed."""
    line = json.dumps(FOUR).encode() + b"\n"
    _batches, totals = await import_lines(ada, codecs.BOM_UTF8 + line + codecs.BOM_UTF8 + line)
    assert (totals["made"], totals["refused"]) == (1, 1)


async def test_names_and_words_that_show_nothing_are_refused(ada: httpx2.AsyncClient) -> None:
    """A line is refused like a single record with an invisible name, domain or task."""
    changes: list[dict[str, Any]] = [
        {"name": "\u200b"},
        {"name": "\u3164"},
        {"domain": ["\u2800"]},
        {"task": ["\u200b"]},
    ]
    lines = [json.dumps({**FOUR, **change}).encode() for change in changes]
    _batches, totals = await import_lines(ada, b"\n".join(lines))
    assert (totals["made"], totals["refused"]) == (0, len(changes))


def _values(attribute_kind: Kind) -> strategies.SearchStrategy[Any]:
    """Return values for an attribute of a kind, of which some are valid."""
    texts = strategies.one_of(
        strategies.text(max_size=5), strategies.sampled_from(["  a ", "", "\u3164", "x" * 300, "a\x00"])
    )
    numbers = strategies.one_of(
        strategies.integers(-2, 120),
        strategies.floats(allow_nan=False),
        strategies.sampled_from([1900, 2027, 2028, 3.0, 2**53, 2**31, 1.5, 100.0, 100.5]),
    )
    likely_values = {
        Kind.TEXT: texts,
        Kind.WORDS: strategies.lists(texts, max_size=3),
        Kind.INTEGER: numbers,
        Kind.PERCENTAGE: numbers,
        Kind.FLAG: strategies.booleans(),
    }
    return strategies.one_of(
        strategies.none(), likely_values[attribute_kind], strategies.sampled_from([1, "1", True, [], {}])
    )


_METADATA = strategies.recursive(
    strategies.one_of(strategies.none(), strategies.booleans(), strategies.integers(), strategies.text(max_size=4)),
    lambda inner: strategies.one_of(
        strategies.lists(inner, max_size=2), strategies.dictionaries(strategies.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)
_OPTIONAL = {
    **{attribute.name: _values(attribute.kind) for attribute in ATTRIBUTES},
    "visibility": strategies.sampled_from(["public", "private", "hidden", None]),
    "metadata": strategies.one_of(strategies.none(), strategies.dictionaries(strategies.text(max_size=3), _METADATA)),
    "hidden": strategies.sampled_from([True, False, None, "true"]),
    "id": strategies.integers(),
    "unknown": strategies.just(1),
}
_REQUIRED = {name: _values(Kind.TEXT) for name in FOUR}


@given(
    strategies.fixed_dictionaries(_REQUIRED),
    strategies.sets(strategies.sampled_from(sorted(_OPTIONAL)), max_size=3),
    strategies.data(),
)
def test_lines_are_valid_if_single_records_are(
    required_fields: dict[str, Any], optional_names: set[str], data: strategies.DataObject
) -> None:
    """The quick parser accepts nothing that the schema of single records refuses, and reads the same from it."""
    record = {**required_fields, **{name: data.draw(_OPTIONAL[name]) for name in optional_names}}
    line = msgspec.json.encode(record)
    quick_record = RecordParser(1000).parse_quickly(line)
    if quick_record is None:
        return

    single_record = {key: value for key, value in record.items() if key not in SERVICE_FIELDS}
    try:
        DatasetCreate.model_validate(msgspec.json.decode(msgspec.json.encode(single_record)))
        slow_record = parse_with_schema(line)
    except (ValidationError, ServiceError) as error:
        raise AssertionError(f"{line!r} was accepted") from error
    assert msgspec.json.encode(quick_record) == msgspec.json.encode(slow_record)


def test_most_lines_are_parsed_quickly() -> None:
    """An ordinary record, and an exported one, need no schema."""
    record = record_with_key(
        "a", year=2020, domain=["health"], missing_values_percentage=5, is_split=True, id=7, declared_by=None
    )
    assert RecordParser(1000).parse_quickly(msgspec.json.encode(record)) is not None


async def test_other_owners_do_not_see_private_imports(selection: Selection) -> None:
    """A private record of an import is seen by its owner alone."""
    async with client_of(selection, ADA) as ada, client_of(selection, BOB) as bob:
        await import_all(ada, [record_with_key("a", visibility="private")])
        assert len((await ada.get("/datasets/")).json()) == 1
        assert (await bob.get("/datasets/")).json() == []
