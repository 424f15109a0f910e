"""`touchstone import --bulk` and `touchstone catalog export`: whole catalogs in files."""

import bz2
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.running import PASSWORD, answer, run
from tests.cli.served import served


@pytest.fixture(scope="module", autouse=True)
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a served product at which a user is signed in."""
    with served(tmp_path_factory.mktemp("served")) as address:
        run("user", "create", "me@example.org", "--password", PASSWORD)
        answer("login", "--url", address, "--email", "me@example.org", "--password", PASSWORD)
        yield address


def record(source: str, key: int, **fields: Any) -> dict[str, Any]:
    """Return a record that an import recognises by its key in a source."""
    required = {"name": f"{source} {key}", "description": "d", "file_path": f"{key}.csv", "file_type": "csv"}
    return {**required, "metadata": {"source": {"name": source, "key": str(key)}}, **fields}


def lines_of(records: list[dict[str, Any]]) -> bytes:
    """Return records as JSON Lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def counts_of(report: dict[str, Any]) -> tuple[int, int, int, int]:
    """Return how many records an import has created, updated, left unchanged and refused."""
    return report["created"], report["updated"], report["unchanged"], report["refused"]


def test_an_import_can_be_repeated(tmp_path: Path) -> None:
    """Records with a key are created once, then unchanged or updated, from plain and compressed files."""
    records = [record("repeated", key, year=2000 + key, domain=["health", "text"]) for key in range(5)]
    plain, small, smaller = (tmp_path / name for name in ("a.jsonl", "a.jsonl.gz", "a.jsonl.bz2"))
    plain.write_bytes(lines_of(records))
    small.write_bytes(gzip.compress(lines_of(records)))
    smaller.write_bytes(bz2.compress(lines_of([*records[1:], record("repeated", 0, year=1999)])))

    assert counts_of(answer("import", "--bulk", str(plain))) == (5, 0, 0, 0)
    assert counts_of(answer("import", "--bulk", str(small))) == (0, 0, 5, 0)
    assert counts_of(answer("import", "--bulk", str(smaller))) == (0, 1, 4, 0)
    assert answer("catalog", "list", "--source", "repeated", "--sort-by", "year")["datasets"][0]["year"] == 1999


def test_refused_lines_are_listed_and_the_rest_is_imported(tmp_path: Path) -> None:
    """Each refused line has its number in the file and its reason, and the exit status is 1."""
    file = tmp_path / "faulty.jsonl"
    valid = [record("faulty", key) for key in range(3)]
    file.write_bytes(lines_of([valid[0], {"name": "no description"}, valid[1]]) + b"nonsense\n" + lines_of(valid[2:]))

    result = run("import", "--bulk", str(file), "--json")
    report = json.loads(result.stdout)
    assert (result.exit_code, counts_of(report)) == (1, (3, 0, 0, 2))
    assert [refusal["line"] for refusal in report["refusals"]] == [2, 4]
    assert "line 4: " in run("import", "--bulk", str(file), "--table").stdout


def test_an_import_goes_on_from_a_line(tmp_path: Path) -> None:
    """The lines before the given one are passed over, and lines are still counted from the beginning of the file."""
    file = tmp_path / "continued.jsonl"
    file.write_bytes(lines_of([record("continued", key) for key in range(4)]) + b"{}\n")

    result = run("import", "--bulk", str(file), "--from-line", "3", "--json")
    report = json.loads(result.stdout)
    assert counts_of(report) == (2, 0, 0, 1)
    assert (report["refusals"][0]["line"], report["next_line"]) == (5, 6)


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_a_catalog_moves_as_a_whole(tmp_path: Path, file_format: str) -> None:
    """What is exported is recognised by an import, record by record, and is created again once it was deleted."""
    source = f"moved as {file_format}"
    fields = {
        "objective": "=1",
        "task": ["QA"],
        "missing_values_percentage": 1.5,
        "transparency": False,
        "is_split": True,
    }
    original = tmp_path / "original.jsonl"
    original.write_bytes(lines_of([record(source, key, citations=key, **fields) for key in range(3)]))
    answer("import", "--bulk", str(original))
    before = answer("catalog", "list", "--source", source)["datasets"]

    file = tmp_path / f"exported.{file_format}"
    answer("catalog", "export", str(file), "--source", source)
    assert counts_of(answer("import", "--bulk", str(file))) == (0, 0, 3, 0)

    for dataset in before:
        answer("catalog", "delete", str(dataset["id"]))
    assert counts_of(answer("import", "--bulk", str(file))) == (3, 0, 0, 0)
    after = answer("catalog", "list", "--source", source)["datasets"]
    determined = {"id", "dataset_id", "created_at", "updated_at"}
    for old, new in zip(before, after, strict=True):
        assert {name: new[name] for name in set(new) - determined} == {
            name: old[name] for name in set(old) - determined
        }


def test_exports_may_be_compressed(tmp_path: Path) -> None:
    """The suffix before .gz says which format is compressed, and the standard output takes Parquet as well."""
    answer("catalog", "add", "Compressed", "--visibility", "private")
    small = tmp_path / "catalog.jsonl.gz"
    assert answer("catalog", "export", str(small), "--name", "Compressed")["exported"] == 1
    assert json.loads(gzip.decompress(small.read_bytes()))["name"] == "Compressed"

    printed = run("catalog", "export", "-", "--format", "parquet", "--name", "Compressed")
    assert pq.read_table(pa.BufferReader(printed.stdout_bytes))["name"].to_pylist() == ["Compressed"]


def test_files_that_cannot_be_imported(tmp_path: Path) -> None:
    """A missing file, a file that is not Parquet, an unknown column and an option of documents are wrong usage."""
    wrong, columns = tmp_path / "wrong.parquet", tmp_path / "columns.parquet"
    wrong.write_bytes(b"no table")
    pq.write_table(pa.table({"name": ["A"], "yeer": [2000]}), columns)
    for arguments, message in (
        ([str(tmp_path / "missing.jsonl")], "missing.jsonl"),
        ([str(wrong)], "wrong.parquet"),
        ([str(columns)], "did you mean year?"),
        ([str(columns), "--dry-run"], "--dry-run"),
    ):
        result = run("import", "--bulk", *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
