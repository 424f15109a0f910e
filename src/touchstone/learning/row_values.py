"""Rows that a request gives by value, read exactly as the columns of the data file were read."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema, parse_cell
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


def cell_as_text(cell: Any) -> str:
    """Return a cell of a data frame as people write it; a missing one is empty."""
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(cell, float):
        return MISSING if np.isnan(cell) else f"{cell:.10g}"
    return MISSING if cell is pd.NaT else str(cell)


def _check_names(rows: Sequence[Mapping[str, Cell]], known_names: set[str], location: str) -> None:
    """Raise `LearningError` if a row names an unknown column; the error suggests a similar name."""
    for position, row in enumerate(rows):
        if known_names.issuperset(row):
            continue

        name = next(name for name in row if name not in known_names)
        raise LearningError(
            "row_column_unknown",
            field=f"{location}.{position}",
            row=position,
            name=name,
            nearest=nearest(name, known_names),
        )


def _read_column(column: ColumnSchema, rows: Sequence[Mapping[str, Cell]], location: str) -> "pd.Series[Any]":
    """Return the values that the rows have in one column."""
    cells = [row.get(column.name) for row in rows]
    values = _read_dates(column, cells) if column.kind is ColumnKind.DATE else [None] * len(cells)

    for position, cell in enumerate(cells):
        if values[position] is not None:
            continue
        try:
            values[position] = parse_cell(column, cell)
        except (ValueError, OverflowError) as error:
            raise LearningError(
                "row_value_invalid", field=f"{location}.{position}", row=position, name=column.name
            ) from error
    return pd.Series(values, dtype=_DTYPES.get(column.kind, "object"))


def _read_dates(column: ColumnSchema, cells: Sequence[Cell]) -> list[Any]:
    """Return the dates among the cells that have the format of their column, and None for all other cells.

    Reading all dates at once is much faster than reading one after the other.
    """
    texts = pd.Series([cell if isinstance(cell, str) else None for cell in cells], dtype=object)
    moments = pd.to_datetime(texts, format=column.date_format, errors="coerce", utc=True).dt.tz_localize(None)
    return [None if pd.isna(moment) else moment for moment in moments]
