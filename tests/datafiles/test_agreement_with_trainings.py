"""Profiles and trainings read a data file alike: its layout, its names and its values."""

import asyncio
import json
from io import BytesIO
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from touchstone.datafiles.file_profile import ColumnType, FailureReason, FileProfile, ProfilingError
from touchstone.datafiles.profiler import profile_file
from touchstone.learning.column_types import ColumnKind, parse_cell, schema_from_dict, schema_to_dict
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_reader import Table, read_table
from touchstone.learning.task_interface import DataFile


def read_both(path: Path, content: bytes | str) -> tuple[FileProfile, Table]:
    """Write a file, whose suffix is its type, and return its profile and the table that a training reads."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with path.open("rb") as file:
        return asyncio.run(profile_file(file, path.suffix[1:])), read_table(DataFile(file, path.suffix[1:]))


@pytest.mark.parametrize(
    ("content", "names", "rows"),
    [
        (" a , b\n1,x\n2,y\n", ["a", "b"], 2),
        ("a,A,a,,b\n1,2,3,4,x\n5,6,7,8,y\n", ["a", "A", "a_2", "column_4", "b"], 2),
        ('"two\nlines",b\n1,x\n2,y\n', ["two lines", "b"], 2),
        ("one\N{LINE SEPARATOR}line,b\n1,x\n2,y\n", ["one\N{LINE SEPARATOR}line", "b"], 2),
        ("\n\na,b\n1,x\n2,y\n", ["a", "b"], 2),
        ("a,b\nr1,1,2\nr2,3,4\n", ["column_1", "a", "b"], 2),
        ("a,b\n1,x,\n2,y,\n3\n", ["a", "b"], 3),
        ("39,7.5,x\n50,8.5,x\n38,1.5,y\n", ["column_1", "column_2", "column_3"], 3),
        ("a,b\r\n1,x\n2,y\r\n", ["a", "b"], 2),
        ('a,b\n1,5" pipe\n2,y\n', ["a", "b"], 2),
        ('"a", "b"\n"1", "x, y"\n"2", "z"\n"3"\n', ["a", "b"], 3),
        ('"a";"b"\n"1,5";"x"\n\n"2,5";"y"\n"3,5"\n', ["a", "b"], 3),
        ("\ra|b\rx|\ry\rz||\rz|1|\rz|1|\rz|1|\r", ["a", "b"], 6),
        ("prénom;âge\nZoé;3\nLéo\n".encode("cp1252"), ["prénom", "âge"], 2),
        ("prénom;âge\nZoé;3\nLéo\n".encode("utf-16-be"), ["prénom", "âge"], 2),
    ],
)
def test_columns_have_the_same_names(tmp_path: Path, content: bytes | str, names: list[str], rows: int) -> None:
    """Columns are named alike, whatever the header looks like, and no row is lost."""
    profile, table = read_both(tmp_path / "t.csv", content)
    assert [column.name for column in profile.column_profiles] == list(table.columns) == names
    assert profile.rows == len(table.frame) == rows


def test_white_space_in_names_is_not_worth_a_warning(tmp_path: Path) -> None:
    """Only columns that have got another name are renamed."""
    _profile, table = read_both(tmp_path / "t.csv", ' a ,"b\nc",a\n1,x,2\n3,y,4\n')
    assert table.renamed == {"a_2": "a"}


ROWS = [{" a ": 1, "b": "é"}, {" a ": 2, "b": "x"}]


@pytest.mark.parametrize("file_type", ["json", "jsonl"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
def test_json_in_any_encoding(tmp_path: Path, file_type: str, encoding: str) -> None:
    """JSON that programs of Windows have written is read like any other."""
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    text = f"[{','.join(lines)}]" if file_type == "json" else "\n".join(lines)
    profile, table = read_both(tmp_path / f"t.{file_type}", text.encode(encoding))
    assert [column.name for column in profile.column_profiles] == list(table.columns) == ["a", "b"]
    assert dict(profile.column_profiles[1].top) == {"x": 1, "é": 1}
    assert table.frame["b"].tolist() == ["é", "x"]
    assert profile.warnings == (["encoding_guessed"] if encoding == "cp1252" else [])


SIMILAR_KEYS = [
    ([{"a": 1, "A": "x"}, {"a": 3}, {"A": "y", "A_1": 2}], ["a", "A", "A_1"]),
    ([{"h": {"a": 1, "A": 2}}, {"h": {"a": 3, "A": None}}], ["h.a", "h.A"]),
    ([{"a": {"b": 1}, "A": {"b": "x"}}, {"a": {"b": 2}, "A": {"c/~": True}}], ["a.b", "A.b", "A.c/~"]),
    ([{"a.b": 1, "a": {"b": "x"}}, {"a.b": 3, "a": {"b": "y"}}], ["a.b", "a.b_2"]),
    ([{"a": {"b": 1}}, {"a.b": "x"}], ["a.b", "a.b_2"]),
]


@pytest.mark.parametrize(("rows", "names"), SIMILAR_KEYS, ids=json.dumps)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_similar_keys_stay_apart(tmp_path: Path, rows: list[object], names: list[str], encoding: str) -> None:
    """Keys that differ only in case, or only by an object around them, are different columns, and no value is lost."""
    profile, table = read_both(tmp_path / "t.json", json.dumps(rows).encode(encoding))
    assert [column.name for column in profile.column_profiles] == list(table.columns) == names
    assert [column.missing for column in profile.column_profiles] == [
        schema.missing for schema in table.columns.values()
    ]
    assert table.renamed == ({"a.b_2": "a.b"} if "a.b_2" in names else {})


@pytest.mark.parametrize(
    "text", ['[{"a": 1, "a": 2}]', '[{"a": "x:y", "b": {"c": [{"d": 1, "d" : ": 2"}]}}]', '[{"a": 1}, {"a":2,"a":3}]']
)
def test_repeated_keys_are_refused(tmp_path: Path, text: str) -> None:
    """JSON allows no key twice in an object, and only one of the two values could be kept."""
    with pytest.raises(LearningError, match="file_key_repeated"):
        read_table(DataFile(BytesIO(text.encode()), "json"))
    (tmp_path / "t.json").write_text(text)
    with (tmp_path / "t.json").open("rb") as file, pytest.raises(ProfilingError, match="malformed"):
        asyncio.run(profile_file(file, "json"))


def test_colons_in_strings_repeat_no_key() -> None:
    """Quotes and colons within strings are no keys."""
    table = read_table(DataFile(BytesIO(b'[{"a": "\\"b\\": 1 : 2", "b" : {"c":"10:30"}}]'), "json"))
    assert list(table.columns) == ["a", "b.c"]


def test_parquet_names(tmp_path: Path) -> None:
    """Names that differ in case only stay as they are, and columns of nested values are single ones."""
    arrays = {"a": pa.array([1]), "A ": pa.array([{"x": {"y": 1}, "z": [1]}]), "": pa.array(["x"])}
    pq.write_table(pa.table(arrays), tmp_path / "s.parquet")
    profile, table = read_both(tmp_path / "t.parquet", (tmp_path / "s.parquet").read_bytes())
    assert [column.name for column in profile.column_profiles] == list(table.columns) == ["a", "A", "column_3"]


@pytest.mark.parametrize(
    "name_and_content",
    [
        ("t.json", "[1, 2, 3]"),
        ("t.json", '[{"a": 1}, 2]'),
        ("t.json", "[[1, 2], [3, 4]]"),
        ("t.json", '{\n  "rows": [{"a": 1}]\n}'),
        ("t.jsonl", "1\n2\n"),
        ("t.jsonl", '[{"a": 1}]\n'),
        ("t.csv", "a,b\n1,2\n1,2,3\n"),
        ("t.csv", "a,b\n1,2\n1,2,\n"),
    ],
)
def test_what_is_no_table_is_refused_by_both(tmp_path: Path, name_and_content: tuple[str, str]) -> None:
    """What is no list of rows, or has too long a row, gets no profile, and nothing is learned from it."""
    name, content = name_and_content
    path = tmp_path / name
    path.write_text(content)
    with path.open("rb") as file:
        with pytest.raises(ProfilingError) as profiling_error:
            asyncio.run(profile_file(file, path.suffix[1:]))
        with pytest.raises(LearningError) as learning_error:
            read_table(DataFile(file, path.suffix[1:]))
    assert profiling_error.value.reason is FailureReason.MALFORMED
    assert learning_error.value.code in ("file_malformed", "file_unreadable")


COLUMNS = {
    "signs": (["+", "-", " -", "--", "+", "NA"], 1, 3),
    "dashes": (["x", "-", "y", "--", "x", "NA"], 3, 2),
    "numbers": (["1", "-", "Unknown", "none", "2", "missing"], 4, 2),
    "amounts": (["1,5", "-", "Unknown", "none", "2,5", "missing"], 4, 2),
    "words": (["a", "Unknown", "none", "b", "a", "."], 1, 4),
    "marks": (["#N/A", "<NA>", "Null", "nAn", "5", "\N{NO-BREAK SPACE}?"], 5, 1),
    "notations": (["1", "1.0", "+1", "1e0", "2", ""], 1, 2),
    "spaces": (["a", " a", "a\N{NO-BREAK SPACE}", "a\t", "b", ""], 1, 2),
    "booleans": (["true", "TRUE", "False", "false", "true", ""], 1, 2),
    "days": (["2024-01-31", "2024-01-31 00:00:00", "2024-02-01", "2024-02-01", "2024-02-01", ""], 1, 2),
    "infinite": (["inf", "-inf", "1", "2", "1.0", ""], None, 2),
    "long": (["x" * 200 + "1", "x" * 200 + "2", "x" * 200 + "3", "a", "b", "c"], 0, 6),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_missing_and_different_values_are_the_same(tmp_path: Path, name: str) -> None:
    """Both count the same cells as missing, and the same values as different."""
    cells, missing, distinct = COLUMNS[name]
    profile, table = read_both(
        tmp_path / "t.csv", pd.DataFrame({"c": cells, "number": range(len(cells))}).to_csv(index=False)
    )
    column = profile.column_profiles[0]
    assert column.distinct == table.columns["c"].distinct == distinct
    if missing is not None:
        assert column.missing == table.columns["c"].missing == missing
        assert sum(profile.missing_marks.values()) == missing
    assert not {value.strip().lower() for value, _count in column.top} & {"", "?", "na"}


@pytest.mark.parametrize("later", ["1,234.50", "($5)", "\N{MINUS SIGN}7", "\u0667"])
def test_notations_that_show_in_later_rows_only(tmp_path: Path, later: str) -> None:
    """Numbers in ascending order have no marks between thousands in their first rows."""
    cells = ["$5" if "$" in later else "950"] * 300 + [later] * 30
    profile, table = read_both(tmp_path / "t.csv", pd.DataFrame({"n": cells, "w": "x"}).to_csv(index=False))
    assert table.columns["n"].kind is ColumnKind.NUMBER
    assert (profile.column_profiles[0].type, profile.column_profiles[0].distinct) == (ColumnType.NUMBER, 2)


@pytest.mark.parametrize("words", [[], ["k. A."]], ids=["numbers", "with a word"])
@pytest.mark.parametrize("thousands", [["12.345", "1.234.567"], ["1.234", "2.345", "3.456", "4.567", "12.345"]])
def test_dots_between_thousands(tmp_path: Path, thousands: list[str], words: list[str]) -> None:
    """Amounts of a German file, some below a thousand, are not read as decimals."""
    cells = [*map(str, range(100, 150)), *thousands, *words]
    text = pd.DataFrame({"n": cells, "w": "x"}).to_csv(index=False, sep=";")
    profile, table = read_both(tmp_path / "t.csv", text)
    column, numbers = profile.column_profiles[0], table.frame["n"]
    assert (column.type, table.columns["n"].kind) == (ColumnType.NUMBER, ColumnKind.NUMBER)
    assert [column.minimum, column.maximum] == [numbers.min(), numbers.max()]
    assert numbers.max() == int(thousands[-1].replace(".", ""))


def test_numbers_are_counted_exactly(tmp_path: Path) -> None:
    """Hundreds of different numbers with decimals are counted, not estimated."""
    numbers = [str(number / 8) for number in range(900)]
    profile, table = read_both(tmp_path / "t.csv", pd.DataFrame({"n": numbers, "w": "x"}).to_csv(index=False))
    assert profile.column_profiles[0].distinct == table.columns["n"].distinct == 900


DATES = [
    ["2024-01-31", "2024-02-29"],
    ["2024-01-31T10:00:00+02:00", "2024-02-29T23:30:00Z"],
    ["2024-01", "2024-02"],
    ["31/12/2024", "01/02/2024"],
    ["01/02/2024", "03/04/2024"],
    ["12/31/2024", "01/02/2024"],
    ["31/12/24", "01/02/24"],
    ["12/31/24", "01/02/24"],
    ["31.12.2024", "01.02.2024"],
    ["31-12-2024", "01-02-2024"],
    ["31/12/2024 10:30", "01/02/2024 9:05"],
    ["31.12.2024 23:30", "01.02.2024 09:05"],
    ["31.12.24", "01.02.24"],
    ["31-12-2024 23:30:59", "01-02-2024 09:05:00"],
    ["2024/12/31 23:30", "2024/02/01 09:05"],
    ["12/31/2024 11:30 PM", "01/02/2024 9:05 am"],
    ["12/31/2024 11:30:59 PM", "01/02/2024 12:05:00 AM"],
    ["25. December 2024", "1. May 2024"],
    ["25 Dec 2024", "1 Jan 2024"],
    ["25-Dec-24", "1-JAN-99"],
    ["25-DEC-2024 10:30:00", "01-JAN-1999 00:00:00"],
    ["25-DEC-2024", "01-jan-2024"],
    ["25 December 2024", "1 May 2024"],
    ["Dec 25, 2024", "May 1, 2024"],
    ["December 25, 2024", "May 1, 2024"],
]


@pytest.mark.parametrize("texts", DATES, ids=lambda texts: texts[0])
def test_dates_are_the_same(tmp_path: Path, texts: list[str]) -> None:
    """Dates in every format that trainings know are dates in profiles, and mean the same day and time."""
    profile, table = read_both(tmp_path / "t.csv", pd.DataFrame({"d": texts, "w": "x"}).to_csv(index=False))
    column, moments = profile.column_profiles[0], table.frame["d"]
    assert (column.type, table.columns["d"].kind) == (ColumnType.DATE, ColumnKind.DATE)
    assert [pd.Timestamp(str(column.minimum)), pd.Timestamp(str(column.maximum))] == [moments.min(), moments.max()]


WORDS_AMONG_VALUES = {
    "integers": ([str(number % 60) for number in range(200)], ["ten", "12 or so"], "integer"),
    "decimals": ([str(number / 2) for number in range(1_200)], ["n.d.", "unknown", "+-1"], "number"),
    "amounts": ([f"${number},000.50" for number in range(1, 200)], ["free"], "number"),
    "days": ([f"{1 + number % 28:02d}/03/2024" for number in range(200)], ["soon"], "date"),
    "codes": ([str(number % 60) for number in range(200)], ["01067"], "text"),
    "booleans": (["true", "false"] * 50, ["maybe"], "text"),
    "many words": ([str(number % 30) for number in range(200)], ["a", "b"], "text"),
}


@pytest.mark.parametrize("name", WORDS_AMONG_VALUES)
@pytest.mark.parametrize("position", [5, 90])
def test_a_few_words_among_numbers_or_dates_are_missing(tmp_path: Path, name: str, position: int) -> None:
    """Both read at most 5 % of other values as missing, count them, and do not show them among frequent values."""
    values, words, expected_type = WORDS_AMONG_VALUES[name]
    cells = [*values[:position], *words, *values[position:], ""]
    profile, table = read_both(
        tmp_path / "t.csv", pd.DataFrame({"c": cells, "number": range(len(cells))}).to_csv(index=False)
    )
    column, schema = profile.column_profiles[0], table.columns["c"]
    assert column.type == expected_type
    assert (schema.kind in (ColumnKind.NUMBER, ColumnKind.DATE)) == (expected_type != "text")
    assert (column.missing, column.unreadable) == (schema.missing, schema.mixed)
    assert column.distinct == pytest.approx(schema.distinct, rel=0 if schema.distinct < 1_000 else 0.05)
    assert sum(profile.missing_marks.values()) == column.missing - column.unreadable
    if expected_type != "text":
        assert not {word for word, _count in column.top} & set(words)


MIXED_JSON = {"a": ["?", 1, 2.5, None], "b": ["x", 1, True, "-"], "c": ["7", 8, "9.5", "(3)"]}


def test_json_values_of_several_types(tmp_path: Path) -> None:
    """Texts among numbers in JSON are read like the cells of a CSV file."""
    profile, table = read_both(tmp_path / "t.json", pd.DataFrame(MIXED_JSON, dtype=object).to_json(orient="records"))
    for column, schema in zip(profile.column_profiles, table.columns.values(), strict=True):
        assert (column.missing, column.distinct) == (schema.missing, schema.distinct), column.name
    assert [column.type.value for column in profile.column_profiles] == ["number", "text", "number"]


def test_labels_of_plus_and_minus_are_kept(tmp_path: Path) -> None:
    """A file without a header, whose first column has the signs of two classes, loses neither rows nor classes."""
    lines = "".join(f"{'+-'[row % 2]},S{row},{'acgt'[row % 4]}\n" for row in range(40))
    profile, table = read_both(tmp_path / "t.csv", lines.replace("+", "-", 1))
    assert profile.rows == len(table.frame) == 40
    assert dict(profile.column_profiles[0].top) == {"-": 21, "+": 19}
    column = schema_from_dict(schema_to_dict(table.columns["column_1"]))
    assert (column.missing, column.distinct) == (0, 2)
    assert [parse_cell(column, sign) for sign in ("-", " + ", "?")] == ["-", "+", ""]
