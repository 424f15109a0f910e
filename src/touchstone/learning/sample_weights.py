"""The column of weights, which says how much each row counts while a model learns, and in the metrics."""

import numpy as np

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.localized_text import localize
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Target
from touchstone.learning.task_interface import Json
from touchstone.messages.decisions import WEIGHTING_SENTENCE


def read_sample_weights(table: Table, target: Target, name: str | None) -> Floats | None:
    """Return the weights of the rows that have a target, divided by their mean; None without a column of weights.

    Raises `LearningError` if a weight is missing, negative or no number, or if all are 0.
    """
    if name is None:
        return None

    cells = table.frame[name].iloc[target.rows]
    if cells.dtype.kind != "f":
        raise LearningError("sample_weights_invalid", field="sample_weight", name=name)

    weights = cells.to_numpy(dtype=np.float64)
    is_valid = np.isfinite(weights) & (weights >= 0)
    if not is_valid.all() or weights.sum() == 0:
        raise LearningError("sample_weights_invalid", field="sample_weight", name=name)
    scaled_weights: Floats = weights / weights.mean()
    return scaled_weights


def describe_weighting(name: str | None) -> Json | None:
    """Return what the result of a training says about the column of weights; None without one."""
    return None if name is None else {"column": name, "text": localize(WEIGHTING_SENTENCE, name=name)}
