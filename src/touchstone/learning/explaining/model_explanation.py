"""Explanations of a trained model: importance, contributions and dependence over many rows, and single rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from touchstone.learning.choices import Scope
from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.explaining.counterfactuals import find_counterfactual
from touchstone.learning.explaining.explanation_context import ExplanationContext, rows_to_explain, sample_rows
from touchstone.learning.explaining.partial_dependence import Dependence, partial_dependence
from touchstone.learning.explaining.permutation_importance import (
    Importance,
    permutation_importance,
    rank_importances,
)
from touchstone.learning.explaining.shapley_values import EVALUATIONS, Attribution, explain_row
from touchstone.learning.interfaces import Json, Phase, Report
from touchstone.learning.target import Floats

SAMPLE_ROWS: Final = 60  # Contributions are averaged over so many rows.
SAMPLE_BACKGROUND: Final = 50
SAMPLE_EVALUATIONS: Final = 6_000
TOTAL_EVALUATIONS: Final = 6_000_000  # Shared by all rows that one request asks to explain.
MIN_EVALUATIONS: Final = 2_000
DEPENDENCE_COLUMNS: Final = 6
CLEAR_DIRECTION: Final = 0.6  # The rank correlation from which on a column is said to push one way.


@dataclass(frozen=True, slots=True)
class ContributionSample:
    """The contributions over a sample of rows, of shape (rows, columns), beside the source rows."""

    contributions: Floats
    frame: pd.DataFrame


@dataclass(frozen=True, slots=True)
class ContributionSummary:
    """The contributions of one column over a sample, and the direction in which its high values push."""

    mean_absolute: float
    mean: float
    direction: str  # "up", "down" or "unclear"


@dataclass(frozen=True, slots=True)
class GlobalExplanation:
    """The results of the global methods that were asked for, by column name; a method not asked for has none.

    `names` lists all columns, the most important first.
    """

    names: Sequence[str]
    importances: Mapping[str, Importance]
    sample: ContributionSample | None
    summaries: Mapping[str, ContributionSummary]
    dependences: Mapping[str, Dependence]


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """One explained row: its entry in the result, its values as text, and the permutations that were sampled."""

    entry: Json
    values: dict[str, str] = field(repr=False)
    permutations: int


def explain_globally(context: ExplanationContext, report: Report) -> GlobalExplanation:
    """Run the global methods that the request asks for."""
    request = context.request
    importances: dict[str, Importance] = {}
    if request.asks_for(Scope.GLOBAL, "permutation_importance"):
        importances = _compute_importances(context, report)

    sample = None
    summaries: dict[str, ContributionSummary] = {}
    if request.asks_for(Scope.GLOBAL, "shap"):
        sample = _sample_contributions(context, report)
        summaries = _summarize_contributions(context, sample)

    names = _rank_columns(context, importances, summaries)
    dependences: dict[str, Dependence] = {}
    if request.asks_for(Scope.GLOBAL, "partial_dependence"):
        dependences = _compute_dependences(context, names)
    return GlobalExplanation(names, importances, sample, summaries, dependences)


def explain_rows(context: ExplanationContext, report: Report) -> list[RowExplanation]:
    """Explain single rows, if the request asks for it."""
    if not context.request.asks_for(Scope.LOCAL, "shap", "counterfactual"):
        return []
    frame, labels = rows_to_explain(context)
    matrix = context.explained.encode(frame)
    predicted, _probabilities = context.explained.predict(matrix)

    rng = np.random.default_rng(context.request.seed)
    evaluations = max(MIN_EVALUATIONS, min(EVALUATIONS, TOTAL_EVALUATIONS // max(1, len(frame))))
    explanations = []
    for position, row in enumerate(matrix):
        attribution = explain_row(context.explained, row, rng, evaluations)
        values = _values_as_text(context, frame.iloc[position])
        entry = _row_entry(context, labels[position], attribution, predicted[position]) | {"values": values}
        if context.request.method == "counterfactual":
            entry |= {"counterfactuals": _counterfactuals(context, row, values)}
        explanations.append(RowExplanation(entry, values, attribution.permutations))
        report(
            70 + 25 * (position + 1) / len(frame),
            Phase.EXPLAINING,
            step=position + 1,
            total_steps=len(frame),
            message="explaining_rows",
        )
    return explanations


def value_ranks(context: ExplanationContext, sample: ContributionSample) -> Floats:
    """Return for every sampled cell the rank of its value, from 0 to 1, among its column.

    It is NaN where the values of a column have no order.
    """
    ranks = np.full(sample.contributions.shape, np.nan)
    for position, column in enumerate(context.explained.columns):
        if _has_order(column):
            ranks[:, position] = sample.frame[column.name].rank(pct=True).to_numpy(dtype=np.float64)
    return ranks


def _compute_importances(context: ExplanationContext, report: Report) -> dict[str, Importance]:
    def report_step(step: int, total: int) -> None:
        report(10 + 40 * step / total, Phase.EXPLAINING, step=step, total_steps=total, message="explaining_globally")

    importances = permutation_importance(
        context.explained,
        context.explained.encode(context.test_frame),
        context.test_truth,
        seed=context.request.seed,
        on_progress=report_step,
    )
    return {importance.column: importance for importance in importances}


def _sample_contributions(context: ExplanationContext, report: Report) -> ContributionSample:
    """Compute contributions over some of the test rows, against a smaller background."""
    rng = np.random.default_rng(context.request.seed)
    rows = sample_rows(np.arange(len(context.test_frame)), SAMPLE_ROWS, rng)
    frame = context.test_frame.iloc[rows].reset_index(drop=True)
    explained = replace(context.explained, background=context.explained.background[:SAMPLE_BACKGROUND])

    contributions = []
    for step, row in enumerate(explained.encode(frame), start=1):
        contributions.append(explain_row(explained, row, rng, SAMPLE_EVALUATIONS).contributions)
        report(
            50 + 20 * step / len(frame),
            Phase.EXPLAINING,
            step=step,
            total_steps=len(frame),
            message="explaining_globally",
        )
    return ContributionSample(np.array(contributions), frame)


def _summarize_contributions(context: ExplanationContext, sample: ContributionSample) -> dict[str, ContributionSummary]:
    summaries = {}
    for position, column in enumerate(context.explained.columns):
        contributions = sample.contributions[:, position]
        summaries[column.name] = ContributionSummary(
            mean_absolute=float(np.abs(contributions).mean()),
            mean=float(contributions.mean()),
            direction=_direction(column, sample.frame[column.name], contributions),
        )
    return summaries


def _direction(column: ColumnSchema, cells: "pd.Series[Any]", contributions: Floats) -> str:
    """Return whether high values of a column push the prediction up or down, where the rank correlation is clear."""
    known = ~cells.isna().to_numpy()
    if not _has_order(column) or cells.nunique() < 2 or not contributions[known].any():
        return "unclear"
    numbers = cells.to_numpy().astype(np.float64)
    correlation = float(spearmanr(numbers[known], contributions[known]).statistic)
    if np.isnan(correlation) or abs(correlation) < CLEAR_DIRECTION:
        return "unclear"
    return "up" if correlation > 0 else "down"


def _has_order(column: ColumnSchema) -> bool:
    return column.kind in (ColumnKind.NUMBER, ColumnKind.DATE)


def _rank_columns(
    context: ExplanationContext,
    importances: Mapping[str, Importance],
    summaries: Mapping[str, ContributionSummary],
) -> list[str]:
    """Rank the columns by importance, else by their contributions, else leave them in the order of the file."""
    if importances:
        return [importance.column for importance in rank_importances(importances.values())]
    if summaries:
        return sorted(context.names, key=lambda name: -summaries[name].mean_absolute)
    return context.names


def _compute_dependences(context: ExplanationContext, names: Sequence[str]) -> dict[str, Dependence]:
    """Compute the partial dependence on the first of these columns that have one."""
    dependences: dict[str, Dependence] = {}
    for name in names[: 2 * DEPENDENCE_COLUMNS]:
        if len(dependences) == DEPENDENCE_COLUMNS:
            break
        dependence = partial_dependence(context.explained, context.background, context.names.index(name))
        if dependence is not None:
            dependences[name] = dependence
    return dependences


def _row_entry(context: ExplanationContext, label: int, attribution: Attribution, predicted: Any) -> Json:
    """Return an explained row in the words of the contract; `predicted` is the model's own prediction."""
    classes = context.model.classes
    entry: Json = {
        "row": label,
        "base_value": attribution.base,
        "prediction": attribution.prediction,
        "predicted": classes[int(predicted)] if classes else float(predicted),
        "attributions": dict(zip(context.names, attribution.contributions.tolist(), strict=True)),
        "additivity_error": attribution.additivity_error,
        "method": attribution.method,
    }
    if attribution.errors is None:
        return entry
    return entry | {
        "standard_errors": dict(zip(context.names, attribution.errors.tolist(), strict=True)),
        "permutations": attribution.permutations,
    }


def _counterfactuals(context: ExplanationContext, row: Floats, values: Mapping[str, str]) -> list[Json]:
    """Return the counterfactual of a row in the words of the contract; an empty list when there is none."""
    counterfactual = find_counterfactual(context.explained, row)
    if counterfactual is None:
        return []
    new_values = _values_as_text(context, context.background.iloc[counterfactual.neighbour])
    changed_names = [context.names[position] for position in counterfactual.changed]
    return [
        {
            "prediction": context.model.classes[counterfactual.class_code],
            "changes": [{"column": name, "from": values[name], "to": new_values[name]} for name in changed_names],
        }
    ]


def _values_as_text(context: ExplanationContext, row: "pd.Series[Any]") -> dict[str, str]:
    return {name: _cell_as_text(row[name]) for name in context.names}


def _cell_as_text(cell: Any) -> str:
    """Return a cell as people write it; a missing one is empty."""
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(cell, float):
        return MISSING if np.isnan(cell) else f"{cell:.10g}"
    return MISSING if cell is pd.NaT else str(cell)
