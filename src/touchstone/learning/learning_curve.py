"""The learning curve: how good the winner is if it learns from fewer rows, which shows whether more would help."""

from typing import Final

import numpy as np

from touchstone.learning.charts.evaluation_charts import LearningCurvePoint
from touchstone.learning.decisions.default_score import default_score
from touchstone.learning.ensembles import Ensemble, fit_ensemble_alone
from touchstone.learning.evaluation import compute_metric
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.reweighing import training_data
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.splits.folds import Fold
from touchstone.learning.time_budget import TimeBudget
from touchstone.learning.trial_fitting import encode_fold, has_single_class, predict_fold, predict_rows

SHARES: Final = (0.15, 0.3, 0.6)
MAX_ROWS: Final = 20_000  # The shares are those of at most this many training rows, and as many rows are tested.
MIN_ROWS: Final = 10
TIME_SHARE: Final = 0.5  # Of the time that is left, which the curve may take.


def learning_curve(
    experiment: Experiment, search: SearchResult, pool: FittingPool, budget: TimeBudget
) -> list[LearningCurvePoint] | None:
    """Score models that learned from fewer training rows of the first fold, and the winner, which knows all of them.

    All of them decide by default, because a threshold that only the winner has would look like an effect of its rows.
    Returns None if there is no time for this.
    """
    fold = experiment.folds[0]
    winner = search.folds[0]
    rng = np.random.default_rng(experiment.request.seed)
    shuffled_rows = rng.permutation(fold.train)[:MAX_ROWS]
    tested_rows = np.sort(rng.permutation(fold.test)[:MAX_ROWS])

    smaller_folds = []
    for share in SHARES:
        row_count = max(MIN_ROWS, int(share * len(shuffled_rows)))
        smaller_fold = Fold(train=np.sort(shuffled_rows[:row_count]), test=tested_rows)
        # Few rows may all belong to one class; then there is nothing to learn, and the curve starts later.
        if not has_single_class(experiment.target, smaller_fold):
            smaller_folds.append(smaller_fold)

    rows_to_learn = sum(len(smaller_fold.train) for smaller_fold in smaller_folds)
    expected_seconds = rows_to_learn * winner.seconds_per_row / pool.thread_count
    # If the stored model learns from all rows, it is fitted after this, and that cannot be left out.
    refitted_rows = len(experiment.target.values) if experiment.learns_from_all_rows else 0
    refit_seconds = refitted_rows * winner.seconds_per_row / pool.thread_count
    available_seconds = budget.seconds_before_finishing(winner.comparison.slowdown) - refit_seconds
    if expected_seconds > TIME_SHARE * available_seconds:
        return None

    # The longest fit begins first, so that no thread is left alone with it at the end.
    largest_first = smaller_folds[::-1]
    points = list(pool.map(lambda smaller: _measure_fold(experiment, winner.ensemble, smaller), largest_first))[::-1]
    winner_point = LearningCurvePoint(
        rows=winner.training_rows,
        training_score=winner.training_score,
        test_score=default_score(experiment.data.metric, [winner]),
    )
    return [*points, winner_point]


def _measure_fold(experiment: Experiment, ensemble: Ensemble, fold: Fold) -> LearningCurvePoint:
    """Fit an ensemble on the training rows of a fold, and score it on these rows and on the test rows."""
    data = experiment.data
    encoded = encode_fold(data, fold)
    model = fit_ensemble_alone(training_data(experiment, fold.train), ensemble, encoded)

    training_predictions = predict_rows(data, model, encoded.train, fold.train)
    return LearningCurvePoint(
        rows=len(fold.train),
        training_score=compute_metric(data.metric, training_predictions),
        test_score=compute_metric(data.metric, predict_fold(data, model, encoded)),
    )
