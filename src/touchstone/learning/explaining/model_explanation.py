"""Explanations of a trained model: global importance, contributions and dependence, and single predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import spearmanr

from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.explaining.counterfactual_candidates import CandidateRows, collect_candidate_rows
from touchstone.learning.explaining.counterfactuals import find_counterfactual
from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.explaining.explanation_context import ExplanationContext, rows_to_explain, sample_rows
from touchstone.learning.explaining.group_decisions import models_of_rows, warn_of_groups
from touchstone.learning.explaining.partial_dependence import Dependence, partial_dependence
from touchstone.learning.explaining.permutation_importance import (
    Importance,
    permutation_importance,
    rank_importances,
)
from touchstone.learning.explaining.shapley_values import EVALUATIONS, MIN_PERMUTATION_PAIRS, Attribution, explain_row
from touchstone.learning.observed_values import warn_of_unseen_values
from touchstone.learning.request_choices import Scope
from touchstone.learning.request_definitions import METHODS_FOR_ROWS
from touchstone.learning.row_values import cell_as_text, cells_from_frame
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json, Phase, Report, StepwiseProgress

SAMPLE_ROWS: Final = 60  # the number of rows over which contributions are averaged
MIN_SAMPLE_ROWS: Final = 20
SAMPLE_BACKGROUND: Final = 50
MIN_SAMPLE_BACKGROUND: Final = 10
SAMPLE_EVALUATIONS: Final = 6_000
WIDE_SAMPLE_EVALUATIONS: Final = 12_000  # for each row of a table with so many columns that the number above is too low
ALL_SAMPLE_EVALUATIONS: Final = 1_000_000
TOTAL_EVALUATIONS: Final = 6_000_000  # shared by all rows that one request asks to explain
MIN_EVALUATIONS: Final = 2_000
DEPENDENCE_COLUMNS: Final = 6
MAX_DEPENDENCE_ATTEMPTS: Final = 2 * DEPENDENCE_COLUMNS
MIN_DIRECTION_CORRELATION: Final = 0.6  # the least absolute rank correlation that counts as a clear direction

# The progress in percent at the boundaries of the steps.
PERCENT_BEFORE_IMPORTANCE: Final = 10.0
PERCENT_AFTER_IMPORTANCE: Final = 50.0
PERCENT_AFTER_CONTRIBUTIONS: Final = 70.0
PERCENT_AFTER_ROWS: Final = 95.0


@dataclass(frozen=True, slots=True)
class ContributionSample:
    """The contributions for a sample of rows, of shape (rows, columns), and the source rows."""

    contributions: Floats
    frame: pd.DataFrame


@dataclass(frozen=True, slots=True)
class ContributionSummary:
    """The mean contributions of one column over a sample, and the effect of its high values."""

    mean_absolute: float
    mean: float
    direction: str  # "up", "down" or "unclear"


@dataclass(frozen=True, slots=True)
class GlobalExplanation:
    """The results of the requested global methods, by column name.

    The results of methods that were not requested are empty, and `sample` is None unless Shapley values were
    requested. `ranked_columns` lists the names of all columns, the most important first.
    """

    ranked_columns: Sequence[str]
    importances: Mapping[str, Importance]
    sample: ContributionSample | None
    summaries: Mapping[str, ContributionSummary]
    dependences: Mapping[str, Dependence]


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """One explained row, with its entry in the result and its values as text, by column."""

    entry: Json
    values: dict[str, str] = field(repr=False)
    permutations: int


def explain_globally(context: ExplanationContext, report: Report) -> GlobalExplanation:
    """Explain a model globally, and return the results of the requested methods."""
    request = context.request

    importances: dict[str, Importance] = {}
    if request.asks_for(Scope.GLOBAL, "permutation_importance"):
        importances = _compute_importances(context, report)

    sample: ContributionSample | None = None
    summaries: dict[str, ContributionSummary] = {}
    if request.asks_for(Scope.GLOBAL, "shap"):
        sample = _sample_contributions(context, report)
        summaries = _summarize_contributions(context, sample)

    # Partial dependence comes last, because it is only computed for the most important columns.
    ranked_columns = _rank_columns(context, importances, summaries)
    dependences: dict[str, Dependence] = {}
    if request.asks_for(Scope.GLOBAL, "partial_dependence"):
        dependences = _compute_dependences(context, ranked_columns)

    return GlobalExplanation(
        ranked_columns=ranked_columns,
        importances=importances,
        sample=sample,
        summaries=summaries,
        dependences=dependences,
    )


def explain_rows(context: ExplanationContext, report: Report) -> list[RowExplanation]:
    """Explain the predictions for single rows, and report progress after each row.

    Returns an empty list if only a global explanation was requested.
    """
    request = context.request
    if not request.asks_for(Scope.LOCAL, *METHODS_FOR_ROWS):
        return []

    frame, row_numbers = rows_to_explain(context)
    encoded_rows = context.explained.encode(frame)
    deciding_models = models_of_rows(context, row_numbers)
    warnings = warn_of_unseen_values(
        context.explained.columns,
        context.model.observed_values,
        cells_from_frame(frame),
        row_count=len(frame),
        given_rows=request.instances.values,
    )
    group_warnings = warn_of_groups(context, row_numbers)

    # Counterfactuals are slow to find and easily mistaken for advice, so they must be requested explicitly.
    candidates = collect_candidate_rows(context) if request.method == "counterfactual" else None

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
    for position, (encoded_row, model) in enumerate(zip(encoded_rows, deciding_models, strict=True)):
        attribution = explain_row(context.explained, encoded_row, rng, evaluations)
        values = _values_as_text(context, frame.iloc[position])

        entry: Json = {
            **_row_entry(context, row_numbers[position], attribution, model.predict_row(encoded_row)),
            "threshold": model.threshold,
            "values": values,
            "warnings": [*warnings[position], *group_warnings[position]],
        }
        if candidates is not None:
            entry["counterfactuals"] = _counterfactual_entries(context, model, candidates, encoded_row, values)

        explanations.append(RowExplanation(entry, values, attribution.permutations))
        progress.report_step(position + 1)
    return explanations


def _evaluations_per_row(rows: int) -> int:
    """Return the number of model evaluations per row, which is lower if many rows are explained."""
    equal_share = TOTAL_EVALUATIONS // max(1, rows)
    return max(MIN_EVALUATIONS, min(EVALUATIONS, equal_share))


def value_ranks(context: ExplanationContext, sample: ContributionSample) -> Floats:
    """Return the rank of each sampled value within its column, from 0 (lowest) to 1 (highest).

    The result has shape (rows, columns). It is NaN for columns without an order.
    """
    ranks = np.full(sample.contributions.shape, np.nan)
    for position, column in enumerate(context.explained.columns):
        if column.kind.is_ordered:
            ranks[:, position] = sample.frame[column.name].rank(pct=True).to_numpy(dtype=np.float64)
    return ranks


def _compute_importances(context: ExplanationContext, report: Report) -> dict[str, Importance]:
    """Measure the permutation importance of every column on the test rows, and report progress."""
    progress = StepwiseProgress(
        report,
        Phase.EXPLAINING,
        message="explaining_globally",
        start_percent=PERCENT_BEFORE_IMPORTANCE,
        end_percent=PERCENT_AFTER_IMPORTANCE,
        total_steps=len(context.explained.columns),
    )
    measured_model = context.model_to_measure()
    importances = permutation_importance(
        measured_model,
        matrix=measured_model.encode(context.test_frame),
        truth=context.test_truth,
        seed=context.request.seed,
        on_column_measured=progress.report_step,
    )
    return {importance.column: importance for importance in importances}


def _sample_contributions(context: ExplanationContext, report: Report) -> ContributionSample:
    """Compute the contributions of each column for a sample of test rows, and report progress after each row."""
    rng = np.random.default_rng(context.request.seed)
    every_test_row = np.arange(len(context.test_frame))
    row_count, background_count = sample_sizes(len(context.explained.columns))
    sampled_rows = sample_rows(every_test_row, row_count, rng, context.test_truth.weights)
    frame = context.test_frame.iloc[sampled_rows].reset_index(drop=True)

    # The model predicts each sampled row once for each background row. Summaries over many rows need fewer of them.
    explained_model = replace(context.explained, background=context.explained.background[:background_count])
    progress = StepwiseProgress(
        report,
        Phase.EXPLAINING,
        message="explaining_globally",
        start_percent=PERCENT_AFTER_IMPORTANCE,
        end_percent=PERCENT_AFTER_CONTRIBUTIONS,
        total_steps=len(frame),
    )

    contributions = []
    for step, encoded_row in enumerate(explained_model.encode(frame), start=1):
        attribution = explain_row(explained_model, encoded_row, rng, SAMPLE_EVALUATIONS)
        contributions.append(attribution.contributions)
        progress.report_step(step)
    return ContributionSample(np.array(contributions), frame)


def sample_sizes(column_count: int) -> tuple[int, int]:
    """Return how many rows are sampled for contributions, and with how many background rows each is compared.

    Every column needs several predictions for each pair of them, so wide tables would take minutes with all rows.
    """
    evaluations_per_pair = 2 * MIN_PERMUTATION_PAIRS * column_count
    affordable_background = WIDE_SAMPLE_EVALUATIONS // evaluations_per_pair
    background_count = max(MIN_SAMPLE_BACKGROUND, min(SAMPLE_BACKGROUND, affordable_background))

    affordable_rows = ALL_SAMPLE_EVALUATIONS // (evaluations_per_pair * background_count)
    return max(MIN_SAMPLE_ROWS, min(SAMPLE_ROWS, affordable_rows)), background_count


def _summarize_contributions(context: ExplanationContext, sample: ContributionSample) -> dict[str, ContributionSummary]:
    """Summarize the contributions of each column over the sampled rows."""
    summaries = {}
    for position, column in enumerate(context.explained.columns):
        contributions = sample.contributions[:, position]
        summaries[column.name] = ContributionSummary(
            mean_absolute=float(np.abs(contributions).mean()),
            mean=float(contributions.mean()),
            direction=_classify_direction(column, sample.frame[column.name], contributions),
        )
    return summaries


def _classify_direction(column: ColumnSchema, cells: "pd.Series[Any]", contributions: Floats) -> str:
    """Return whether high values of a column raise the predictions ("up") or lower them ("down").

    The direction is "unclear" if the values have no order, or if they are only weakly correlated with their
    contributions.
    """
    is_present = ~cells.isna().to_numpy()
    if not column.kind.is_ordered or cells.nunique() < 2 or not contributions[is_present].any():
        return "unclear"

    present_values = cells.to_numpy().astype(np.float64)[is_present]
    correlation = float(spearmanr(present_values, contributions[is_present]).statistic)
    if np.isnan(correlation) or abs(correlation) < MIN_DIRECTION_CORRELATION:
        return "unclear"
    return "up" if correlation > 0 else "down"


def _rank_columns(
    context: ExplanationContext,
    importances: Mapping[str, Importance],
    summaries: Mapping[str, ContributionSummary],
) -> list[str]:
    """Return the names of all columns, the most important first.

    Columns are ranked by permutation importance, or by the size of their contributions if it was not measured. If
    neither was computed, the columns keep the order of the file.
    """
    if importances:
        return [importance.column for importance in rank_importances(importances.values())]
    if summaries:
        return sorted(context.names, key=lambda name: summaries[name].mean_absolute, reverse=True)
    return context.names


def _compute_dependences(context: ExplanationContext, ranked_columns: Sequence[str]) -> dict[str, Dependence]:
    """Compute the partial dependence on the most important columns.

    `ranked_columns` lists the names of the columns, the most important first. Columns that cannot be varied, such as
    text columns, are skipped. At most `MAX_DEPENDENCE_ATTEMPTS` columns are tried.
    """
    dependences: dict[str, Dependence] = {}
    for name in ranked_columns[:MAX_DEPENDENCE_ATTEMPTS]:
        position = context.names.index(name)
        dependence = partial_dependence(context.explained, context.background, position)
        if dependence is not None:
            dependences[name] = dependence

        if len(dependences) == DEPENDENCE_COLUMNS:
            break
    return dependences


def _row_entry(context: ExplanationContext, row_number: int, attribution: Attribution, predicted: Any) -> Json:
    """Return the explanation of one row as documented by the API.

    `attribution` holds the contributions to the explained number, such as the probability of a class. `predicted` is
    the prediction itself: a class code, or a number for a regression.
    """
    classes = context.model.classes
    uncertainty = _values_by_column(context, attribution.is_uncertain)
    entry: Json = {
        "row": row_number,
        "base_value": attribution.base,
        "prediction": attribution.prediction,
        "predicted": classes[int(predicted)] if classes else float(predicted),
        "attributions": _values_by_column(context, attribution.contributions),
        "standard_errors": _values_by_column(context, attribution.standard_errors),
        "uncertain": [name for name, is_uncertain in uncertainty.items() if is_uncertain],
        "additivity_error": attribution.additivity_error,
        "method": attribution.method,
    }
    if attribution.permutations:
        entry["permutations"] = attribution.permutations
    return entry


def _values_by_column(context: ExplanationContext, values: npt.NDArray[Any]) -> dict[str, Any]:
    """Return one value per source column as `{column: value}`."""
    return dict(zip(context.names, values.tolist(), strict=True))


def _counterfactual_entries(
    context: ExplanationContext,
    model: ExplainedModel,
    candidates: CandidateRows,
    encoded_row: Floats,
    values: Mapping[str, str],
) -> list[Json]:
    """Find the counterfactual of a row, and return it as documented by the API.

    Args:
        context: the request and the model.
        model: the model with the decision threshold that applies to the row.
        candidates: the rows that supply new values.
        encoded_row: the encoded row.
        values: the current values of the row as text, by column.

    Returns:
        a list, because the API allows several counterfactuals. It holds only the one with the fewest changes, and is
        empty if none was found.
    """
    immutable_columns = [context.names.index(name) for name in context.immutable_columns]
    counterfactual = find_counterfactual(model, encoded_row, candidates.encoded, immutable_columns)
    if counterfactual is None:
        return []

    changes = []
    for column_position, source_row in counterfactual.changes.items():
        name = context.names[column_position]
        changes.append(
            {"column": name, "from": values[name], "to": cell_as_text(candidates.frame[name].iloc[source_row])}
        )

    classes = context.model.classes
    prediction = counterfactual.prediction
    new_prediction = classes[int(prediction)] if classes else float(prediction)
    return [{"prediction": new_prediction, "changes": changes}]


def _values_as_text(context: ExplanationContext, row: "pd.Series[Any]") -> dict[str, str]:
    """Return the values of a row as text, by source column."""
    return {name: cell_as_text(row[name]) for name in context.names}
