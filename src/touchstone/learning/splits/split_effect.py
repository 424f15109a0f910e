"""The effect of a split on the score: what shuffled rows would have promised, and what remains with an honest split."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
from msgspec.structs import replace as replace_in_plan

from touchstone.learning.algorithms import search_space
from touchstone.learning.decisions.default_score import default_metric_label, default_score
from touchstone.learning.ensembles import Ensemble, EnsembleMember, fit_ensemble_on_one_thread
from touchstone.learning.evaluation import compute_metric, metric_sign
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.reweighing import training_data
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.localized_text import LocalizedText, localize
from touchstone.learning.request_choices import Duplicates, Strategy
from touchstone.learning.splits.folds import limit_training_rows, outer_folds
from touchstone.learning.splits.split_plan import SplitPlan
from touchstone.learning.splits.split_rule import build_split_rule
from touchstone.learning.task_interface import Json
from touchstone.learning.trial_fitting import TrainingData, encode_fold, predict_fold
from touchstone.messages.splits import SPLIT_EFFECTS

MAX_TRAINING_ROWS: Final = 20_000
FLEXIBLE_ALGORITHM: Final = "random_forest"  # It learns single rows by heart if that pays.
FOREST_SECONDS_PER_ROW: Final = 1e-4  # A rough figure for an idle core, which only decides what there is time for.


class KeptApart(StrEnum):
    """What a split keeps apart, so that test rows are as new to the model as the rows that it is made for."""

    GROUP = "group"
    TIME = "time"
    DUPLICATES = "duplicates"
    NEAR_COPIES = "near_copies"


@dataclass(frozen=True, slots=True)
class SplitEffect:
    """The score with shuffled rows beside the score with groups, moments or equal rows kept apart.

    Both scores are those of models that decide by default. `metric_label` says so if the reported score is another one.
    """

    metric: str
    metric_label: LocalizedText
    shuffled: float
    kept_apart: float
    kind: KeptApart
    group_column: str | None

    def to_json(self) -> Json:
        """Return the effect as the API documents it, with a sentence in both languages."""
        text = localize(
            SPLIT_EFFECTS[self.kind],
            metric=self.metric_label,
            shuffled=round(self.shuffled, 3),
            kept_apart=round(self.kept_apart, 3),
            name=self.group_column or "",
        )
        return {
            "metric": self.metric,
            "kind": str(self.kind),
            "shuffled": self.shuffled,
            "kept_apart": self.kept_apart,
            "text": text,
        }


def measure_split_effect(experiment: Experiment, search: SearchResult) -> SplitEffect | None:
    """Measure how much the score of the model depends on how the rows were divided.

    If the split of the experiment keeps groups, times or equal rows apart, it is compared with one that shuffles all
    rows. If it shuffles the rows although something of this kind was detected, it is compared with one that keeps that
    apart. Returns None if there is nothing to compare, or if all test rows of a fold have the same target.
    """
    ensemble = search.ensemble
    score = default_score(experiment.data.metric, search.folds)
    if not np.isfinite(score) or any(experiment.rule.has_single_value(fold.test) for fold in experiment.folds):
        return None

    metric_label = default_metric_label(experiment, search.folds)
    plan = experiment.split.plan
    kind = _what_is_kept_apart(experiment, plan)
    if kind is not None:
        promised_score = _promised_score(experiment, ensemble, _shuffling(plan))
        if promised_score is None:
            return None
        return SplitEffect(experiment.data.metric, metric_label, promised_score, score, kind, plan.group_column)

    careful_plan = _careful_plan(experiment)
    if careful_plan is None:
        return None
    careful_score = _score_with_plan(experiment, experiment.data, ensemble, careful_plan)
    if careful_score is None:
        return None
    careful_kind = _kind_of_plan(careful_plan)
    group_column = careful_plan.group_column
    return SplitEffect(experiment.data.metric, metric_label, score, careful_score, careful_kind, group_column)


def expected_effect_seconds(experiment: Experiment, search: SearchResult) -> float:
    """Return roughly how long `measure_split_effect` will take; 0 if there is nothing to compare."""
    rows = min(len(experiment.target.values), MAX_TRAINING_ROWS)
    winner = search.folds[0]
    if _what_is_kept_apart(experiment, experiment.split.plan) is not None:
        forest_seconds_per_row = FOREST_SECONDS_PER_ROW * winner.comparison.slowdown
        return rows * (winner.seconds_per_row + forest_seconds_per_row)
    if _careful_plan(experiment) is not None:
        return rows * winner.seconds_per_row
    return 0.0


def _what_is_kept_apart(experiment: Experiment, plan: SplitPlan) -> KeptApart | None:
    """Return what the split of an experiment keeps apart, or None if it shuffles all rows."""
    if plan.group_column is None and plan.strategy is not Strategy.TIME and experiment.rule.units is None:
        return None
    return _kind_of_plan(plan)


def _kind_of_plan(plan: SplitPlan) -> KeptApart:
    """Return what a plan keeps apart that does not shuffle all rows."""
    if plan.group_column is not None:
        return KeptApart.GROUP
    if plan.strategy is Strategy.TIME:
        return KeptApart.TIME
    return KeptApart.NEAR_COPIES if plan.compares_approximately else KeptApart.DUPLICATES


def _shuffling(plan: SplitPlan) -> SplitPlan:
    """Return a plan that holds out as many rows at random, whatever they have in common."""
    return SplitPlan(strategy=Strategy.HOLDOUT, test_size=plan.test_size, folds=plan.folds)


def _careful_plan(experiment: Experiment) -> SplitPlan | None:
    """Return a plan that keeps apart what was detected in the table; None if nothing was."""
    split = experiment.split
    shuffling = _shuffling(split.plan)
    if split.group_columns:
        return replace_in_plan(shuffling, strategy=Strategy.GROUP, group_column=split.group_columns[0].name)
    if split.time_columns:
        return replace_in_plan(shuffling, strategy=Strategy.TIME, time_columns=split.time_columns)
    if split.duplicates.rows and not split.duplicates.is_coincidence:
        is_approximate = split.duplicates.is_approximate
        return replace_in_plan(shuffling, duplicates=Duplicates.TOGETHER, compares_approximately=is_approximate)
    return None


def _promised_score(experiment: Experiment, ensemble: Ensemble, plan: SplitPlan) -> float | None:
    """Return the score that shuffled rows would have promised: that of the chosen model, or a better one of a forest.

    Where honest folds show that there is nothing to learn, a cautious model is chosen. With shuffled rows the choice
    would have fallen on one that recognises single rows or their groups, as a forest does.
    """
    forest = search_space(FLEXIBLE_ALGORITHM, experiment.data.options)[0]
    flexible_model = Ensemble((EnsembleMember(position=0, trial=forest, weight=1.0),))
    scores = [_score_with_plan(experiment, experiment.data, model, plan) for model in (ensemble, flexible_model)]

    # The number of a patient, from which the chosen model does not learn, may tell more than all other columns.
    group_data = experiment.group_column_data()
    if group_data is not None:
        scores.append(_score_with_plan(experiment, group_data, flexible_model, plan))

    defined_scores = [score for score in scores if score is not None]
    if not defined_scores:
        return None
    return max(defined_scores) if metric_sign(experiment.data.metric) > 0 else min(defined_scores)


def _score_with_plan(experiment: Experiment, data: TrainingData, ensemble: Ensemble, plan: SplitPlan) -> float | None:
    """Return the score of a model on the test rows of a plan; None if the rows cannot be divided in this way.

    If the request asks for weights that mitigate unequal treatment, this model learns with such weights, too.
    """
    equal_rows = experiment.split.equal_rows
    try:
        rule = build_split_rule(plan, experiment.table, experiment.target, equal_rows, experiment.request.seed)
        fold = limit_training_rows(outer_folds(rule)[0], MAX_TRAINING_ROWS, experiment.request.seed)
    except LearningError:
        return None
    if rule.has_single_class(fold.train) or rule.has_single_value(fold.test):
        return None

    encoded = encode_fold(data, fold)
    weighted_data = replace(data, weights=training_data(experiment, fold.train).weights)
    model = fit_ensemble_on_one_thread(weighted_data, ensemble, encoded)
    score = compute_metric(data.metric, predict_fold(data, model, encoded))
    return score if np.isfinite(score) else None
