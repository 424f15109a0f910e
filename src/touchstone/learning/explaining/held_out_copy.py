"""A copy of a model that is fitted without the test rows.

A model that was fitted on all rows may have memorized some of them, and then even useless columns look important. The
importance of columns is therefore measured with a copy that is fitted on the training rows only.
"""

from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight

from touchstone.learning.boosting import WeightedRows
from touchstone.learning.decisions.calibration import CALIBRATION_WRAPPERS, Calibrator
from touchstone.learning.ensembles import set_fitted_members
from touchstone.learning.explaining.weighted_truth import WeightedTruth
from touchstone.learning.request_choices import Calibration
from touchstone.learning.target import Floats
from touchstone.learning.trial_fitting import fit_model

MAX_TRAINING_ROWS: Final = 20_000
_ENSEMBLES: Final = (VotingClassifier, VotingRegressor)


def fit_held_out_copy(
    pipeline: Pipeline,
    frame: pd.DataFrame,
    truth: WeightedTruth,
    rng: np.random.Generator,
    *,
    is_balanced: bool = False,
) -> Pipeline:
    """Fit a copy of a pipeline, with the same settings and weights, on the given rows.

    If the original is calibrated, the copy uses the same calibration curves, so that its decision rule remains valid.

    Args:
        pipeline: the fitted pipeline to copy.
        frame: the training rows; at most `MAX_TRAINING_ROWS` of them are used.
        truth: the target values of these rows, and their weights.
        rng: the generator used to sample the rows.
        is_balanced: whether every class has the same weight.
    """
    if len(frame) > MAX_TRAINING_ROWS:
        counted_rows = truth.counted_rows()
        sample_size = min(MAX_TRAINING_ROWS, len(counted_rows))
        sampled_rows = np.sort(rng.choice(counted_rows, sample_size, replace=False))
        frame = frame.iloc[sampled_rows]
        truth = truth.take(sampled_rows)

    original = pipeline.named_steps["model"]
    prepare = clone(pipeline.named_steps["prepare"])
    matrix = prepare.fit_transform(frame, truth.values)
    model = _fit(_unfitted_copy(original), matrix, _balance_classes(truth) if is_balanced else truth)
    if isinstance(original, CalibratedClassifierCV):
        model = Calibrator(Calibration(original.method), original).calibrate_model(model)
    return Pipeline([("prepare", prepare), ("model", model)])


def _unfitted_copy(model: Any) -> Any:
    """Return an unfitted copy of a model, without its calibration."""
    if isinstance(model, CALIBRATION_WRAPPERS):
        return _unfitted_copy(model.estimator)

    if isinstance(model, _ENSEMBLES):
        members = [(name, _unfitted_copy(member)) for name, member in model.estimators]
        copy = clone(model)
        return copy.set_params(estimators=members)
    return clone(model)


def _balance_classes(truth: WeightedTruth) -> WeightedTruth:
    """Return the true values with weights that are scaled as in the training of a balanced model."""
    class_weights = compute_sample_weight("balanced", truth.values)
    weights = class_weights if truth.weights is None else class_weights * truth.weights
    return WeightedTruth(truth.values, weights)


def _fit(model: Any, matrix: Floats, truth: WeightedTruth) -> Any:
    """Fit a model on weighted rows and return it. The members of an ensemble are fitted one by one."""
    if isinstance(model, _ENSEMBLES):
        members = [_fit(member, matrix, truth) for _name, member in model.estimators]
        set_fitted_members(model, members, truth.values)
        return model

    return fit_model(model, WeightedRows(matrix, truth.values, truth.weights))
