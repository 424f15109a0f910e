"""Rows that a request gives by value, read exactly as the columns of the data file were read."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from touchstone.learning.column_types import ColumnKind, ColumnSchema, parse_cell
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_checks import nearest
from touchstone.learning.requests import Cell

_DTYPES: Final = {ColumnKind.NUMBER: "float64", ColumnKind.DATE: "datetime64[us]"}


def build_frame(
    columns: Sequence[ColumnSchema],
    rows: Sequence[Mapping[str, Cell]],
    ignored: Sequence[str] = (),
    *,
    location: str = "rows",
) -> pd.DataFrame:
    """Build a data frame from rows that a request gives as `{column: value}`.

    A value that a row does not give is missing. Rows may also name `ignored` columns, which are not read. Raises
    `LearningError` for an unknown column or an unsuitable value; the error refers to the field `location`, which is
    the part of the request that holds the rows.
    """
    known_names = {column.name for column in columns} | set(ignored)
    _check_names(rows, known_names, location)

    values_by_column = {column.name: _read_column(column, rows, location) for column in columns}
    return pd.DataFrame(values_by_column)


def _check_names(rows: Sequence[Mapping[str, Cell]], known_names: set[str], location: str) -> None:
    """Raise `LearningError` if a row names an unknown column; the error suggests a similar name."""
    for position, row in enumerate(rows):
        for name in row:
            if name not in known_names:
                raise LearningError(
                    "row_column_unknown",
                    field=f"{location}.{position}",
                    row=position,
                    name=name,
                    nearest=nearest(name, known_names),
                )


def _read_column(column: ColumnSchema, rows: Sequence[Mapping[str, Cell]], location: str) -> "pd.Series[Any]":
    """Return the values that the rows have in one column."""
    cells = []
    for position, row in enumerate(rows):
        try:
            cells.append(parse_cell(column, row.get(column.name)))
        except (ValueError, OverflowError) as error:
            raise LearningError(
                "row_value_invalid", field=f"{location}.{position}", row=position, name=column.name
            ) from error
    return pd.Series(cells, dtype=_DTYPES.get(column.kind, "object"))
