"""Gradient boosting: models that are built in rounds, until rows that are held out are not predicted any better.

A model uses the threads that the calling thread may use (`threadpoolctl`), and is the same for any number of them.
"""

import importlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from touchstone.learning.target import Floats, Values

ROUNDS: Final = 100  # If nothing says how many are best.
MIN_ROUNDS: Final = 20  # A model of fewer rounds would say little about its settings.
PATIENCE: Final = 20  # Rounds without improvement after which a model is complete.
BIN_SAMPLE_ROWS: Final = (
    50_000  # LightGBM chooses its bins from so many rows; with 200,000, its default, it gains nothing.
)


@dataclass(frozen=True, slots=True)
class WeightedRows:
    """Encoded rows with their true values and, if they do not all count the same, their weights."""

    matrix: Floats = field(repr=False)
    values: Values = field(repr=False)
    weights: Floats | None = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class RoundLimit:
    """How many rounds a fit may take, and the moment of `time.monotonic` after which it takes as few as make sense."""

    rounds: int
    deadline: float = math.inf


class EarlyStoppingFit(Protocol):
    """A function that fits a model until validation rows are not predicted any better."""

    def __call__(
        self, model: Any, training: WeightedRows, validation: WeightedRows, limit: RoundLimit
    ) -> dict[str, int]:
        """Fit the model, and return the setting with which a fit without validation rows makes as many rounds."""


def build_histogram_boosting(settings: Mapping[str, Any], *, is_classification: bool, seed: int) -> Any:
    """Build a gradient boosting model over histograms, from scikit-learn."""
    model_class = HistGradientBoostingClassifier if is_classification else HistGradientBoostingRegressor
    return model_class(random_state=seed, early_stopping=False, **{"max_iter": ROUNDS, **settings})


def fit_histogram_boosting_early(
    model: Any, training: WeightedRows, validation: WeightedRows, limit: RoundLimit
) -> dict[str, int]:
    """Fit a model of scikit-learn until the validation rows are not predicted any better, whatever the deadline."""
    model.set_params(early_stopping=True, max_iter=limit.rounds, n_iter_no_change=PATIENCE)
    model.fit(
        training.matrix,
        training.values,
        sample_weight=training.weights,
        X_val=validation.matrix,
        y_val=validation.values,
        sample_weight_val=validation.weights,
    )
    # The last rounds, which brought no improvement, are left out when the model is fitted again.
    rounds = model.n_iter_ - PATIENCE if model.n_iter_ < limit.rounds else limit.rounds
    return {"max_iter": max(1, int(rounds))}


def build_lightgbm(settings: Mapping[str, Any], *, is_classification: bool, seed: int) -> Any:
    """Build a LightGBM model that gives the same result in every run."""
    # Imported here, because LightGBM is an optional package, without which the service also runs.
    lightgbm = importlib.import_module("lightgbm")
    model_class = lightgbm.LGBMClassifier if is_classification else lightgbm.LGBMRegressor

    # The number 0 leaves the choice of threads to OpenMP, and the number itself out of the stored model.
    reproducibility = {"n_jobs": 0, "deterministic": True, "force_row_wise": True}
    return model_class(
        random_state=seed,
        verbose=-1,
        subsample_for_bin=BIN_SAMPLE_ROWS,
        **reproducibility,
        **{"n_estimators": ROUNDS, **settings},
    )


def fit_lightgbm_early(
    model: Any, training: WeightedRows, validation: WeightedRows, limit: RoundLimit
) -> dict[str, int]:
    """Fit a LightGBM model until the validation rows are not predicted any better, or the time is over."""
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
    """A callback of LightGBM that ends a fit when its time is over."""

    order = 40  # After the callbacks of LightGBM itself, which record how good the round was.
    before_iteration = False

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def __call__(self, state: Any) -> None:
        """End the fit if its time is over, and it has made enough rounds; `state` says which round has ended."""
        if state.iteration + 1 >= MIN_ROUNDS and time.monotonic() > self._deadline:
            callback = importlib.import_module("lightgbm.callback")
            raise callback.EarlyStopException(state.iteration, state.evaluation_result_list)
