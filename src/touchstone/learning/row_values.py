"""Rows that a request gives by value, read exactly as the columns of the data file were read."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema, parse_cell
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_checks_against_data import nearest
from touchstone.learning.request_definitions import Cell

Cells = Mapping[str, npt.NDArray[Any]]  # The cells of some rows by column.


def build_frame(
    columns: Sequence[ColumnSchema],
    rows: Sequence[Mapping[str, Cell]],
    ignored: Sequence[str] = (),
    *,
    location: str = "rows",
) -> pd.DataFrame:
    """Build a data frame from rows that a request gives as `{column: value}`; see `read_rows`."""
    return pd.DataFrame(read_rows(columns, rows, ignored, location=location))


def read_rows(
    columns: Sequence[ColumnSchema],
    rows: Sequence[Mapping[str, Cell]],
    ignored: Sequence[str] = (),
    *,
    location: str = "rows",
) -> Cells:
    """Read the columns of rows that a request gives as `{column: value}`.

    A value that a row does not give is missing. A word in a column of numbers or dates is missing, too, if there were
    such words in the data file. Rows may also name `ignored` columns, which are not read. Raises `LearningError` for an
    unknown column or any other unsuitable value; the error refers to the field `location`, which is the part of the
    request that holds the rows.
    """
    known_names = {column.name for column in columns} | set(ignored)
    _check_names(rows, known_names, location)

    return {column.name: _read_column(column, rows, location) for column in columns}


def cells_of(frame: pd.DataFrame) -> Cells:
    """Return the columns of a frame as arrays."""
    return {str(name): column.to_numpy() for name, column in frame.items()}


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


def _read_column(column: ColumnSchema, rows: Sequence[Mapping[str, Cell]], location: str) -> npt.NDArray[Any]:
    """Return the values that the rows have in one column."""
    cells = [row.get(column.name) for row in rows]
    values = _read_dates(column, cells) if column.kind is ColumnKind.DATE else {}

    # Each different cell is read once. The type is part of the key, because 1, 1.0 and true are equal.
    keys = [(type(cell), cell) for cell in cells]
    for position, key in enumerate(keys):
        if key in values:
            continue
        try:
            values[key] = parse_cell(column, key[1])
        except (ValueError, OverflowError) as error:
            if not column.mixed:
                raise LearningError(
                    "row_value_invalid", field=f"{location}.{position}", row=position, name=column.name
                ) from error
            values[key] = parse_cell(column, None)  # Missing, as such words were in the data file.
    ordered_values = [values[key] for key in keys]
    if column.kind is ColumnKind.DATE:
        return pd.Series(ordered_values, dtype="datetime64[us]").to_numpy()
    return np.array(ordered_values, dtype="float64" if column.kind is ColumnKind.NUMBER else "object")


def _read_dates(column: ColumnSchema, cells: Sequence[Cell]) -> dict[tuple[type, Cell], Any]:
    """Return the dates of the cells that have the format of their column, by the type and the text of the cell.

    Reading all dates at once is much faster than reading one after the other.
    """
    texts = list({cell for cell in cells if isinstance(cell, str)})
    moments = pd.to_datetime(pd.Series(texts, dtype=object), format=column.date_format, errors="coerce", utc=True)
    dates = moments.dt.tz_localize(None)
    return {(str, text): date for text, date in zip(texts, dates, strict=True) if not pd.isna(date)}
