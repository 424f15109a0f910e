"""Tables are read as people write them: their numbers, encodings, headers and formats."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import csv_file, data_file
from touchstone.core.delimited_text import detect_layout, has_header
from touchstone.learning.column_types import ColumnKind, parse_cell, schema_from_dict, schema_to_dict
from touchstone.learning.identifiers import is_named_like_identifier
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_files.delimited import BLOCK_BYTES
from touchstone.learning.table_profile import profile_table
from touchstone.learning.table_reader import read_table
from touchstone.learning.table_warnings import table_warnings


@pytest.mark.parametrize(
    ("texts", "numbers", "unit"),
    [
        (["12,345", "1,234,567.5", "12"], [12345, 1234567.5, 12], ""),
        (["$1,234.00", "$5", "-$7.50"], [1234, 5, -7.5], "$"),
        (["€ 1.234,00", "€ 12,50"], [1234, 12.5], "€"),
        (["1 234,5 €", "7 €"], [1234.5, 7], "€"),
        (["45%", "5.5 %", "100%"], [45, 5.5, 100], "%"),
        (["0,25", "1,5", "12"], [0.25, 1.5, 12], ""),
        (["1'234.5", "12'000"], [1234.5, 12000], ""),
        (["12 kg", "7.5 kg", "80 KG"], [12, 7.5, 80], "kg"),
        (["USD 12", "USD 1,300"], [12, 1300], "USD"),
        (["\N{MINUS SIGN}5", "1e3", "+2"], [-5, 1000, 2], ""),
        (["(1,234.00)", "12.50", "(7)"], [-1234, 12.5, -7], ""),
        (["($1,234.00)", "$ (5)", "$7.50"], [-1234, -5, 7.5], "$"),
        (["\u0661\u0662", "-\uff13"], [12, -3], ""),
    ],
)
def test_numbers_as_people_write_them(texts: list[str], numbers: list[float], unit: str) -> None:
    """Amounts, shares and measurements are numbers, in files and in rows given by value alike."""
    table = read_table(csv_file(pd.DataFrame({"n": [*texts, "n/a"], "w": "x"})))
    assert table.frame["n"].tolist()[:-1] == numbers
    column = schema_from_dict(schema_to_dict(table.columns["n"]))
    assert column.unit == unit
    assert [parse_cell(column, text) for text in texts] == numbers
    assert parse_cell(column, 12.5) == parse_cell(column, "12,5" if column.decimal_comma else "12.5") == 12.5


@pytest.mark.parametrize(
    "texts",
    [
        ["12 kg", "800 g", "3 kg"],
        ["1,2", "1.2.3", "x"],
        ["12:30", "13:45"],
        ["3-4", "5-6"],
        ["A12", "A13"],
        ["(-5)", "-(5)"],
    ],
)
def test_what_only_resembles_numbers_stays_words(texts: list[str]) -> None:
    """Cells with several units, versions, times, ranges and codes are not quantities."""
    assert read_table(csv_file(pd.DataFrame({"n": texts}))).columns["n"].kind is ColumnKind.CATEGORY


def test_another_unit_is_refused() -> None:
    """A row in grams cannot be predicted by a model that has learned from kilograms."""
    column = read_table(data_file("n,w\n12 kg,x\n13 kg,y\n")).columns["n"]
    with pytest.raises(ValueError, match="g"):
        parse_cell(column, "800 g")


CITIES = {
    "cp1251": ("город", ["Москва", "Санкт-Петербург", "Новосибирск", "Казань"]),
    "koi8_r": ("город", ["Москва", "Санкт-Петербург", "Новосибирск", "Казань"]),
    "cp1252": ("ville", ["Orléans", "Besançon", "Nîmes", "Saint-Étienne"]),
    "cp1253": ("πόλη", ["Αθήνα", "Θεσσαλονίκη", "Πάτρα", "Ηράκλειο"]),
    "cp932": ("都市", ["東京", "大阪", "名古屋", "札幌"]),
    "utf-16-le": ("ville", ["Orléans", "Besançon", "Nîmes", "Saint-Étienne"]),
}


@pytest.mark.parametrize("encoding", CITIES)
def test_encodings_are_guessed_from_the_letters(encoding: str) -> None:
    """A table in an encoding of its language is read correctly, and the result says what was guessed."""
    name, cities = CITIES[encoding]
    text = f"{name};n\n" + "".join(f"{city};{number}\n" for number, city in enumerate(cities * 10))
    table = read_table(data_file(text.encode(encoding)))
    assert list(table.frame.columns) == [name, "n"]
    assert table.frame[name].tolist()[:4] == cities
    assert profile_table(table, {}, {}, None)["encoding"] == encoding
    codes = [warning["code"] for warning in table_warnings(table)]
    assert codes == ([] if encoding.startswith("utf") else ["encoding_guessed"])


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1251", "вес признак класс да нет годен брак"),
        ("koi8_r", "вес признак класс да нет годен брак"),
        ("koi8_r", "ДА НЕТ ГОДЕН БРАК"),
        ("cp1251", "тегло цена добре лошо"),
        ("cp1255", "משקל תכונה סוג כן לא תקין פגום"),
        ("cp1253", "βάρος τιμή ναι όχι καλό κακό"),
        ("cp1256", "وزن سعر نعم لا جيد"),
    ],
)
def test_encodings_are_guessed_from_a_few_words_without_capitals(encoding: str, words: str) -> None:
    """Words that are possible in several scripts are read in the one whose letters are as frequent as in a language."""
    first, *others = words.split()
    text = f"{first},n\n" + "".join(f"{word},{number}\n" for number, word in enumerate(others * 12))
    table = read_table(data_file(text.encode(encoding)))
    assert table.encoding.name == encoding
    assert list(table.frame.columns) == [first, "n"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["a", "b"], ["1", "x"], ["2", "y"]], True),
        ([["1", "x"], ["2", "y"], ["3", "x"]], False),
        ([["5.1", "3.5", "setosa"], ["4.9", "3.0", "setosa"], ["4.7", "3.2", "virginica"]], False),
        ([["p", "x", "s"], ["e", "x", "s"], ["p", "b", "y"], ["e", "x", "y"]], False),
        ([["class", "shape"], ["e", "x"], ["p", "b"]], True),
        ([["country", "2019", "2020"], ["France", "1.5", "2.5"], ["Spain", "3", "4"]], True),
        ([["0", "1", "2"], ["7", "8", "5"], ["1", "2", "9"]], True),
        ([["2001", "5"], ["2002", "7"], ["2003", "9"]], False),
        ([["", "x"], ["0", "1.5"], ["1", "2.5"]], True),
        ([["a", "b"]], True),
    ],
)
def test_a_header_is_told_from_data(rows: list[list[str]], expected: bool) -> None:
    """Words above numbers, years and numbered columns are names; whatever is like the rows below is data."""
    assert has_header(rows) is expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_line_breaks_in_quoted_cells_of_long_files(encoding: str) -> None:
    """A quoted cell may break the line anywhere in a file that is read in several blocks."""
    rows = 2 * BLOCK_BYTES // 40
    plain_lines = "".join(f"{row},a cell that needs no quotes\n" for row in range(rows // 2))
    lines_with_breaks = "".join(f'{row},"a cell\nof several\nlines"\n' for row in range(rows // 2, rows))
    table = read_table(data_file(f"n,text\n{plain_lines}{lines_with_breaks}".encode(encoding)))
    assert table.frame["n"].tolist() == list(range(rows))
    assert table.frame["text"].iloc[[0, -1]].tolist() == ["a cell that needs no quotes", "a cell\nof several\nlines"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_quotes_after_a_space(delimiter: str, encoding: str) -> None:
    """A space between a delimiter and a quoted cell is no part of the cell, nor are the quotes, also in the header."""
    lines = [
        ['"n"', ' "w"', ' "the text"'],
        ["1", ' "x"', ' "a, b; c"'],
        ["2", " y", ' "say ""hi"""'],
        ["3", ' ""', ' "two\n\nlines"'],
        ["4", ' "x"'],
    ]
    text = "".join(f"{delimiter.join(cells)}\n" for cells in lines)
    table = read_table(data_file(text.encode(encoding)))
    assert list(table.columns) == ["n", "w", "the text"]
    assert table.frame["n"].tolist() == [1, 2, 3, 4]
    assert table.frame["w"].tolist() == ["x", "y", "", "x"]
    assert table.frame["the text"].tolist() == ["a, b; c", 'say "hi"', "two\n\nlines", ""]


@pytest.mark.parametrize(
    "cell", ['5" pipe', ' 5" pipe', ' "yes" or "no"', '" ""quoted"""', '"a, ""b"", c"'], ids=lambda cell: cell.strip()
)
def test_other_quotes_after_a_space_belong_to_the_cell(cell: str) -> None:
    """Quotes around a part of a cell, or within a quoted cell, are no reason to read a file differently."""
    layout = detect_layout(f"n,text\n1,{cell}\n2,x\n")
    assert layout is not None
    assert not layout.has_spaces_before_quotes


def test_a_number_too_long_for_python_names_no_column() -> None:
    """A text of more than 4,300 digits, which Python does not convert to an integer, is still a number."""
    assert has_header([["1" * 5000, "2"], ["3", "4"]]) is False


def test_a_file_without_a_header_loses_no_row() -> None:
    """The first row is kept, the columns are numbered, and a warning says so."""
    table = read_table(data_file("5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n"))
    assert table.frame["column_1"].tolist() == [5.1, 4.9, 6.3]
    assert table.renamed == {}
    [warning] = table_warnings(table)
    assert (warning["code"], warning["facts"]["names"]) == ("header_missing", ["column_1", "column_2"])


ROWS = [
    {"n": 1, "w": "red", "ok": True, "day": "2024-01-02", "price": "$1,200.00", "tags": ["a"]},
    {"n": 2.5, "w": None, "ok": False, "day": "2024-01-03", "price": "$80.00"},
    {"n": 10**400, "w": "Orléans", "day": "2024-01-04", "price": "$7.50", "late": 3},
]


def test_members_of_objects_are_columns() -> None:
    """Objects are divided into columns; null stands for an object whose members are all missing."""
    rows = [
        {"id": 1, "home": {"city": "Oslo", "place": {"north": 59.9}}, "tags": ["a"]},
        {"id": 2, "home": None},
        {"id": 3, "home": {"city": "Narvik"}},
    ]
    table = read_table(data_file(json.dumps(rows).encode(), "json"))
    assert list(table.columns) == ["id", "home.city", "home.place.north", "tags"]
    assert table.frame["home.city"].tolist() == ["Oslo", "", "Narvik"]
    assert table.columns["home.place.north"].missing == 2
    assert table.columns["tags"].kind is ColumnKind.UNSUPPORTED


@pytest.mark.parametrize("file_type", ["json", "jsonl"])
def test_json_is_read(file_type: str) -> None:
    """Arrays of objects and objects on lines have the types of their values; what a row lacks is missing."""
    text = json.dumps(ROWS, indent=1) if file_type == "json" else "\n".join(map(json.dumps, ROWS))
    table = read_table(data_file(text, file_type))
    kinds = {name: column.kind for name, column in table.columns.items()}
    assert kinds == {
        "n": ColumnKind.NUMBER,
        "w": ColumnKind.CATEGORY,
        "ok": ColumnKind.BOOLEAN,
        "day": ColumnKind.DATE,
        "price": ColumnKind.NUMBER,
        "tags": ColumnKind.UNSUPPORTED,
        "late": ColumnKind.NUMBER,
    }
    assert table.frame["w"].tolist() == ["red", "", "Orléans"]
    assert table.frame["price"].tolist() == [1200, 80, 7.5]
    assert (table.columns["ok"].missing, table.columns["late"].missing, table.columns["n"].infinite) == (1, 2, 1)


@pytest.mark.parametrize(
    ("text", "file_type", "code"),
    [
        ("[1, 2]", "json", "file_unreadable"),
        ("[]", "json", "file_empty"),
        ('{"a": 1}\n{"a": \n', "jsonl", "file_malformed"),
        ("[" * 100_000, "json", "file_unreadable"),
        (json.dumps([{f"c{number}": 1 for number in range(5_001)}]), "json", "too_many_columns"),
    ],
)
def test_json_that_is_no_table_is_refused(text: str, file_type: str, code: str) -> None:
    """Whatever is not a sequence of objects is rejected with a reason."""
    with pytest.raises(LearningError) as error_info:
        read_table(data_file(text, file_type))
    assert error_info.value.code == code


SHUFFLED = np.random.default_rng(0).permutation(60)


@pytest.mark.parametrize(
    ("name", "values", "is_identifier"),
    [
        ("n", np.arange(1_001, 1_061), True),
        ("n", SHUFFLED + 7_000, True),
        ("customer_id", SHUFFLED * 37 + 5, True),
        ("PassengerId", SHUFFLED * 37 + 5, True),
        ("price", SHUFFLED * 37 + 5, False),
        ("id", SHUFFLED / 7, False),
        ("id", SHUFFLED // 2, False),
        ("year", np.arange(1_900, 1_960), False),
        ("rank", SHUFFLED + 1, False),
        ("Minute", SHUFFLED, False),
        ("numero_settimana", SHUFFLED + 1, False),
    ],
)
def test_identifiers_are_recognised_by_name_or_by_counting(name: str, values: np.ndarray, is_identifier: bool) -> None:
    """Numbers that identify rows are set aside, whatever the first one is; quantities are not."""
    column = read_table(csv_file(pd.DataFrame({name: values}))).columns[name]
    assert (column.kind is ColumnKind.IDENTIFIER) is is_identifier


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "idCustomer", "Order No.", "patientid", "row"])
def test_names_of_identifiers(name: str) -> None:
    """A name says that a column identifies rows by its first or last word."""
    assert is_named_like_identifier(name)


@pytest.mark.parametrize("name", ["paid", "humid", "number of rooms", "video", "idea", "price_index"])
def test_other_names(name: str) -> None:
    """Letters within a word do not make a name that of an identifier."""
    assert not is_named_like_identifier(name)
