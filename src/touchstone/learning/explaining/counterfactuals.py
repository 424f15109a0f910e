"""Counterfactuals: the smallest change of a row that clearly changes its prediction.

A prediction clearly changes if a classifier predicts another class, or if a regression predicts a number that differs
by at least one standard deviation of the predictions for the background rows.

New values are copied from candidate rows, so that they are realistic. A candidate is "unlike" the row if copying all
its mutable columns clearly changes the prediction. The search starts with the nearest unlike candidates: their values
are copied one column at a time, each time the column that moves the prediction most, until the goal is reached. The
counterfactual with the fewest changes wins.

The nearest candidates may all lack the value that would change the prediction by a single column. The values of all
candidates are therefore tried for single columns. Several columns may need values that no single candidate has. All
combinations of values are tried if very few columns are mutable. Otherwise, or if this fails, the most effective value
of all candidates is added one column at a time.
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
FEW_COLUMNS: Final = 3  # Combinations of values are tried for at most this many mutable columns.
MAX_SINGLE_CHANGES: Final = 500  # About this many changes of a single column are tried.
MIN_VALUES: Final = 5  # But at least this many values of each column.
MAX_COMBINATIONS: Final = 2_000
MAX_GOALS: Final = 3  # The most effective values are added for at most this many other classes.

Mask = npt.NDArray[np.bool_]
# For each changed column, the candidate row that supplies the new value. Both are given by their positions.
Changes = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A change of a row that clearly changes its prediction.

    Attributes:
        changes: the changed columns, with the sources of their new values.
        prediction: the new prediction, a class code or a number.
    """

    changes: Changes
    prediction: Any


@dataclass(frozen=True, slots=True)
class ClassGoal:
    """The goal that a classifier predicts the class `class_code`."""

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
    """The goal that a regression predicts at least `number`, or at most `number` if `direction` is -1."""

    number: float
    direction: int

    def progress(self, predictions: npt.NDArray[Any], probabilities: Floats) -> Floats:
        """Return how near each of several rows is to the goal."""
        return np.asarray(self.direction * predictions, dtype=np.float64)

    def is_reached(self, prediction: Any) -> bool:
        """Return whether a prediction fulfils the goal."""
        return bool(self.direction * prediction >= self.direction * self.number)


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for a counterfactual of one row, with the candidate rows and the mutable columns."""

    explained: ExplainedModel
    row: Floats = field(repr=False)
    candidates: Floats = field(repr=False)
    mutable_columns: tuple[int, ...]
    prediction: Any
    clear_difference: float  # the least difference between clearly different numbers; 0 for classes

    def is_clear(self, predictions: npt.NDArray[Any]) -> Mask:
        """Return a mask of the predictions that clearly differ from the prediction for the row."""
        if self.explained.model.classes:
            return np.asarray(predictions != self.prediction)
        return np.asarray(np.abs(predictions - self.prediction) >= self.clear_difference)

    def goal_towards(self, prediction: Any) -> ClassGoal | NumberGoal:
        """Return the goal that lies in the direction of a clearly different prediction."""
        if self.explained.model.classes:
            return ClassGoal(int(prediction))
        direction = 1 if prediction > self.prediction else -1
        return self._number_goal(direction)

    def goals(self, predictions: npt.NDArray[Any], probabilities: Floats) -> Sequence[ClassGoal | NumberGoal]:
        """Return the goals to try: both directions for a number, or up to `MAX_GOALS` other classes.

        The classes are those to which the given predictions, for several changed rows, come nearest.
        """
        if not self.explained.model.classes:
            return [self._number_goal(1), self._number_goal(-1)]
        most_probable_first = np.argsort(-probabilities.max(axis=0), kind="stable").tolist()
        return [ClassGoal(code) for code in most_probable_first if code != self.prediction][:MAX_GOALS]

    def _number_goal(self, direction: int) -> NumberGoal:
        """Return the goal of a clearly higher number, or of a clearly lower one if `direction` is -1."""
        return NumberGoal(float(self.prediction) + direction * self.clear_difference, direction)

    def single_changes(self) -> list[Changes]:
        """Return the changes of a single column to try."""
        limit = max(MIN_VALUES, MAX_SINGLE_CHANGES // len(self.mutable_columns))
        return [
            {column: source_row}
            for column in self.mutable_columns
            for source_row in self.find_source_rows(column, limit).tolist()
        ]

    def apply(self, options: Sequence[Changes]) -> Floats:
        """Return the encoded row after each of several sets of changes."""
        changed_rows = np.tile(self.row, (len(options), 1))
        for changed_row, changes in zip(changed_rows, options, strict=True):
            for column, source_row in changes.items():
                block = self.explained.block(column)
                changed_row[block] = self.candidates[source_row, block]
        return changed_rows

    def find_source_rows(self, column: int, limit: int) -> Indices:
        """Return one candidate row for each distinct value of a column, without the value of the row itself.

        If there are more than `limit` values, evenly spaced ones are chosen, including the lowest and the highest.
        """
        block = self.explained.block(column)
        distinct_values, source_rows = np.unique(self.candidates[:, block], axis=0, return_index=True)
        differing_rows: Indices = source_rows[(distinct_values != self.row[block]).any(axis=1)]
        chosen_rows: Indices = differing_rows[evenly_spaced_positions(len(differing_rows), limit)]
        return chosen_rows


def find_counterfactual(
    explained: ExplainedModel, row: Floats, candidates: Floats, immutable_columns: Sequence[int] = ()
) -> Counterfactual | None:
    """Find the fewest changes of a row that clearly change the prediction of the model.

    Args:
        explained: the model.
        row: an encoded row.
        candidates: encoded rows of the table, which supply the new values. Rows that are similar to `row` are
            preferred, so that the changed row stays realistic.
        immutable_columns: the positions of the source columns that must not change.

    Returns:
        the counterfactual, or None if no change was found.
    """
    mutable_columns = np.setdiff1d(np.arange(len(explained.columns)), immutable_columns).tolist()
    is_regression = not explained.model.classes
    clear_difference = 0.0
    if is_regression:
        background_predictions, _probabilities = explained.predict(explained.background)
        clear_difference = float(np.std(background_predictions))

    always_predicts_same_number = is_regression and clear_difference == 0
    if not mutable_columns or always_predicts_same_number:
        return None

    prediction = explained.predict_row(row)
    search = _Search(explained, row, candidates, tuple(mutable_columns), prediction, clear_difference)

    # A further search is only worth its time if it may find fewer changes.
    from_similar_row = _copy_from_similar_rows(search)
    if from_similar_row is not None and len(from_similar_row.changes) == 1:
        return from_similar_row

    single_change = _find_smallest_changes(search, search.single_changes())
    if single_change is not None:
        return single_change
    if from_similar_row is not None and len(from_similar_row.changes) == 2:
        return from_similar_row

    combination = _combine_values(search) if len(mutable_columns) <= FEW_COLUMNS else None
    if combination is not None:
        return combination
    return _choose_fewest_changes([from_similar_row, _add_effective_values(search)])


def _copy_from_similar_rows(search: _Search) -> Counterfactual | None:
    """Return the counterfactual with the fewest values copied from one of the nearest unlike candidates, or None."""
    # For each candidate, the row with all its mutable columns copied from the candidate.
    is_mutable = np.isin(search.explained.sources, search.mutable_columns)
    mixed_rows = np.where(is_mutable, search.candidates, search.row)
    predictions, _probabilities = search.explained.predict(mixed_rows)

    unlike_rows = np.flatnonzero(search.is_clear(predictions))
    distances = np.abs(mixed_rows[unlike_rows] - search.row).sum(axis=1)
    nearest_first = unlike_rows[np.argsort(distances, kind="stable")]

    best: Counterfactual | None = None
    for source_row in nearest_first[:NEIGHBOURS].tolist():
        counterfactual = _copy_until_goal(search, source_row, search.goal_towards(predictions[source_row]))
        if counterfactual is None:
            continue
        if best is None or len(counterfactual.changes) < len(best.changes):
            best = counterfactual
        if len(best.changes) == 1:
            break
    return best


def _copy_until_goal(search: _Search, source_row: int, goal: ClassGoal | NumberGoal) -> Counterfactual | None:
    """Copy the values of a candidate into the row, column by column, until the goal is reached.

    Each step copies the column that brings the prediction nearest to the goal.

    Returns:
        the counterfactual, or None if the goal is not reached within `MAX_CHANGES` steps.
    """
    differing_columns = np.unique(search.explained.sources[search.row != search.candidates[source_row]])
    remaining_columns = np.intersect1d(differing_columns, search.mutable_columns).tolist()

    changes: Changes = {}
    while remaining_columns and len(changes) < MAX_CHANGES:
        options = [{**changes, column: source_row} for column in remaining_columns]
        predictions, probabilities = search.explained.predict(search.apply(options))
        best = int(goal.progress(predictions, probabilities).argmax())

        changes = options[best]
        del remaining_columns[best]
        if goal.is_reached(predictions[best]):
            return Counterfactual(changes, predictions[best])
    return None


def _combine_values(search: _Search) -> Counterfactual | None:
    """Return the smallest change of several columns that clearly changes the prediction, or None."""
    # A column may also keep its value, so one of the options for each column is not a new value.
    options_per_column = int(MAX_COMBINATIONS ** (1 / len(search.mutable_columns)))
    combinations: list[dict[int, int]] = [{}]
    for column in search.mutable_columns:
        source_rows = search.find_source_rows(column, limit=options_per_column - 1).tolist()
        combinations += [combination | {column: row} for combination in combinations for row in source_rows]
    return _find_smallest_changes(search, [combination for combination in combinations if len(combination) > 1])


def _add_effective_values(search: _Search) -> Counterfactual | None:
    """Return the counterfactual with the fewest changes to the most effective values of all candidates, or None."""
    single_changes = search.single_changes()
    if not single_changes:
        return None

    goals = search.goals(*search.explained.predict(search.apply(single_changes)))
    return _choose_fewest_changes([_add_values_for_goal(search, single_changes, goal) for goal in goals])


def _add_values_for_goal(
    search: _Search, single_changes: Sequence[Changes], goal: ClassGoal | NumberGoal
) -> Counterfactual | None:
    """Change one column after the other, each time the one that brings the prediction nearest to the goal.

    Returns:
        the counterfactual, or None if the prediction does not clearly change within `MAX_CHANGES` changes.
    """
    changes: Changes = {}
    for _step in range(min(MAX_CHANGES, len(search.mutable_columns))):
        options = [{**changes, **change} for change in single_changes if not changes.keys() & change.keys()]
        counterfactual = _find_smallest_changes(search, options)
        if counterfactual is not None or not options:
            return counterfactual
        progress = goal.progress(*search.explained.predict(search.apply(options)))
        changes = options[int(progress.argmax())]
    return None


def _choose_fewest_changes(counterfactuals: Sequence[Counterfactual | None]) -> Counterfactual | None:
    """Return the first counterfactual with the fewest changes, or None if there is none."""
    present = [counterfactual for counterfactual in counterfactuals if counterfactual is not None]
    return min(present, key=lambda counterfactual: len(counterfactual.changes), default=None)


def _find_smallest_changes(search: _Search, options: Sequence[Changes]) -> Counterfactual | None:
    """Return the counterfactual of the smallest changes among the options that clearly change the prediction, or None.

    Changes of fewer columns are smaller. Among equally many columns, the nearest new values win.
    """
    if not options:
        return None

    changed_rows = search.apply(options)
    predictions, _probabilities = search.explained.predict(changed_rows)
    column_counts = np.array([len(changes) for changes in options])
    distances = np.abs(changed_rows - search.row).sum(axis=1)
    smallest_first = np.lexsort((distances, column_counts))
    effective = smallest_first[search.is_clear(predictions[smallest_first])]
    if not len(effective):
        return None
    return Counterfactual(options[effective[0]], predictions[effective[0]])
