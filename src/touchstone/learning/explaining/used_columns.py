"""The encoded columns on which the predictions of a fitted model depend."""

from typing import Any

import numpy as np
import numpy.typing as npt

from touchstone.learning.decisions.calibration import CALIBRATION_WRAPPERS


def find_used_columns(model: Any, column_count: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the encoded columns that a fitted model uses, of shape (encoded columns,).

    Trees only use the columns that they split on, and forests and averages those of their members. Any other model is
    assumed to use every column.
    """
    if isinstance(model, CALIBRATION_WRAPPERS):
        return find_used_columns(model.estimator, column_count)

    if hasattr(model, "estimators_"):
        is_used = np.zeros(column_count, dtype=np.bool_)
        for member in model.estimators_:
            is_used |= find_used_columns(member, column_count)
        return is_used
    if hasattr(model, "booster_"):
        split_counts: npt.NDArray[np.int32] = model.booster_.feature_importance("split")
        return split_counts > 0

    if hasattr(model, "tree_"):
        split_columns = model.tree_.feature[model.tree_.feature >= 0]  # Leaves have a negative number.
        return np.isin(np.arange(column_count), split_columns)
    return np.ones(column_count, dtype=np.bool_)
