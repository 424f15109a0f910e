"""The profile of a table: a summary of the whole and of each column, beside the attributes that were declared."""

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
    """Return the profile of a table: its size, its missing cells and duplicate rows, and a summary of every column.

    `roles` holds what each column is used for, as `{role, reason}`, which is added to the column's entry. `declared`
    holds the attributes that the author of the dataset states; they are compared with the measured ones.
    `possible_duplicates` are the rows among which there may be equal ones, if that is known.
    """
    rows, columns = table.frame.shape
    compared_rows = table.frame if possible_duplicates is None else table.frame.iloc[possible_duplicates]
    missing_cells = sum(column.missing for column in table.columns.values())
    measured: Json = {
        "rows": rows,
        "columns": columns,
        "missing_percentage": 100 * missing_cells / (rows * columns),
        "duplicate_rows": _count_duplicate_rows(compared_rows),
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
    """Return how many rows are exact repeats of an earlier one, which their hashes show fastest."""
    # NumPy takes a second for the hashes of a million rows, pandas a twentieth of that.
    return len(frame) - len(pd.unique(row_hashes(frame)))


def describe_column(column: ColumnSchema, cells: "pd.Series[Any]") -> Json:
    """Describe one column: its kind, how much of it is missing, and a summary that suits the kind."""
    summary = _SUMMARIES.get(column.kind, _summarize_words)
    return {
        "name": column.name,
        "kind": str(column.kind),
        "distinct": column.distinct,
        "missing_percentage": 100 * column.missing / max(1, len(cells)),
        "summary": summary(cells) if column.missing < len(cells) else {},
    }


def _summarize_numbers(cells: "pd.Series[Any]") -> Json:
    """Return mean, standard deviation, quartiles and a histogram of a column of numbers."""
    known_numbers = cells.dropna().to_numpy(dtype=np.float64)
    if len(known_numbers) == 0:
        return {}

    # Sorting once takes less time than looking for each of the quantiles.
    low, quarter, median, three_quarters, high = np.quantile(np.sort(known_numbers), [0, 0.25, 0.5, 0.75, 1]).tolist()
    counts, edges = histogram(known_numbers, BINS)
    return {
        "mean": float(known_numbers.mean()),
        "std": float(known_numbers.std(ddof=1)) if len(known_numbers) > 1 else 0.0,
        "min": low,
        "q25": quarter,
        "median": median,
        "q75": three_quarters,
        "max": high,
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }


def histogram(numbers: Floats, bins: int) -> tuple[npt.NDArray[np.intp], Floats]:
    """Count numbers in bins of equal width, and return the counts and the edges of the bins.

    There are fewer bins than requested if the numbers are so close together that floats could not represent the edges.
    """
    low = float(numbers.min())
    high = float(numbers.max())
    if low == high:
        low -= 0.5
        high += 0.5

    largest_magnitude = max(abs(low), abs(high))
    smallest_step = float(np.spacing(largest_magnitude))  # The distance to the next number that a float can represent.
    representable_bins = int((high - low) / (2 * smallest_step))
    if representable_bins < 1:
        return np.array([len(numbers)]), np.array([low, high])
    return np.histogram(numbers, bins=min(bins, representable_bins), range=(low, high))


def _summarize_dates(cells: "pd.Series[Any]") -> Json:
    """Return the first and the last moment of a column of dates."""
    return {"min": cells.min().isoformat(), "max": cells.max().isoformat()}


def _summarize_words(cells: "pd.Series[Any]") -> Json:
    """Return the most frequent values of a column of words, equally frequent ones in alphabetical order."""
    rows_per_value = cells.value_counts().drop(MISSING, errors="ignore")
    alphabetical = sorted(rows_per_value.items(), key=lambda entry: str(entry[0]))
    most_frequent_first = sorted(alphabetical, key=lambda entry: entry[1], reverse=True)

    top_values = most_frequent_first[:TOP_VALUES]
    return {"top": [{"value": str(value)[:MAX_VALUE_LENGTH], "rows": int(rows)} for value, rows in top_values]}


def _empty_summary(cells: "pd.Series[Any]") -> Json:
    """Return an empty summary, for columns whose values say nothing."""
    return {}


_SUMMARIES: Final = {
    ColumnKind.NUMBER: _summarize_numbers,
    ColumnKind.DATE: _summarize_dates,
    ColumnKind.IDENTIFIER: _empty_summary,
    ColumnKind.UNSUPPORTED: _empty_summary,
}


def _compare_declared(measured: Json, declared: Mapping[str, Any], *, has_target: bool) -> list[Json]:
    """Compare the attributes that the author of a dataset states, such as its number of rows, with the measured ones.

    Returns `{attribute, declared, measured, agrees}` for each attribute that is stated.
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
    """Return whether the declared value of an attribute agrees with what was measured.

    A number of features agrees whether or not it includes the target, because sources count it both ways.
    """
    if attribute == "instances_number":
        return bool(declared == measured["rows"])
    if attribute == "features_number":
        return declared in (measured["columns"], measured["columns"] - 1)
    return bool(abs(declared - measured["missing_percentage"]) <= PERCENT_TOLERANCE)
