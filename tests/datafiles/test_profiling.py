"""What is measured in a data file, and what a hostile file can do (nothing)."""

import asyncio
import hashlib
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from touchstone.datafiles.profiler import ColumnProfile, ColumnType, Limits, Profile, ProfilingError, Reason, profile


def measured(path: Path, content: bytes | str, file_type: str | None = None, limits: Limits | None = None) -> Profile:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with path.open("rb") as file:
        return asyncio.run(profile(file, file_type or path.suffix[1:], limits=limits))


def refused(path: Path, content: bytes | str, **more: Any) -> Reason:
    with pytest.raises(ProfilingError) as error:
        measured(path, content, **more)
    return error.value.reason


def column(found: Profile, name: str) -> ColumnProfile:
    return next(c for c in found.column_profiles if c.name == name)


MIXED = """name,age,score,member,joined,born
Ada,36, 1.5,true,2024-01-31,31/12/1815
"Bob, the
second",?,2.5,false,2024-02-01,
Cyd, ?,NaN,TRUE,2023-12-24 10:30:00,01/02/1990
,41,-4,N/A,NA,24/12/1999
"""


def test_csv(tmp_path: Path) -> None:
    """Types come from all values of a column, missing marks set aside; quoted newlines and blanks don't disturb."""
    found = measured(tmp_path / "t.csv", MIXED)
    assert (found.rows, found.columns) == (4, 6)
    types = {c.name: c.type.value for c in found.column_profiles}
    assert types == {
        "name": "text",
        "age": "integer",
        "score": "number",
        "member": "boolean",
        "joined": "date",
        "born": "date",
    }
    assert [c.missing for c in found.column_profiles] == [1, 2, 1, 1, 1, 1]
    assert found.missing_marks == {"": 2, "?": 2, "N/A": 1, "NA": 1, "NaN": 1}
    assert found.missing_values_percentage == pytest.approx(100 * 7 / 24)
    assert found.sha256 == hashlib.sha256(MIXED.encode()).hexdigest()
    assert found.bytes == len(MIXED)
    assert found.warnings == []


def test_numbers_and_dates(tmp_path: Path) -> None:
    """Extremes, mean, deviation and bins are those of the finite values."""
    found = measured(tmp_path / "t.csv", "x,d\n1,2024-02-01\n2,2023-01-01\n3,2024-12-31\n6,2024-01-01\n")
    x = column(found, "x")
    assert (x.minimum, x.maximum, x.mean, x.distinct) == (1, 6, 3, 4)
    assert x.deviation == pytest.approx(2.160246899469287)
    assert (x.histogram[0], x.histogram[-1], sum(x.histogram)) == (1, 1, 4)
    assert str(column(found, "d").minimum).startswith("2023-01-01")
    infinite = column(measured(tmp_path / "i.csv", "x,y\ninf,1\n1.5,1\n-inf,1\n1e300,1\n"), "x")
    assert (infinite.infinite, infinite.minimum, infinite.maximum, infinite.mean) == (2, 1.5, 1e300, 1.5)


def test_most_frequent_values(tmp_path: Path) -> None:
    """A column of few values lists them by frequency, then alphabetically."""
    found = measured(tmp_path / "t.csv", "kind,n\n" + "b,1\na,2\nb,3\nc,4\n")
    assert column(found, "kind").top == [("b", 2), ("a", 1), ("c", 1)]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    """The delimiter of a csv is found."""
    lines = ["a,b,c", "1,x,2.5", "2,y,3.5", "3,z,4.5"]
    found = measured(tmp_path / "t.csv", "\n".join(lines).replace(",", delimiter))
    assert [c.name for c in found.column_profiles] == ["a", "b", "c"]
    assert found.rows == 3


def test_tsv_keeps_its_delimiter(tmp_path: Path) -> None:
    """In a tsv commas are text."""
    found = measured(tmp_path / "t.tsv", "a\tb\n1,5\tx\n2,5\ty\n")
    assert [c.type.value for c in found.column_profiles] == ["text", "text"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    """UTF-8 with and without its mark, UTF-16 and Latin-1 give the same names and values."""
    found = measured(tmp_path / "t.csv", "prénom,âge\nZoé,3\nLéo,4\n".encode(encoding))
    assert [c.name for c in found.column_profiles] == ["prénom", "âge"]
    assert column(found, "prénom").top == [("Léo", 1), ("Zoé", 1)]


def test_parquet(tmp_path: Path) -> None:
    """Declared types are kept; nulls, NaN and ` ?` in texts count as missing."""
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [0.5, None, 2.5],
            "t": [" ?", "a", "b"],
            "d": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
            "b": [True, False, True],
        }
    )
    frame.to_parquet(tmp_path / "source.parquet")
    found = measured(tmp_path / "t.parquet", (tmp_path / "source.parquet").read_bytes())
    assert [c.type.value for c in found.column_profiles] == ["integer", "number", "text", "date", "boolean"]
    assert [c.missing for c in found.column_profiles] == [0, 1, 1, 1, 0]
    assert sum(found.missing_marks.values()) == 3
    assert found.missing_marks["?"] == 1


@pytest.mark.parametrize("file_type", ["json", "jsonl"])
def test_json(tmp_path: Path, file_type: str) -> None:
    """An array of objects and one object a line give the same table; an absent key is missing."""
    rows = [{"a": 1, "b": "x", "c": [1, 2]}, {"a": 2.5, "b": None}, {"a": 3, "b": "2024-01-01", "c": [3]}]
    text = json.dumps(rows) if file_type == "json" else "\n".join(json.dumps(row) for row in rows)
    found = measured(tmp_path / f"t.{file_type}", text)
    assert (found.rows, found.columns) == (3, 3)
    assert [(c.type.value, c.missing) for c in found.column_profiles] == [("number", 0), ("text", 1), ("text", 1)]


def test_awkward_names(tmp_path: Path) -> None:
    """Column names with quotes, SQL and repeats are names only."""
    names = ['a"b', "x'); DROP TABLE kept; --", "select", "same", "same"]
    pq.write_table(pa.table({name: [1] for name in names[:4]}), tmp_path / "s.parquet")
    found = measured(tmp_path / "t.parquet", (tmp_path / "s.parquet").read_bytes())
    assert [c.name for c in found.column_profiles] == names[:4]
    assert measured(tmp_path / "t.csv", "same,same\n1,2\n3,4\n").columns == 2


def test_many_columns_in_batches(tmp_path: Path) -> None:
    """Every column of a wide table is measured once, in order."""
    head = ",".join(f"c{i}" for i in range(50))
    found = measured(tmp_path / "t.csv", f"{head}\n" + ",".join(map(str, range(50))) + "\n" + ",".join(["?"] * 50))
    assert [c.name for c in found.column_profiles] == head.split(",")
    assert [c.minimum for c in found.column_profiles] == list(range(50))
    assert found.missing_marks == {"?": 50}


def test_only_a_header(tmp_path: Path) -> None:
    """A table without rows has columns, and no missing share."""
    found = measured(tmp_path / "t.csv", "a,b\n")
    assert (found.rows, found.columns, found.missing_values_percentage) == (0, 2, None)
    assert {c.type for c in found.column_profiles} == {ColumnType.TEXT}


def test_a_first_row_of_data_is_noticed(tmp_path: Path) -> None:
    """The first row always names the columns, with a warning when it looks like data."""
    found = measured(tmp_path / "t.csv", "39,77516.5,13\n50,83311.5,13\n38,215646.5,9\n")
    assert found.rows == 2
    assert found.warnings == ["first_row_looks_like_data"]


def test_position_does_not_matter(tmp_path: Path) -> None:
    """A file that was read before is measured whole, and its position stays."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with (tmp_path / "t.csv").open("rb", buffering=0) as file:
        file.seek(3)
        assert asyncio.run(profile(file, "csv")).rows == 1
        assert file.tell() == 3


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("t.csv", b"", Reason.EMPTY),
        ("t.csv", b" \n\n ", Reason.EMPTY),
        ("t.parquet", b"", Reason.EMPTY),
        ("t.csv", pickle.dumps({"a": list(range(100))}), Reason.NOT_TEXT),
        ("t.csv", bytes(range(256)) * 40, Reason.NOT_TEXT),
        ("t.json", b"\x00\x01\x02", Reason.NOT_TEXT),
        ("t.parquet", b"PAR1 not really PAR1", Reason.MALFORMED),
        ("t.parquet", os.urandom(5000), Reason.MALFORMED),
        ("t.json", b'[{"a": 1}, {"a": ', Reason.MALFORMED),
        ("t.jsonl", b"not json\n", Reason.MALFORMED),
        ("t.csv", "a,b\n" + "1,2\n" * 50 + "1,2,3,4\n", Reason.MALFORMED),
        ("t.csv", b"x" * (2**21 + 10), Reason.LINE_TOO_LONG),
        ("t.csv", ",".join(["a"] * 10**6) + "\n", Reason.TOO_MANY_COLUMNS),
        ("t.json", json.dumps([{f"k{i}": 1 for i in range(3000)}]), Reason.TOO_MANY_COLUMNS),
        ("t.xlsx", b"PK", Reason.UNSUPPORTED_TYPE),
    ],
)
def test_refusals(tmp_path: Path, name: str, content: bytes | str, reason: Reason) -> None:
    """What can't be measured is refused with its reason."""
    assert refused(tmp_path / name, content) == reason


def test_a_gigabyte_line(tmp_path: Path) -> None:
    """A line of a gigabyte (a hole in the file) is refused without being held in memory."""
    path = tmp_path / "t.csv"
    with path.open("wb") as file:
        file.write(b"a,b\n")
        file.truncate(2**30)
    with path.open("rb") as file, pytest.raises(ProfilingError) as error:
        asyncio.run(profile(file, "csv"))
    assert error.value.reason == Reason.LINE_TOO_LONG


def test_a_parquet_bomb(tmp_path: Path) -> None:
    """A few kilobytes that unfold to gigabytes end at a limit."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"a": values}), tmp_path / "s.parquet", compression="zstd")
    limits = Limits(cpu_seconds=5, wall_seconds=8, memory_bytes=2**30)
    assert refused(tmp_path / "t.parquet", (tmp_path / "s.parquet").read_bytes(), limits=limits) in (
        Reason.TOO_LARGE,
        Reason.TOO_SLOW,
        Reason.CRASHED,
    )


def test_limits_hold(tmp_path: Path) -> None:
    """Memory, processor time and the clock end the child, never the parent."""
    wide = "a,b,c\n" + "1,2,3\n" * 200_000
    memory = Limits(memory_bytes=150 * 2**20)
    assert refused(tmp_path / "t.csv", wide, limits=memory) in (Reason.TOO_LARGE, Reason.CRASHED)
    assert refused(tmp_path / "t.csv", wide, limits=Limits(wall_seconds=0.05)) == Reason.TOO_SLOW


def test_the_child_sees_nothing_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken environment of the caller does not reach the child."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "duckdb.py").write_text("raise SystemExit(3)")
    assert measured(tmp_path / "t.csv", "a,b\n1,2\n").rows == 1


def test_cancelling_ends_the_child(tmp_path: Path) -> None:
    """A cancelled profile leaves no process behind."""

    async def cancelled() -> list[str]:
        with (tmp_path / "t.csv").open("rb") as file:
            task = asyncio.create_task(profile(file, "csv"))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()

    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 1000)
    before = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert asyncio.run(cancelled()) == before
