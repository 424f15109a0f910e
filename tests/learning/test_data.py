"""Tables are read as people write them, and what is not a table is rejected with a reason."""

import datetime as dt
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.learning.small_tables import csv_file, data_file, messy_table, parquet_file
from touchstone.learning.column_types import ColumnKind, parse_cell, schema_from_dict, schema_to_dict
from touchstone.learning.date_columns import mixes_date_formats
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_files.limits import MAX_LINE_BYTES
from touchstone.learning.table_reader import read_table
from touchstone.learning.target import read_target
from touchstone.learning.task_interface import DataFile
from touchstone.learning.training_warnings import data_warnings
from touchstone.learning.trial_fitting import suppress_numeric_warnings


def parquet(columns: dict[str, Any]) -> DataFile:
    return parquet_file(pa.table(columns))


def test_kinds_of_columns_are_recognised() -> None:
    """A messy table gets the column types that a person would choose."""
    table = read_table(csv_file(messy_table()))
    kinds = {name: column.kind for name, column in table.columns.items()}
    assert kinds == {
        "id": ColumnKind.IDENTIFIER,
        "amount": ColumnKind.NUMBER,
        "colour": ColumnKind.CATEGORY,
        "city": ColumnKind.CATEGORY,
        "when": ColumnKind.DATE,
        "notes": ColumnKind.TEXT,
        "constant": ColumnKind.CATEGORY,
        "empty": ColumnKind.CATEGORY,
        "sex": ColumnKind.CATEGORY,
        "outcome": ColumnKind.CATEGORY,
    }
    assert table.columns["amount"].infinite == 1
    assert table.columns["empty"].missing == len(table.frame)


@pytest.mark.parametrize("mark", ["", "?", " ?", "NA", "n/a", "NaN", "null", "-", "."])
def test_missing_marks_are_missing(mark: str) -> None:
    """Every usual way of marking a missing value is recognised, among numbers and among words."""
    table = read_table(data_file(f"a,b\n1,x\n{mark},{mark}\n3,y\n"))
    assert table.columns["a"].missing == table.columns["b"].missing == 1
    assert table.columns["a"].kind is ColumnKind.NUMBER


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_and_delimiters_are_detected(delimiter: str, encoding: str) -> None:
    """The same table is read alike in any usual encoding and with any usual delimiter."""
    text = "name|size\nélan|1\nñandú|2\n".replace("|", delimiter)
    table = read_table(data_file(text.encode(encoding)))
    assert list(table.frame.columns) == ["name", "size"]
    assert table.frame["name"].tolist() == ["élan", "ñandú"]
    assert table.frame["size"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas_delimit_nothing(delimiter: str) -> None:
    """Without a header, as many decimal commas in each row as other delimiters, or more, are no delimiters."""
    rows = "\n".join(f"{number},5|-{number},25|0,1|{number % 2}" for number in range(20))
    table = read_table(data_file(rows.replace("|", delimiter)))
    assert not table.has_header
    assert table.frame["column_2"].tolist() == [-number - 0.25 for number in range(20)]
    assert list(read_table(data_file("1,2,3\n4,5,6\n7,8,8\n")).frame) == ["1", "2", "3"]
    assert list(read_table(data_file("a,b;c\n1,2\n3,4\n")).frame) == ["a", "b;c"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("last_row", ["3|y|\n", "3\n"])
def test_a_first_line_may_state_the_delimiter(delimiter: str, last_row: str) -> None:
    """Spreadsheets write such a line above the header, which is neither a header nor a row."""
    text = f"sep={delimiter}\r\n\n" + f"a|b|c\n1|x|5\n2|y|6\n{last_row}".replace("|", delimiter)
    table = read_table(data_file(text))
    assert table.frame["a"].tolist() == [1, 2, 3]
    assert list(table.frame) == ["a", "b", "c"]
    assert list(read_table(data_file("sep=\n1\n2\n")).frame) == ["sep="]


def test_times_with_the_name_of_the_zone_are_read() -> None:
    """Data warehouses write UTC behind a time."""
    column = read_table(data_file("t\n2024-01-02 10:30:00 UTC\n2024-01-03 00:00:00 UTC\n")).columns["t"]
    assert column.kind is ColumnKind.DATE
    assert parse_cell(column, "2024-01-02 10:30:00 UTC") == pd.Timestamp("2024-01-02 10:30")


def test_decimal_commas_are_read_where_commas_do_not_delimit() -> None:
    """Between semicolons, 1,5 is one and a half."""
    assert read_table(data_file("a;b\n1,5;x\n2,25;y\n")).frame["a"].tolist() == [1.5, 2.25]


def test_repeated_and_empty_names_are_told_apart() -> None:
    """Columns with the same name never overwrite each other."""
    table = read_table(data_file("a,a,,b\n1,2,3,4\n5,6,7,8\n"))
    assert list(table.frame.columns) == ["a", "a_2", "column_3", "b"]
    assert table.renamed == {"a_2": "a", "column_3": ""}


def test_row_names_without_a_header_are_a_column() -> None:
    """If the header is one name too short, it belongs to the columns after the row names."""
    table = read_table(data_file("a,b\nr1,1,2\nr2,3,4\n"))
    assert table.frame["a"].tolist() == [1.0, 3.0]
    assert table.frame["column_1"].tolist() == ["r1", "r2"]


@pytest.mark.parametrize("ending", [",", ", "])
def test_a_delimiter_at_the_end_of_every_row_is_no_column(ending: str) -> None:
    """Some programs end each row with a delimiter; the header determines the number of columns."""
    table = read_table(data_file(f"n,w,c\n1,m,a{ending}\n2,f,b{ending}\n3,m\n"))
    assert {name: cells.tolist() for name, cells in table.frame.items()} == {
        "n": [1.0, 2.0, 3.0],
        "w": ["m", "f", "m"],
        "c": ["a", "b", ""],
    }
    table_with_row_names = read_table(data_file("n,w\nr1,1,x\nr2,2,\n"))
    assert table_with_row_names.frame["n"].tolist() == [1.0, 2.0]


def test_rows_much_wider_than_the_header_are_not_cut() -> None:
    """Two additional fields in every row are never lost silently, even if warnings are suppressed."""
    with suppress_numeric_warnings(), pytest.raises(LearningError) as error_info:
        read_table(data_file("a,b\n1,2,3,4\n5,6,7,8\n"))
    assert (error_info.value.code, error_info.value.facts["line"]) == ("file_malformed", 2)


DOTTED_THOUSANDS = ["1.234", "2.345", "3.456", "4.567", "12.345"]


@pytest.mark.parametrize(
    ("delimiter", "texts", "numbers"),
    [
        ("\t", ["1,234", "12", "1,234,567.5"], [1234.0, 12.0, 1234567.5]),
        ("|", ["-1,234", "12"], [-1234.0, 12.0]),
        ("\t", ["1,234", "1,5"], [1.234, 1.5]),
        ("|", ["0,125", "1,250"], [0.125, 1.25]),
        (";", ["1,234", "2,345,678"], [1234.0, 2345678.0]),
        (";", ["1,234", "12"], [1.234, 12.0]),
        (";", ["1,234.5", "12.25", "7"], [1234.5, 12.25, 7.0]),
        (";", ["$1,234.50", "$12.25", "$7"], [1234.5, 12.25, 7.0]),
        (";", ["1,234,567", "1,234", "12"], [1234567.0, 1234.0, 12.0]),
        (";", ["1.000,5", "1.000", "12"], [1000.5, 1000.0, 12.0]),
        (";", ["1.5", "2,5"], [1.5, 2.5]),
        (";", ["1.000", "2.000"], [1.0, 2.0]),
        (";", ["1.234.567", "2.345"], [1234567.0, 2345.0]),
        (",", ["1.234.567", "12"], [1234567.0, 12.0]),
        (";", ["1.234", "850,5"], [1234.0, 850.5]),
        (";", ["30.335 €", "1.200,50 €"], [30335.0, 1200.5]),
        (",", ["$12.345", "$102.500", "$9.125", "$8.750"], [12.345, 102.5, 9.125, 8.75]),
        (";", ["54.123 €", "48.250 €", "61.375 €"], [54.123, 48.25, 61.375]),
        (";", ["30.335 €", "1.200 €", "850 €"], [30.335, 1.2, 850.0]),
        (",", ["1.459 €", "1.509 €"], [1.459, 1.509]),
        (";", [*DOTTED_THOUSANDS, "850", "12", "0"], [1234.0, 2345.0, 3456.0, 4567.0, 12345.0, 850.0, 12.0, 0.0]),
        (";", [*DOTTED_THOUSANDS, "850", "12", "1999"], [1.234, 2.345, 3.456, 4.567, 12.345, 850.0, 12.0, 1999.0]),
        (",", [*DOTTED_THOUSANDS, "850", "12", "0"], [1.234, 2.345, 3.456, 4.567, 12.345, 850.0, 12.0, 0.0]),
        (";", [*DOTTED_THOUSANDS[:4], "850", "12", "0"], [1.234, 2.345, 3.456, 4.567, 850.0, 12.0, 0.0]),
        (";", [*DOTTED_THOUSANDS, "9"], [1.234, 2.345, 3.456, 4.567, 12.345, 9.0]),
        (";", [*DOTTED_THOUSANDS, "9", "12"], [1.234, 2.345, 3.456, 4.567, 12.345, 9.0, 12.0]),
    ],
)
def test_commas_and_dots_mean_what_the_column_shows(delimiter: str, texts: list[str], numbers: list[float]) -> None:
    """Groups of three digits are thousands, other commas are decimal; rows given by value are read alike."""
    lines = "".join(f"{text}{delimiter}x\n" for text in [*texts, "n/a"])
    table = read_table(data_file(f"n{delimiter}w\n{lines}"))
    assert table.frame["n"].tolist()[:-1] == numbers
    column = schema_from_dict(schema_to_dict(table.columns["n"]))
    assert [parse_cell(column, text) for text in texts] == numbers
    assert [parse_cell(column, number) for number in numbers] == numbers
    assert parse_cell(column, 12.345) == 12.345


@pytest.mark.parametrize(
    ("delimiter", "cells", "code"),
    [
        (";", [*DOTTED_THOUSANDS, "850", "12", "0"], "dots_read_as_thousands"),
        (";", ["54.123 €", "48.250 €"], "dots_read_as_decimals"),
        (";", ["1.234", "2.345"], "dots_read_as_decimals"),
        (",", ["$12.345", "$9.125"], "dots_read_as_decimals"),
        (",", ["1.234", "2.345"], None),
        (",", ["1.234 kg", "2.345 kg"], None),
        (",", ["$12.345", "$9.5"], None),
        (";", ["1.234", "0.345"], None),
        (";", ["1.234", "850,5"], None),
        (";", ["1.234.567", "2.345"], None),
        ("\t", ["1.234e2 V", "2.345e2 V"], None),
        ("\t", ["1.234", "1,234"], None),
    ],
)
def test_ambiguous_dots_have_a_warning(delimiter: str, cells: list[str], code: str | None) -> None:
    """If dots could be decimal marks or separate thousands, a warning says how they were read."""
    rows = "\n".join(f"{cell}{delimiter}{number % 2}" for number, cell in enumerate(cells * 10))
    table = read_table(data_file(f"n{delimiter}y\n{rows}"))
    assert table.columns["n"].kind is ColumnKind.NUMBER
    warnings = [warning for warning in data_warnings(table, read_target(table, "y")) if "dots" in warning["code"]]
    assert [(warning["code"], warning["facts"]) for warning in warnings] == ([(code, {"names": ["n"]})] if code else [])


def test_whole_numbers_given_for_words_are_their_digits() -> None:
    """JSON does not distinguish 1 from 1.0, and neither does a column of words."""
    column = read_table(data_file("k,n\n1,1\n2,2\nx,3\n")).columns["k"]
    assert parse_cell(column, 1) == parse_cell(column, 1.0) == "1"
    assert parse_cell(column, 1.5) == "1.5"


def test_a_few_words_among_numbers_become_missing_and_are_counted() -> None:
    """A single typing error does not turn a column of numbers into a category."""
    rows = "".join(f"{number}\n" for number in range(2, 100))
    column = read_table(data_file(f"a\n{rows}twelve\n")).columns["a"]
    assert (column.kind, column.mixed, column.missing) == (ColumnKind.NUMBER, 1, 1)


def test_codes_with_leading_zeros_stay_words() -> None:
    """A postal code is a word, not a quantity."""
    assert read_table(data_file("zip\n01234\n75001\n01234\n")).columns["zip"].kind is ColumnKind.CATEGORY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", "2024-03-01"),
        ("25/12/2024", "2024-12-25"),
        ("12/25/2024", "2024-12-25"),
        ("25.12.2024", "2024-12-25"),
        ("25/12/24", "2024-12-25"),
        ("12/25/24", "2024-12-25"),
        ("01/02/24", "2024-02-01"),
        ("01/02/2024", "2024-02-01"),
        ("25 Dec 2024", "2024-12-25"),
        ("25-Dec-2024", "2024-12-25"),
        ("25-Dec-24", "2024-12-25"),
        ("25-Dec-2024 10:30", "2024-12-25 10:30"),
        ("1-JAN-99", "1999-01-01"),
        ("25 December 2024", "2024-12-25"),
        ('"December 25, 2024"', "2024-12-25"),
        ("2024-03-01T10:00:00+02:00", "2024-03-01 08:00"),
    ],
)
def test_dates_are_read_in_their_own_order(text: str, expected: str) -> None:
    """The whole column determines the order of day and month; times are converted to UTC."""
    table = read_table(data_file(f"d\n{text}\n{text}\n"))
    assert table.columns["d"].kind is ColumnKind.DATE
    assert table.frame["d"][0] == np.datetime64(expected)


@pytest.mark.parametrize("position", [0, 7, 150])
def test_a_word_among_dates_is_missing_wherever_it_is(position: int) -> None:
    """A word in one of the first cells does not turn a column of dates into one of words."""
    days = [str(day) for day in np.arange("2020-01-01", "2020-07-01", dtype="datetime64[D]")]
    days[position] = "tbd"
    column = read_table(data_file("d\n" + "\n".join(days) + "\n")).columns["d"]
    assert (column.kind, column.mixed, column.missing) == (ColumnKind.DATE, 1, 1)


@pytest.mark.parametrize(("other_format", "mixes"), [("%d/%m/%Y", True), ("%d. %B %Y", True), ("item %j", False)])
def test_dates_in_several_formats_are_recognised(other_format: str, mixes: bool) -> None:
    """Dates that two people have written in different ways are words, but not like any other words."""
    days = pd.date_range("2020-01-01", periods=60)
    texts = [day.strftime(other_format if number % 3 else "%Y-%m-%d") for number, day in enumerate(days)]
    rows = "\n".join(f"{text},{number % 2}" for number, text in enumerate(texts))
    table = read_table(data_file(f"d,y\n{rows}"))
    assert table.columns["d"].kind is ColumnKind.IDENTIFIER
    codes = [warning["code"] for warning in data_warnings(table, read_target(table, "y"))]
    assert ("dates_in_several_formats" in codes) is mixes


def test_one_format_of_dates_is_not_several() -> None:
    """Dates in one format are not mixed, nor are those with a few other strings, or no strings at all."""
    days = [str(day) for day in np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")]
    assert not mixes_date_formats(days)
    assert not mixes_date_formats([*days, "25/12/2024"])
    assert not mixes_date_formats([])


def test_a_format_that_begins_late_is_recognised() -> None:
    """The format of dates may change in the middle of a file, long after its first rows."""
    days = pd.date_range("2020-01-01", periods=200)
    texts = [*days[:120].strftime("%Y-%m-%d"), *days[120:].strftime("%d/%m/%Y")]
    assert mixes_date_formats(texts)


@pytest.mark.parametrize(
    ("cells", "mixes"),
    [
        (["1.2 kg", "800 g", "1 kg", "950g"], True),
        (["12 kg", "800 g", "5", "7 kg"], True),
        (["$5", "7 €", "$8.50"], True),
        (["$5", "$7", "USD 8"], True),
        (["5 h", "7 hrs"], True),
        (["45%", "0.3", "30%"], True),
        (["$5", "7", "8.50"], True),
        (["5 pieces", "7", "8"], False),
        (["5g", "7 t"], True),
        (["12A", "14B", "3C"], False),
        (["12D", "14H", "3S"], False),
        (["12", "14H", "3S"], False),
        (["32 S", "34 M", "36 L"], False),
        (["12", "14 or so", "kg"], False),
    ],
)
def test_numbers_in_several_units_are_recognised(cells: list[str], mixes: bool) -> None:
    """Grams and kilograms, hours with two spellings, or numbers partly with a unit, are words, but not like sizes."""
    rows = "\n".join(f"{cell},{number % 2}" for number, cell in enumerate(cells * 10))
    table = read_table(data_file(f"n,y\n{rows}"))
    assert table.columns["n"].kind is ColumnKind.CATEGORY
    codes = [warning["code"] for warning in data_warnings(table, read_target(table, "y"))]
    assert ("several_units" in codes) is mixes


def test_parquet_types_are_kept() -> None:
    """Booleans, dates, decimals, categories and nested columns keep their types."""
    table = read_table(
        parquet(
            {
                "flag": pa.array([True, None, False]),
                "day": pa.array([dt.date(2024, 1, 2), None, dt.date(2024, 1, 3)]),
                "money": pa.array([Decimal("1.50"), None, Decimal("2.50")]),
                "word": pa.array(["a", None, "?"]).dictionary_encode(),
                "list": pa.array([[1], [2], None]),
            }
        )
    )
    kinds = [column.kind for column in table.columns.values()]
    assert kinds == [
        ColumnKind.BOOLEAN,
        ColumnKind.DATE,
        ColumnKind.NUMBER,
        ColumnKind.CATEGORY,
        ColumnKind.UNSUPPORTED,
    ]
    assert [column.missing for column in table.columns.values()] == [1, 1, 1, 2, 1]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([-(2**31), 2**31 - 1, 18_000, None], pa.int32()).cast(pa.date32()),
        pa.array([-(2**62), 2**62, 1_600_000_000_000_000, None], pa.int64()).cast(pa.timestamp("us")),
        pa.array([-(2**62), 2**62, 1_600_000_000_000, None], pa.int64()).cast(pa.timestamp("ms", "Europe/Paris")),
        pa.array([-(2**62), 2**62, 86_400_000, None], pa.int64()).cast(pa.date64(), safe=False),
        pa.array([-(2**62), 2**62, 86_400_000, None], pa.int64()).cast(pa.timestamp("ns")),
    ],
    ids=lambda cells: str(cells.type),
)
def test_dates_outside_of_the_calendar_are_missing(cells: Any) -> None:
    """Dates outside of the years 1 to 9999 are missing; all others are exact to the microsecond."""
    table = read_table(parquet({"when": cells, "n": pa.array([1.5, 2.5, 3.5, 4.5])}))
    assert table.columns["when"].kind is ColumnKind.DATE
    assert table.columns["when"].missing == (1 if cells.type == pa.timestamp("ns") else 3)
    assert table.frame["when"][2] == np.datetime64(cells.cast(pa.timestamp("us"), safe=False)[2].value, "us")


def test_every_other_type_of_parquet_is_read_or_set_aside() -> None:
    """Huge, nested, binary and wrongly encoded cells are read into a column, and never cause a crash."""
    invalid_text = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 3], dtype=np.int32)), pa.py_buffer(b"a\xff\xfe")]
    )
    table = read_table(
        parquet(
            {
                "decimal": pa.array([Decimal(10) ** 70, None], pa.decimal256(76, 2)),
                "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
                "half": pa.array(np.array([1.5, np.inf], dtype=np.float16)),
                "time": pa.array([5, None], pa.time64("us")),
                "duration": pa.array([2**62, None], pa.duration("us")),
                "binary": pa.array([b"\xff", None]).dictionary_encode(),
                "nested": pa.array([{"a": [1]}, None]),
                "nothing": pa.nulls(2),
                "text": invalid_text,
            }
        )
    )
    number_columns = ["decimal", "unsigned", "half"]
    assert [table.columns[name].kind for name in number_columns] == [ColumnKind.NUMBER] * 3
    assert table.frame["unsigned"][0] == 2.0**64
    unsupported_columns = ["time", "duration", "binary", "nested", "nothing"]
    assert [table.columns[name].kind for name in unsupported_columns] == [ColumnKind.UNSUPPORTED] * 5
    assert table.frame["text"].tolist() == ["a", "\ufffd\ufffd"]


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (data_file(""), "file_empty"),
        (data_file("\n \n"), "file_empty"),
        (data_file("a,b\n"), "file_empty"),
        (data_file(pickle.dumps({"a": 1})), "file_not_text"),
        (data_file(b"a,b\n1,\x00\n"), "file_not_text"),
        (data_file(b"PK\x03\x04rest"), "file_not_text"),
        (data_file("a,b\n1,2\n1,2,3,4\n"), "file_malformed"),
        (data_file("not parquet", "parquet"), "file_unreadable"),
        (data_file("a\n1\n", "xlsx"), "file_type_unknown"),
        (data_file(",".join(f"c{number}" for number in range(5_001)) + "\n1\n"), "too_many_columns"),
        (data_file(b"a\n" + b"x" * (MAX_LINE_BYTES + 1)), "line_too_long"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_table_is_refused(file: DataFile, code: str) -> None:
    """Hostile and damaged files are rejected with a reason, and never cause a crash."""
    with pytest.raises(LearningError) as error_info:
        read_table(file)
    assert error_info.value.code == code


def test_a_malformed_line_is_named() -> None:
    """The error says which line has to be corrected."""
    with pytest.raises(LearningError) as error_info:
        read_table(data_file("a,b\n1,2\n1,2,3,4\n"))
    assert error_info.value.facts["line"] == 3


def test_a_parquet_bomb_is_refused_by_its_footer() -> None:
    """A small file that expands to a billion cells is rejected before it is read."""
    with pytest.raises(LearningError, match="too_many_cells"):
        read_table(parquet({f"c{n}": pa.array(np.zeros(1_000_000, dtype=np.int8)) for n in range(51)}))


def test_columns_survive_as_records() -> None:
    """A column that is stored with a model is the same when it is loaded."""
    for column in read_table(csv_file(messy_table())).columns.values():
        assert schema_from_dict(schema_to_dict(column)) == column


def test_models_do_not_store_what_only_warnings_need() -> None:
    """A model file says how to read rows, and not what was strange about those of the training."""
    table = read_table(data_file("n;w\n1.234;5 kg\n2.345;7 g\n"))
    assert table.columns["n"].has_ambiguous_dots
    assert table.columns["w"].mixes_units
    assert not {"has_ambiguous_dots", "mixes_units"} & {
        name for column in table.columns.values() for name in schema_to_dict(column)
    }


def test_cells_given_by_value_read_like_the_file() -> None:
    """Numbers, booleans, dates and words in JSON have the same meaning as in the file."""
    columns = read_table(data_file("n,f,d,w\n1.5,true,2024-01-02,x\n2.5,false,2024-01-03,y\n")).columns
    assert parse_cell(columns["n"], "2.5") == 2.5
    assert np.isnan(parse_cell(columns["n"], None))
    assert parse_cell(columns["f"], True) == "true"
    assert parse_cell(columns["f"], 0) == "false"
    assert parse_cell(columns["d"], "2024-05-06") == np.datetime64("2024-05-06")
    assert parse_cell(columns["w"], " x ") == "x"
    with pytest.raises(ValueError, match="many"):
        parse_cell(columns["n"], "many")
