"""The search for the best model, which compares trials and measures the winner on every outer fold."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from touchstone.learning.algorithms import BASELINE
from touchstone.learning.decisions.learned_decisions import learn_decisions
from touchstone.learning.ensembles import ChosenModel, choose_best_trial, choose_ensemble, fit_ensemble
from touchstone.learning.experiment import Experiment, FoldResult, SearchResult
from touchstone.learning.fairness.reweighing import training_data
from touchstone.learning.few_rows_average import average_on_few_rows, is_regression_on_few_rows
from touchstone.learning.final_fit import fit_chosen_model
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.linear_preference import prefer_linear_model
from touchstone.learning.request_choices import Mitigation
from touchstone.learning.splits.folds import Fold, limit_training_rows
from touchstone.learning.successive_halving import ComparisonResult, TrialComparison, plan_stages
from touchstone.learning.task_interface import Phase, Report, StepwiseProgress
from touchstone.learning.time_budget import TimeBudget
from touchstone.learning.trial_fitting import encode_fold, fit_trial, predict_fold, score_training_rows

PERCENT_BEFORE_SEARCH: Final = 5.0
PERCENT_AFTER_SEARCH: Final = 85.0
COMPARISON_SHARE: Final = 0.4  # the share of a fold's time for comparing trials, before the winner is fitted
FITTING_SHARE: Final = 0.4  # the share of the time left after the comparison for fitting the winner
MIN_FITTED_ROWS: Final = 1_000


def search_models(experiment: Experiment, pool: FittingPool, budget: TimeBudget, report: Report) -> SearchResult:
    """Find and measure the best model on every outer fold, and report progress after each trial.

    The remaining time is divided equally between the folds and the later fits: the final fit on all rows and, with the
    reweighing mitigation, another fit per fold. A fold that runs out of time skips its remaining trials.
    """
    fold_count = len(experiment.folds)
    trial_count = len(experiment.trials)
    later_fits = int(experiment.learns_from_all_rows)
    if experiment.request.mitigation is Mitigation.REWEIGHING:
        later_fits += fold_count

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
        fits_to_finish = fold_count - len(results) + later_fits
        counter = _TrialCounter(progress, trials_before=len(results) * trial_count)
        deadline = budget.deadline_for(COMPARISON_SHARE / fits_to_finish)
        comparison = TrialComparison(
            experiment.data, experiment.trials, pool, deadline, on_trial_scored=counter.count_trial
        )

        stages = plan_stages(experiment.rule, fold.train)
        compared = comparison.run(stages)
        fitting_seconds = FITTING_SHARE / fits_to_finish * budget.seconds_before_finishing(compared.slowdown)
        results.append(_fit_and_measure_winner(experiment, fold, compared, pool, fitting_seconds))
    return SearchResult.from_folds(experiment, results)


class _TrialCounter:
    """A counter of the trials scored on all folds, which reports each one as progress."""

    def __init__(self, progress: StepwiseProgress, trials_before: int) -> None:
        self._progress = progress
        self._trials = trials_before

    def count_trial(self) -> None:
        """Count and report another trial."""
        self._trials += 1
        self._progress.report_step(self._trials)


def _fit_and_measure_winner(
    experiment: Experiment, fold: Fold, comparison: ComparisonResult, pool: FittingPool, seconds: float
) -> FoldResult:
    """Fit the best model of a comparison on the training rows of a fold, and measure it on the test rows.

    The test rows were not used for the choice, so they show the quality of the model on unseen rows. The fit may take
    up to `seconds`.
    """
    data = experiment.data
    plan = _plan_fit(experiment, fold, comparison, thread_seconds=seconds * pool.thread_count)
    winner = plan.winner
    validation_rows = comparison.finalists[0].rows
    fitted = fit_chosen_model(experiment, winner.ensemble, plan.fold, validation_rows, pool)
    model, encoded = fitted.model, fitted.encoded
    baseline = fit_trial(data, BASELINE, encoded)

    # Learn the calibration and the decision rule from predictions for rows that were not used for fitting.
    decisions = learn_decisions(experiment.decision_options, winner.predictions, experiment.weights_at(validation_rows))
    with threadpool_limits(pool.thread_count, user_api="openmp"):
        uncalibrated_predictions = predict_fold(data, model, encoded)

    return FoldResult(
        comparison=comparison,
        ensemble=fitted.ensemble,
        is_simpler_choice=winner.is_simpler_choice,
        validation_rows=validation_rows,
        validation_predictions=winner.predictions,
        uncalibrated_predictions=uncalibrated_predictions,
        decisions=decisions,
        predictions=decisions.apply(uncalibrated_predictions),
        baseline_predictions=predict_fold(data, baseline, encoded),
        training_score=score_training_rows(data, model, encoded),
        training_rows=len(plan.fold.train),
        is_complete=comparison.is_complete and plan.is_complete,
        seconds_per_row=_seconds_per_row(winner, comparison),
        pipeline=Pipeline([("prepare", encoded.preparation), ("model", decisions.calibrate_model(model))]),
    )


@dataclass(frozen=True, slots=True)
class _PlannedFit:
    """The model to fit and its training rows.

    It is not complete if the time limit required a simpler model or fewer rows.
    """

    winner: ChosenModel
    fold: Fold
    is_complete: bool


def _plan_fit(
    experiment: Experiment, fold: Fold, comparison: ComparisonResult, *, thread_seconds: float
) -> _PlannedFit:
    """Choose the model and the training rows that can be fitted in the given time, summed over all threads.

    Ideally, this is the best model on all training rows. If that takes too long, it is the best single trial, because
    one model fitted on all rows is better than an average of models fitted on few. If that also takes too long, the
    trial is fitted on a random sample of the rows.
    """
    winner = _choose_model(experiment, comparison, training_rows=len(fold.train))
    if _affordable_rows(winner, comparison, thread_seconds) >= len(fold.train):
        return _PlannedFit(winner, fold, is_complete=True)

    winner = choose_best_trial(experiment.data.metric, comparison.finalists)
    rows = max(MIN_FITTED_ROWS, _affordable_rows(winner, comparison, thread_seconds))
    return _PlannedFit(winner, limit_training_rows(fold, rows, seed=experiment.request.seed), is_complete=False)


def _choose_model(experiment: Experiment, comparison: ComparisonResult, *, training_rows: int) -> ChosenModel:
    """Return the best trial of a comparison, or the best average of trials if the request permits it.

    Unless the request names the algorithms, a linear model may be preferred (see `prefer_linear_model`).
    """
    metric = experiment.data.metric
    if not experiment.combines_models:
        best = choose_best_trial(metric, comparison.finalists)
    elif is_regression_on_few_rows(metric, comparison.finalists):
        best = average_on_few_rows(comparison.finalists)
    else:
        best = choose_ensemble(metric, comparison.finalists)

    if experiment.request.names_algorithms:
        return best
    return prefer_linear_model(metric, best, comparison.finalists, training_rows=training_rows)


def _affordable_rows(winner: ChosenModel, comparison: ComparisonResult, thread_seconds: float) -> int:
    """Estimate the number of rows on which the winner can be fitted in the given time, summed over all threads."""
    return int(thread_seconds / _seconds_per_row(winner, comparison))


def _seconds_per_row(winner: ChosenModel, comparison: ComparisonResult) -> float:
    """Return the duration of a fit of the winner per training row on one thread."""
    positions = {member.position for member in winner.ensemble.members}
    return sum(trial.seconds_per_row for trial in comparison.finalists if trial.position in positions)


def fit_stored_model(experiment: Experiment, search: SearchResult, pool: FittingPool) -> Pipeline:
    """Return the model to store, as a pipeline that accepts the columns of the table.

    After a single split, this is the measured model, unless the request asks for a refit. After a cross-validation,
    each fold has its own model, so the ensemble is fitted again on all rows.
    """
    if not experiment.learns_from_all_rows:
        return search.folds[0].pipeline

    every_row = np.arange(len(experiment.target.values))
    first_row = every_row[:1]  # There is nothing to test, but the encoder does not accept an empty fold.
    data = training_data(experiment, every_row)
    with pool.shared_with_joblib():
        encoded = encode_fold(data, Fold(train=every_row, test=first_row))
    model = fit_ensemble(data, search.ensemble, encoded, pool)
    return Pipeline([("prepare", encoded.preparation), ("model", search.decisions.calibrate_model(model))])
