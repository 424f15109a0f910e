"""Counterfactuals: the smallest change of a row, towards values of real rows, that clearly changes its prediction.

For a classifier this is another class, and for a regression a number that differs by at least one standard deviation of
the predictions for the background rows. The nearest background rows with such a prediction are the candidates (the
nearest unlike neighbours). The row takes over values of such a row one column at a time, always the one that moves the
prediction most, until the goal is reached. The counterfactual with the fewest changes wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats

NEIGHBOURS: Final = 8
MAX_CHANGES: Final = 6


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A changed row for which the model predicts something else.

    Attributes:
        source_row: the position of the background row from which the new values are taken.
        changed_columns: the positions of the changed source columns.
        prediction: what is now predicted, a class code or a number.
    """

    source_row: int
    changed_columns: tuple[int, ...]
    prediction: Any


@dataclass(frozen=True, slots=True)
class ClassGoal:
    """The goal that a classifier predicts a certain class."""

    class_code: int

    def progress(self, predictions: npt.NDArray[Any], probabilities: Floats) -> Floats:
        """Return how near each of several rows is to the goal."""
        class_probabilities: Floats = probabilities[:, self.class_code]
        return class_probabilities

    def is_reached(self, prediction: Any) -> bool:
        """Return whether a prediction fulfils the goal."""
        return bool(prediction == self.class_code)


@dataclass(frozen=True, slots=True)
class NumberGoal:
    """The goal that a regression predicts at least a certain number, or at most, if `direction` is -1."""

    number: float
    direction: int

    def progress(self, predictions: npt.NDArray[Any], probabilities: Floats) -> Floats:
        """Return how near each of several rows is to the goal."""
        return np.asarray(self.direction * predictions, dtype=np.float64)

    def is_reached(self, prediction: Any) -> bool:
        """Return whether a prediction fulfils the goal."""
        return bool(self.direction * prediction >= self.direction * self.number)


def find_counterfactual(
    explained: ExplainedModel, row: Floats, immutable_columns: Sequence[int] = ()
) -> Counterfactual | None:
    """Find the fewest changes of an encoded row that clearly change the prediction of the model.

    New values are only taken from the background rows that are most similar to the row but have another prediction, so
    that the changed row stays realistic. The source columns at the positions `immutable_columns` are never changed.
    Returns None if no such change is found.
    """
    background_predictions, _probabilities = explained.predict(explained.background)
    goals = _goals_of_background_rows(explained, background_predictions, explained.predict_row(row))

    rows_with_goal = np.array(sorted(goals), dtype=np.intp)
    distances = np.abs(explained.background[rows_with_goal] - row).sum(axis=1)
    nearest_first = rows_with_goal[np.argsort(distances, kind="stable")]

    counterfactuals = []
    for source_row in nearest_first[:NEIGHBOURS].tolist():
        counterfactual = _approach_source_row(explained, row, source_row, goals[source_row], immutable_columns)
        if counterfactual is not None:
            counterfactuals.append(counterfactual)

    if not counterfactuals:
        return None
    return min(counterfactuals, key=lambda counterfactual: len(counterfactual.changed_columns))


def _goals_of_background_rows(
    explained: ExplainedModel, background_predictions: npt.NDArray[Any], prediction: Any
) -> dict[int, ClassGoal | NumberGoal]:
    """Return the goal towards each background row whose prediction clearly differs from that of the explained row."""
    if explained.model.classes:
        rows_of_other_classes = np.flatnonzero(background_predictions != prediction).tolist()
        return {row: ClassGoal(int(background_predictions[row])) for row in rows_of_other_classes}

    clear_difference = float(np.std(background_predictions))
    if clear_difference == 0:
        return {}

    goals: dict[int, ClassGoal | NumberGoal] = {}
    for row, background_prediction in enumerate(background_predictions.tolist()):
        direction = 1 if background_prediction > prediction else -1
        goal = NumberGoal(float(prediction) + direction * clear_difference, direction)
        if goal.is_reached(background_prediction):
            goals[row] = goal
    return goals


def _approach_source_row(
    explained: ExplainedModel,
    row: Floats,
    source_row: int,
    goal: ClassGoal | NumberGoal,
    immutable_columns: Sequence[int],
) -> Counterfactual | None:
    """Copy values of a background row into the row, column by column, until the goal is reached.

    Each step copies the column that brings the prediction nearest to the goal. Returns None if the goal is not reached
    within `MAX_CHANGES` steps.
    """
    source_values = explained.background[source_row]
    differing_columns = np.unique(explained.sources[row != source_values])
    remaining_columns = np.setdiff1d(differing_columns, immutable_columns).tolist()
    changed_columns: list[int] = []
    changed_row = row

    while remaining_columns and len(changed_columns) < MAX_CHANGES:
        candidates = np.array(
            [_copy_column(explained, source_values, changed_row, column) for column in remaining_columns]
        )
        predictions, probabilities = explained.predict(candidates)
        best = int(goal.progress(predictions, probabilities).argmax())

        changed_row = candidates[best]
        changed_columns.append(remaining_columns.pop(best))
        if goal.is_reached(predictions[best]):
            return Counterfactual(source_row, tuple(changed_columns), predictions[best])
    return None


def _copy_column(explained: ExplainedModel, source_values: Floats, row: Floats, column: int) -> Floats:
    """Return a copy of an encoded row in which one source column has the value of another row."""
    encoded_columns = explained.block(column)
    changed_row = row.copy()
    changed_row[encoded_columns] = source_values[encoded_columns]
    return changed_row
