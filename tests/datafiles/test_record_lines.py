"""The rows of Parquet files as lines of JSON, whatever the types of their columns."""

import io
import json
import math
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from touchstone.datafiles.record_lines import read_record_lines


def lines_of(**columns: Any) -> list[bytes]:
    """Return the rows of a Parquet file with these columns as lines of JSON."""
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    with pq.ParquetFile(buffer) as file:
        return [line for lines in read_record_lines(file, ignored_columns={"id"}) for line in lines]


@pytest.mark.parametrize(
    ("values", "members"),
    [
        (pa.array([Decimal("20.50"), Decimal("-3.00")]), [20.5, -3.0]),
        (pa.array([Decimal("2020"), None]), [2020, None]),
        (pa.array([b"\xc3\xa9", None]), ["é", None]),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
        (pa.array([[b"a"], []], pa.large_list(pa.binary())), [["a"], []]),
        (pa.array([1.5, math.nan]), [1.5, None]),
    ],
    ids=["decimal", "whole decimal", "bytes", "view", "dictionary", "list of bytes", "not a number"],
)
def test_values_become_what_json_has_for_them(values: pa.Array, members: list[Any]) -> None:
    """Decimals are numbers, bytes are texts, and null is left out."""
    records = [json.loads(line) for line in lines_of(name=["A", "B"], value=values)]
    assert [record.get("value") for record in records] == members


def test_each_row_is_one_line() -> None:
    """Metadata may be a text with line breaks, or a struct, whose null members are left out."""
    metadata = {"source": {"name": "Archive", "key": "a"}, "note": "two\nlines"}
    indented_text = json.dumps(metadata, indent=2).replace("\n", "\r\n")
    for column in ([indented_text, "{"], [{**metadata, "licence": None}, None]):
        first_line, second_line = lines_of(name=["A", "B"], metadata=column)
        assert json.loads(first_line) == {"name": "A", "metadata": metadata}
        assert json.loads(second_line).get("metadata") in ("{", None)
        assert (first_line.count(b"\n"), second_line.count(b"\n")) == (1, 1)


def test_what_json_cannot_say_is_refused_later() -> None:
    """Infinite numbers and bytes that are no text become lines that no parser of strict JSON accepts."""
    for values in (pa.array([math.inf]), pa.array([b"\xff"]), pa.array([[-math.inf]]), pa.array([{"x": b"\xff"}])):
        [line] = lines_of(value=values)
        with pytest.raises(ValueError, match=r"out of range|decode"):
            msgspec.json.decode(line)


def test_columns_that_are_no_members_are_left_out() -> None:
    """The labels that pandas has stored with the rows are ignored like the columns that the service writes."""
    [line] = lines_of(id=[7], name=["A"], __index_level_0__=[3])
    assert json.loads(line) == {"name": "A"}
