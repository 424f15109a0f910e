"""Explanation runs: from a request, a table and (for a training job) its model to figures, charts and a narrative."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from touchstone.learning import model_artifact, narrative
from touchstone.learning.charts import explanation_charts
from touchstone.learning.choices import ALGORITHM_BY_NAME, METRIC_BY_NAME, Scope
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
from touchstone.learning.explaining.partial_dependence import Dependence
from touchstone.learning.explaining.permutation_importance import Importance, rank_importances
from touchstone.learning.explaining.table_explanation import build_table_charts, explain_table
from touchstone.learning.interfaces import DataFile, Json, ModelFile, Outcome, Phase, Report, to_builtins
from touchstone.learning.localized_text import LocalizedText, join_texts, localize
from touchstone.learning.model_search import suppress_numeric_warnings
from touchstone.learning.request_checks import check_explanation_request
from touchstone.learning.requests import Cell, ExplanationRequest
from touchstone.learning.table_reader import Table, read_table

DEPENDENCE_CHARTS: Final = 4
WATERFALL_CHARTS: Final = 5


def run_explanation(
    request: ExplanationRequest, file: DataFile, model: ModelFile | None, *, scratch: Path, report: Report
) -> Outcome:
    """Explain a trained model, or the table alone when `model` is None.

    The result holds `global, local [{row, base_value, prediction, attributions, additivity_error}], method, charts,
    narrative {fr, en}, limits {fr, en}`. No file is written into `scratch`. Raises `LearningError`.
    """
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        table = read_table(file)
        if model is None:
            result = _table_result(request, table, file, report)
        else:
            context = prepare_explanation(request, table, model_artifact.load(model))
            result = _model_result(context, report)
        return Outcome(to_builtins(result))


def preflight(request: ExplanationRequest, file: DataFile, model: ModelFile | None) -> Json:
    """Check an explanation as far as possible without computing it, and return `{rows, columns, sha256}` of its table.

    Raises `LearningError`.
    """
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        table = read_table(file)
        if model is None:
            check_explanation_request(request, list(table.columns), rows=len(table.frame))
        else:
            context = prepare_explanation(request, table, model_artifact.load(model))
            rows_to_explain(context)  # Reading the rows given by value raises if one of them is invalid.
        return table.summary


def _table_result(request: ExplanationRequest, table: Table, file: DataFile, report: Report) -> Json:
    check_explanation_request(request, list(table.columns), rows=len(table.frame))
    report(20.0, Phase.EXPLAINING, step=0, total_steps=1, message="profiling_data")
    explanation = explain_table(request, table, file.declared)

    association_by_column = {entry["column"]: entry["association"] for entry in explanation.with_target}
    sentences = [
        *narrative.table_sentences(explanation.profile, explanation.target),
        *narrative.association_sentences(explanation.pairs, explanation.with_target, request.target),
        *narrative.proxy_sentences(explanation.proxies),
    ]
    return {
        "method": "data_profile",
        "global": [
            {**column, "association": association_by_column.get(column["name"])}
            for column in explanation.profile["by_column"]
        ],
        "local": [],
        "profile": explanation.profile,
        "associations": explanation.pairs,
        "proxies": explanation.proxies,
        "charts": build_table_charts(explanation, table),
        "narrative": join_texts(sentences),
        "limits": narrative.limit_sentences(["association_only"]),
    }


def _model_result(context: ExplanationContext, report: Report) -> Json:
    global_explanation = explain_globally(context, report)
    rows = explain_rows(context, report)

    entries: list[Json] = []
    if context.request.scope is not Scope.LOCAL:
        entries = [_column_entry(name, global_explanation) for name in global_explanation.names]
    return {
        "method": context.request.method,
        "output": str(context.request.output) if context.model.classes else "value",
        "target_class": _explained_class(context),
        "background": {"rows": len(context.background)},
        "global": entries,
        "local": [row.entry for row in rows],
        "charts": {**_global_charts(context, global_explanation), **_row_charts(rows)},
        "narrative": _narrative(context, entries, rows),
        "limits": _limits(context, rows),
    }


def _explained_class(context: ExplanationContext) -> Cell:
    code = context.explained.class_code
    return None if code is None else context.model.classes[code]


def _column_entry(name: str, explanation: GlobalExplanation) -> Json:
    """Return what is known about one column; None for each method that was not asked for."""
    entry: Json = {"column": name, "importance": None, "shap": None, "dependence": None}
    if name in explanation.importances:
        entry["importance"] = _importance_entry(explanation.importances[name])
    if name in explanation.summaries:
        entry["shap"] = _summary_entry(explanation.summaries[name])
    if name in explanation.dependences:
        entry["dependence"] = _dependence_entry(explanation.dependences[name])
    return entry


def _importance_entry(importance: Importance) -> Json:
    return {"mean": importance.mean, "std": importance.deviation, "matters": importance.is_significant}


def _summary_entry(summary: ContributionSummary) -> Json:
    return {"mean_absolute": summary.mean_absolute, "mean": summary.mean, "direction": summary.direction}


def _dependence_entry(dependence: Dependence) -> Json:
    return {"values": dependence.grid, "mean": dependence.mean, "curves": dependence.curves}


def _global_charts(context: ExplanationContext, explanation: GlobalExplanation) -> Json:
    charts: Json = {}
    if explanation.importances:
        ranked = rank_importances(explanation.importances.values())
        charts["importance"] = explanation_charts.importance_chart(ranked, _metric_label(context))
    if explanation.sample is not None:
        charts |= _contribution_charts(context, explanation.sample, explanation.summaries)
    shown = list(explanation.dependences.values())[:DEPENDENCE_CHARTS]
    for number, dependence in enumerate(shown, start=1):
        charts[f"dependence_{number}"] = explanation_charts.dependence_chart(dependence)
    return charts


def _contribution_charts(
    context: ExplanationContext, sample: ContributionSample, summaries: Mapping[str, ContributionSummary]
) -> Json:
    strongest_first = sorted(context.names, key=lambda name: -summaries[name].mean_absolute)
    return {
        "shap_importance": explanation_charts.shap_importance_chart(
            {name: summaries[name] for name in strongest_first}
        ),
        "beeswarm": explanation_charts.beeswarm_chart(
            sample.contributions,
            value_ranks(context, sample),
            context.names,
            order=[context.names.index(name) for name in strongest_first],
        ),
    }


def _row_charts(rows: Sequence[RowExplanation]) -> Json:
    return {
        f"waterfall_{number}": explanation_charts.waterfall_chart(row.entry, row.values)
        for number, row in enumerate(rows[:WATERFALL_CHARTS], start=1)
    }


def _metric_label(context: ExplanationContext) -> LocalizedText:
    return localize(METRIC_BY_NAME[context.model.metric].label)


def _narrative(context: ExplanationContext, entries: Sequence[Json], rows: Sequence[RowExplanation]) -> LocalizedText:
    model = context.model
    algorithm = localize(ALGORITHM_BY_NAME[model.algorithm].label)
    sentences = [
        narrative.sentence("model", algorithm=algorithm, target=model.target, features=len(context.names)),
    ]
    if context.explained.class_code is not None:
        sentences.append(narrative.sentence("target_class", name=str(_explained_class(context))))
    if entries and entries[0]["importance"] is not None:
        sentences += narrative.importance_sentences(entries, _metric_label(context))
    sentences += narrative.direction_sentences(entries)
    sentences += narrative.row_sentences([row.entry for row in rows])
    return join_texts(sentences)


def _limits(context: ExplanationContext, rows: Sequence[RowExplanation]) -> dict[str, list[str]]:
    """Return the sentences about what these figures do not say."""
    permutations = max((row.permutations for row in rows), default=0)
    is_stated = {
        "not_causal": True,
        "correlated": True,
        "training_rows": context.test_rows_were_learned and context.request.scope is not Scope.LOCAL,
        "sampled": permutations > 0,
        "background": True,
        "rounded_probability": bool(context.model.classes) and context.model.is_balanced,
        "counterfactual_not_advice": context.request.method == "counterfactual",
    }
    keys = [key for key, stated in is_stated.items() if stated]
    return narrative.limit_sentences(keys, permutations=permutations, rows=len(context.background))
