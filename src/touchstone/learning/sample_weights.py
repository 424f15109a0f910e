"""The optional column of sample weights, which apply in training and in metrics."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.localized_text import localize
from touchstone.learning.splits.folds import Fold, inner_folds
from touchstone.learning.splits.split_rule import SplitRule
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target
from touchstone.learning.task_interface import Json
from touchstone.messages.decisions import WEIGHTING_SENTENCE


def read_sample_weights(table: Table, target: Target, name: str | None) -> Floats | None:
    """Return the weights of the rows with a target, divided by their mean.

    Args:
        table: the table.
        target: the column to predict.
        name: the name of the column of weights, or None for equal weights.

    Returns:
        the weights, or None for equal weights.

    Raises:
        LearningError: a weight is missing, negative or not a number, or all rows with a weight above 0 have the same
            class or the same value to predict.
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
    if len(counted_values(target, np.arange(len(weights)), weights)) < 2:
        raise LearningError("sample_weights_one_class", field="sample_weight", name=name)
    scaled_weights: Floats = weights / weights.mean()
    return scaled_weights


def check_weights_of_folds(weights: Floats | None, name: str | None, rule: SplitRule, folds: Sequence[Fold]) -> None:
    """Raise `LearningError` if rows of weight 0 leave nothing to learn, to validate or to test in a fold.

    The training rows of an outer fold must have several classes, or values to predict, with a weight above 0.

    Args:
        weights: the weights of the rows with a target, or None for equal weights.
        name: the name of the column of weights.
        rule: the rule for dividing the training rows into inner folds.
        folds: the outer folds.
    """
    if weights is None:
        return
    for fold in folds:
        all_folds = [fold, *inner_folds(rule, fold.train, limit=len(fold.train))]
        if any(weights[rows].sum() == 0 for each in all_folds for rows in (each.train, each.test)):
            raise LearningError("sample_weights_one_sided", field="sample_weight", name=name)
        if len(counted_values(rule.target, fold.train, weights)) < 2:
            raise LearningError("sample_weights_one_class", field="sample_weight", name=name)


def counted_values(target: Target, rows: Indices, weights: Floats | None) -> set[Any]:
    """Return the distinct target values among the given rows, without the rows of weight 0."""
    counted_rows = rows if weights is None else rows[weights[rows] > 0]
    return set(target.values[counted_rows].tolist())


def describe_weighting(name: str | None) -> Json | None:
    """Return the description of the column of weights for the result of a training, or None without one."""
    return None if name is None else {"column": name, "text": localize(WEIGHTING_SENTENCE, name=name)}
