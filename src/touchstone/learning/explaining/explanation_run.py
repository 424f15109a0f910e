"""Explanations of a table, or of a model that was trained on it: results, charts and a narrative."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from touchstone.learning.artifacts import model_artifact
from touchstone.learning.charts import explanation_charts
from touchstone.learning.explaining import narrative
from touchstone.learning.explaining.explanation_context import (
    ExplanationContext,
    prepare_explanation,
    rows_to_explain,
)
from touchstone.learning.explaining.model_explanation import (
    ContributionSample,
    ContributionSummary,
    GlobalExplanation,
    RowExplanation,
    explain_globally,
    explain_rows,
    value_ranks,
)
from touchstone.learning.explaining.permutation_importance import rank_importances
from touchstone.learning.explaining.related_columns import related_pairs
from touchstone.learning.explaining.row_narrative import ExplainedNumber, counterfactual_sentences, row_sentence
from touchstone.learning.explaining.table_explanation import build_table_charts, explain_table
from touchstone.learning.localized_text import LocalizedText, join_texts, localize
from touchstone.learning.request_checks_against_data import check_explanation_request
from touchstone.learning.request_choices import ALGORITHM_BY_NAME, METRIC_BY_NAME, Scope
from touchstone.learning.request_definitions import Cell, ExplanationRequest
from touchstone.learning.table_reader import Table, read_table
from touchstone.learning.task_interface import DataFile, Json, ModelFile, Outcome, Phase, Report, to_builtins
from touchstone.learning.trial_fitting import suppress_numeric_warnings

DEPENDENCE_CHARTS: Final = 4
WATERFALL_CHARTS: Final = 5
NARRATED_ROWS: Final = 5
PERCENT_AFTER_READING: Final = 20.0


def run_explanation(
    request: ExplanationRequest, file: DataFile, model: ModelFile | None, *, scratch: Path, report: Report
) -> Outcome:
    """Explain a trained model, or the table alone if `model` is None.

    Args:
        request: the explanation to compute.
        file: the data file.
        model: the trained model, or None.
        scratch: a folder for files, which explanations do not use.
        report: the callback for progress.

    Returns:
        the result as documented by the API: numbers, charts, and a narrative in French and English.

    Raises:
        LearningError: the request does not fit the table or the model.
    """
    # Several threads would add up numbers in varying order, which makes the rounding irreproducible.
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        table = read_table(file)

        if model is None:
            result = _explain_table(request, table, file, report)
        else:
            loaded_model = model_artifact.load(model)
            context = prepare_explanation(request, table, loaded_model)
            result = _explain_model(context, report)

        return Outcome(to_builtins(result))


def preflight(request: ExplanationRequest, file: DataFile, model: ModelFile | None) -> Json:
    """Check a request without computing the explanation, so that it can be refused before it is queued.

    Returns:
        the table summary `{rows, columns, sha256}`.

    Raises:
        LearningError: the explanation would fail.
    """
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        table = read_table(file)

        if model is None:
            check_explanation_request(request, list(table.columns), rows=len(table.frame))
            return table.summary

        loaded_model = model_artifact.load(model)
        context = prepare_explanation(request, table, loaded_model)
        # Called for its checks: the request may contain the values of rows, and one of them may be invalid.
        rows_to_explain(context)
        return table.summary


def _explain_table(request: ExplanationRequest, table: Table, file: DataFile, report: Report) -> Json:
    """Explain a table without a model, and return the result as documented by the API."""
    check_explanation_request(request, list(table.columns), rows=len(table.frame))
    report(PERCENT_AFTER_READING, Phase.EXPLAINING, step=0, total_steps=1, message="profiling_data")
    explanation = explain_table(request, table, file.declared)

    # Add its association with the target to each column.
    association_by_column = {entry["column"]: entry["association"] for entry in explanation.associations_with_target}
    columns = []
    for column in explanation.profile["by_column"]:
        association = association_by_column.get(column["name"])
        columns.append({**column, "association": association})

    sentences = [
        *narrative.table_sentences(explanation.profile, explanation.target),
        *narrative.association_sentences(explanation.pairs, explanation.associations_with_target, request.target),
        *narrative.proxy_sentences(explanation.proxies),
    ]
    return {
        "method": "data_profile",
        "global": columns,
        "local": [],
        "profile": explanation.profile,
        "associations": explanation.pairs,
        "proxies": explanation.proxies,
        "charts": build_table_charts(explanation, table),
        "narrative": join_texts(sentences),
        "limits": narrative.limit_sentences(["association_only"]),
    }


def _explain_model(context: ExplanationContext, report: Report) -> Json:
    """Explain a trained model globally and for single rows, and return the result as documented by the API.

    The parts that were not requested are empty.
    """
    global_explanation = explain_globally(context, report)
    rows = explain_rows(context, report)
    explained_number = _describe_explained_number(context)
    for row in rows:
        row.entry["sentence"] = row_sentence(row.entry, explained_number)
        for counterfactual in row.entry.get("counterfactuals", ()):
            counterfactual["prediction_text"] = explained_number.format_prediction(counterfactual["prediction"])

    columns: list[Json] = []
    if context.request.scope is not Scope.LOCAL:
        columns = [_column_entry(name, global_explanation) for name in global_explanation.ranked_columns]

    is_classifier = bool(context.model.classes)
    explained_output = str(context.request.output) if is_classifier else "value"
    charts = _global_charts(context, global_explanation) | _row_charts(rows)
    correlated = related_pairs(context)
    return {
        "method": context.request.method,
        "output": explained_output,
        "target_class": _explained_class(context),
        "background": {"rows": len(context.background)},
        "global": columns,
        "local": [row.entry for row in rows],
        "correlated": correlated,
        "charts": charts,
        "narrative": _build_narrative(context, columns, rows),
        "limits": _build_limits(context, rows, correlated),
    }


def _describe_explained_number(context: ExplanationContext) -> ExplainedNumber:
    """Return the description of the explained number, with the units found in the table."""
    return ExplainedNumber(
        target=context.model.target,
        class_name=str(_explained_class(context)) if context.model.classes else None,
        output=context.request.output,
        positive_class=str(context.model.positive_class) if context.explained.threshold is not None else None,
        units={name: column.unit for name, column in context.table.columns.items()},
    )


def _explained_class(context: ExplanationContext) -> Cell:
    """Return the class whose probability is explained, or None for a regression."""
    code = context.explained.class_code
    return None if code is None else context.model.classes[code]


def _column_entry(name: str, explanation: GlobalExplanation) -> Json:
    """Return the global results for one column as documented by the API, with None for methods without a result."""
    entry: Json = {"column": name, "importance": None, "shap": None, "dependence": None}
    if importance := explanation.importances.get(name):
        entry["importance"] = {
            "mean": importance.mean,
            "std": importance.deviation,
            "chance": importance.chance,
            "matters": importance.is_significant,
        }
    if summary := explanation.summaries.get(name):
        entry["shap"] = {
            "mean_absolute": summary.mean_absolute,
            "mean": summary.mean,
            "direction": summary.direction,
        }
    if dependence := explanation.dependences.get(name):
        entry["dependence"] = {"values": dependence.grid, "mean": dependence.mean, "curves": dependence.curves}
    return entry


def _global_charts(context: ExplanationContext, explanation: GlobalExplanation) -> Json:
    """Return a chart for each global method that was run, and several for partial dependence."""
    charts: Json = {}

    if explanation.importances:
        ranked_importances = rank_importances(explanation.importances.values())
        charts["importance"] = explanation_charts.importance_chart(ranked_importances, _metric_label(context))

    if explanation.sample is not None:
        charts |= _contribution_charts(context, explanation.sample, explanation.summaries)

    shown_dependences = list(explanation.dependences.values())[:DEPENDENCE_CHARTS]
    for number, dependence in enumerate(shown_dependences, start=1):
        charts[f"dependence_{number}"] = explanation_charts.dependence_chart(dependence)

    return charts


def _contribution_charts(
    context: ExplanationContext, sample: ContributionSample, summaries: Mapping[str, ContributionSummary]
) -> Json:
    """Return two charts of the contributions to the predictions for sampled rows.

    A bar chart shows the mean absolute contribution of each column, and a beeswarm chart each single contribution. In
    both, the columns that contribute most come first.
    """
    names = sorted(context.names, key=lambda name: summaries[name].mean_absolute, reverse=True)
    summary_chart = explanation_charts.shap_importance_chart({name: summaries[name] for name in names})

    column_positions = [context.names.index(name) for name in names]
    dot_chart = explanation_charts.beeswarm_chart(
        sample.contributions, value_ranks(context, sample), context.names, order=column_positions
    )
    return {"shap_importance": summary_chart, "beeswarm": dot_chart}


def _row_charts(rows: Sequence[RowExplanation]) -> Json:
    """Return a waterfall chart for each of the first explained rows."""
    return {
        f"waterfall_{number}": explanation_charts.waterfall_chart(row.entry, row.values)
        for number, row in enumerate(rows[:WATERFALL_CHARTS], start=1)
    }


def _metric_label(context: ExplanationContext) -> LocalizedText:
    """Return the displayed name of the metric used to choose the model."""
    return localize(METRIC_BY_NAME[context.model.metric].label)


def _build_narrative(
    context: ExplanationContext, columns: Sequence[Json], rows: Sequence[RowExplanation]
) -> LocalizedText:
    """Describe the model, the columns that matter and the reasons for each prediction in sentences.

    There is a separate paragraph for each row. `columns` holds the entries of the global explanation, the most
    important first.
    """
    model = context.model
    algorithm = localize(ALGORITHM_BY_NAME[model.algorithm].label)
    sentences = [narrative.sentence("model", algorithm=algorithm, target=model.target, features=len(context.names))]

    # Permutation importance is about the metric of the model, and not about one of its classes.
    explains_class = bool(model.classes) and context.request.method != "permutation_importance"
    if explains_class:
        sentences.append(narrative.sentence("target_class", name=str(_explained_class(context))))

    has_importance = bool(columns) and columns[0]["importance"] is not None
    if has_importance:
        sentences += narrative.importance_sentences(columns, _metric_label(context))

    sentences += narrative.direction_sentences(columns)
    row_paragraphs = [_narrate_row(context, row) for row in rows[:NARRATED_ROWS]]
    return join_texts([join_texts(sentences), *row_paragraphs], separator="\n")


def _narrate_row(context: ExplanationContext, row: RowExplanation) -> LocalizedText:
    """Explain the prediction for a row in sentences, with its counterfactuals if they were requested."""
    counterfactuals = counterfactual_sentences(
        row.entry, _describe_explained_number(context), context.immutable_columns
    )
    return join_texts([row.entry["sentence"], *counterfactuals])


def _build_limits(
    context: ExplanationContext, rows: Sequence[RowExplanation], correlated: Sequence[Json]
) -> dict[str, list[str]]:
    """Return warnings, in both languages, against conclusions that the explanation does not support.

    Some of the warnings apply to every explanation, others only to certain models, methods or tables. `correlated`
    holds the pairs of strongly associated columns.
    """
    request = context.request
    permutations = max((row.permutations for row in rows), default=0)

    limits = ["not_causal", "correlated_pairs" if correlated else "correlated"]
    if context.is_measured_by_copy and request.asks_for(Scope.GLOBAL, "permutation_importance"):
        limits.append("held_out_copy")
    if permutations > 0:
        limits.append("sampled")
    if rows or request.asks_for(Scope.GLOBAL, "shap"):
        limits.append("background")
    elif request.asks_for(Scope.GLOBAL, "partial_dependence"):
        limits.append("background_of_curves")
    if context.model.classes and context.model.is_balanced and not context.model.is_calibrated:
        limits.append("rounded_probability")
    if context.model.group_thresholds is not None:
        limits.append("group_thresholds")
    if request.method == "counterfactual":
        limits.append("counterfactual_not_advice")

    pairs = narrative.pair_phrases(correlated)
    return narrative.limit_sentences(limits, permutations=permutations, rows=len(context.background), pairs=pairs)
