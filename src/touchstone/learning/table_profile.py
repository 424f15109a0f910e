"""The profile of a table, which summarizes the table and its columns."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.core.prefetch import map_ahead
from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.fitting_pool import usable_core_count
from touchstone.learning.row_hashes import row_hashes
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices
from touchstone.learning.task_interface import Json

TOP_VALUES: Final = 10
BINS: Final = 20
PERCENT_TOLERANCE: Final = 0.5  # Declared shares are mostly rounded to whole percents.
MAX_VALUE_LENGTH: Final = 100


def profile_table(
    table: Table,
    roles: Mapping[str, Json],
    declared: Mapping[str, Any],
    target: str | None,
    possible_duplicates: Indices | None = None,
) -> Json:
    """Return the size of a table, its missing cells and duplicate rows, and a summary of every column.

    Args:
        table: the table to summarize.
        roles: the role of each column in the training as `{role, reason}`, which is added to the column's entry.
        declared: the attributes declared by the author of the dataset, which are compared with the measured ones.
        target: the name of the column to predict, or None.
        possible_duplicates: the positions of the rows that may have duplicates, or None to examine all rows.
    """
    rows, columns = table.frame.shape
    examined_rows = table.frame if possible_duplicates is None else table.frame.iloc[possible_duplicates]
    missing_cells = sum(column.missing for column in table.columns.values())
    measured: Json = {
        "rows": rows,
        "columns": columns,
        "missing_percentage": 100 * missing_cells / (rows * columns),
        "duplicate_rows": _count_duplicate_rows(examined_rows),
        "sha256": table.sha256,
        "encoding": table.encoding.name,
        "has_header": table.has_header,
    }

    descriptions = map_ahead(
        lambda column: describe_column(column, table.frame[column.name]),
        table.columns.values(),
        thread_count=usable_core_count(),
    )
    return {
        **measured,
        "declared": _compare_declared(measured, declared, has_target=target is not None),
        "by_column": [description | roles.get(description["name"], {}) for description in descriptions],
    }


def _count_duplicate_rows(frame: pd.DataFrame) -> int:
    """Return the number of rows that are exact duplicates of an earlier row."""
    # For a million hashes, pandas is twenty times faster than NumPy.
    return len(frame) - len(pd.unique(row_hashes(frame)))


def describe_column(column: ColumnSchema, cells: "pd.Series[Any]") -> Json:
    """Describe a column by its kind, its share of missing cells, and a summary that depends on the kind."""
    summary = _SUMMARIES.get(column.kind, _summarize_strings)
    return {
        "name": column.name,
        "kind": str(column.kind),
        "distinct": column.distinct,
        "missing_percentage": 100 * column.missing / max(1, len(cells)),
        "summary": summary(cells) if column.missing < len(cells) else {},
    }


def _summarize_numbers(cells: "pd.Series[Any]") -> Json:
    """Return the mean, the standard deviation, the quartiles and a histogram of a column of numbers."""
    numbers = cells.dropna().to_numpy(dtype=np.float64)
    if len(numbers) == 0:
        return {}

    # Sorting first is faster than a separate selection for each quantile.
    low, quarter, median, three_quarters, high = np.quantile(np.sort(numbers), [0, 0.25, 0.5, 0.75, 1]).tolist()
    counts, edges = histogram(numbers, BINS)
    return {
        "mean": float(numbers.mean()),
        "std": float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0,
        "min": low,
        "q25": quarter,
        "median": median,
        "q75": three_quarters,
        "max": high,
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }


def histogram(numbers: Floats, bins: int) -> tuple[npt.NDArray[np.intp], Floats]:
    """Count numbers in bins of equal width.

    There are fewer bins than requested if the numbers are so close together that floats cannot represent the edges.

    Returns:
        the counts of shape (bins,) and the edges of shape (bins + 1,).
    """
    low = float(numbers.min())
    high = float(numbers.max())
    if low == high:
        low -= 0.5
        high += 0.5

    largest_magnitude = max(abs(low), abs(high))
    smallest_step = float(np.spacing(largest_magnitude))  # the distance to the next representable float
    representable_bins = int((high - low) / (2 * smallest_step))
    if representable_bins < 1:
        return np.array([len(numbers)]), np.array([low, high])
    return np.histogram(numbers, bins=min(bins, representable_bins), range=(low, high))


def _summarize_dates(cells: "pd.Series[Any]") -> Json:
    """Return the first and the last date of a column of dates."""
    return {"min": cells.min().isoformat(), "max": cells.max().isoformat()}


def _summarize_strings(cells: "pd.Series[Any]") -> Json:
    """Return the most frequent values of a column of strings."""
    top_values = sort_by_frequency(cells.value_counts().drop(MISSING, errors="ignore"))[:TOP_VALUES]
    return {"top": [{"value": str(value)[:MAX_VALUE_LENGTH], "rows": int(rows)} for value, rows in top_values]}


def sort_by_frequency(rows_per_value: "pd.Series[int]") -> list[tuple[Any, int]]:
    """Return values with their numbers of rows, the most frequent first. Ties are in alphabetical order."""
    return sorted(rows_per_value.items(), key=lambda value_and_rows: (-value_and_rows[1], str(value_and_rows[0])))


def _empty_summary(cells: "pd.Series[Any]") -> Json:
    """Return an empty summary, for columns without meaningful values."""
    return {}


_SUMMARIES: Final = {
    ColumnKind.NUMBER: _summarize_numbers,
    ColumnKind.DATE: _summarize_dates,
    ColumnKind.IDENTIFIER: _empty_summary,
    ColumnKind.UNSUPPORTED: _empty_summary,
}


def _compare_declared(measured: Json, declared: Mapping[str, Any], *, has_target: bool) -> list[Json]:
    """Compare the declared attributes of a dataset, such as its number of rows, with the measured ones.

    Returns:
        a list of `{attribute, declared, measured, agrees}` for each declared attribute.
    """
    columns = measured["columns"]
    measured_by_attribute = {
        "instances_number": measured["rows"],
        "features_number": columns - 1 if has_target else columns,
        "missing_values_percentage": measured["missing_percentage"],
    }

    comparisons = []
    for attribute, measured_value in measured_by_attribute.items():
        declared_value = declared.get(attribute)
        if declared_value is None:
            continue

        comparison = {
            "attribute": attribute,
            "declared": declared_value,
            "measured": measured_value,
            "agrees": _agrees(attribute, declared_value, measured),
        }
        comparisons.append(comparison)
    return comparisons


def _agrees(attribute: str, declared: Any, measured: Json) -> bool:
    """Return whether the declared value of an attribute agrees with the measurement.

    The number of features may or may not include the target, because sources count it either way.
    """
    if attribute == "instances_number":
        return bool(declared == measured["rows"])
    if attribute == "features_number":
        return declared in (measured["columns"], measured["columns"] - 1)
    return bool(abs(declared - measured["missing_percentage"]) <= PERCENT_TOLERANCE)
