"""Regressions on few rows: large errors do not choose the models, and the best ones get equal weights."""

import numpy as np
import pytest

from touchstone.learning.algorithms import Trial
from touchstone.learning.ensembles import choose_ensemble
from touchstone.learning.evaluation import Predictions
from touchstone.learning.few_rows_average import VERY_FEW_ROWS, average_on_few_rows, is_regression_on_few_rows
from touchstone.learning.successive_halving import FEW_ROWS, FoldScore, ScoredTrial
from touchstone.learning.target import Floats

ROWS = 100


def regression_trial(position: int, errors: Floats, weights: Floats | None = None) -> ScoredTrial:
    """Return a trial whose predictions differ from the truth, which is 0 and 1 in turn, by the given errors."""
    truth = np.arange(len(errors)) % 2.0
    predictions = Predictions(truth, truth + errors, weights=weights)
    score = FoldScore(Trial("linear"), 0.5, np.arange(len(errors)), predictions, 1e-6)
    return ScoredTrial(position, 0, (score,))


def noisy_trials(count: int, rows: int = ROWS) -> list[ScoredTrial]:
    """Return trials with independent errors of the same size."""
    rng = np.random.default_rng(0)
    return [regression_trial(position, rng.normal(0, 0.3, rows)) for position in range(count)]


def weights_by_position(trials: list[ScoredTrial]) -> dict[int, float]:
    """Return the weights of the trials that are chosen on few rows."""
    return {member.position: member.weight for member in average_on_few_rows(trials).ensemble.members}


def test_equally_good_trials_get_equal_weights() -> None:
    """Four of six trials that differ by chance only are averaged with equal weights."""
    weights = weights_by_position(noisy_trials(6))
    assert list(weights.values()) == [0.25] * 4


def test_weights_are_selected_on_more_rows() -> None:
    """A trial that is somewhat better than another one has a higher weight only if there are enough rows to tell."""
    for rows in (VERY_FEW_ROWS, VERY_FEW_ROWS + 1):
        rng = np.random.default_rng(0)
        trials = [regression_trial(position, rng.normal(0, size, rows)) for position, size in enumerate((0.3, 0.34))]
        weights = weights_by_position(trials)
        assert (weights[0] > weights[1]) is (rows > VERY_FEW_ROWS)


def test_a_clearly_better_trial_is_chosen_alone() -> None:
    """A trial with much smaller errors than all others is not averaged with them."""
    exact_trial = regression_trial(6, np.full(ROWS, 0.001))
    assert weights_by_position([*noisy_trials(6), exact_trial]) == {6: 1.0}


@pytest.mark.parametrize("rows", [ROWS, VERY_FEW_ROWS + 50])
def test_one_large_error_does_not_choose_a_trial(rows: int) -> None:
    """A trial that predicts a single extreme row less badly is not chosen for that, unlike by the metric itself."""
    is_extreme = np.arange(rows) == 0
    careful_errors = np.where(is_extreme, 30.0, 0.1)
    lucky_errors = np.where(is_extreme, 15.0, 0.9)
    trials = [regression_trial(0, lucky_errors), regression_trial(1, careful_errors)]
    assert weights_by_position(trials) == {1: 1.0}
    assert choose_ensemble("r2", trials).ensemble.members[0].position == 0


def test_repeated_predictions_count_once() -> None:
    """Trials that predict the same as another one do not increase its weight."""
    first, *others = noisy_trials(4)
    repetitions = [
        regression_trial(position, first.predictions.predicted - first.predictions.truth) for position in (4, 5)
    ]
    weights = weights_by_position([first, *others, *repetitions])
    assert sorted(weights) == [0, 1, 2, 3]


def test_rows_count_by_their_weights() -> None:
    """A trial that is exact in the rows that have a weight is chosen, however bad it is in the others."""
    row_weights = (np.arange(ROWS) < ROWS / 2).astype(float)
    rng = np.random.default_rng(0)
    errors_elsewhere = np.where(row_weights > 0, 0.0, 5.0)
    trials = [regression_trial(position, rng.normal(0, 0.3, ROWS), row_weights) for position in range(3)]
    assert weights_by_position([*trials, regression_trial(3, errors_elsewhere, row_weights)]) == {3: 1.0}


@pytest.mark.parametrize(
    ("metric", "rows", "expected"),
    [("r2", FEW_ROWS, True), ("rmse", 50, True), ("mae", 50, False), ("r2", FEW_ROWS + 1, False)],
)
def test_few_rows_matter_to_squared_errors(metric: str, rows: int, expected: bool) -> None:
    """Other metrics, and more rows, are treated as before."""
    assert is_regression_on_few_rows(metric, noisy_trials(1, rows)) is expected
