"""Counterfactuals: the smallest change of a row, towards values of real rows, that clearly changes its prediction.

For a classifier this is another class, and for a regression a number that differs by at least one standard deviation of
the predictions for the background rows. The values come from candidate rows. If the row takes over everything that may
change from one of these, and the prediction clearly changes, the candidate is unlike the row. The row approaches the
nearest unlike candidates: it takes over their values one column at a time, always the one that moves the prediction
most, until the goal is reached. The counterfactual with the fewest changes wins.

What may change lies in few columns if the others are immutable. A change of one column may then need a value that none
of the nearest candidates has, so the values of all candidates are tried, and for very few columns their combinations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.even_spacing import evenly_spaced_positions
from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats, Indices

NEIGHBOURS: Final = 8
MAX_CHANGES: Final = 6
FEW_COLUMNS: Final = 3  # With at most so many columns that may change, combinations of their values are tried.
SINGLE_CHANGES: Final = 500  # About so many changes of one column are tried.
MIN_VALUES: Final = 5  # But at least so many values of each column.
COMBINATIONS: Final = 2_000

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A changed row for which the model predicts something else.

    Attributes:
        source_rows: for each changed source column, by its position, the position of the candidate row from which its
            new value is taken.
        prediction: what is now predicted, a class code or a number.
    """

    source_rows: Mapping[int, int]
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


@dataclass(frozen=True, slots=True)
class _Task:
    """A row whose prediction is to change, the columns that may change, and the rows with the values to take over."""

    explained: ExplainedModel
    row: Floats = field(repr=False)
    candidates: Floats = field(repr=False)
    mutable_columns: tuple[int, ...]
    prediction: Any
    clear_difference: float  # From which difference on a number counts as another one; 0 for classes.

    def is_clear(self, predictions: npt.NDArray[Any]) -> Mask:
        """Return which predictions clearly differ from that of the row."""
        if self.explained.model.classes:
            return np.asarray(predictions != self.prediction)
        return np.asarray(np.abs(predictions - self.prediction) >= self.clear_difference)

    def goal_of(self, prediction: Any) -> ClassGoal | NumberGoal:
        """Return the goal in the direction of a prediction that clearly differs from that of the row."""
        if self.explained.model.classes:
            return ClassGoal(int(prediction))
        direction = 1 if prediction > self.prediction else -1
        return NumberGoal(float(self.prediction) + direction * self.clear_difference, direction)

    def source_rows_of_values(self, column: int, limit: int) -> Indices:
        """Return a candidate row for each different value of a column that the row does not have.

        Of more than `limit` values, as many are chosen at equal distances in their order, with both ends.
        """
        block = self.explained.block(column)
        values, source_rows = np.unique(self.candidates[:, block], axis=0, return_index=True)
        other_rows: Indices = source_rows[(values != self.row[block]).any(axis=1)]
        thinned_rows: Indices = other_rows[evenly_spaced_positions(len(other_rows), limit)]
        return thinned_rows


def find_counterfactual(
    explained: ExplainedModel, row: Floats, candidates: Floats, immutable_columns: Sequence[int] = ()
) -> Counterfactual | None:
    """Find the fewest changes of an encoded row that clearly change the prediction of the model.

    New values are only taken from `candidates`, which are encoded rows of the table, preferably from those that are
    most similar to the row, so that the changed row stays realistic. The source columns at the positions
    `immutable_columns` are never changed. Returns None if no such change is found.
    """
    mutable_columns = np.setdiff1d(np.arange(len(explained.columns)), immutable_columns).tolist()
    clear_difference = 0.0
    if not explained.model.classes:
        background_predictions, _probabilities = explained.predict(explained.background)
        clear_difference = float(np.std(background_predictions))
    predicts_one_number = clear_difference == 0 and not explained.model.classes
    if not mutable_columns or predicts_one_number:
        return None

    prediction = explained.predict_row(row)
    task = _Task(explained, row, candidates, tuple(mutable_columns), prediction, clear_difference)
    approach = _approach_similar_rows(task)
    if approach is not None and len(approach.source_rows) == 1:
        return approach

    single_change = _change_one_column(task)
    if single_change is not None:
        return single_change
    if len(mutable_columns) > FEW_COLUMNS or (approach is not None and len(approach.source_rows) == 2):
        return approach
    return _combine_values(task) or approach


def _approach_similar_rows(task: _Task) -> Counterfactual | None:
    """Return the counterfactual with the fewest changes towards one of the nearest unlike candidates."""
    # The row with everything that may change from each candidate.
    is_mutable = np.isin(task.explained.sources, task.mutable_columns)
    mixed_rows = np.where(is_mutable, task.candidates, task.row)
    predictions, _probabilities = task.explained.predict(mixed_rows)

    unlike_rows = np.flatnonzero(task.is_clear(predictions))
    distances = np.abs(mixed_rows[unlike_rows] - task.row).sum(axis=1)
    nearest_first = unlike_rows[np.argsort(distances, kind="stable")]

    best: Counterfactual | None = None
    for source_row in nearest_first[:NEIGHBOURS].tolist():
        counterfactual = _approach_source_row(task, source_row, task.goal_of(predictions[source_row]))
        if counterfactual is None:
            continue
        if best is None or len(counterfactual.source_rows) < len(best.source_rows):
            best = counterfactual
        if len(best.source_rows) == 1:
            break
    return best


def _approach_source_row(task: _Task, source_row: int, goal: ClassGoal | NumberGoal) -> Counterfactual | None:
    """Copy values of a candidate into the row, column by column, until the goal is reached.

    Each step copies the column that brings the prediction nearest to the goal. Returns None if the goal is not reached
    within `MAX_CHANGES` steps.
    """
    explained = task.explained
    source_values = task.candidates[source_row]
    differing_columns = np.unique(explained.sources[task.row != source_values])
    remaining_columns = np.intersect1d(differing_columns, task.mutable_columns).tolist()
    source_rows: dict[int, int] = {}
    changed_row = task.row

    while remaining_columns and len(source_rows) < MAX_CHANGES:
        next_rows = np.array(
            [_copy_column(explained, source_values, changed_row, column) for column in remaining_columns]
        )
        predictions, probabilities = explained.predict(next_rows)
        best = int(goal.progress(predictions, probabilities).argmax())

        changed_row = next_rows[best]
        source_rows[remaining_columns.pop(best)] = source_row
        if goal.is_reached(predictions[best]):
            return Counterfactual(source_rows, predictions[best])
    return None


def _copy_column(explained: ExplainedModel, source_values: Floats, row: Floats, column: int) -> Floats:
    """Return a copy of an encoded row in which one source column has the value of another row."""
    encoded_columns = explained.block(column)
    changed_row = row.copy()
    changed_row[encoded_columns] = source_values[encoded_columns]
    return changed_row


def _change_one_column(task: _Task) -> Counterfactual | None:
    """Return the smallest change of a single column, to the value of any candidate, that reaches the goal."""
    limit = max(MIN_VALUES, SINGLE_CHANGES // len(task.mutable_columns))
    changes = [
        (column, source_row)
        for column in task.mutable_columns
        for source_row in task.source_rows_of_values(column, limit).tolist()
    ]
    return _choose_smallest(task, [{column: source_row} for column, source_row in changes])


def _combine_values(task: _Task) -> Counterfactual | None:
    """Return the fewest and smallest changes of several columns, to values of any candidates, that reach the goal."""
    column_count = len(task.mutable_columns)
    limit = int(COMBINATIONS ** (1 / column_count)) - 1
    combinations: list[dict[int, int]] = [{}]
    for column in task.mutable_columns:
        source_rows = task.source_rows_of_values(column, limit).tolist()
        extended = [combination | {column: row} for combination in combinations for row in source_rows]
        combinations = combinations + extended
    return _choose_smallest(task, [combination for combination in combinations if len(combination) > 1])


def _choose_smallest(task: _Task, changes: Sequence[Mapping[int, int]]) -> Counterfactual | None:
    """Return the changes that reach the goal with the fewest columns and, among these, with the nearest values.

    Each of the changes maps columns to the candidates whose values they take over.
    """
    if not changes:
        return None

    changed_rows = np.tile(task.row, (len(changes), 1))
    for changed_row, source_rows in zip(changed_rows, changes, strict=True):
        for column, source_row in source_rows.items():
            block = task.explained.block(column)
            changed_row[block] = task.candidates[source_row, block]

    predictions, _probabilities = task.explained.predict(changed_rows)
    column_counts = np.array([len(source_rows) for source_rows in changes])
    distances = np.abs(changed_rows - task.row).sum(axis=1)
    smallest_first = np.lexsort((distances, column_counts))
    reaching = smallest_first[task.is_clear(predictions[smallest_first])]
    if not len(reaching):
        return None
    return Counterfactual(changes[reaching[0]], predictions[reaching[0]])
