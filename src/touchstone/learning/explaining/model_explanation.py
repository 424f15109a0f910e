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
from touchstone.learning.interfaces import Json, Phase, Report, StepwiseProgress
from touchstone.learning.target import Floats

SAMPLE_ROWS: Final = 60  # The number of rows over which contributions are averaged.
SAMPLE_BACKGROUND: Final = 50
SAMPLE_EVALUATIONS: Final = 6_000
TOTAL_EVALUATIONS: Final = 6_000_000  # Shared by all rows that one request asks to explain.
MIN_EVALUATIONS: Final = 2_000
DEPENDENCE_COLUMNS: Final = 6
CLEAR_DIRECTION: Final = 0.6  # The least rank correlation for which a column is said to push one way.
PERCENT_BEFORE_IMPORTANCE: Final = 10.0  # The percentages of the progress between which each part runs.
PERCENT_AFTER_IMPORTANCE: Final = 50.0
PERCENT_AFTER_CONTRIBUTIONS: Final = 70.0
PERCENT_AFTER_ROWS: Final = 95.0


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
    """Run the global methods that the request asks for; each leaves its part of the result empty if it is not run.

    Partial dependence is computed for the most important columns only, so it comes last.
    """
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
    """Explain the predictions of the rows that the request names, and report progress after each row.

    Returns an empty list if the request does not ask for single rows. Counterfactuals are expensive and easily misread
    as advice, so they are only searched for if the request names that method.
    """
    request = context.request
    if not request.asks_for(Scope.LOCAL, "shap", "counterfactual"):
        return []

    frame, labels = rows_to_explain(context)
    matrix = context.explained.encode(frame)
    predictions, _probabilities = context.explained.predict(matrix)

    rng = np.random.default_rng(request.seed)
    evaluations = _evaluations_per_row(rows=len(frame))
    progress = StepwiseProgress(
        report,
        Phase.EXPLAINING,
        message="explaining_rows",
        start_percent=PERCENT_AFTER_CONTRIBUTIONS,
        end_percent=PERCENT_AFTER_ROWS,
        total_steps=len(frame),
    )

    explanations = []
    for position, row in enumerate(matrix):
        attribution = explain_row(context.explained, row, rng, evaluations)
        values = _values_as_text(context, frame.iloc[position])

        entry = _row_entry(context, labels[position], attribution, predictions[position]) | {"values": values}
        if request.method == "counterfactual":
            entry |= {"counterfactuals": _counterfactuals(context, row, values)}

        explanations.append(RowExplanation(entry, values, attribution.permutations))
        progress.report_step(position + 1)
    return explanations


def _evaluations_per_row(rows: int) -> int:
    """Return how many evaluations of the model each row may cost, so that many rows do not take too long."""
    equal_share = TOTAL_EVALUATIONS // max(1, rows)
    return max(MIN_EVALUATIONS, min(EVALUATIONS, equal_share))


def value_ranks(context: ExplanationContext, sample: ContributionSample) -> Floats:
    """Return the rank of each sampled value within its column, from 0 (lowest) to 1 (highest).

    The result has shape (rows, columns). It is NaN for the columns whose values have no order.
    """
    ranks = np.full(sample.contributions.shape, np.nan)
    for position, column in enumerate(context.explained.columns):
        if _has_order(column):
            ranks[:, position] = sample.frame[column.name].rank(pct=True).to_numpy(dtype=np.float64)
    return ranks


def _compute_importances(context: ExplanationContext, report: Report) -> dict[str, Importance]:
    """Measure the permutation importance of every column on the test rows, and report progress after each column."""
    progress = StepwiseProgress(
        report,
        Phase.EXPLAINING,
        message="explaining_globally",
        start_percent=PERCENT_BEFORE_IMPORTANCE,
        end_percent=PERCENT_AFTER_IMPORTANCE,
        total_steps=len(context.explained.columns),
    )
    importances = permutation_importance(
        context.explained,
        matrix=context.explained.encode(context.test_frame),
        truth=context.test_truth,
        seed=context.request.seed,
        on_column_measured=progress.report_step,
    )
    return {importance.column: importance for importance in importances}


def _sample_contributions(context: ExplanationContext, report: Report) -> ContributionSample:
    """Compute the contributions to the predictions of some test rows, and report progress after each row.

    A part of the background serves as reference, because the cost grows with the rows of both.
    """
    rng = np.random.default_rng(context.request.seed)
    test_rows = np.arange(len(context.test_frame))
    frame = context.test_frame.iloc[sample_rows(test_rows, SAMPLE_ROWS, rng)].reset_index(drop=True)

    small_background = context.explained.background[:SAMPLE_BACKGROUND]
    explained = replace(context.explained, background=small_background)
    progress = StepwiseProgress(
        report,
        Phase.EXPLAINING,
        message="explaining_globally",
        start_percent=PERCENT_AFTER_IMPORTANCE,
        end_percent=PERCENT_AFTER_CONTRIBUTIONS,
        total_steps=len(frame),
    )

    contributions = []
    for step, row in enumerate(explained.encode(frame), start=1):
        attribution = explain_row(explained, row, rng, SAMPLE_EVALUATIONS)
        contributions.append(attribution.contributions)
        progress.report_step(step)
    return ContributionSample(np.array(contributions), frame)


def _summarize_contributions(context: ExplanationContext, sample: ContributionSample) -> dict[str, ContributionSummary]:
    """Summarise the contributions of each column over the sampled rows."""
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
    """Return whether high values of a column push predictions "up" or "down".

    The direction is "unclear" if the values have no order, or if their rank correlation with the contributions is weak
    or undefined.
    """
    is_present = ~cells.isna().to_numpy()
    if not _has_order(column) or cells.nunique() < 2 or not contributions[is_present].any():
        return "unclear"

    numbers = cells.to_numpy().astype(np.float64)
    correlation = float(spearmanr(numbers[is_present], contributions[is_present]).statistic)
    if np.isnan(correlation) or abs(correlation) < CLEAR_DIRECTION:
        return "unclear"
    return "up" if correlation > 0 else "down"


def _has_order(column: ColumnSchema) -> bool:
    """Return whether the values of a column can be compared."""
    return column.kind in (ColumnKind.NUMBER, ColumnKind.DATE)


def _rank_columns(
    context: ExplanationContext,
    importances: Mapping[str, Importance],
    summaries: Mapping[str, ContributionSummary],
) -> list[str]:
    """Return the names of all columns, the most important first.

    They are ranked by permutation importance or else by their mean contribution, whichever was computed. If neither
    was, they stay in the order of the file.
    """
    if importances:
        return [importance.column for importance in rank_importances(importances.values())]
    if summaries:
        return sorted(context.names, key=lambda name: -summaries[name].mean_absolute)
    return context.names


def _compute_dependences(context: ExplanationContext, names: Sequence[str]) -> dict[str, Dependence]:
    """Compute the partial dependence on the first few of these columns that have one, such as columns other than texts.

    Only twice as many columns are tried as are needed, because each attempt takes time.
    """
    dependences: dict[str, Dependence] = {}
    for name in names[: 2 * DEPENDENCE_COLUMNS]:
        if len(dependences) == DEPENDENCE_COLUMNS:
            break

        position = context.names.index(name)
        dependence = partial_dependence(context.explained, context.background, position)
        if dependence is not None:
            dependences[name] = dependence
    return dependences


def _row_entry(context: ExplanationContext, label: int, attribution: Attribution, predicted: Any) -> Json:
    """Return the explanation of one row as the API documents it.

    `predicted` is what the model itself predicts, a class code or a number; the attribution explains a number that
    may be on another scale, such as a probability. Standard errors are included if the contributions were sampled.
    """
    classes = context.model.classes
    entry: Json = {
        "row": label,
        "base_value": attribution.base,
        "prediction": attribution.prediction,
        "predicted": classes[int(predicted)] if classes else float(predicted),
        "attributions": _by_column(context, attribution.contributions),
        "additivity_error": attribution.additivity_error,
        "method": attribution.method,
    }
    if attribution.standard_errors is None:
        return entry

    return entry | {
        "standard_errors": _by_column(context, attribution.standard_errors),
        "permutations": attribution.permutations,
    }


def _by_column(context: ExplanationContext, numbers: Floats) -> dict[str, float]:
    """Return one number per source column as `{column: number}`."""
    return dict(zip(context.names, numbers.tolist(), strict=True))


def _counterfactuals(context: ExplanationContext, row: Floats, values: Mapping[str, str]) -> list[Json]:
    """Return the counterfactual of an encoded row as the API documents it, in a list that is empty if there is none.

    `values` are the values of the row as text, by column.
    """
    counterfactual = find_counterfactual(context.explained, row)
    if counterfactual is None:
        return []

    neighbour_values = _values_as_text(context, context.background.iloc[counterfactual.neighbour])
    changes = []
    for position in counterfactual.changed:
        name = context.names[position]
        changes.append({"column": name, "from": values[name], "to": neighbour_values[name]})

    predicted_class = context.model.classes[counterfactual.class_code]
    return [{"prediction": predicted_class, "changes": changes}]


def _values_as_text(context: ExplanationContext, row: "pd.Series[Any]") -> dict[str, str]:
    """Return the values of a row's source columns as people write them."""
    return {name: _cell_as_text(row[name]) for name in context.names}


def _cell_as_text(cell: Any) -> str:
    """Return a cell as people write it; a missing one is empty."""
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(cell, float):
        return MISSING if np.isnan(cell) else f"{cell:.10g}"
    return MISSING if cell is pd.NaT else str(cell)
