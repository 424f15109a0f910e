"""Exports and bulk imports: streams of records in both directions, with both kinds of client."""

import bz2
import gzip
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.client.scripted import KINDS, Caller, Script, refusal
from touchstone.client import Dataset, RefusedLine, TouchstoneError
from touchstone.client.bulk_calls import bulk_import_calls
from touchstone.client.export_calls import ExportedRecords

RECORD = {"id": 1, "dataset_id": str(UUID(int=1)), "name": "A\u2028B\x85", "dataset_name": "A\u2028B\x85"}
LINE = json.dumps(RECORD, ensure_ascii=False).encode() + b"\n"


def bulk_answer(*lines: dict[str, Any]) -> httpx2.Response:
    """Return a response to a bulk import."""
    return httpx2.Response(200, content=b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def batch_line(last_line: int, created: int = 0, *refused_lines: int) -> dict[str, Any]:
    """Return a line of a response about one batch."""
    refusals = [{"line": line, "code": "invalid", "detail": "No."} for line in refused_lines]
    return {"batch": 1, "last_line": last_line, "made": created, "updated": 0, "unchanged": 0, "refused": refusals}


@pytest.mark.parametrize("kind", KINDS)
def test_exported_records_are_read_line_by_line(kind: str) -> None:
    """Only line feeds separate records, whatever characters are in their texts."""
    script = Script(httpx2.Response(200, content=LINE * 3))
    records = Caller(kind, script)("export_records", sort_by="year", domain="x")
    assert [record.name for record in records] == [RECORD["name"]] * 3
    assert script.request_lines == ["GET /api/v1/datasets/export.jsonl"]
    assert script.requests[0].url.query == b"sort_by=year&domain=x"


def test_lines_may_arrive_in_pieces() -> None:
    """A record is read when its line is complete, and a truncated export is an error."""
    records = ExportedRecords()
    received: list[Dataset] = []
    for start in range(0, 2 * len(LINE), 7):
        received += records.read_chunk((LINE * 2)[start : start + 7])
    records.check_completeness()
    assert [record.id for record in received] == [1, 1]

    records.read_chunk(LINE[:-5])
    with pytest.raises(TouchstoneError, match="middle of a record"):
        records.check_completeness()


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_that_is_none_is_an_error(kind: str) -> None:
    """A refusal has its code, and the page of a proxy is unreadable."""
    for answer, code in ((refusal(422, "invalid"), "invalid"), (httpx2.Response(200, content=b"<p>\n"), "unreadable")):
        with pytest.raises(TouchstoneError) as problem:
            Caller(kind, Script(answer))("export_records")
        assert problem.value.code == code


@pytest.mark.parametrize("kind", KINDS)
def test_an_import_is_divided_into_requests(kind: str, tmp_path: Path) -> None:
    """Lines are counted over the whole import, and the file is read the same whether it is compressed or not."""
    content = b"\xef\xbb\xbf" + b"".join(b'{"name": "%d"}\r\n' % number for number in range(5))
    (tmp_path / "plain.jsonl").write_bytes(content)
    (tmp_path / "small.jsonl.gz").write_bytes(gzip.compress(content))
    for file in tmp_path.iterdir():
        script = Script(
            bulk_answer(batch_line(2, 2), {"done": True}),
            bulk_answer(batch_line(1, 1), batch_line(2, 0, 2), {"done": True}),
            bulk_answer(batch_line(1, 1), {"done": True}),
        )
        batches = Caller(kind, script)("import_bulk", file, lines_per_request=2)

        assert [(batch.last_line, batch.created) for batch in batches] == [(2, 2), (3, 1), (4, 0), (5, 1)]
        assert batches[2].refused == [RefusedLine(line=4, code="invalid", detail="No.")]
        bodies = [request.content for request in script.requests]
        assert bodies == [b'{"name": "0"}\n{"name": "1"}\n', b'{"name": "2"}\n{"name": "3"}\n', b'{"name": "4"}\n']
        assert script.requests[0].headers["Content-Type"] == "application/x-ndjson"


def test_every_form_of_a_record_is_sent() -> None:
    """Mappings, lines, and the records of another catalog, of which ids, scores and times are left out."""
    exported = Dataset(id=7, dataset_id=UUID(int=7), name="C", dataset_name="C", year=2020, ethical_score=0.5)
    script = Script(bulk_answer(batch_line(3, 3), {"done": True}))
    Caller("sync", script)("import_bulk", [{"name": "A"}, b'{"name": "B"}', exported])

    first, second, third = (json.loads(line) for line in script.requests[0].content.splitlines())
    assert (first, second) == ({"name": "A"}, {"name": "B"})
    assert (third["name"], third["year"]) == ("C", 2020)
    assert not {"id", "dataset_id", "ethical_score", "created_at"} & set(third)


def test_what_was_stored_is_reported_before_the_error() -> None:
    """If the service takes only some of the lines, the batches come first, and no further request is sent."""
    script = Script(bulk_answer(batch_line(1, 1), {"done": False, "code": "storage_full", "detail": "No room."}))
    batches = Caller("sync", script).client.import_bulk([{"name": "A"}] * 4, lines_per_request=2)

    assert next(batches).last_line == 1
    with pytest.raises(TouchstoneError, match="No room"):
        next(batches)
    assert len(script.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_busy_service_is_asked_again(kind: str) -> None:
    """A request that was refused as a whole is sent again, but not one whose connection broke."""
    busy = refusal(503, "overloaded", **{"Retry-After": "0"})
    script = Script(busy, bulk_answer(batch_line(1, 1), {"done": True}))
    assert len(Caller(kind, script)("import_bulk", [{"name": "A"}])) == 1

    script = Script(httpx2.ReadError("broken"))
    with pytest.raises(TouchstoneError, match="broken"):
        Caller(kind, script)("import_bulk", [{"name": "A"}])


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_may_need_longer_to_import_than_to_answer(kind: str) -> None:
    """The service is silent while it stores the lines of a request, and is given minutes for that."""
    script = Script(bulk_answer(batch_line(1, 1), {"done": True}), httpx2.Response(200, content=LINE))
    caller = Caller(kind, script)
    caller("import_bulk", [RECORD])
    caller("export_records")

    import_seconds, export_seconds = [request.extensions["timeout"]["read"] for request in script.requests]
    assert import_seconds >= 300 > export_seconds


def test_an_answer_without_an_end_is_unreadable() -> None:
    """A response that does not say whether everything was taken is an error."""
    for answer in (bulk_answer(), bulk_answer(batch_line(1, 1)), httpx2.Response(200, content=b"<p>")):
        with pytest.raises(TouchstoneError) as problem:
            Caller("sync", Script(answer))("import_bulk", [{"name": "A"}])
        assert problem.value.code == "unreadable"


def test_records_may_be_lines_of_text() -> None:
    """Lines of a text file are records, too."""
    [call] = bulk_import_calls(['{"name": "é"}\n', '{"name": "b"}'])
    assert call.content == '{"name": "é"}\n{"name": "b"}\n'.encode()


def test_a_record_is_one_line_even_if_its_text_has_several() -> None:
    """The numbers of refused lines are those of the records, however the records are written."""
    [call] = bulk_import_calls(['{\n  "name": "a"\n}\n', b'{\r\n"name": "b"}'])
    assert isinstance(call.content, bytes)
    assert [json.loads(line) for line in call.content.split(b"\n")[:-1]] == [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize(
    ("content", "format_name"),
    [(b"PAR1\x15\x04", "Parquet"), (gzip.compress(b"{}"), "gzip"), (bz2.compress(b"{}"), "bzip2")],
    ids=["parquet", "gzip", "bzip2"],
)
def test_a_file_that_is_no_text_is_no_source(tmp_path: Path, content: bytes, format_name: str) -> None:
    """The error names the format, instead of a refusal of every line."""
    file = tmp_path / "records"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"records is a {format_name} file"):
        list(bulk_import_calls(file))


@pytest.mark.parametrize("source", ["records.jsonl", b"{}", {"name": "x"}])
def test_a_single_record_or_a_path_as_text_is_no_source(source: Any) -> None:
    """A text would be taken apart into its characters."""
    with pytest.raises(TypeError, match="Path or an iterable of records"):
        list(bulk_import_calls(source))
