"""`touchstone import --bulk` and `touchstone catalog export`: whole catalogs in files."""

import bz2
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.running import PASSWORD, run, run_json
from tests.cli.served import served
from touchstone.client.bulk_calls import LINES_PER_REQUEST


@pytest.fixture(scope="module", autouse=True)
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the product, sign a user in at it, and return its address."""
    with served(tmp_path_factory.mktemp("served")) as address:
        run("user", "create", "me@example.org", "--password", PASSWORD)
        run_json("login", "--url", address, "--email", "me@example.org", "--password", PASSWORD)
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
    plain_file, gzip_file, bzip2_file = (tmp_path / name for name in ("a.jsonl", "a.jsonl.gz", "a.jsonl.bz2"))
    plain_file.write_bytes(lines_of(records))
    gzip_file.write_bytes(gzip.compress(lines_of(records)))
    bzip2_file.write_bytes(bz2.compress(lines_of([*records[1:], record("repeated", 0, year=1999)])))

    assert counts_of(run_json("import", "--bulk", str(plain_file))) == (5, 0, 0, 0)
    assert counts_of(run_json("import", "--bulk", str(gzip_file))) == (0, 0, 5, 0)
    assert counts_of(run_json("import", "--bulk", str(bzip2_file))) == (0, 1, 4, 0)
    assert run_json("catalog", "list", "--source", "repeated", "--sort-by", "year")["datasets"][0]["year"] == 1999


def test_refused_lines_are_listed_and_the_rest_is_imported(tmp_path: Path) -> None:
    """Each refused line has its number in the file and its reason, and the exit status is 1."""
    file = tmp_path / "faulty.jsonl"
    valid_records = [record("faulty", key) for key in range(3)]
    file.write_bytes(
        lines_of([valid_records[0], {"name": "no description"}, valid_records[1]])
        + b"nonsense\n"
        + lines_of(valid_records[2:])
    )

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
    run_json("import", "--bulk", str(original))
    datasets_before = run_json("catalog", "list", "--source", source)["datasets"]

    file = tmp_path / f"exported.{file_format}"
    run_json("catalog", "export", str(file), "--source", source)
    assert counts_of(run_json("import", "--bulk", str(file))) == (0, 0, 3, 0)

    for dataset in datasets_before:
        run_json("catalog", "delete", str(dataset["id"]))
    assert counts_of(run_json("import", "--bulk", str(file))) == (3, 0, 0, 0)
    datasets_after = run_json("catalog", "list", "--source", source)["datasets"]
    service_fields = {"id", "dataset_id", "created_at", "updated_at"}
    for old, new in zip(datasets_before, datasets_after, strict=True):
        assert {name: new[name] for name in set(new) - service_fields} == {
            name: old[name] for name in set(old) - service_fields
        }


def test_exports_may_be_compressed(tmp_path: Path) -> None:
    """The suffix before .gz says which format is compressed, and the standard output takes Parquet as well."""
    run_json("catalog", "add", "Compressed", "--visibility", "private")
    file = tmp_path / "catalog.jsonl.gz"
    assert run_json("catalog", "export", str(file), "--name", "Compressed")["exported"] == 1
    assert json.loads(gzip.decompress(file.read_bytes()))["name"] == "Compressed"

    result = run("catalog", "export", "-", "--format", "parquet", "--name", "Compressed")
    assert pq.read_table(pa.BufferReader(result.stdout_bytes))["name"].to_pylist() == ["Compressed"]


def test_records_may_come_from_a_pipe(tmp_path: Path) -> None:
    """A named pipe is read like the standard input."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[lines_of([record("piped", 1)]).decode()])
    writer.start()
    assert counts_of(run_json("import", "--bulk", str(pipe))) == (1, 0, 0, 0)
    writer.join()


def test_files_that_cannot_be_imported(tmp_path: Path) -> None:
    """A missing file, a file that is not Parquet, an unknown column and an option of documents are wrong usage."""
    text_file, misspelled_file = tmp_path / "wrong.parquet", tmp_path / "columns.parquet"
    repeating_file = tmp_path / "repeated.parquet"
    text_file.write_bytes(b"no table")
    pq.write_table(pa.table([["A"], ["B"]], names=["name", "name"]), repeating_file)
    pq.write_table(pa.table({"name": ["A"], "yeer": [2000]}), misspelled_file)
    for arguments, message in (
        ([str(tmp_path / "missing.jsonl")], "missing.jsonl: No such file or directory\n"),
        ([str(tmp_path / "table.csv")], "touchstone catalog import"),
        ([str(text_file)], "wrong.parquet"),
        ([str(misspelled_file)], "did you mean year?"),
        ([str(repeating_file)], "there are 2 columns name"),
        ([str(misspelled_file), "--dry-run"], "--dry-run"),
    ):
        result = run("import", "--bulk", *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output


def test_rows_of_parquet_are_read_as_the_service_reads_them(tmp_path: Path) -> None:
    """Bytes are texts and decimals are numbers, and a row is one line although its metadata contain line breaks."""
    file = tmp_path / "types.parquet"
    metadata = [json.dumps(record("types", key)["metadata"], indent=2) for key in range(2)]
    columns = {
        "name": [b"Caf\xc3\xa9", b"\xff"],
        "description": ["d", "d"],
        "file_path": ["", ""],
        "file_type": ["csv", "csv"],
        "missing_values_percentage": [Decimal("12.50"), Decimal("1.00")],
        "metadata": metadata,
        "__index_level_0__": [4, 9],
    }
    pq.write_table(pa.table(columns), file)

    result = run("import", "--bulk", str(file), "--json")
    report = json.loads(result.stdout)
    assert counts_of(report) == (1, 0, 0, 1)
    assert (report["refusals"][0]["line"], report["next_line"]) == (2, 3)
    [dataset] = run_json("catalog", "list", "--source", "types")["datasets"]
    assert (dataset["name"], dataset["missing_values_percentage"]) == ("Café", 12.5)


@pytest.fixture(scope="module")
def long_content() -> bytes:
    """Return one line more than the client sends in a request; the first of them is refused."""
    return b"{}\n" + lines_of([record("long", key) for key in range(LINES_PER_REQUEST)])


def test_an_interrupted_import_says_how_to_continue(tmp_path: Path, long_content: bytes) -> None:
    """After Ctrl-C, the results so far and the next line are shown, and the exit status is that of an interruption."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Tests that run in the background ignore SIGINT, and so would the program.
    command = ["env", "--default-signal=INT", sys.executable, "-m", "touchstone"]
    arguments = ["import", "--bulk", str(pipe), "--json"]
    with (
        subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        pipe.open("wb") as file,
    ):
        file.write(long_content)
        file.flush()
        while run_json("catalog", "list", "--source", "long")["total_count"] < LINES_PER_REQUEST - 1:
            time.sleep(0.1)
        time.sleep(3)  # The response with the results arrives a moment after the records have become visible.
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert errors.strip().endswith(f"add --from-line {LINES_PER_REQUEST + 1}.")
    assert "Some later lines may have been imported as well; without a key, their records are created again." in errors
    report = json.loads(output)
    assert counts_of(report) == (LINES_PER_REQUEST - 1, 0, 0, 1)
    assert (report["next_line"], report["refusals"][0]["line"]) == (LINES_PER_REQUEST + 1, 1)


def test_an_incomplete_file_is_imported_up_to_its_end(tmp_path: Path, long_content: bytes) -> None:
    """If the end of a compressed file is missing, what was imported is shown, and the error says how to continue."""
    file = tmp_path / "incomplete.jsonl.gz"
    file.write_bytes(gzip.compress(2 * long_content)[:-20])

    result = run("import", "--bulk", str(file), "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["next_line"] == LINES_PER_REQUEST + 1
    assert "incomplete.jsonl.gz" in result.stderr
    assert f"add --from-line {LINES_PER_REQUEST + 1}" in result.stderr


def test_an_import_does_not_begin_behind_the_end(tmp_path: Path) -> None:
    """A file that is complete has nothing more to import, but a line far behind its end is wrong."""
    file = tmp_path / "short.jsonl"
    file.write_bytes(lines_of([record("short", key) for key in range(2)]))
    assert run_json("import", "--bulk", str(file), "--from-line", "3")["next_line"] == 3

    for arguments, message in (
        (["--bulk", str(file), "--from-line", "9"], "There is no line 9: the file has 2 lines"),
        ([str(file), "--from-line", "2"], "--from-line needs --bulk"),
    ):
        result = run("import", *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
