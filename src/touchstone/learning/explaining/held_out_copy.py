"""A copy of a model that is fitted without the test rows.

A model that was fitted on all rows may have memorized some of them, and then even useless columns look important. The
importance of columns is therefore measured with a copy that is fitted on the training rows only.
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
    """Fit a copy of a pipeline, with the same settings, on the given rows.

    If the original is calibrated, the copy uses the same calibration curves, so that its decision rule remains valid.

    Args:
        pipeline: the fitted pipeline to copy.
        frame: the training rows; at most `MAX_TRAINING_ROWS` of them are used.
        truth: the target values of these rows, of shape (rows,).
        rng: the generator used to sample the rows.
        is_balanced: whether every class has the same weight.
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
    """Return an unfitted copy of a model, without its calibration."""
    if isinstance(model, _WRAPPERS):
        return _unfitted_copy(model.estimator)

    if isinstance(model, _ENSEMBLES):
        members = [(name, _unfitted_copy(member)) for name, member in model.estimators]
        copy = clone(model)
        return copy.set_params(estimators=members)
    return clone(model)


def _balance_classes(model: Any) -> None:
    """Make a model and its members give every class the same weight when they are fitted."""
    names = [name for name in model.get_params() if name.split("__")[-1] == "class_weight"]
    model.set_params(**dict.fromkeys(names, "balanced"))
