"""The learning curve: the scores after training on fewer rows, which show whether more would help."""

from typing import Final

import numpy as np

from touchstone.learning.charts.evaluation_charts import LearningCurvePoint
from touchstone.learning.decisions.default_score import default_score
from touchstone.learning.ensembles import Ensemble, fit_ensemble_on_one_thread
from touchstone.learning.evaluation import compute_metric
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.reweighing import training_data
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.splits.folds import Fold
from touchstone.learning.time_budget import TimeBudget
from touchstone.learning.trial_fitting import encode_fold, has_single_class, predict_fold, predict_rows

TRAINING_SHARES: Final = (0.15, 0.3, 0.6)
MAX_ROWS: Final = 20_000  # the maximum number of training rows, and also of test rows, used for the curve
MIN_ROWS: Final = 10
TIME_SHARE: Final = 0.5  # the share of the remaining time that the curve may take


def learning_curve(
    experiment: Experiment, search: SearchResult, pool: FittingPool, budget: TimeBudget
) -> list[LearningCurvePoint] | None:
    """Score models fitted on fewer training rows of the first fold, and the winner fitted on all of them.

    All scores use the default decision threshold. Only the winner has a learned threshold, whose effect would look like
    an effect of the number of rows.

    Returns:
        the points of the curve by ascending number of training rows, or None if there is no time for it.
    """
    fold = experiment.folds[0]
    winner = search.folds[0]
    rng = np.random.default_rng(experiment.request.seed)
    shuffled_rows = rng.permutation(fold.train)[:MAX_ROWS]
    tested_rows = np.sort(rng.permutation(fold.test)[:MAX_ROWS])

    smaller_folds = []
    for share in TRAINING_SHARES:
        row_count = max(MIN_ROWS, int(share * len(shuffled_rows)))
        smaller_fold = Fold(train=np.sort(shuffled_rows[:row_count]), test=tested_rows)
        # Few rows may all belong to one class, which leaves nothing to learn. The curve then starts later.
        if not has_single_class(experiment.target, smaller_fold):
            smaller_folds.append(smaller_fold)

    rows_to_learn = sum(len(smaller_fold.train) for smaller_fold in smaller_folds)
    expected_seconds = rows_to_learn * winner.seconds_per_row / pool.thread_count
    # Reserve time for the final fit on all rows, which must not be skipped.
    refitted_rows = len(experiment.target.values) if experiment.learns_from_all_rows else 0
    refit_seconds = refitted_rows * winner.seconds_per_row / pool.thread_count
    available_seconds = budget.seconds_before_finishing(winner.comparison.slowdown) - refit_seconds
    if expected_seconds > TIME_SHARE * available_seconds:
        return None

    # Start the longest fit first, so that the other threads do not have to wait for it at the end.
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
    model = fit_ensemble_on_one_thread(training_data(experiment, fold.train), ensemble, encoded)

    training_predictions = predict_rows(data, model, encoded.train, fold.train)
    return LearningCurvePoint(
        rows=len(fold.train),
        training_score=compute_metric(data.metric, training_predictions),
        test_score=compute_metric(data.metric, predict_fold(data, model, encoded)),
    )
