"""Records that are written to files and read again are unchanged."""

import csv
import io
import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from touchstone.client import Dataset, RecordError, record_of
from touchstone.client.fields import DatasetAttributes, DatasetFields
from touchstone.client.record_files import COLUMNS, READERS, WRITERS
from touchstone.core.attributes import ATTRIBUTES, Kind

FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\t", "\r")
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
values_by_kind = {
    Kind.TEXT: texts,
    Kind.WORDS: st.lists(texts, max_size=4),
    Kind.INTEGER: st.integers(0, 2**53 - 1),
    Kind.PERCENTAGE: st.floats(0, 100),
    Kind.FLAG: st.booleans(),
}
fields = {
    **{
        attribute.name: st.none() | values_by_kind[attribute.kind]
        for attribute in ATTRIBUTES
        if attribute.name != "dataset_name"
    },
    "metadata": st.none() | st.dictionaries(texts, json_values, max_size=3),
    **dict.fromkeys(("description", "file_path", "file_type"), texts),
    "visibility": st.sampled_from(["public", "private"]),
    "name": texts.filter(bool),
}


def make_dataset(**values: object) -> Dataset:
    now = datetime.now(UTC)
    name = str(values.get("name", "n"))
    attributes = {"id": 1, "dataset_id": uuid4(), "dataset_name": name, "created_at": now, "updated_at": now, **values}
    return Dataset(**{"name": name, **attributes})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", WRITERS)
@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(records=st.lists(st.fixed_dictionaries(fields), max_size=4))
def test_what_is_written_is_read_again(kind: str, records: list[dict[str, object]]) -> None:
    """Texts of any kind, empty and missing values, lists, flags and metadata are unchanged in both formats."""
    datasets = [make_dataset(**values) for values in records]
    file = io.StringIO(newline="")
    assert WRITERS[kind](datasets, file) == len(datasets)
    file.seek(0)
    assert (
        list(READERS[kind](file))
        == [record_of(dataset) for dataset in datasets]
        == [{name: values[name] for name in COLUMNS} for values in records]
    )


def test_the_columns_are_the_fields_that_a_creator_may_write() -> None:
    """Files, the fields of the client and the table of attributes have the same names."""
    field_names = {*DatasetFields.__annotations__, *DatasetAttributes.__annotations__}
    assert field_names == set(COLUMNS)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\uff1d1+1", "Sums;=1+1;", 'a; "=1+1;', "a\n-1"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    """A spreadsheet that opens an export never executes a text as a formula, whatever separates its columns."""
    file = io.StringIO(newline="")
    WRITERS["csv"]([make_dataset(name=text, domain=[text], metadata={text: text})], file)
    line = file.getvalue().splitlines()[1]
    assert line.startswith('"""')
    cells = [cell for separator in ",;\t" for [*cells] in csv.reader([line], delimiter=separator) for cell in cells]
    assert not [cell for cell in cells if cell.strip().startswith(FORMULA_STARTS)]
    file.seek(0)
    assert next(READERS["csv"](file))["name"] == text


def test_hidden_records_are_marked_for_bulk_imports() -> None:
    """Creators cannot write the mark, so it is missing from other records, and ignored when a file is read."""
    file = io.StringIO()
    WRITERS["jsonl"]([make_dataset(hidden=True, visibility="private"), make_dataset()], file)
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [line.get("hidden") for line in lines] == [True, None]
    file.seek(0)
    assert all(set(record) == set(COLUMNS) for record in READERS["jsonl"](file))


def test_people_may_write_lists_with_commas() -> None:
    """A table from a spreadsheet needs no JSON, and columns that the service determines are ignored."""
    file = io.StringIO('\ufeffname,domain,is_split,year,id\n"A, b","health, law",TRUE,2020,7\n\n', newline="")
    assert list(READERS["csv"](file)) == [{"name": "A, b", "domain": ["health", "law"], "is_split": True, "year": 2020}]


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("csv", "name,yeer\nA,2\n", "line 1: 'yeer' is unknown; did you mean year"),
        ("csv", "name,year\nA,2\nB,two\n", "line 3, column year: 'two' does not fit (a whole number)"),
        ("csv", "name,is_split\nA,yes\n", "true, false or nothing"),
        ("csv", "name,year\nA\n", "1 cells under 2 columns"),
        ("csv", "name,year\n,2020\n", "line 2: a record has a name"),
        ("csv", 'name\n"A', "line 2: unexpected end of data"),
        ("jsonl", '{"name": "A"}\n[1]\n', "line 2"),
        ("jsonl", '{"name": "A", "dommain": []}\n', "did you mean domain"),
        ("jsonl", "{}\n", "line 1: a record has a name"),
        ("jsonl", '{"name": "A", "year": NaN}\n', "line 1"),
        ("jsonl", '{"name": ' + "[" * 5000, "line 1: JSON has too many levels"),
        ("jsonl", '{"name": "\udcff"}', "line 1: JSON contains invalid characters"),
        ("csv", "name,metadata\nA,{" + '""a"":{' * 5000 + "\n", "line 2, column metadata"),
    ],
)
def test_a_file_that_does_not_fit_says_where(kind: str, text: str, message: str) -> None:
    """The error names the line, the column and what was expected."""
    with pytest.raises(RecordError) as problem:
        list(READERS[kind](io.StringIO(text, newline="")))
    assert message in str(problem.value)
