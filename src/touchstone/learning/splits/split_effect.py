"""The effect of a split on the score, compared with a random split of the rows."""

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
FLEXIBLE_ALGORITHM: Final = "random_forest"  # It can memorize single rows.
FOREST_SECONDS_PER_ROW: Final = 1e-4  # a rough estimate for an idle core, used to check the time budget


class KeptApart(StrEnum):
    """What a split keeps apart, so that test rows are as new to the model as rows in later use."""

    GROUP = "group"
    TIME = "time"
    DUPLICATES = "duplicates"
    NEAR_COPIES = "near_copies"


@dataclass(frozen=True, slots=True)
class SplitEffect:
    """The score with shuffled rows and the score with groups, times or equal rows kept apart.

    Both scores use the default decision rule. `metric_label` says so if the reported score uses another one.
    """

    metric: str
    metric_label: LocalizedText
    shuffled: float
    kept_apart: float
    kind: KeptApart
    group_column: str | None

    def to_json(self) -> Json:
        """Return the effect as documented by the API, with a sentence in both languages."""
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
    """Measure how much the score of the model depends on the split.

    If the split keeps groups, times or equal rows apart, it is compared with a random split. If it is random although
    groups, times or duplicates were detected, it is compared with a split that keeps them apart.

    Returns:
        the effect, or None if there is nothing to compare or if all test rows of a fold have the same target.
    """
    ensemble = search.ensemble
    score = default_score(experiment.data.metric, search.folds)
    if not np.isfinite(score) or any(experiment.rule.has_single_value(fold.test) for fold in experiment.folds):
        return None

    metric_label = default_metric_label(experiment, search.folds)
    plan = experiment.split.plan
    kind = _kept_apart_by_split(experiment, plan)
    shuffled: float | None = score
    kept_apart: float | None = score
    if kind is not None:
        shuffled = _best_shuffled_score(experiment, ensemble, _random_plan(plan))
    else:
        careful_plan = _careful_plan(experiment)
        if careful_plan is None:
            return None
        plan, kind = careful_plan, _kept_apart_by_plan(careful_plan)
        kept_apart = _score_with_plan(experiment, experiment.data, ensemble, plan)

    if shuffled is None or kept_apart is None:
        return None
    return SplitEffect(experiment.data.metric, metric_label, shuffled, kept_apart, kind, plan.group_column)


def expected_effect_seconds(experiment: Experiment, search: SearchResult) -> float:
    """Estimate the duration of `measure_split_effect` in seconds, which is 0 if it compares nothing."""
    rows = min(len(experiment.target.values), MAX_TRAINING_ROWS)
    winner = search.folds[0]
    if _kept_apart_by_split(experiment, experiment.split.plan) is not None:
        forest_seconds_per_row = FOREST_SECONDS_PER_ROW * winner.comparison.slowdown
        return rows * (winner.seconds_per_row + forest_seconds_per_row)
    if _careful_plan(experiment) is not None:
        return rows * winner.seconds_per_row
    return 0.0


def _kept_apart_by_split(experiment: Experiment, plan: SplitPlan) -> KeptApart | None:
    """Return what the split of an experiment keeps apart, or None for a random split."""
    if plan.group_column is None and plan.strategy is not Strategy.TIME and experiment.rule.units is None:
        return None
    return _kept_apart_by_plan(plan)


def _kept_apart_by_plan(plan: SplitPlan) -> KeptApart:
    """Return what a plan keeps apart, assuming that it is not a random split."""
    if plan.group_column is not None:
        return KeptApart.GROUP
    if plan.strategy is Strategy.TIME:
        return KeptApart.TIME
    return KeptApart.NEAR_COPIES if plan.compares_approximately else KeptApart.DUPLICATES


def _random_plan(plan: SplitPlan) -> SplitPlan:
    """Return a plan that holds out the same share of the rows at random."""
    return SplitPlan(strategy=Strategy.HOLDOUT, test_size=plan.test_size, folds=plan.folds)


def _careful_plan(experiment: Experiment) -> SplitPlan | None:
    """Return a plan that keeps the detected groups, times or copies apart, or None if there are none."""
    split = experiment.split
    random_plan = _random_plan(split.plan)
    if split.group_columns:
        return replace_in_plan(random_plan, strategy=Strategy.GROUP, group_column=split.group_columns[0].name)
    if split.time_columns:
        return replace_in_plan(random_plan, strategy=Strategy.TIME, time_columns=split.time_columns)
    if split.duplicates.rows and not split.duplicates.is_coincidence:
        is_approximate = split.duplicates.is_approximate
        return replace_in_plan(random_plan, duplicates=Duplicates.TOGETHER, compares_approximately=is_approximate)
    return None


def _best_shuffled_score(experiment: Experiment, ensemble: Ensemble, plan: SplitPlan) -> float | None:
    """Return the best score that a model would have had with shuffled rows, or None if there is none.

    The chosen model may be a cautious one because careful folds show that there is little to learn. With shuffled
    rows, a model that recognizes single rows or groups would have been chosen, so a forest is scored as well.
    """
    forest = search_space(FLEXIBLE_ALGORITHM, experiment.data.options)[0]
    forest_ensemble = Ensemble((EnsembleMember(position=0, trial=forest, weight=1.0),))
    scores = [_score_with_plan(experiment, experiment.data, model, plan) for model in (ensemble, forest_ensemble)]

    # The group column, such as a patient number, is not a feature, but may reveal more than all other columns.
    group_data = experiment.group_column_data()
    if group_data is not None:
        scores.append(_score_with_plan(experiment, group_data, forest_ensemble, plan))

    defined_scores = [score for score in scores if score is not None]
    if not defined_scores:
        return None
    return max(defined_scores) if metric_sign(experiment.data.metric) > 0 else min(defined_scores)


def _score_with_plan(experiment: Experiment, data: TrainingData, ensemble: Ensemble, plan: SplitPlan) -> float | None:
    """Return the score of a model on the test rows of a plan, or None if the plan is impossible.

    If the request asks for reweighing, the model learns with these weights, too.
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
