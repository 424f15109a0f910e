"""Explaining a table without a model: its profile, what goes together, the balance of the target, and proxies.

A proxy is a column that lets one guess a sensitive one: leaving the sensitive column out then hides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.charts import table_charts
from touchstone.learning.column_types import Kind
from touchstone.learning.explaining.associations import comparable, matrix_of
from touchstone.learning.interfaces import DataFile, Json
from touchstone.learning.requests import ExplanationRequest
from touchstone.learning.table_profile import histogram, profile_table
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats

MOST_COLUMNS: Final = 40
STRONG: Final = 0.5
PAIRS: Final = 15
SHOWN_COLUMNS: Final = 20


@dataclass(frozen=True, slots=True)
class Portrait:
    """What was found about a table; `strengths` are the associations between the columns `names`."""

    profile: Json
    names: list[str]
    strengths: Floats = field(repr=False)
    pairs: list[Json]
    with_target: list[Json]
    proxies: list[Json]
    target: Json | None


def portray(order: ExplanationRequest, table: Table, file: DataFile) -> Portrait:
    """Look at a table: every measurable column (at most 40; the target and the sensitive ones always)."""
    wanted = [name for name in (order.target, *order.sensitive_features) if name is not None]
    names = _looked_at(table, wanted)
    strengths = matrix_of([table.columns[name] for name in names], table.frame)
    roles = {name: {"role": _role(order, name)} for name in table.columns}
    profile = profile_table(table, roles, file.declared, order.target)
    target = next((row for row in profile["by_column"] if row["name"] == order.target), None)
    with_target = _partners(names, strengths, order.target) if order.target in names else []
    proxies = [
        {"sensitive": name, "columns": _partners(names, strengths, name)}
        for name in order.sensitive_features
        if name in names
    ]
    return Portrait(profile, names, strengths, _pairs(names, strengths), with_target, proxies, target)


def charts_of(portrait: Portrait, table: Table) -> Json:
    """Associations, the balance of the target, missing values: those that there is something to show for."""
    charts: Json = {}
    shown = portrait.names[:SHOWN_COLUMNS]
    if len(shown) > 1:
        charts["correlations"] = table_charts.association_chart(shown, portrait.strengths)
    if portrait.target is not None and portrait.target["summary"]:
        name = portrait.target["name"]
        charts["target_balance"] = table_charts.balance_chart(name, balance(table, name))
    if any(row["missing_percentage"] > 0 for row in portrait.profile["by_column"]):
        charts["missing"] = table_charts.missing_chart(portrait.profile["by_column"])
    return charts


def balance(table: Table, name: str) -> list[tuple[str, int]]:
    """Rows by value of a column; by ten ranges when it holds many numbers."""
    cells: pd.Series[Any] = table.frame[name].dropna()
    if table.columns[name].kind is Kind.NUMBER and table.columns[name].distinct > 12:
        counted, edges = histogram(cells.to_numpy(dtype=np.float64), 10)
        ends = [f"{edge:.4g}" for edge in edges]
        return [(f"{low} – {high}", int(rows)) for low, high, rows in zip(ends, ends[1:], counted, strict=False)]
    counts = cells.value_counts()
    top = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))[:20]
    return [(f"{value:g}" if isinstance(value, float) else str(value), int(rows)) for value, rows in top]


def _looked_at(table: Table, wanted: Sequence[str]) -> list[str]:
    usable = [name for name, column in table.columns.items() if comparable(column)]
    first = [name for name in dict.fromkeys(wanted) if name in usable]
    return [*first, *(name for name in usable if name not in first)][:MOST_COLUMNS]


def _role(order: ExplanationRequest, name: str) -> str:
    if name == order.target:
        return "target"
    return "sensitive" if name in order.sensitive_features else "column"


def _pairs(names: Sequence[str], strengths: Floats) -> list[Json]:
    """The strongest associations between two columns."""
    found = [
        {"first": names[j], "second": names[i], "association": float(strengths[i, j])}
        for i in range(len(names))
        for j in range(i)
    ]
    return sorted(found, key=lambda pair: -float(str(pair["association"])))[:PAIRS]


def _partners(names: Sequence[str], strengths: Floats, name: str | None) -> list[Json]:
    """The columns that go with one column most; `strong` says that they let one guess it."""
    place = list(names).index(str(name))
    found = [
        {"column": other, "association": float(strengths[place, j]), "strong": bool(strengths[place, j] >= STRONG)}
        for j, other in enumerate(names)
        if other != name
    ]
    return sorted(found, key=lambda row: -float(str(row["association"])))[:PAIRS]
