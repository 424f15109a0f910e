"""Conversion of the rows of a request in exactly the same way as the rows of the data file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema, parse_cell
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_definitions import Cell, find_nearest_name

Cells = Mapping[str, npt.NDArray[Any]]  # an array of cells for each column, with one cell per row


def build_frame(
    columns: Sequence[ColumnSchema],
    rows: Sequence[Mapping[str, Cell]],
    ignored: Sequence[str] = (),
    *,
    location: str = "rows",
) -> pd.DataFrame:
    """Build a data frame from the rows of a request (see `read_rows`)."""
    return pd.DataFrame(read_rows(columns, rows, ignored, location=location))


def read_rows(
    columns: Sequence[ColumnSchema],
    rows: Sequence[Mapping[str, Cell]],
    ignored: Sequence[str] = (),
    *,
    location: str = "rows",
) -> Cells:
    """Convert the rows of a request to columns of typed cells.

    Absent values are missing. An unreadable value, such as a word in a column of numbers, is also missing if the data
    file contained such values, too.

    Args:
        columns: the columns to read.
        rows: the rows, each as `{column: value}`.
        ignored: the names of further columns that the rows may contain.
        location: the field of the request that contains the rows, for error messages.

    Raises:
        LearningError: a column is unknown, or a value does not fit its column.
    """
    known_names = {column.name for column in columns} | set(ignored)
    _check_column_names(rows, known_names, location)

    return {column.name: _read_column(column, rows, location) for column in columns}


def cells_from_frame(frame: pd.DataFrame) -> Cells:
    """Return the columns of a frame as arrays by name."""
    return {str(name): column.to_numpy() for name, column in frame.items()}


def cell_as_text(cell: Any) -> str:
    """Format a cell of a data frame for display. A missing cell becomes an empty string."""
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(cell, float):
        return MISSING if np.isnan(cell) else f"{cell:.10g}"
    return MISSING if cell is pd.NaT else str(cell)


def _check_column_names(rows: Sequence[Mapping[str, Cell]], known_names: set[str], location: str) -> None:
    """Raise `LearningError` with a similar name as a suggestion if a row names an unknown column."""
    for position, row in enumerate(rows):
        if known_names.issuperset(row):
            continue

        name = next(name for name in row if name not in known_names)
        raise LearningError(
            "row_column_unknown",
            field=f"{location}.{position}",
            row=position,
            name=name,
            nearest=find_nearest_name(name, known_names),
        )


def _read_column(column: ColumnSchema, rows: Sequence[Mapping[str, Cell]], location: str) -> npt.NDArray[Any]:
    """Convert the cells of one column."""
    cells = [row.get(column.name) for row in rows]
    values = _read_dates(column, cells) if column.kind is ColumnKind.DATE else {}

    # Convert each distinct cell only once. The key contains the type, because 1, 1.0 and True are equal.
    keys = [(type(cell), cell) for cell in cells]
    for position, (key, cell) in enumerate(zip(keys, cells, strict=True)):
        if key in values:
            continue
        try:
            values[key] = parse_cell(column, cell)
        except (ValueError, OverflowError) as error:
            if not column.mixed:
                raise LearningError(
                    "row_value_invalid", field=f"{location}.{position}", row=position, name=column.name
                ) from error
            values[key] = parse_cell(column, None)  # missing, like the unreadable cells of the data file

    ordered_values = [values[key] for key in keys]
    if column.kind is ColumnKind.DATE:
        return pd.Series(ordered_values, dtype="datetime64[us]").to_numpy()
    return np.array(ordered_values, dtype="float64" if column.kind is ColumnKind.NUMBER else "object")


def _read_dates(column: ColumnSchema, cells: Sequence[Cell]) -> dict[tuple[type, Cell], Any]:
    """Parse all cells in the date format of their column at once, because this is much faster.

    Returns:
        the dates by type and value of the cell. Cells in another format have no entry.
    """
    strings = list({cell for cell in cells if isinstance(cell, str)})
    timestamps = pd.to_datetime(pd.Series(strings, dtype=object), format=column.date_format, errors="coerce", utc=True)
    dates = timestamps.dt.tz_localize(None)
    return {(str, text): date for text, date in zip(strings, dates, strict=True) if not pd.isna(date)}
