"""Rows as lines of CSV, in which PostgreSQL takes them by COPY.

Arrow writes the lines, several times faster than a driver converts one value after the other. All values are in quotes,
so that a missing value, which is not, differs from an empty text.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.csv
import sqlalchemy as sa

from touchstone.database.utc_datetime import UtcDateTime

_WRITE_OPTIONS: Final = pyarrow.csv.WriteOptions(include_header=False, quoting_style="all_valid")
# The Arrow types of columns that do not become texts.
_ARROW_TYPES: Final[Sequence[tuple[type[Any], pa.DataType]]] = (
    (sa.Boolean, pa.bool_()),
    (sa.Double, pa.float64()),
    (sa.Integer, pa.int64()),
)
# How values are converted before Arrow takes them; a float in a column of integers needs no conversion.
_CONVERSIONS: Final[Sequence[tuple[type[Any], Callable[[Any], object]]]] = (
    (sa.JSON, msgspec.json.encode),
    (sa.Uuid, attrgetter("hex")),
    (UtcDateTime, datetime.isoformat),
)


def to_copy_lines(columns: Mapping[str, pa.Array]) -> bytes:
    """Return rows as lines of CSV; `columns` has the values of each column, as `to_arrow` returns them."""
    lines = pa.BufferOutputStream()
    pyarrow.csv.write_csv(pa.record_batch(dict(columns)), lines, _WRITE_OPTIONS)
    content: bytes = lines.getvalue().to_pybytes()
    return content


def to_arrow(values: Sequence[Any], column: sa.Column[Any]) -> pa.Array:
    """Return the values of a column as an Arrow array of numbers, Booleans or texts that PostgreSQL can read."""
    for column_type, convert in _CONVERSIONS:
        if isinstance(column.type, column_type):
            values = [None if value is None else convert(value) for value in values]

    for column_type, arrow_type in _ARROW_TYPES:
        if isinstance(column.type, column_type):
            return pa.array(values, arrow_type)
    return pa.array(values, pa.string())
