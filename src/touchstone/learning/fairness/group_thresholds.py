"""Decision thresholds by group of people, chosen so that all groups have the same selection rate.

This achieves demographic parity as in Hardt, Price and Srebro (2016). Unlike their method, and unlike fairlearn's
`ThresholdOptimizer`, it does not choose between two thresholds at random, so that decisions are deterministic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
import pandas as pd

from touchstone.learning.decisions.threshold import Objective
from touchstone.learning.evaluation import Predictions
from touchstone.learning.fairness.group_metrics import POSITIVE, SMALL_GROUP_ROWS
from touchstone.learning.fairness.groups import Labels, SensitiveColumn, intersect_labels
from touchstone.learning.target import Floats, Indices
from touchstone.learning.task_interface import Json

SELECTION_RATES: Final = tuple(percent / 100 for percent in range(1, 100))


@dataclass(frozen=True, slots=True)
class GroupThresholds:
    """The decision thresholds of the positive class by group of people.

    Attributes:
        columns: the sensitive columns that define the groups, or the intersections of groups.
        by_group: the threshold of each group that was large enough to choose one.
        default: the threshold of all other groups.
    """

    columns: tuple[SensitiveColumn, ...]
    by_group: Mapping[str, float]
    default: float

    def thresholds_of_rows(self, frame: pd.DataFrame) -> Floats:
        """Return the threshold of each row of a frame with the sensitive columns."""
        names, code_of_row = np.unique(name_groups(self.columns, frame), return_inverse=True)
        threshold_of_name = np.array([self.by_group.get(name, self.default) for name in names])
        thresholds: Floats = threshold_of_name[code_of_row]
        return thresholds

    def decide(self, frame: pd.DataFrame, probabilities: Floats) -> Indices:
        """Return the predicted class of each row of a frame with the sensitive columns."""
        return (probabilities[:, POSITIVE] >= self.thresholds_of_rows(frame)).astype(np.intp)

    def to_record(self) -> Json:
        """Return the thresholds as JSON for the record of a model."""
        stored: Json = msgspec.to_builtins(self)
        return stored

    @classmethod
    def from_record(cls, stored: Json) -> "GroupThresholds":
        """Return the thresholds stored by `to_record`."""
        return msgspec.convert(stored, cls)


def name_groups(columns: Sequence[SensitiveColumn], frame: pd.DataFrame) -> Labels:
    """Return the name of the group, or of the intersection of groups, for each row of a frame."""
    return intersect_labels([column.assign(frame[column.name]) for column in columns])


def choose_group_thresholds(
    columns: Sequence[SensitiveColumn], frame: pd.DataFrame, predictions: Predictions, objective: Objective
) -> GroupThresholds:
    """Choose thresholds that give every group the same selection rate, at the best rate for the objective.

    Args:
        columns: the sensitive columns.
        frame: the sensitive columns of the predicted rows.
        predictions: predictions for rows that the model has not learned from.
        objective: the metric or cost to optimize.
    """
    grouped_predictions = _GroupedPredictions.from_predictions(columns, frame, predictions)

    def signed_objective(rate: float) -> float:
        """Return the objective at a selection rate, with its sign adjusted so that higher is better."""
        return objective.sign * objective.measure(grouped_predictions.decide(rate))

    best_rate = max(SELECTION_RATES, key=signed_objective)
    return grouped_predictions.thresholds(best_rate)


@dataclass(frozen=True, slots=True)
class _GroupedPredictions:
    """The predicted rows by group, with the thresholds and decisions for any selection rate."""

    columns: tuple[SensitiveColumn, ...]
    predictions: Predictions
    group_names: Labels
    group_of_row: Indices  # the position of each row's group in `group_names`
    scores_by_group: tuple[Floats, ...]  # the scores of each group in descending order
    all_scores: Floats

    @classmethod
    def from_predictions(
        cls, columns: Sequence[SensitiveColumn], frame: pd.DataFrame, predictions: Predictions
    ) -> "_GroupedPredictions":
        """Divide the predicted rows into groups, and sort the scores of each group."""
        group_names, group_of_row = np.unique(name_groups(columns, frame), return_inverse=True)
        scores = predictions.probabilities[:, POSITIVE]
        scores_by_group = [_sort_descending(scores[group_of_row == code]) for code in range(len(group_names))]
        return cls(
            tuple(columns), predictions, group_names, group_of_row, tuple(scores_by_group), _sort_descending(scores)
        )

    def thresholds(self, rate: float) -> GroupThresholds:
        """Return the thresholds that select about the given share of each group."""
        large_groups = {
            str(name): scores
            for name, scores in zip(self.group_names, self.scores_by_group, strict=True)
            if len(scores) >= SMALL_GROUP_ROWS
        }
        return GroupThresholds(
            columns=self.columns,
            by_group={name: threshold_for_rate(scores, rate) for name, scores in large_groups.items()},
            default=threshold_for_rate(self.all_scores, rate),
        )

    def decide(self, rate: float) -> Predictions:
        """Return the predictions that select about the given share of each group."""
        thresholds = self.thresholds(rate)
        threshold_of_group = np.array([thresholds.by_group.get(name, thresholds.default) for name in self.group_names])
        is_selected = self.predictions.probabilities[:, POSITIVE] >= threshold_of_group[self.group_of_row]
        return self.predictions.with_predicted(is_selected.astype(np.intp))


def _sort_descending(scores: Floats) -> Floats:
    """Return the scores in descending order."""
    return np.sort(scores)[::-1]


def threshold_for_rate(descending_scores: Floats, rate: float) -> float:
    """Return the threshold that selects about the given share of the rows, and at least one row.

    It lies in the middle between the lowest selected score and the highest score below it.
    """
    selected_rows = max(1, round(rate * len(descending_scores)))
    lowest_selected = float(descending_scores[selected_rows - 1])
    if selected_rows == len(descending_scores):
        return lowest_selected
    return (lowest_selected + float(descending_scores[selected_rows])) / 2
