"""Explanations of a table without a model: its profile, associations, the balance of the target, and proxies.

A proxy is a column that reveals a sensitive column, so that leaving out the sensitive column hides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.charts import table_charts
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.explaining.associations import (
    SMALLEST_ASSOCIATION,
    association_matrix,
    is_comparable,
    strongest_first,
    strongest_pairs,
)
from touchstone.learning.request_definitions import ExplanationRequest
from touchstone.learning.table_profile import histogram, profile_table, sort_by_frequency
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json

MAX_COLUMNS: Final = 40
STRONG_ASSOCIATION: Final = 0.5
MAX_PAIRS: Final = 15
CHART_COLUMNS: Final = 20
BALANCE_BINS: Final = 10
BALANCE_VALUES: Final = 20
MAX_COUNTED_NUMBERS: Final = 12  # A column with more distinct numbers is counted by range.


@dataclass(frozen=True, slots=True)
class TableExplanation:
    """The findings about a table.

    Attributes:
        profile: the profile of the table and its columns.
        names: the names of the compared columns.
        strengths: the association matrix of these columns.
        pairs: the pairs of columns with the strongest associations.
        associations_with_target: the columns that are most strongly associated with the target.
        proxies: the columns that are most strongly associated with each sensitive column.
        target: the profile of the target column, or None if no target is known.
    """

    profile: Json
    names: list[str]
    strengths: Floats = field(repr=False)
    pairs: list[Json]
    associations_with_target: list[Json]
    proxies: list[Json]
    target: Json | None


def explain_table(request: ExplanationRequest, table: Table, declared: Mapping[str, Any]) -> TableExplanation:
    """Profile a table, and measure the associations between its columns.

    At most `MAX_COLUMNS` columns are compared, beginning with the target and the sensitive columns. `declared` holds
    the attributes stated by the author of the dataset, such as its number of rows. The profile compares them with the
    measured ones.
    """
    roles = {name: {"role": _column_role(request, name)} for name in table.columns}
    profile = profile_table(table, roles, declared, request.target)

    names = _select_columns(request, table)
    strengths = association_matrix([table.columns[name] for name in names], table.frame)

    associations_with_target: list[Json] = []
    if request.target is not None and request.target in names:
        associations_with_target = _strongest_partners(names, strengths, request.target)

    compared_sensitive_columns = [name for name in request.sensitive_features if name in names]
    proxies = [
        {"sensitive": name, "columns": _strongest_partners(names, strengths, name)}
        for name in compared_sensitive_columns
    ]

    profile_by_name = {column["name"]: column for column in profile["by_column"]}
    return TableExplanation(
        profile=profile,
        names=names,
        strengths=strengths,
        pairs=strongest_pairs(names, strengths, minimum=SMALLEST_ASSOCIATION)[:MAX_PAIRS],
        associations_with_target=associations_with_target,
        proxies=proxies,
        target=profile_by_name.get(request.target),
    )


def build_table_charts(explanation: TableExplanation, table: Table) -> Json:
    """Return charts of the associations, the balance of the target and the missing values.

    A chart that would be empty is left out, for example if no value is missing.
    """
    charts: Json = {}

    names = explanation.names[:CHART_COLUMNS]
    if len(names) > 1:
        charts["correlations"] = table_charts.association_chart(names, explanation.strengths)

    target = explanation.target
    if target is not None and target["summary"]:
        target_name = target["name"]
        charts["target_balance"] = table_charts.balance_chart(target_name, count_values(table, target_name))

    columns = explanation.profile["by_column"]
    if any(column["missing_percentage"] > 0 for column in columns):
        charts["missing"] = table_charts.missing_chart(columns)

    return charts


def count_values(table: Table, name: str) -> list[tuple[str, int]]:
    """Count the rows of a column by value, or by range if it holds many distinct numbers.

    Returns pairs of a label and a number of rows. Ranges are in ascending order, and values in descending order of
    frequency.
    """
    column = table.columns[name]
    cells: pd.Series[Any] = table.frame[name].dropna()
    if column.kind is ColumnKind.NUMBER and column.distinct > MAX_COUNTED_NUMBERS:
        return _count_by_range(cells.to_numpy(dtype=np.float64))

    counts = []
    for value, rows in sort_by_frequency(cells.value_counts())[:BALANCE_VALUES]:
        label = f"{value:g}" if isinstance(value, float) else str(value)
        counts.append((label, int(rows)))
    return counts


def _count_by_range(numbers: Floats) -> list[tuple[str, int]]:
    """Count numbers in ranges of equal width. The label of a range consists of its two ends."""
    counts, edges = histogram(numbers, BALANCE_BINS)
    edge_labels = [f"{edge:.4g}" for edge in edges]
    return [(f"{low} – {high}", int(rows)) for (low, high), rows in zip(pairwise(edge_labels), counts, strict=True)]


def _select_columns(request: ExplanationRequest, table: Table) -> list[str]:
    """Return the names of the columns to compare, beginning with the target and the sensitive columns."""
    comparable = [name for name, column in table.columns.items() if is_comparable(column)]
    requested = [name for name in (request.target, *request.sensitive_features) if name in comparable]

    without_duplicates = dict.fromkeys([*requested, *comparable])
    return list(without_duplicates)[:MAX_COLUMNS]


def _column_role(request: ExplanationRequest, name: str) -> str:
    """Return the role of a column in the request: `target`, `sensitive` or `column`."""
    if name == request.target:
        return "target"
    return "sensitive" if name in request.sensitive_features else "column"


def _strongest_partners(names: Sequence[str], strengths: Floats, name: str) -> list[Json]:
    """Return the columns that are most strongly associated with the column `name`, the strongest first.

    A partner marked as strong reveals much about the values of the column.
    """
    partners = []
    for partner, strength in zip(names, strengths[names.index(name)], strict=True):
        if partner != name:
            is_strong = bool(strength >= STRONG_ASSOCIATION)
            partners.append({"column": partner, "association": float(strength), "strong": is_strong})
    return strongest_first(partners)[:MAX_PAIRS]
