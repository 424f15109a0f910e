"""Simple conversion of columns to numbers, for quick checks with decision trees."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.target import Floats

NUMBER_FOR_MISSING: Final = -1e9  # a value that a tree can separate from all others


def column_as_numbers(column: ColumnSchema, cells: "pd.Series[Any]") -> Floats:
    """Convert a column to numbers. Strings are replaced by their ranks among the distinct values."""
    if column.kind.is_ordered:
        numbers = cells.to_numpy().astype(np.float64)
        numbers[cells.isna().to_numpy()] = NUMBER_FOR_MISSING
        return numbers

    codes, _values = pd.factorize(cells, sort=True)
    return codes.astype(np.float64)


def columns_as_numbers(columns: Iterable[ColumnSchema], frame: pd.DataFrame) -> Floats:
    """Convert several columns to a matrix of shape (rows, columns)."""
    return np.column_stack([column_as_numbers(column, frame[column.name]) for column in columns])
