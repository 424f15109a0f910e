"""Gradient boosting models, which are built in rounds and stop early.

Early stopping means that a fit ends once further rounds do not improve the predictions for held-out rows. A fit uses as
many threads as `threadpoolctl` permits on the calling thread; the model does not depend on their number.
"""

import importlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from touchstone.learning.target import Floats, Values

DEFAULT_ROUNDS: Final = 100  # for fits without early stopping
MIN_ROUNDS: Final = 20  # A model of fewer rounds would say little about its settings.
PATIENCE: Final = 20  # A fit ends after this many rounds without improvement.
BIN_SAMPLE_ROWS: Final = 50_000  # LightGBM chooses its bins from this many rows. Its default of 200,000 gains nothing.


@dataclass(frozen=True, slots=True)
class WeightedRows:
    """Encoded rows with their true values.

    Attributes:
        matrix: the encoded rows, of shape (rows, columns).
        values: the true values of the rows.
        weights: the weights of the rows, or None for equal weights.
    """

    matrix: Floats = field(repr=False)
    values: Values = field(repr=False)
    weights: Floats | None = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class RoundLimit:
    """The maximum number of rounds of a fit, and its deadline on the clock of `time.monotonic`.

    A fit stops at the deadline, but not before it has made `MIN_ROUNDS` rounds.
    """

    rounds: int
    deadline: float = math.inf


class EarlyStoppingFit(Protocol):
    """A function that fits a model until the predictions for the validation rows stop improving."""

    def __call__(
        self, model: Any, training: WeightedRows, validation: WeightedRows, limit: RoundLimit
    ) -> dict[str, int]:
        """Fit the model, and return the setting that makes a later fit without validation rows equally long."""


def build_histogram_boosting(settings: Mapping[str, Any], *, is_classification: bool, seed: int) -> Any:
    """Build the histogram-based gradient boosting model of scikit-learn."""
    model_class = HistGradientBoostingClassifier if is_classification else HistGradientBoostingRegressor
    return model_class(random_state=seed, early_stopping=False, **{"max_iter": DEFAULT_ROUNDS, **settings})


def fit_histogram_boosting_early(
    model: Any, training: WeightedRows, validation: WeightedRows, limit: RoundLimit
) -> dict[str, int]:
    """Fit a scikit-learn model until the predictions for the validation rows stop improving.

    The deadline is ignored, because it is not supported by scikit-learn.
    """
    model.set_params(early_stopping=True, max_iter=limit.rounds, n_iter_no_change=PATIENCE)
    model.fit(
        training.matrix,
        training.values,
        sample_weight=training.weights,
        X_val=validation.matrix,
        y_val=validation.values,
        sample_weight_val=validation.weights,
    )
    # The last rounds brought no improvement, so a later fit omits them.
    rounds = model.n_iter_ - PATIENCE if model.n_iter_ < limit.rounds else limit.rounds
    return {"max_iter": max(1, int(rounds))}


def build_lightgbm(settings: Mapping[str, Any], *, is_classification: bool, seed: int) -> Any:
    """Build a LightGBM model that gives the same result in every run."""
    # Import LightGBM here, because it is an optional dependency.
    lightgbm = importlib.import_module("lightgbm")
    model_class = lightgbm.LGBMClassifier if is_classification else lightgbm.LGBMRegressor

    # With 0, OpenMP chooses the number of threads, and the stored model does not contain that number.
    reproducibility = {"n_jobs": 0, "deterministic": True, "force_row_wise": True}
    return model_class(
        random_state=seed,
        verbose=-1,
        subsample_for_bin=BIN_SAMPLE_ROWS,
        **reproducibility,
        **{"n_estimators": DEFAULT_ROUNDS, **settings},
    )


def fit_lightgbm_early(
    model: Any, training: WeightedRows, validation: WeightedRows, limit: RoundLimit
) -> dict[str, int]:
    """Fit a LightGBM model until the predictions for the validation rows stop improving."""
    lightgbm = importlib.import_module("lightgbm")
    model.set_params(n_estimators=limit.rounds)
    model.fit(
        training.matrix,
        training.values,
        sample_weight=training.weights,
        eval_X=(validation.matrix,),
        eval_y=(validation.values,),
        eval_sample_weight=[validation.weights],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False), _StopAtDeadline(limit.deadline)],
    )
    return {"n_estimators": max(1, int(model.best_iteration_))}


class _StopAtDeadline:
    """A LightGBM callback that ends a fit at its deadline."""

    order = 40  # Run after LightGBM's own callbacks, which record the evaluation of the round.
    before_iteration = False

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def __call__(self, state: Any) -> None:
        """End the fit if the deadline has passed and it has made enough rounds.

        Args:
            state: LightGBM's `CallbackEnv`, which contains the number of the completed round.
        """
        if state.iteration + 1 >= MIN_ROUNDS and time.monotonic() > self._deadline:
            callback = importlib.import_module("lightgbm.callback")
            raise callback.EarlyStopException(state.iteration, state.evaluation_result_list)
