"""A copy of a model that has not learned from the rows on which it is measured.

A model that was finally fitted on all rows remembers some of them, and with them columns that are of no use for other
rows. How much its columns matter is therefore measured with a copy that has learned from a part of the rows only.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from touchstone.learning.decisions.calibration import Calibrator
from touchstone.learning.request_choices import Calibration

MAX_TRAINING_ROWS: Final = 20_000
_WRAPPERS: Final = (CalibratedClassifierCV, FrozenEstimator)
_ENSEMBLES: Final = (VotingClassifier, VotingRegressor)


def fit_held_out_copy(
    pipeline: Pipeline,
    frame: pd.DataFrame,
    truth: npt.NDArray[Any],
    rng: np.random.Generator,
    *,
    is_balanced: bool = False,
) -> Pipeline:
    """Fit a copy of a pipeline, with the same settings, on some rows only, so that all others can test it.

    At most `MAX_TRAINING_ROWS` of the rows are used. With `is_balanced`, every class has the same weight. If the
    probabilities of the original are calibrated, those of the copy are corrected by the same curves, so that the same
    rule decides between classes.
    """
    if len(frame) > MAX_TRAINING_ROWS:
        sampled_rows = np.sort(rng.choice(len(frame), MAX_TRAINING_ROWS, replace=False))
        frame = frame.iloc[sampled_rows]
        truth = truth[sampled_rows]

    original = pipeline.named_steps["model"]
    prepare = clone(pipeline.named_steps["prepare"])
    model = _unfitted_copy(original)
    if is_balanced:
        _balance_classes(model)

    matrix = prepare.fit_transform(frame, truth)
    model.fit(matrix, truth)
    if isinstance(original, CalibratedClassifierCV):
        model = Calibrator(Calibration(original.method), original).calibrate_model(model)
    return Pipeline([("prepare", prepare), ("model", model)])


def _unfitted_copy(model: Any) -> Any:
    """Return a copy of a model that can be fitted, without the calibration of its probabilities."""
    if isinstance(model, _WRAPPERS):
        return _unfitted_copy(model.estimator)

    if isinstance(model, _ENSEMBLES):
        members = [(name, _unfitted_copy(member)) for name, member in model.estimators]
        copy = clone(model)
        return copy.set_params(estimators=members)
    return clone(model)


def _balance_classes(model: Any) -> None:
    """Let a model, and those that it consists of, give every class the same weight when it is fitted."""
    names = [name for name in model.get_params() if name.split("__")[-1] == "class_weight"]
    model.set_params(**dict.fromkeys(names, "balanced"))
