"""Explanation: from an order, a table and (for a training job) its model to attributions and a narrative."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from touchstone.learning import model_artifact, narrative
from touchstone.learning.charts import explanation_charts
from touchstone.learning.errors import Phase
from touchstone.learning.explaining import table_explanation
from touchstone.learning.explaining.model_explanation import (
    Case,
    Local,
    Sample,
    dependences,
    importances,
    instances,
    local,
    make_case,
    sample,
    shap_summary,
    value_ranks,
    wants,
)
from touchstone.learning.explaining.partial_dependence import Dependence
from touchstone.learning.explaining.permutation_importance import Importance, ranked
from touchstone.learning.interfaces import DataFile, Json, ModelFile, Outcome, Report, plain
from touchstone.learning.model_search import quiet
from touchstone.learning.number_format import Said, say
from touchstone.learning.requests import (
    ALGORITHM_BY_NAME,
    METRIC_BY_NAME,
    ExplanationRequest,
    Scope,
    check_explanation_request,
)
from touchstone.learning.table_reader import Table, read_table

DEPENDENCE_CHARTS: Final = 4
WATERFALLS: Final = 5


def run_explanation(
    order: ExplanationRequest, file: DataFile, model: ModelFile | None, *, scratch: Path, report: Report
) -> Outcome:
    """Explain a trained model (`model` given) or a dataset alone (`model` is None).

    The result holds `global, local [{row, base_value, prediction, attributions, additivity_error}], method, charts,
    narrative {fr, en}, limits {fr, en}`. No file is written into `scratch`. Raises `LearningError`.
    """
    with threadpool_limits(limits=1), quiet():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        table = read_table(file)
        if model is None:
            return Outcome(plain(_explain_table(order, table, file, report)))
        return Outcome(plain(_explain_model(make_case(order, table, model_artifact.load(model)), report)))


def preflight(order: ExplanationRequest, file: DataFile, model: ModelFile | None) -> Json:
    """Do what an explanation does before it computes, so that what it would refuse is refused at once.

    Answers `{rows, columns, sha256}` of the table. Raises `LearningError`.
    """
    with threadpool_limits(limits=1), quiet():
        table = read_table(file)
        if model is None:
            check_explanation_request(order, list(table.columns), rows=len(table.frame))
        else:
            instances(make_case(order, table, model_artifact.load(model)))
        return table.facts


def _explain_table(order: ExplanationRequest, table: Table, file: DataFile, report: Report) -> Json:
    check_explanation_request(order, list(table.columns), rows=len(table.frame))
    report(20.0, Phase.EXPLAINING, step=0, total_steps=1, message="profiling_data")
    found = table_explanation.portray(order, table, file)
    told = chain(
        narrative.of_table(found.profile, found.target),
        narrative.of_associations(found.pairs, found.with_target, order.target),
        narrative.of_proxies(found.proxies),
    )
    return {
        "method": "data_profile",
        "global": [row | {"association": _with_target(found, row["name"])} for row in found.profile["by_column"]],
        "local": [],
        "profile": found.profile,
        "associations": found.pairs,
        "proxies": found.proxies,
        "charts": table_explanation.charts_of(found, table),
        "narrative": narrative.story(told),
        "limits": narrative.limits_of(["association_only"]),
    }


def _with_target(found: table_explanation.Portrait, name: str) -> float | None:
    return next((row["association"] for row in found.with_target if row["column"] == name), None)


def _explain_model(case: Case, report: Report) -> Json:
    order = case.order
    losses = importances(case, report) if wants(order, ["permutation_importance"]) else {}
    sampled = sample(case, report) if wants(order, ["shap"]) else None
    shap = shap_summary(case, sampled) if sampled is not None else {}
    names = _by_weight(case, losses, shap)
    curves = dependences(case, names) if wants(order, ["partial_dependence"]) else {}
    rows = local(case, report) if order.asks_for(Scope.LOCAL, "shap", "counterfactual") else Local([], [], [])
    entries = [_global_entry(name, losses, shap, curves) for name in names] if order.scope is not Scope.LOCAL else []
    return {
        "method": order.method,
        "output": str(order.output) if case.kept.classes else "value",
        "target_class": case.kept.classes[case.subject.code] if case.subject.code is not None else None,
        "background": {"rows": len(case.background)},
        "global": entries,
        "local": rows.entries,
        "charts": _global_charts(case, losses, sampled, curves) | _local_charts(rows),
        "narrative": _narrative(case, entries, rows),
        "limits": _limits(case, rows),
    }


def _by_weight(case: Case, losses: Mapping[str, Importance], shap: Mapping[str, Json]) -> list[str]:
    """Columns by what they cost when shuffled, else by their contributions, else as they come."""
    if losses:
        return [one.column for one in ranked(list(losses.values()))]
    return sorted(case.names, key=lambda name: -shap[name]["mean_absolute"]) if shap else case.names


def _global_entry(
    name: str, losses: Mapping[str, Importance], shap: Mapping[str, Json], curves: Mapping[str, Dependence]
) -> Json:
    entry: Json = {"column": name, "importance": None, "shap": shap.get(name), "dependence": None}
    if name in losses:
        one = losses[name]
        entry["importance"] = {"mean": one.mean, "std": one.spread, "matters": one.matters}
    if name in curves:
        entry["dependence"] = {"values": curves[name].grid, "mean": curves[name].mean, "curves": curves[name].curves}
    return entry


def _global_charts(
    case: Case, losses: Mapping[str, Importance], sampled: Sample | None, curves: Mapping[str, Dependence]
) -> Json:
    charts: Json = {}
    if losses:
        charts["importance"] = explanation_charts.importance_chart(ranked(list(losses.values())), _metric(case))
    if sampled is not None:
        charts |= _contribution_charts(case, sampled)
    shown = enumerate(list(curves.values())[:DEPENDENCE_CHARTS], start=1)
    return charts | {f"dependence_{number}": explanation_charts.dependence_chart(curve) for number, curve in shown}


def _local_charts(rows: Local) -> Json:
    shown = enumerate(zip(rows.entries[:WATERFALLS], rows.cells, strict=False), start=1)
    return {f"waterfall_{number}": explanation_charts.waterfall_chart(entry, cells) for number, (entry, cells) in shown}


def _contribution_charts(case: Case, sampled: Sample) -> Json:
    summary = shap_summary(case, sampled)
    strong = sorted(case.names, key=lambda name: -summary[name]["mean_absolute"])
    order = [case.names.index(name) for name in strong]
    shown: list[Json] = [{"column": name, **summary[name]} for name in strong]
    ranks = value_ranks(case, sampled)
    return {
        "shap_importance": explanation_charts.shap_importance_chart(shown),
        "beeswarm": explanation_charts.beeswarm_chart(sampled.contributions, ranks, case.names, order),
    }


def _metric(case: Case) -> Said:
    return say(METRIC_BY_NAME[case.kept.record["metric"]].label)


def _narrative(case: Case, entries: list[Json], rows: Local) -> Said:
    algorithm = ALGORITHM_BY_NAME[case.kept.record["algorithm"]]
    facts: dict[str, Any] = {"target": case.kept.record["target"], "features": len(case.names)}
    sentences = [narrative.tell("model", algorithm=say(algorithm.label), **facts)]
    if case.subject.code is not None:
        sentences.append(narrative.tell("target_class", name=str(case.kept.classes[case.subject.code])))
    if entries and entries[0]["importance"] is not None:
        sentences += narrative.of_importance(entries, _metric(case))
    sentences += narrative.of_directions(entries)
    sentences += narrative.of_rows(rows.entries, rows.cells)
    return narrative.story(iter(sentences))


def _limits(case: Case, rows: Local) -> dict[str, list[str]]:
    """What these figures do not say."""
    permutations = max((one.permutations for one in rows.attributions), default=0)
    applies = {
        "not_causal": True,
        "correlated": True,
        "training_rows": case.seen and case.order.scope is not Scope.LOCAL,
        "sampled": permutations > 0,
        "background": True,
        "rounded_probability": bool(case.kept.classes) and bool(case.kept.record["balanced"]),
        "counterfactual_not_advice": case.order.method == "counterfactual",
    }
    keys = [key for key, does in applies.items() if does]
    return narrative.limits_of(keys, permutations=permutations, rows=int(np.size(case.background, 0)))
