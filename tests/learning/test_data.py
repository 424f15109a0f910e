"""Tables are read as people write them, and what is no table is refused with a reason."""

import datetime as dt
import io
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.learning.making import csv, messy, raw
from touchstone.learning import data
from touchstone.learning.columns import Kind, as_dict, from_dict, read_cell
from touchstone.learning.data import read_table
from touchstone.learning.errors import LearningError
from touchstone.learning.ports import DataFile


def parquet(columns: dict[str, Any]) -> DataFile:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return DataFile(buffer, "parquet")


def test_kinds_of_columns_are_recognised() -> None:
    """A messy table gets the kinds that a person would give."""
    table = read_table(csv(messy()))
    kinds = {name: column.kind for name, column in table.columns.items()}
    assert kinds == {
        "id": Kind.IDENTIFIER,
        "amount": Kind.NUMBER,
        "colour": Kind.CATEGORY,
        "city": Kind.CATEGORY,
        "when": Kind.DATE,
        "notes": Kind.TEXT,
        "constant": Kind.CATEGORY,
        "empty": Kind.CATEGORY,
        "sex": Kind.CATEGORY,
        "outcome": Kind.CATEGORY,
    }
    assert table.columns["amount"].infinite == 1
    assert table.columns["empty"].missing == len(table.frame)


@pytest.mark.parametrize("mark", ["", "?", " ?", "NA", "n/a", "NaN", "null", "-", "."])
def test_missing_marks_are_missing(mark: str) -> None:
    """Every usual way of writing nothing is read as nothing, among numbers and among words."""
    table = read_table(raw(f"a,b\n1,x\n{mark},{mark}\n3,y\n"))
    assert table.columns["a"].missing == table.columns["b"].missing == 1
    assert table.columns["a"].kind is Kind.NUMBER


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_and_delimiters_are_found_out(delimiter: str, encoding: str) -> None:
    """The same table in any usual encoding and with any usual delimiter reads the same."""
    text = "name|size\nélan|1\nñandú|2\n".replace("|", delimiter)
    table = read_table(raw(text.encode(encoding)))
    assert list(table.frame.columns) == ["name", "size"]
    assert table.frame["name"].tolist() == ["élan", "ñandú"]
    assert table.frame["size"].tolist() == [1.0, 2.0]


def test_decimal_commas_are_read_where_commas_do_not_delimit() -> None:
    """1,5 between semicolons is one and a half."""
    assert read_table(raw("a;b\n1,5;x\n2,25;y\n")).frame["a"].tolist() == [1.5, 2.25]


def test_repeated_and_empty_names_are_told_apart() -> None:
    """Columns never overwrite each other because their names agree."""
    table = read_table(raw("a,a,,b\n1,2,3,4\n5,6,7,8\n"))
    assert list(table.frame.columns) == ["a", "a_2", "column_3", "b"]
    assert table.renamed == {"a_2": "a", "column_3": ""}


def test_row_names_without_a_header_are_a_column() -> None:
    """A header one short of its rows belongs to the columns after the row names."""
    table = read_table(raw("a,b\nr1,1,2\nr2,3,4\n"))
    assert table.frame["a"].tolist() == [1.0, 3.0]
    assert table.frame["column_1"].tolist() == ["r1", "r2"]


def test_a_few_words_among_numbers_become_missing_and_are_counted() -> None:
    """One typing error does not turn a column of numbers into a category."""
    rows = "".join(f"{number}\n" for number in range(2, 100))
    column = read_table(raw(f"a\n{rows}twelve\n")).columns["a"]
    assert (column.kind, column.mixed, column.missing) == (Kind.NUMBER, 1, 1)


def test_codes_with_leading_zeros_stay_words() -> None:
    """A postal code is not a quantity."""
    assert read_table(raw("zip\n01234\n75001\n01234\n")).columns["zip"].kind is Kind.CATEGORY


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("2024-03-01", "2024-03-01"),
        ("25/12/2024", "2024-12-25"),
        ("12/25/2024", "2024-12-25"),
        ("25.12.2024", "2024-12-25"),
        ("2024-03-01T10:00:00+02:00", "2024-03-01 08:00"),
    ],
)
def test_dates_are_read_in_their_own_order(text: str, first: str) -> None:
    """Day and month are told apart by the whole column; zones are taken to UTC."""
    table = read_table(raw(f"d\n{text}\n{text}\n"))
    assert table.columns["d"].kind is Kind.DATE
    assert table.frame["d"][0] == np.datetime64(first)


def test_parquet_types_are_kept() -> None:
    """Booleans, dates, decimals, categories and nested columns each arrive as what they are."""
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
    assert kinds == [Kind.BOOLEAN, Kind.DATE, Kind.NUMBER, Kind.CATEGORY, Kind.UNSUPPORTED]
    assert [column.missing for column in table.columns.values()] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (raw(""), "file_empty"),
        (raw("\n \n"), "file_empty"),
        (raw("a,b\n"), "file_empty"),
        (raw(pickle.dumps({"a": 1})), "file_not_text"),
        (raw(b"a,b\n1,\x00\n"), "file_not_text"),
        (raw(b"PK\x03\x04rest"), "file_not_text"),
        (raw("a,b\n1,2\n1,2,3,4\n"), "file_malformed"),
        (raw("not parquet", "parquet"), "file_malformed"),
        (raw("a\n1\n", "xlsx"), "file_type_unknown"),
        (raw(",".join(f"c{number}" for number in range(5_001)) + "\n1\n"), "too_many_columns"),
        (raw(b"a\n" + b"x" * (data.MAX_LINE_BYTES + 1)), "line_too_long"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_table_is_refused(file: DataFile, code: str) -> None:
    """Hostile and broken files end in a reason, never in a crash."""
    with pytest.raises(LearningError) as refused:
        read_table(file)
    assert refused.value.code == code


def test_a_malformed_line_is_named() -> None:
    """Whoever has to mend the file is told where."""
    with pytest.raises(LearningError) as refused:
        read_table(raw("a,b\n1,2\n1,2,3,4\n"))
    assert refused.value.facts["line"] == 3


def test_a_parquet_bomb_is_refused_by_its_footer() -> None:
    """A small file that unfolds into a billion cells is refused before it is read."""
    with pytest.raises(LearningError, match="too_many_cells"):
        read_table(parquet({f"c{n}": pa.array(np.zeros(1_000_000, dtype=np.int8)) for n in range(51)}))


def test_columns_survive_as_records() -> None:
    """A column kept with a model is the same column later."""
    for column in read_table(csv(messy())).columns.values():
        assert from_dict(as_dict(column)) == column


def test_cells_given_by_value_read_like_the_file() -> None:
    """A number, a boolean, a date and a word given as JSON mean what they mean in the file."""
    columns = read_table(raw("n,f,d,w\n1.5,true,2024-01-02,x\n2.5,false,2024-01-03,y\n")).columns
    assert read_cell(columns["n"], "2.5") == 2.5
    assert np.isnan(read_cell(columns["n"], None))
    assert read_cell(columns["f"], True) == "true"
    assert read_cell(columns["f"], 0) == "false"
    assert read_cell(columns["d"], "2024-05-06") == np.datetime64("2024-05-06")
    assert read_cell(columns["w"], " x ") == "x"
    with pytest.raises(ValueError, match="many"):
        read_cell(columns["n"], "many")
