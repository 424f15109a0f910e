"""A threshold for each group of people, so that all groups are selected at the same rate.

This reaches demographic parity as in Hardt, Price and Srebro (2016). Unlike theirs, and unlike fairlearn's
`ThresholdOptimizer`, it does not toss coins between two thresholds: the same row is always decided in the same way.
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
    """The probability from which on the positive class is predicted, for each group of people.

    Attributes:
        columns: the sensitive columns whose groups, or intersections of groups, have thresholds.
        by_group: the thresholds of the groups that were large enough to choose one.
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
        """Return the thresholds as JSON, to be stored with a model."""
        stored: Json = msgspec.to_builtins(self)
        return stored

    @classmethod
    def from_record(cls, stored: Json) -> "GroupThresholds":
        """Return the thresholds that `to_record` has stored."""
        return msgspec.convert(stored, cls)


def name_groups(columns: Sequence[SensitiveColumn], frame: pd.DataFrame) -> Labels:
    """Return the group, or the intersection of groups, that each row of a frame with sensitive columns belongs to."""
    return intersect_labels([column.assign(frame[column.name]) for column in columns])


def choose_group_thresholds(
    columns: Sequence[SensitiveColumn], frame: pd.DataFrame, predictions: Predictions, objective: Objective
) -> GroupThresholds:
    """Choose thresholds by which every group is selected at the same rate, which is the rate that serves best.

    `predictions` are those of a model for rows that it did not learn from, and `frame` holds the sensitive columns of
    these rows. Of all rates, the one whose decisions serve the objective best is chosen.
    """
    candidates = _Candidates.of(columns, frame, predictions)

    def serve_objective(rate: float) -> float:
        """Return the value of the objective if this rate is selected, so that higher is better."""
        return objective.sign * objective.measure(candidates.decide(rate))

    best_rate = max(SELECTION_RATES, key=serve_objective)
    return candidates.thresholds(best_rate)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The thresholds of every rate, and the decisions to which they lead for some predicted rows."""

    columns: tuple[SensitiveColumn, ...]
    predictions: Predictions
    group_names: Labels
    group_of_row: Indices  # The position of the group of each row in the names.
    scores_by_group: tuple[Floats, ...]  # The scores of the rows of each group, from the highest down.
    all_scores: Floats

    @classmethod
    def of(cls, columns: Sequence[SensitiveColumn], frame: pd.DataFrame, predictions: Predictions) -> "_Candidates":
        """Sort the scores of each group."""
        group_names, group_of_row = np.unique(name_groups(columns, frame), return_inverse=True)
        scores = predictions.probabilities[:, POSITIVE]
        scores_by_group = [_descending(scores[group_of_row == code]) for code in range(len(group_names))]
        return cls(tuple(columns), predictions, group_names, group_of_row, tuple(scores_by_group), _descending(scores))

    def thresholds(self, rate: float) -> GroupThresholds:
        """Return the thresholds by which about this share of each group is selected."""
        large_groups = {
            str(name): scores
            for name, scores in zip(self.group_names, self.scores_by_group, strict=True)
            if len(scores) >= SMALL_GROUP_ROWS
        }
        return GroupThresholds(
            columns=self.columns,
            by_group={name: threshold_of_rate(scores, rate) for name, scores in large_groups.items()},
            default=threshold_of_rate(self.all_scores, rate),
        )

    def decide(self, rate: float) -> Predictions:
        """Return the predictions by which about this share of each group is selected."""
        thresholds = self.thresholds(rate)
        threshold_of_group = np.array([thresholds.by_group.get(name, thresholds.default) for name in self.group_names])
        is_selected = self.predictions.probabilities[:, POSITIVE] >= threshold_of_group[self.group_of_row]
        return self.predictions.with_predicted(is_selected.astype(np.intp))


def _descending(scores: Floats) -> Floats:
    """Return scores from the highest down."""
    return np.sort(scores)[::-1]


def threshold_of_rate(descending_scores: Floats, rate: float) -> float:
    """Return the threshold from which on about this share of the rows is selected, and at least one row.

    It lies in the middle between the lowest score that is selected and the highest that is not.
    """
    selected_rows = max(1, round(rate * len(descending_scores)))
    lowest_selected = float(descending_scores[selected_rows - 1])
    if selected_rows == len(descending_scores):
        return lowest_selected
    return (lowest_selected + float(descending_scores[selected_rows])) / 2
