"""Conversion of rows to CSV lines for PostgreSQL's COPY.

Arrow writes the lines several times faster than a driver could convert single values. All values except missing ones
are quoted, so that a missing value differs from an empty string.
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
# The Arrow types of columns that are not converted to strings.
_ARROW_TYPES: Final[Sequence[tuple[type[Any], pa.DataType]]] = (
    (sa.Boolean, pa.bool_()),
    (sa.Double, pa.float64()),
    (sa.Integer, pa.int64()),
)
# Conversions of values before they are passed to Arrow. A float in a column of integers needs no conversion.
_CONVERSIONS: Final[Sequence[tuple[type[Any], Callable[[Any], object]]]] = (
    (sa.JSON, msgspec.json.encode),
    (sa.Uuid, attrgetter("hex")),
    (UtcDateTime, datetime.isoformat),
)


def to_copy_lines(columns: Mapping[str, pa.Array]) -> bytes:
    """Return rows as CSV lines, given the Arrow array of each column from `to_arrow`."""
    lines = pa.BufferOutputStream()
    pyarrow.csv.write_csv(pa.record_batch(dict(columns)), lines, _WRITE_OPTIONS)
    content: bytes = lines.getvalue().to_pybytes()
    return content


def to_arrow(values: Sequence[Any], column: sa.Column[Any]) -> pa.Array:
    """Convert the values of a column to an Arrow array that can be written as CSV."""
    for column_type, convert in _CONVERSIONS:
        if isinstance(column.type, column_type):
            values = [None if value is None else convert(value) for value in values]

    for column_type, arrow_type in _ARROW_TYPES:
        if isinstance(column.type, column_type):
            return pa.array(values, arrow_type)
    return pa.array(values, pa.string())
