"""The profile of a table: figures for the whole and for each column, beside the attributes that were declared."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.interfaces import Json
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats

TOP_VALUES: Final = 10
BINS: Final = 20
PERCENT_TOLERANCE: Final = 0.5  # declared shares are mostly rounded to whole percents


def profile_table(table: Table, roles: Mapping[str, Json], declared: Mapping[str, Any], target: str | None) -> Json:
    """Return the profile of a table; `roles` holds the role of each column as `{role, reason}`."""
    rows, columns = table.frame.shape
    missing = sum(column.missing for column in table.columns.values())
    measured: Json = {
        "rows": rows,
        "columns": columns,
        "missing_percentage": 100 * missing / (rows * columns),
        "duplicate_rows": int(table.frame.duplicated().sum()),
        "sha256": table.sha256,
    }
    return measured | {
        "declared": _compare_declared(measured, declared, has_target=target is not None),
        "by_column": [
            describe_column(column, table.frame[name]) | dict(roles.get(name, {}))
            for name, column in table.columns.items()
        ],
    }


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
    known = cells.dropna().to_numpy(dtype=np.float64)
    if not len(known):
        return {}
    low, quarter, median, three_quarters, high = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]).tolist()
    counts, edges = histogram(known, BINS)
    spread = {"mean": float(known.mean()), "std": float(known.std(ddof=1)) if len(known) > 1 else 0.0}
    quantiles = {"min": low, "q25": quarter, "median": median, "q75": three_quarters, "max": high}
    return spread | quantiles | {"histogram": {"edges": edges.tolist(), "counts": counts.tolist()}}


def histogram(known: Floats, bins: int) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return counts and edges of equal bins; fewer of them where floats lie too far apart for so many."""
    low, high = float(known.min()), float(known.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    finest = float(np.spacing(max(abs(low), abs(high))))
    fit = min(bins, int((high - low) / (2 * finest)))
    if fit < 1:
        return np.array([len(known)]), np.array([low, high])
    return np.histogram(known, bins=fit, range=(low, high))


def _summarize_dates(cells: "pd.Series[Any]") -> Json:
    return {"min": cells.min().isoformat(), "max": cells.max().isoformat()}


def _summarize_words(cells: "pd.Series[Any]") -> Json:
    counts = cells[cells != MISSING].value_counts()
    top = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))[:TOP_VALUES]
    return {"top": [{"value": str(value)[:100], "rows": int(rows)} for value, rows in top]}


def _empty_summary(cells: "pd.Series[Any]") -> Json:
    return {}


_SUMMARIES: Final = {
    ColumnKind.NUMBER: _summarize_numbers,
    ColumnKind.DATE: _summarize_dates,
    ColumnKind.IDENTIFIER: _empty_summary,
    ColumnKind.UNSUPPORTED: _empty_summary,
}


def _compare_declared(measured: Json, declared: Mapping[str, Any], *, has_target: bool) -> list[Json]:
    """Return the declared attributes of the record beside the measured ones.

    A declared number of features agrees with or without the target: sources count it both ways.
    """
    columns = measured["columns"]
    facts = (
        ("instances_number", measured["rows"], {measured["rows"]}),
        ("features_number", columns - has_target, {columns, columns - 1}),
        ("missing_values_percentage", measured["missing_percentage"], None),
    )
    return [
        _comparison(name, declared[name], value, accepted)
        for name, value, accepted in facts
        if declared.get(name) is not None
    ]


def _comparison(name: str, declared: Any, measured: float, accepted: set[int] | None) -> Json:
    agrees = declared in accepted if accepted is not None else abs(declared - measured) <= PERCENT_TOLERANCE
    return {"attribute": name, "declared": declared, "measured": measured, "agrees": bool(agrees)}
