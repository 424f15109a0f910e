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
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

MAX_TRAINING_ROWS: Final = 20_000
_WRAPPERS: Final = (CalibratedClassifierCV, FixedThresholdClassifier, FrozenEstimator)
_ENSEMBLES: Final = (VotingClassifier, VotingRegressor)


def fit_held_out_copy(
    pipeline: Pipeline, frame: pd.DataFrame, truth: npt.NDArray[Any], rng: np.random.Generator
) -> Pipeline:
    """Return a copy of a fitted pipeline that has learned from these rows only, with the same settings.

    At most `MAX_TRAINING_ROWS` of the rows are used. Adjustments of its probabilities and its threshold are left out,
    because they were fitted to the predictions of the original.
    """
    if len(frame) > MAX_TRAINING_ROWS:
        rows = np.sort(rng.choice(len(frame), MAX_TRAINING_ROWS, replace=False))
        frame, truth = frame.iloc[rows], truth[rows]

    prepare = clone(pipeline.named_steps["prepare"])
    model = _unfitted_copy(pipeline.named_steps["model"])
    return Pipeline([("prepare", prepare), ("model", model)]).fit(frame, truth)


def _unfitted_copy(model: Any) -> Any:
    """Return a copy of a model that can be fitted, without what adjusts its probabilities or its threshold."""
    if isinstance(model, _WRAPPERS):
        return _unfitted_copy(model.estimator)

    if isinstance(model, _ENSEMBLES):
        members = [(name, _unfitted_copy(member)) for name, member in model.estimators]
        copy = clone(model)
        return copy.set_params(estimators=members)
    return clone(model)
