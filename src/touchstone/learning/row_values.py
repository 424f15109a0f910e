"""Rows given by value, read exactly as the column of the data file was read."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from touchstone.learning.column_types import Column, Kind, read_cell
from touchstone.learning.errors import LearningError
from touchstone.learning.requests import Cell, nearest


def frame_of(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Cell]],
    ignored: Sequence[str] = (),
    *,
    place: str = "rows",
) -> pd.DataFrame:
    """A frame of the given columns; one that a row does not name is missing there, `ignored` names are passed over.

    `place` is where the request holds the rows.

    Raises `row_column_unknown` for a name that no column has, `row_value_invalid` for a cell that can't be read.
    """
    known = {column.name for column in columns} | set(ignored)
    for position, row in enumerate(rows):
        for name in row:
            if name not in known:
                raise LearningError(
                    "row_column_unknown",
                    field=f"{place}.{position}",
                    row=position,
                    name=name,
                    nearest=nearest(name, known),
                )
    return pd.DataFrame({column.name: _cells(column, rows, place) for column in columns})


def _cells(column: Column, rows: Sequence[Mapping[str, Cell]], place: str) -> "pd.Series[Any]":
    cells = [_cell(column, row.get(column.name), f"{place}.{position}") for position, row in enumerate(rows)]
    kind = {Kind.NUMBER: "float64", Kind.DATE: "datetime64[us]"}.get(column.kind, "object")
    return pd.Series(cells, dtype=kind)


def _cell(column: Column, cell: Cell, place: str) -> Any:
    try:
        return read_cell(column, cell)
    except (ValueError, OverflowError) as error:
        row = int(place.rpartition(".")[2])
        raise LearningError("row_value_invalid", field=place, row=row, name=column.name) from error
