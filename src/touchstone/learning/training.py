"""Training: from an order and a table to a measured model.

Each outer part (the one held-out part, or every fold) searches among the same trials on inner parts of its training
rows, fits the winner on all of these, and measures it once on rows that took no part in any choice. The model that is
kept is the trial with the best mean validation score: for a held-out part the very model that was measured, for folds
refitted on every row. One thread and one seed make the same order on the same file give the same bytes.
"""

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
import sklearn
import skrub
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from touchstone.learning import model_artifact, training_warnings
from touchstone.learning.algorithms import BASELINE, Conditions, Trial, plan, space
from touchstone.learning.charts import evaluation_charts
from touchstone.learning.column_types import MISSING, Column, Kind, as_dict
from touchstone.learning.errors import LearningError, Phase
from touchstone.learning.evaluation import Measured, better, joined, known, measure, on_one_part, over_folds
from touchstone.learning.group_metrics import group_metrics
from touchstone.learning.interfaces import DataFile, Json, Outcome, Report, plain
from touchstone.learning.model_card import model_card
from touchstone.learning.model_search import (
    Encoded,
    Material,
    best,
    compare,
    encode,
    everything,
    fit,
    measured,
    one_class,
    quiet,
    rows_of,
)
from touchstone.learning.number_format import say
from touchstone.learning.preparation import why_left_out
from touchstone.learning.requests import (
    ALGORITHM_BY_NAME,
    DEFAULT_METRIC,
    METRIC_BY_NAME,
    Strategy,
    TrainingRequest,
    check_training_request,
    chosen_features,
)
from touchstone.learning.splits import LEAST_LEARNED, Part, inner_parts, outer_parts, positions, read_times
from touchstone.learning.table_profile import profile_table
from touchstone.learning.table_reader import Table, read_table
from touchstone.learning.target import Target, read_target

MOST_VALUES: Final = 200  # of a column that the result lists, so that a form can tell a misspelt one
SEARCH_ROWS: Final = 20_000  # trials are compared on at most so many rows; the winner learns from all
LEARNING_SHARES: Final = (0.15, 0.3, 0.6, 1.0)
LEARNING_ROWS: Final = 20_000
SEARCH_FROM, SEARCH_TO = 5.0, 85.0  # per cent of the progress


@dataclass(frozen=True, slots=True)
class Study:
    """An order with everything that it asks about: the table, the target, the features, the rows kept aside."""

    order: TrainingRequest
    table: Table
    material: Material
    times: npt.NDArray[Any] | None
    parts: tuple[Part, ...]

    @property
    def target(self) -> Target:
        """What is predicted."""
        return self.material.target


@dataclass(slots=True)
class Findings:
    """What the search has found so far, a row a part."""

    scores: list[list[float]] = field(default_factory=list)  # validation scores of the trials
    sides: list[Encoded] = field(default_factory=list)  # only the first part's is kept
    models: list[Any] = field(default_factory=list)
    winner: list[Measured] = field(default_factory=list)
    naive: list[Measured] = field(default_factory=list)

    @property
    def everywhere(self) -> npt.NDArray[np.float64]:
        """The scores of the trials that every part has seen, of shape (parts, trials)."""
        common = min(map(len, self.scores))
        return np.array([scores[:common] for scores in self.scores])


def run_training(order: TrainingRequest, file: DataFile, *, scratch: Path, report: Report) -> Outcome:
    """Search, measure and keep a model.

    The result holds `model, metrics {holdout|folds, baseline}, leaderboard, group_metrics, profile, charts, warnings,
    stopped_by`; the artefacts are `model.skops` and `model_card.md`. Raises `LearningError`.
    """
    with threadpool_limits(limits=1), quiet():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        study = make_study(order, read_table(file))
        trials = _trials(study)
        findings = _search(study, trials, report)
        report(SEARCH_TO, Phase.EVALUATING, step=0, total_steps=1, message="measuring_model")
        result = plain(_result(study, trials, findings, file))
        report(95.0, Phase.WRITING, step=0, total_steps=1, message="writing_artifacts")
        return _keep(study, result, _final(study, trials, findings), scratch)


def preflight(order: TrainingRequest, file: DataFile) -> Json:
    """Do what a training does before it learns, so that what it would refuse is refused at once.

    Answers `{rows, columns, sha256}` of the table. Raises `LearningError`.
    """
    with quiet():
        table = read_table(file)
        make_study(order, table)
        return table.facts


def make_study(order: TrainingRequest, table: Table) -> Study:
    """Check the order against the table, and lay out what is learned from and measured on."""
    check_training_request(order, list(table.columns), rows=len(table.frame))
    target = read_target(table, order.target, order.task, order.metric)
    metric = order.metric or DEFAULT_METRIC[target.task]
    names = [name for name in chosen_features(order, list(table.columns)) if not _left_out(table, name)]
    if not names:
        raise LearningError("no_features", field="features")
    conditions = Conditions(target, METRIC_BY_NAME[metric].prevalence_free, order.seed)
    columns = tuple(table.columns[name] for name in names)
    times = read_times(table, target, order.split.time_column)
    parts = outer_parts(order.split, target, times, order.seed)
    _check_parts(target, parts)
    return Study(order, table, Material(rows_of(table.frame, target, names), columns, conditions, metric), times, parts)


def _check_parts(target: Target, parts: Sequence[Part]) -> None:
    """Refuse what only a split by time can bring about: a past too short, or of a single class."""
    fewest = min(len(part.train) for part in parts)
    if fewest < LEAST_LEARNED:
        raise LearningError("too_few_rows", field="split", rows=fewest, minimum=LEAST_LEARNED)
    if any(one_class(target, part) for part in parts):
        raise LearningError("past_one_class", field="split", name=target.name)


def _left_out(table: Table, name: str) -> str | None:
    return why_left_out(table.columns[name], len(table.frame))


def _trials(study: Study) -> list[Trial]:
    order = study.order
    return plan(
        order.chosen_algorithms,
        classification=study.target.classification,
        max_trials=order.budget.max_trials,
        seed=order.seed,
    )


def _search(study: Study, trials: Sequence[Trial], report: Report) -> Findings:
    findings = Findings()
    start, total = time.monotonic(), len(trials) * len(study.parts)
    step = 0

    def told() -> None:
        nonlocal step
        step += 1
        percent = SEARCH_FROM + (SEARCH_TO - SEARCH_FROM) * step / total
        report(percent, Phase.SEARCHING, step=step, total_steps=total, message="searching_models")

    for number, part in enumerate(study.parts, start=1):
        until = start + study.order.budget.max_runtime_seconds * number / len(study.parts)
        inner = inner_parts(study.target, part.train, study.times, seed=study.order.seed, limit=SEARCH_ROWS)
        scores = compare(study.material, trials, inner, until=until, told=told)
        step = number * len(trials)
        _measure_winner(study, trials[best(study.material.metric, scores)], part, findings)
        findings.scores.append(scores)
    return findings


def _measure_winner(study: Study, trial: Trial, part: Part, findings: Findings) -> None:
    material, side = study.material, encode(study.material, part)
    model = fit(material, trial, side)
    findings.winner.append(measured(material, model, side))
    findings.naive.append(measured(material, fit(material, BASELINE, side), side))
    findings.models.append(model)
    if not findings.sides:
        findings.sides.append(side)


def _chosen(study: Study, trials: Sequence[Trial], findings: Findings) -> Trial:
    return trials[best(study.material.metric, findings.everywhere.mean(axis=0).tolist())]


def _final(study: Study, trials: Sequence[Trial], findings: Findings) -> Pipeline:
    """The model that is kept, as a pipeline from source columns."""
    if study.order.split.strategy is not Strategy.KFOLD:
        return Pipeline([("prepare", findings.sides[0].preparation), ("model", findings.models[0])])
    whole = everything(study.target)
    side = encode(study.material, Part(whole, whole[:1]))
    model = fit(study.material, _chosen(study, trials, findings), side)
    return Pipeline([("prepare", side.preparation), ("model", model)])


def _result(study: Study, trials: Sequence[Trial], findings: Findings, file: DataFile) -> Json:
    trial = _chosen(study, trials, findings)
    metrics = _metrics(study, findings)
    pooled = joined(findings.winner)
    groups = _groups(study, pooled)
    board = _leaderboard(study, trials, findings)
    stopped_by = _stopped_by(study, trials, findings)
    return {
        "model": _model(study, trial),
        "metrics": metrics,
        "leaderboard": board,
        "group_metrics": groups,
        "profile": profile_table(study.table, _roles(study), file.declared, study.target.name),
        "charts": _charts(study, trial, findings, pooled) | _comparisons(study, board, groups),
        "warnings": _warnings(study, metrics, groups, stopped_by),
        "stopped_by": stopped_by,
    }


def _metrics(study: Study, findings: Findings) -> Json:
    target, seed = study.target, study.order.seed
    if study.order.split.strategy is Strategy.KFOLD:
        own, naive = over_folds(target, findings.winner), over_folds(target, findings.naive)
        return {"metric": study.material.metric, "folds": own, "baseline": naive}
    own, naive = on_one_part(target, findings.winner[0], seed), on_one_part(target, findings.naive[0], seed)
    return {"metric": study.material.metric, "holdout": own, "baseline": naive}


def _model(study: Study, trial: Trial) -> Json:
    target = study.target
    return {
        "algorithm": trial.algorithm,
        "label": _label(trial.algorithm),
        "settings": dict(trial.settings),
        "task": str(target.task),
        "target": target.name,
        "classes": list(target.classes),
        "positive_class": target.classes[1] if len(target.classes) == 2 else None,
        "balanced_classes": target.classification and study.material.conditions.balanced,
        "metric": study.material.metric,
        "features": [_feature(column, study.material.frame) for column in study.material.columns],
        "fitted_on": "all_rows" if study.order.split.strategy is Strategy.KFOLD else "training_rows",
    }


def _feature(column: Column, frame: pd.DataFrame) -> Json:
    """A column that was learned from; `values` are those that it holds, where they are few."""
    feature: Json = {"name": column.name, "kind": str(column.kind)}
    if column.kind in (Kind.CATEGORY, Kind.BOOLEAN) and column.distinct <= MOST_VALUES:
        feature["values"] = sorted({str(cell) for cell in frame[column.name].unique() if cell != MISSING})
    return feature


def _label(algorithm: str) -> dict[str, str]:
    return say(ALGORITHM_BY_NAME[algorithm].label)


def _leaderboard(study: Study, trials: Sequence[Trial], findings: Findings) -> list[Json]:
    """Every trial by its mean validation score, best first; `score` speaks of rows that trial did not learn from."""
    scores = findings.everywhere
    means = scores.mean(axis=0)
    order = np.argsort(-better(study.material.metric) * means, kind="stable")
    return [
        {
            "rank": rank,
            "algorithm": trials[place].algorithm,
            "label": _label(trials[place].algorithm),
            "settings": dict(trials[place].settings),
            "score": _spread(scores[:, place]),
        }
        for rank, place in enumerate(order.tolist(), start=1)
    ]


def _spread(scores: npt.NDArray[np.float64]) -> Json:
    figures = {"mean": scores.mean(), "low": scores.min(), "high": scores.max()}
    return {name: known(float(value)) for name, value in figures.items()}


def _groups(study: Study, pooled: Measured) -> list[Json]:
    names = list(study.order.sensitive_features)
    rows = study.target.rows[positions(study.parts)]
    return group_metrics([study.table.columns[name] for name in names], study.table.frame[names].iloc[rows], pooled)


def _roles(study: Study) -> dict[str, Json]:
    learned = {column.name for column in study.material.columns}
    chosen = set(chosen_features(study.order, list(study.table.columns)))
    roles: dict[str, Json] = {}
    for name in study.table.columns:
        role = "target" if name == study.target.name else "feature" if name in learned else "excluded"
        reason = _left_out(study.table, name) if name in chosen - learned else None
        roles[name] = {"role": "left_out" if reason else role, "reason": reason}
    return roles


def _charts(study: Study, trial: Trial, findings: Findings, pooled: Measured) -> Json:
    names = [str(name) for name in study.target.classes]
    curve = evaluation_charts.learning_curve_chart(_learning_curve(study, trial), _metric_label(study))
    if not study.target.classification:
        return {
            "predicted_actual": evaluation_charts.predicted_actual_chart(pooled),
            "residuals": evaluation_charts.residuals_chart(pooled),
            "learning_curve": curve,
        }
    return {
        "confusion": evaluation_charts.confusion_chart(pooled, names),
        "roc": evaluation_charts.roc_chart(pooled, names),
        "precision_recall": evaluation_charts.precision_recall_chart(pooled, names),
        "calibration": evaluation_charts.calibration_chart(pooled),
        "learning_curve": curve,
    }


def _comparisons(study: Study, board: Sequence[Json], groups: Sequence[Json]) -> Json:
    charts = {"leaderboard": evaluation_charts.leaderboard_chart(board, _metric_label(study))}
    return charts | {
        f"group_metrics_{number}": evaluation_charts.group_chart(column) for number, column in enumerate(groups, 1)
    }


def _metric_label(study: Study) -> dict[str, str]:
    return say(METRIC_BY_NAME[study.material.metric].label)


def _learning_curve(study: Study, trial: Trial) -> list[tuple[int, float, float]]:
    """Rows learned from, score on them, score on the first part's test rows, for growing shares of the rows."""
    part, points = study.parts[0], []
    shuffled = np.random.default_rng(study.order.seed).permutation(part.train)[:LEARNING_ROWS]
    for share in LEARNING_SHARES:
        rows = np.sort(shuffled[: max(10, int(share * len(shuffled)))])
        if not one_class(study.target, Part(rows, part.test)):
            points.append(_learned(study, trial, Part(rows, part.test)))
    return points


def _learned(study: Study, trial: Trial, part: Part) -> tuple[int, float, float]:
    material, side = study.material, encode(study.material, part)
    model = fit(material, trial, side)
    seen = Encoded(side.preparation, side.train, side.train, Part(part.train, part.train))
    scores = [measure(material.metric, measured(material, model, view)) for view in (seen, side)]
    return len(part.train), scores[0], scores[1]


def _warnings(study: Study, metrics: Json, groups: Sequence[Json], stopped_by: str) -> list[Json]:
    left_out = [name for name, role in _roles(study).items() if role["role"] == "left_out"]
    row = METRIC_BY_NAME[study.material.metric]
    found = chain(
        training_warnings.about_data(study.table, study.target, study.order),
        training_warnings.about_parts(study.target, study.parts),
        training_warnings.about_features(study.material, left_out),
        training_warnings.about_result(metrics, groups, metric=row.name, greater_is_better=row.greater_is_better),
    )
    return [*found, *([training_warnings.warning("stopped_by_time")] if stopped_by == "time" else [])]


def _stopped_by(study: Study, trials: Sequence[Trial], findings: Findings) -> str:
    """`time` when a part saw fewer trials than planned, `space` when there was nothing left to try, else `trials`."""
    if any(len(scores) < len(trials) for scores in findings.scores):
        return "time"
    names, seed = study.order.chosen_algorithms, study.order.seed
    available = sum(len(space(name, classification=study.target.classification, seed=seed)) for name in names)
    return "space" if len(trials) == available else "trials"


def _keep(study: Study, result: Json, pipeline: Pipeline, scratch: Path) -> Outcome:
    record = _record(study, result)
    model = model_artifact.write(scratch, "model.skops", model_artifact.dump(pipeline, record))
    card = model_artifact.write(scratch, "model_card.md", model_card(result, record).encode())
    result["model"] |= {"artifact": model.name, "sha256": model.sha256}
    return Outcome(result, (model, card))


def _record(study: Study, result: Json) -> Json:
    """What the model must know of itself to predict and to be explained later."""
    order = study.order
    return {
        "target": order.target,
        "task": str(study.target.task),
        "classes": list(study.target.classes),
        "metric": study.material.metric,
        "algorithm": result["model"]["algorithm"],
        "settings": result["model"]["settings"],
        "balanced": study.material.conditions.balanced,
        "features": [as_dict(column) for column in study.material.columns],
        "other_columns": [name for name in study.table.columns if name not in study.material.frame],
        "sensitive_features": list(order.sensitive_features),
        "split": msgspec.to_builtins(order.split),
        "seed": order.seed,
        "sha256": study.table.sha256,
        "versions": {
            "python": platform.python_version(),
            "scikit-learn": sklearn.__version__,
            "skrub": skrub.__version__,
            "numpy": np.__version__,
        },
    }
