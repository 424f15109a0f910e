"""The profile of a data file is correct, and a hostile file cannot harm the service."""

import asyncio
import hashlib
import json
import os
import pickle
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from touchstone.datafiles.file_profile import (
    ColumnProfile,
    ColumnType,
    FailureReason,
    FileProfile,
    ProfilingError,
    ProfilingLimits,
)
from touchstone.datafiles.profiler import profile_file
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.table_reader import read_table
from touchstone.learning.task_interface import DataFile


def profile_content(path: Path, content: bytes | str, limits: ProfilingLimits | None = None) -> FileProfile:
    """Write the content to a file and return its profile; the suffix of the path is the type of the file."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with path.open("rb") as file:
        return asyncio.run(profile_file(file, path.suffix[1:], limits=limits))


def failure_reason(path: Path, content: bytes | str, limits: ProfilingLimits | None = None) -> FailureReason:
    """Return why a file with this content cannot be profiled."""
    with pytest.raises(ProfilingError) as failure:
        profile_content(path, content, limits=limits)
    return failure.value.reason


def column_profile(profile: FileProfile, name: str) -> ColumnProfile:
    """Return the profile of the column with this name."""
    return next(column for column in profile.column_profiles if column.name == name)


MIXED_CSV = """name,age,score,member,joined,born
Ada,36, 1.5,true,2024-01-31,31/12/1815
"Bob, the
second",?,2.5,false,2024-02-01,
Cyd, ?,NaN,TRUE,2023-12-24 10:30:00,01/02/1990
,41,-4,N/A,NA,24/12/1999
"""


def test_csv(tmp_path: Path) -> None:
    """Types come from all values of a column, missing marks set aside; quoted newlines and white space do no harm."""
    profile = profile_content(tmp_path / "t.csv", MIXED_CSV)
    assert (profile.rows, profile.columns) == (4, 6)
    types = {column.name: column.type.value for column in profile.column_profiles}
    assert types == {
        "name": "text",
        "age": "integer",
        "score": "number",
        "member": "boolean",
        "joined": "date",
        "born": "date",
    }
    assert [column.missing for column in profile.column_profiles] == [1, 2, 1, 1, 1, 1]
    assert profile.missing_marks == {"": 2, "?": 2, "N/A": 1, "NA": 1, "NaN": 1}
    assert profile.missing_values_percentage == pytest.approx(100 * 7 / 24)
    assert profile.sha256 == hashlib.sha256(MIXED_CSV.encode()).hexdigest()
    assert profile.bytes == len(MIXED_CSV)
    assert profile.warnings == []


def test_numbers_and_dates(tmp_path: Path) -> None:
    """Extremes, mean, deviation and bins are those of the finite values."""
    profile = profile_content(tmp_path / "t.csv", "x,d\n1,2024-02-01\n2,2023-01-01\n3,2024-12-31\n6,2024-01-01\n")
    number_column = column_profile(profile, "x")
    assert (number_column.minimum, number_column.maximum, number_column.mean, number_column.distinct) == (1, 6, 3, 4)
    assert number_column.deviation == pytest.approx(2.160246899469287)
    assert (number_column.histogram[0], number_column.histogram[-1], sum(number_column.histogram)) == (1, 1, 4)
    assert str(column_profile(profile, "d").minimum).startswith("2023-01-01")
    column_with_infinities = column_profile(
        profile_content(tmp_path / "i.csv", "x,y\ninf,1\n1.5,1\n-inf,1\n1e300,1\n"), "x"
    )
    assert (
        column_with_infinities.infinite,
        column_with_infinities.minimum,
        column_with_infinities.maximum,
        column_with_infinities.mean,
    ) == (2, 1.5, 1e300, 1.5)


def test_most_frequent_values(tmp_path: Path) -> None:
    """A column with few different values lists them by frequency, then alphabetically."""
    profile = profile_content(tmp_path / "t.csv", "kind,n\n" + "b,1\na,2\nb,3\nc,4\n")
    assert column_profile(profile, "kind").top == [("b", 2), ("a", 1), ("c", 1)]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    """DuckDB guesses the delimiter of a CSV file correctly."""
    lines = ["a,b,c", "1,x,2.5", "2,y,3.5", "3,z,4.5"]
    profile = profile_content(tmp_path / "t.csv", "\n".join(lines).replace(",", delimiter))
    assert [column.name for column in profile.column_profiles] == ["a", "b", "c"]
    assert profile.rows == 3


def test_a_first_line_may_state_the_delimiter(tmp_path: Path) -> None:
    """A line such as `sep=;`, as spreadsheets write it, is neither a header nor a row."""
    profile = profile_content(tmp_path / "t.csv", "sep=;\r\na;b\r\n1,5;x\r\n2,5;y\r\n")
    assert [column.name for column in profile.column_profiles] == ["a", "b"]
    assert profile.rows == 2


def test_tsv_keeps_its_delimiter(tmp_path: Path) -> None:
    """Commas in a TSV file separate no cells; in numbers they are decimal marks."""
    profile = profile_content(tmp_path / "t.tsv", "a\tb\n1,5\tx,y\n2,5\ty,z\n")
    assert [column.type.value for column in profile.column_profiles] == ["number", "text"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    """UTF-8 with and without a byte order mark, UTF-16 and Latin-1 give the same names and values."""
    profile = profile_content(tmp_path / "t.csv", "prénom,âge\nZoé,3\nLéo,4\n".encode(encoding))
    assert [column.name for column in profile.column_profiles] == ["prénom", "âge"]
    assert column_profile(profile, "prénom").top == [("Léo", 1), ("Zoé", 1)]


def test_parquet(tmp_path: Path) -> None:
    """The types that a Parquet file declares are kept; nulls, NaN and ` ?` in texts count as missing."""
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [0.5, None, 2.5],
            "t": [" ?", "a", "b"],
            "d": pd.to_datetime(pd.Series(["2024-01-01", "2024-01-02", None])),
            "b": [True, False, True],
        }
    )
    frame.to_parquet(tmp_path / "source.parquet")
    profile = profile_content(tmp_path / "t.parquet", (tmp_path / "source.parquet").read_bytes())
    assert [column.type.value for column in profile.column_profiles] == ["integer", "number", "text", "date", "boolean"]
    assert [column.missing for column in profile.column_profiles] == [0, 1, 1, 1, 0]
    assert sum(profile.missing_marks.values()) == 3
    assert profile.missing_marks["?"] == 1


@pytest.mark.parametrize("file_type", ["json", "jsonl"])
def test_json(tmp_path: Path, file_type: str) -> None:
    """An array of objects and a file with one object on each line give the same table; an absent key is missing."""
    rows = [{"a": 1, "b": "x", "c": [1, 2]}, {"a": 2.5, "b": None}, {"a": 3, "b": "2024-01-01", "c": [3]}]
    text = json.dumps(rows) if file_type == "json" else "\n".join(json.dumps(row) for row in rows)
    profile = profile_content(tmp_path / f"t.{file_type}", text)
    assert (profile.rows, profile.columns) == (3, 3)
    assert [(column.type.value, column.missing) for column in profile.column_profiles] == [
        ("number", 0),
        ("text", 1),
        ("text", 1),
    ]


def test_members_of_objects_are_columns(tmp_path: Path) -> None:
    """Objects in the rows of a JSON file are divided into columns, which have the names that trainings give them."""
    rows = [{"id": 1, "home": {"city": "Oslo", "place": {"north": 59.9}}}, {"id": 2, "home": None}, {"id": 3}]
    path = tmp_path / "t.json"
    profile = profile_content(path, json.dumps(rows))
    assert [(column.name, column.type.value, column.missing) for column in profile.column_profiles] == [
        ("id", "integer", 0),
        ("home.city", "text", 2),
        ("home.place.north", "number", 2),
    ]
    with path.open("rb") as stream:
        assert list(read_table(DataFile(stream, "json")).columns) == ["id", "home.city", "home.place.north"]


def test_objects_with_a_single_member_are_columns_too(tmp_path: Path) -> None:
    """The number of columns stays the same, but they are named after the members."""
    profile = profile_content(
        tmp_path / "t.json", json.dumps([{"home": {"city": "Oslo"}}, {"home": {"city": "Bergen"}}])
    )
    assert [column.name for column in profile.column_profiles] == ["home.city"]


WRITTEN_NUMBERS = {
    "groups": ["12,345", "1,234,567.5", "12", "n/a"],
    "dollars": ["$1,234.00", "$5", "-$7.50", ""],
    "euros": ["€ 1.234,00", "€ 12,50", "?", ""],
    "spaces": ["1 234,5 €", "1\u202f234 €", "7 €", "NA"],
    "shares": ["45%", "5.5 %", "100%", "NaN"],
    "decimals": ["0,25", "1,5", "12", ",5"],
    "apostrophes": ["1'234.5", "12'000", "3", "4"],
    "masses": ["12 kg", "7.5 kg", "80 KG", "1e3 kg"],
    "signs": ["\N{MINUS SIGN}5", "1e3", "+2", "0"],
    "accounts": ["(1,234.00)", "12.50", "(7.5)", "-3"],
    "accounts_in_dollars": ["($1,234.00)", "$ (5)", "$7.50", "(5$)"],
    "dots_and_commas": ["(1.5)", "2,5", "1.5", "+3"],
    "arabic": ["\u0661\u0662", "-\u0663\u0664.\u0665", "7", "(\u0668)"],
    "full_width": ["\uff11\uff12", "\uff13", "\uff14.\uff15", "n/a"],
    "braces": ["1 a{b}", "2 a{b}", "3 A{B}", "4 a{b}"],
}


def test_numbers_as_people_write_them(tmp_path: Path) -> None:
    """Amounts, shares and measurements are columns of numbers, with the values that a training reads."""
    path = tmp_path / "t.csv"
    profile = profile_content(path, pd.DataFrame(WRITTEN_NUMBERS).to_csv(index=False))
    with path.open("rb") as stream:
        table = read_table(DataFile(stream, "csv"))
    for name in WRITTEN_NUMBERS:
        column, numbers = column_profile(profile, name), table.frame[name].astype(float)
        extremes = (float(numbers.min()), float(numbers.max()))
        assert (column.type, column.minimum, column.maximum) == (ColumnType.NUMBER, *extremes), name


@pytest.mark.parametrize(
    "codes",
    [["01067", "75001"], ["75001", "\u0660\u0661"], ["7 500", "007"], ["1"] * 300 + ["01"], ["1,5"] * 300 + ["01"]],
)
def test_codes_with_leading_zeros_are_texts(tmp_path: Path, codes: list[str]) -> None:
    """Postal codes are words in profiles, as in trainings, wherever in the file the first zero stands."""
    path = tmp_path / "t.csv"
    profile = profile_content(path, pd.DataFrame({"zip": codes, "x": "x"}).to_csv(index=False))
    with path.open("rb") as stream:
        assert read_table(DataFile(stream, "csv")).columns["zip"].kind is ColumnKind.CATEGORY
    assert column_profile(profile, "zip").type is ColumnType.TEXT


def test_texts_that_only_begin_with_numbers_stay_texts(tmp_path: Path) -> None:
    """A unit that differs, an address or a version is no number, and neither is a text that would end a query."""
    columns = {
        "units": ["12 kg", "800 g", "1 t"],
        "streets": ["12 High Street", "3 Low Street", "4 Side Street"],
        "versions": ["1.2.3", "1.2.4", "2.0.0"],
        "quotes": ["1 'x", "2 'x", "3 y'); DROP TABLE kept; --"],
    }
    profile = profile_content(tmp_path / "t.csv", pd.DataFrame(columns).to_csv(index=False))
    assert {column.type for column in profile.column_profiles} == {ColumnType.TEXT}


def test_awkward_names(tmp_path: Path) -> None:
    """Column names with quotes, SQL and repetitions are only names."""
    names = ['a"b', "x'); DROP TABLE kept; --", "select", "same", "same"]
    pq.write_table(pa.table({name: [1] for name in names[:4]}), tmp_path / "s.parquet")
    profile = profile_content(tmp_path / "t.parquet", (tmp_path / "s.parquet").read_bytes())
    assert [column.name for column in profile.column_profiles] == names[:4]
    assert profile_content(tmp_path / "t.csv", "same,same\n1,2\n3,4\n").columns == 2


def test_columns_with_the_names_of_derived_columns(tmp_path: Path) -> None:
    """A column of the file is never confused with a column of the same name that the queries derive from another."""
    profile = profile_content(tmp_path / "t.csv", "a,mark_0,value_0,cell_0\n1,x,?,2024-01-31\n2,y,z,2024-02-01\n")
    types = [column.type.value for column in profile.column_profiles]
    assert types == ["integer", "text", "text", "date"]
    assert [column.missing for column in profile.column_profiles] == [0, 0, 1, 0]
    assert column_profile(profile, "mark_0").top == [("x", 1), ("y", 1)]


def test_many_columns(tmp_path: Path) -> None:
    """Every column of a wide table is profiled once, in the order of the file, whatever the columns are grouped by."""
    names = [f"c{number}" for number in range(600)]
    first_row = [str(number) if number % 3 else "word" for number in range(600)]
    second_row = ["?"] * 600
    lines = [",".join(cells) for cells in (names, first_row, second_row)]
    profile = profile_content(tmp_path / "t.csv", "\n".join(lines))
    assert [column.name for column in profile.column_profiles] == names
    minima = [column.minimum for column in profile.column_profiles]
    assert minima == [number if number % 3 else None for number in range(600)]
    assert profile.missing_marks == {"?": 600}


def test_only_a_header(tmp_path: Path) -> None:
    """A table without rows has columns, and no missing share."""
    profile = profile_content(tmp_path / "t.csv", "a,b\n")
    assert (profile.rows, profile.columns, profile.missing_values_percentage) == (0, 2, None)
    assert {column.type for column in profile.column_profiles} == {ColumnType.TEXT}


def test_a_first_row_of_data_is_no_header(tmp_path: Path) -> None:
    """A first row of data counts as a row, and the columns are numbered, with a warning."""
    profile = profile_content(tmp_path / "t.csv", "39,77516.5,13\n50,83311.5,13\n38,215646.5,9\n")
    assert profile.rows == 3
    assert [column.name for column in profile.column_profiles] == ["column_1", "column_2", "column_3"]
    assert profile.warnings == ["first_row_looks_like_data"]


def test_cyrillic(tmp_path: Path) -> None:
    """Names and values in an encoding that DuckDB does not know are shown as they are meant."""
    rows = "".join(f"{city};{number} €\n" for number, city in enumerate(["Москва", "Казань", "Новосибирск"] * 5))
    profile = profile_content(tmp_path / "t.csv", ("город;число\n" + rows).encode("cp1251"))
    assert [column.name for column in profile.column_profiles] == ["город", "число"]
    assert column_profile(profile, "город").top == [("Казань", 5), ("Москва", 5), ("Новосибирск", 5)]
    assert profile.warnings == ["encoding_guessed"]


def test_position_does_not_matter(tmp_path: Path) -> None:
    """A file that was read before is profiled completely, and its position does not change."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with (tmp_path / "t.csv").open("rb", buffering=0) as file:
        file.seek(3)
        assert asyncio.run(profile_file(file, "csv")).rows == 1
        assert file.tell() == 3


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("t.csv", b"", FailureReason.EMPTY),
        ("t.csv", b" \n\n ", FailureReason.EMPTY),
        ("t.parquet", b"", FailureReason.EMPTY),
        ("t.csv", pickle.dumps({"a": list(range(100))}), FailureReason.NOT_TEXT),
        ("t.csv", bytes(range(256)) * 40, FailureReason.NOT_TEXT),
        ("t.json", b"\x00\x01\x02", FailureReason.NOT_TEXT),
        ("t.parquet", b"PAR1 not really PAR1", FailureReason.MALFORMED),
        ("t.parquet", os.urandom(5000), FailureReason.MALFORMED),
        ("t.json", b'[{"a": 1}, {"a": ', FailureReason.MALFORMED),
        ("t.jsonl", b"not json\n", FailureReason.MALFORMED),
        ("t.csv", "a,b\n" + "1,2\n" * 50 + "1,2,3,4\n", FailureReason.MALFORMED),
        ("t.csv", b"x" * (2**21 + 10), FailureReason.LINE_TOO_LONG),
        ("t.csv", ",".join(["a"] * 10**6) + "\n", FailureReason.TOO_MANY_COLUMNS),
        ("t.json", json.dumps([{f"k{number}": 1 for number in range(3000)}]), FailureReason.TOO_MANY_COLUMNS),
        ("t.xlsx", b"PK", FailureReason.UNSUPPORTED_TYPE),
    ],
)
def test_refusals(tmp_path: Path, name: str, content: bytes | str, reason: FailureReason) -> None:
    """A file that cannot be profiled is refused with the reason."""
    assert failure_reason(tmp_path / name, content) == reason


def test_a_gigabyte_line(tmp_path: Path) -> None:
    """A line of a gigabyte (a hole in the file) is refused without being held in memory."""
    path = tmp_path / "t.csv"
    with path.open("wb") as file:
        file.write(b"a,b\n")
        file.truncate(2**30)
    with path.open("rb") as file, pytest.raises(ProfilingError) as error:
        asyncio.run(profile_file(file, "csv"))
    assert error.value.reason == FailureReason.LINE_TOO_LONG


def test_a_parquet_bomb(tmp_path: Path) -> None:
    """A file of a few kilobytes that expands to gigabytes is refused at one of the limits."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"a": values}), tmp_path / "s.parquet", compression="zstd")
    limits = ProfilingLimits(cpu_seconds=5, wall_seconds=8, memory_bytes=2**30)
    assert failure_reason(tmp_path / "t.parquet", (tmp_path / "s.parquet").read_bytes(), limits=limits) in (
        FailureReason.TOO_LARGE,
        FailureReason.TOO_SLOW,
        FailureReason.CRASHED,
    )


def test_limits_hold(tmp_path: Path) -> None:
    """The limits of memory, processor time and running time end the child process and never the parent."""
    long_csv = "a,b,c\n" + "1,2,3\n" * 200_000
    memory_limit = ProfilingLimits(memory_bytes=150 * 2**20)
    assert failure_reason(tmp_path / "t.csv", long_csv, limits=memory_limit) in (
        FailureReason.TOO_LARGE,
        FailureReason.CRASHED,
    )
    assert (
        failure_reason(tmp_path / "t.csv", long_csv, limits=ProfilingLimits(wall_seconds=0.05))
        == FailureReason.TOO_SLOW
    )


def test_the_child_sees_nothing_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module path in the environment of the caller does not reach the child process."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "duckdb.py").write_text("raise SystemExit(3)")
    assert profile_content(tmp_path / "t.csv", "a,b\n1,2\n").rows == 1


def test_cancelling_ends_the_child(tmp_path: Path) -> None:
    """A cancelled profiling leaves no process behind."""

    async def cancel_profiling() -> list[str]:
        with (tmp_path / "t.csv").open("rb") as file:
            task = asyncio.create_task(profile_file(file, "csv"))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()

    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 1000)
    children_before = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert asyncio.run(cancel_profiling()) == children_before
