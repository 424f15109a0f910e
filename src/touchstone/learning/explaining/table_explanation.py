"""Explanations of a table without a model: its profile, associations, the balance of the target, and proxies.

A proxy is a column that makes it possible to guess a sensitive one, so that leaving out the latter hides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.charts import table_charts
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.explaining.associations import association_matrix, is_comparable
from touchstone.learning.interfaces import Json
from touchstone.learning.requests import ExplanationRequest
from touchstone.learning.table_profile import histogram, profile_table
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats

MAX_COLUMNS: Final = 40
STRONG_ASSOCIATION: Final = 0.5
MAX_PAIRS: Final = 15
CHART_COLUMNS: Final = 20
BALANCE_BINS: Final = 10
BALANCE_VALUES: Final = 20
MANY_NUMBERS: Final = 12  # Numbers with more different values than this are counted by range.


@dataclass(frozen=True, slots=True)
class TableExplanation:
    """What was learned about a table; `strengths` are the associations between the columns `names`."""

    profile: Json
    names: list[str]
    strengths: Floats = field(repr=False)
    pairs: list[Json]
    with_target: list[Json]
    proxies: list[Json]
    target: Json | None  # The target's entry of the profile.


def explain_table(request: ExplanationRequest, table: Table, declared: Mapping[str, Any]) -> TableExplanation:
    """Profile a table and compare its columns: at most 40, among them the target and the sensitive ones."""
    names = _select_columns(request, table)
    strengths = association_matrix([table.columns[name] for name in names], table.frame)

    roles = {name: {"role": _column_role(request, name)} for name in table.columns}
    profile = profile_table(table, roles, declared, request.target)
    proxies = [
        {"sensitive": name, "columns": _strongest_partners(names, strengths, name)}
        for name in request.sensitive_features
        if name in names
    ]
    with_target: list[Json] = []
    if request.target is not None and request.target in names:
        with_target = _strongest_partners(names, strengths, request.target)
    return TableExplanation(
        profile=profile,
        names=names,
        strengths=strengths,
        pairs=_strongest_pairs(names, strengths),
        with_target=with_target,
        proxies=proxies,
        target=next((column for column in profile["by_column"] if column["name"] == request.target), None),
    )


def build_table_charts(explanation: TableExplanation, table: Table) -> Json:
    """Chart the associations, the balance of the target and the missing values, as far as there are any."""
    charts: Json = {}
    names = explanation.names[:CHART_COLUMNS]
    if len(names) > 1:
        charts["correlations"] = table_charts.association_chart(names, explanation.strengths)
    if explanation.target is not None and explanation.target["summary"]:
        target = explanation.target["name"]
        charts["target_balance"] = table_charts.balance_chart(target, count_values(table, target))
    columns = explanation.profile["by_column"]
    if any(column["missing_percentage"] > 0 for column in columns):
        charts["missing"] = table_charts.missing_chart(columns)
    return charts


def count_values(table: Table, name: str) -> list[tuple[str, int]]:
    """Count the rows by value of a column, or by range when it holds many different numbers."""
    cells: pd.Series[Any] = table.frame[name].dropna()
    column = table.columns[name]
    if column.kind is ColumnKind.NUMBER and column.distinct > MANY_NUMBERS:
        counts, edges = histogram(cells.to_numpy(dtype=np.float64), BALANCE_BINS)
        labels = [f"{edge:.4g}" for edge in edges]
        return [(f"{low} – {high}", int(rows)) for low, high, rows in zip(labels[:-1], labels[1:], counts, strict=True)]
    most_frequent = sorted(cells.value_counts().items(), key=lambda entry: (-entry[1], str(entry[0])))[:BALANCE_VALUES]
    return [(f"{value:g}" if isinstance(value, float) else str(value), int(rows)) for value, rows in most_frequent]


def _select_columns(request: ExplanationRequest, table: Table) -> list[str]:
    """Select the columns to compare, beginning with the target and the sensitive ones."""
    comparable = [name for name, column in table.columns.items() if is_comparable(column)]
    priority = [name for name in (request.target, *request.sensitive_features) if name in comparable]
    return list(dict.fromkeys([*priority, *comparable]))[:MAX_COLUMNS]


def _column_role(request: ExplanationRequest, name: str) -> str:
    if name == request.target:
        return "target"
    return "sensitive" if name in request.sensitive_features else "column"


def _strongest_pairs(names: Sequence[str], strengths: Floats) -> list[Json]:
    pairs = [
        {"first": names[j], "second": names[i], "association": float(strengths[i, j])}
        for i in range(len(names))
        for j in range(i)
    ]
    return sorted(pairs, key=_weakness)[:MAX_PAIRS]


def _strongest_partners(names: Sequence[str], strengths: Floats, name: str) -> list[Json]:
    """Return the columns that are most strongly associated with one column.

    A `strong` partner makes it possible to guess the column.
    """
    strengths_of_column = strengths[names.index(name)]
    partners = [
        {"column": partner, "association": float(strength), "strong": bool(strength >= STRONG_ASSOCIATION)}
        for partner, strength in zip(names, strengths_of_column, strict=True)
        if partner != name
    ]
    return sorted(partners, key=_weakness)[:MAX_PAIRS]


def _weakness(entry: Json) -> float:
    return -float(entry["association"])
