"""The search for the best model: on every outer fold trials are compared, and the winner is fitted and measured."""

from typing import Final

import numpy as np
from sklearn.pipeline import Pipeline

from touchstone.learning.algorithms import BASELINE
from touchstone.learning.decisions.learned_decisions import learn_decisions
from touchstone.learning.ensembles import ChosenModel, choose_best_trial, choose_ensemble, fit_ensemble
from touchstone.learning.evaluation import compute_metric
from touchstone.learning.experiment import Experiment, FoldResult, SearchResult
from touchstone.learning.fairness.reweighing import training_data
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.interfaces import Phase, Report, StepwiseProgress
from touchstone.learning.model_search import encode_fold, fit_trial, predict_fold, predict_rows
from touchstone.learning.splits.folds import Fold, limit_training_rows
from touchstone.learning.time_budget import TimeBudget
from touchstone.learning.trial_comparison import ComparisonResult, TrialComparison, plan_stages

PERCENT_BEFORE_SEARCH: Final = 5.0
PERCENT_AFTER_SEARCH: Final = 85.0
COMPARISON_SHARE: Final = 0.4  # Of the time that a fold has; the rest is for fitting, measuring and storing the winner.
FITTING_SHARE: Final = 0.4  # Of the time that is left after the comparison.
MIN_FITTED_ROWS: Final = 1_000
TRAINING_SCORE_ROWS: Final = 20_000


def search_models(experiment: Experiment, pool: FittingPool, budget: TimeBudget, report: Report) -> SearchResult:
    """Find and measure the best model on every outer fold, and report progress after each trial.

    Each fold may use an equal part of the time that is left. A fold that runs out of time skips what remains.
    """
    fold_count = len(experiment.folds)
    trial_count = len(experiment.trials)
    progress = StepwiseProgress(
        report,
        Phase.SEARCHING,
        message="searching_models",
        start_percent=PERCENT_BEFORE_SEARCH,
        end_percent=PERCENT_AFTER_SEARCH,
        total_steps=trial_count * fold_count,
    )

    results: list[FoldResult] = []
    for fold in experiment.folds:
        folds_to_finish = fold_count - len(results)
        counter = _TrialCounter(progress, trials_before=len(results) * trial_count)
        deadline = budget.deadline_for(COMPARISON_SHARE / folds_to_finish)
        comparison = TrialComparison(
            experiment.data, experiment.trials, pool, deadline, on_trial_scored=counter.count_trial
        )

        stages = plan_stages(experiment.rule, fold.train)
        compared = comparison.run(stages)
        fitting_seconds = FITTING_SHARE / folds_to_finish * budget.remaining_seconds
        results.append(_measure_winner(experiment, fold, compared, pool, fitting_seconds))
    return SearchResult.from_folds(experiment, results)


class _TrialCounter:
    """A count of the trials that all folds together have scored, which reports each one as progress."""

    def __init__(self, progress: StepwiseProgress, trials_before: int) -> None:
        self._progress = progress
        self._trials = trials_before

    def count_trial(self) -> None:
        """Count and report one more trial."""
        self._trials += 1
        self._progress.report_step(self._trials)


def _measure_winner(
    experiment: Experiment, fold: Fold, comparison: ComparisonResult, pool: FittingPool, seconds: float
) -> FoldResult:
    """Fit the best model of a comparison on the training rows of an outer fold, and measure it on the test rows.

    The test rows took no part in the choice, so they show how well the model does on rows that it has never met. If a
    fit on all training rows would take longer than some seconds, the model learns from a random part of them.
    """
    data = experiment.data
    winner = _choose_model(experiment, comparison)
    seconds_per_row = _seconds_per_row(winner, comparison)
    affordable_rows = max(MIN_FITTED_ROWS, int(max(0.0, seconds) * pool.thread_count / seconds_per_row))
    affordable_fold = limit_training_rows(fold, affordable_rows, seed=experiment.request.seed)

    encoded = encode_fold(data, affordable_fold)
    model = fit_ensemble(data, winner.ensemble, encoded, pool)
    baseline = fit_trial(data, BASELINE, encoded)

    # Learn how the model decides from predictions for rows that it did not learn from.
    validation_rows = comparison.finalists[0].rows
    decisions = learn_decisions(experiment.decision_options, winner.predictions, experiment.weights_at(validation_rows))
    uncalibrated_predictions = predict_fold(data, model, encoded)

    training_predictions = predict_rows(
        data, model, encoded.train[:TRAINING_SCORE_ROWS], affordable_fold.train[:TRAINING_SCORE_ROWS]
    )
    return FoldResult(
        comparison=comparison,
        ensemble=winner.ensemble,
        validation_rows=validation_rows,
        validation_predictions=winner.predictions,
        uncalibrated_predictions=uncalibrated_predictions,
        decisions=decisions,
        predictions=decisions.apply(uncalibrated_predictions),
        baseline_predictions=predict_fold(data, baseline, encoded),
        training_score=compute_metric(data.metric, training_predictions),
        training_rows=len(affordable_fold.train),
        seconds_per_row=seconds_per_row,
        pipeline=Pipeline([("prepare", encoded.preparation), ("model", decisions.calibrate_model(model))]),
    )


def _choose_model(experiment: Experiment, comparison: ComparisonResult) -> ChosenModel:
    """Return the best trial of a comparison, or the best average of several if the request permits it."""
    metric = experiment.data.metric
    if experiment.combines_models:
        return choose_ensemble(metric, comparison.finalists)
    return choose_best_trial(metric, comparison.finalists)


def _seconds_per_row(winner: ChosenModel, comparison: ComparisonResult) -> float:
    """Return how long a fit of the winner takes by training row on one thread."""
    positions = {member.position for member in winner.ensemble.members}
    return sum(trial.seconds_per_row for trial in comparison.finalists if trial.position in positions)


def fit_stored_model(experiment: Experiment, search: SearchResult, pool: FittingPool) -> Pipeline:
    """Return the model to store, as a pipeline that takes the columns of the table.

    After a single split this is the very model that was measured. After a cross-validation, in which each fold has its
    own model, or if the request asks for it, the ensemble is fitted once more on all rows.
    """
    if not experiment.learns_from_all_rows:
        return search.folds[0].pipeline

    every_row = np.arange(len(experiment.target.values))
    first_row = every_row[:1]  # Nothing is tested here, but the encoder does not accept an empty fold.
    data = training_data(experiment, every_row)
    encoded = encode_fold(data, Fold(train=every_row, test=first_row))
    model = fit_ensemble(data, search.ensemble, encoded, pool)
    return Pipeline([("prepare", encoded.preparation), ("model", search.decisions.calibrate_model(model))])
