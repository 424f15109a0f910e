"""Metrics by group of people. An average over all groups would hide groups with poor predictions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.evaluation import Mask, Predictions
from touchstone.learning.fairness.disparities import GroupName, gap_to_json, widest_gap
from touchstone.learning.fairness.estimates import Estimate, Mean, Share, estimate_to_json
from touchstone.learning.fairness.groups import (
    INTERSECTION,
    OTHER_GROUPS,
    Labels,
    SensitiveColumn,
    intersect_labels,
    merge_small_groups,
)
from touchstone.learning.task_interface import Json

SMALL_GROUP_ROWS: Final = 30
POSITIVE: Final = 1

Estimates = Mapping[str, Estimate]  # by the name of the metric


@dataclass(frozen=True, slots=True)
class MeasuredGroup:
    """The metrics of one group of people.

    Attributes:
        name: the name of the group, or None for the rows without a value in the sensitive column.
        rows: the number of rows.
        estimates: the metrics by name.
        estimates_by_class: the rates by class if there are more than two classes.
    """

    name: GroupName
    rows: int
    estimates: Estimates
    estimates_by_class: Mapping[str, Estimates] = field(default_factory=dict)

    @property
    def is_too_small(self) -> bool:
        """Whether the group has too few rows for conclusions."""
        return self.rows < SMALL_GROUP_ROWS


@dataclass(frozen=True, slots=True)
class GroupMeasurer:
    """Measures predictions by group of people.

    `classes` lists the names of the classes in the order of their codes. If there are two, the second is positive.
    """

    predictions: Predictions
    classes: Sequence[Any] = ()

    def measure(self, frame: pd.DataFrame, columns: Sequence[SensitiveColumn]) -> list[Json]:
        """Return the metrics by group for each sensitive column and for the intersection of several columns.

        Args:
            frame: the sensitive columns of the predicted rows, in the order of the predictions.
            columns: the sensitive columns with their groups.

        Returns:
            an entry `{column, columns, groups: [{group, rows, too_small, metrics}], gaps}` per column. With more than
            two classes, the groups also have `classes`, and the entry has `class_gaps`. The group None contains the
            rows without a value.
        """
        labels_by_column = [column.assign(frame[column.name]) for column in columns]
        entries = [
            self._measure_groups([column.name], labels, column.groups)
            for column, labels in zip(columns, labels_by_column, strict=True)
        ]

        if len(columns) > 1:
            intersections = merge_small_groups(intersect_labels(labels_by_column))
            entries.append(self._measure_groups([column.name for column in columns], intersections, ()))
        return entries

    def _measure_groups(self, columns: Sequence[str], labels: Labels, defined_names: Sequence[str]) -> Json:
        """Return the metrics of every group that occurs, and the gaps between large groups."""
        names = _sorted_names(labels, defined_names)
        groups = [self._measure_group(name, _is_member(labels, name)) for name in names]
        large_groups = [group for group in groups if not group.is_too_small]

        # All groups have the same metrics, but all of them may be too small.
        metrics = groups[0].estimates if groups else {}
        entry: Json = {
            "column": INTERSECTION.join(columns),
            "columns": list(columns),
            "groups": [_group_to_json(group) for group in groups],
            "gaps": _gaps_by_metric(metrics, {group.name: group.estimates for group in large_groups}),
        }
        if groups and groups[0].estimates_by_class:
            entry["class_gaps"] = {
                class_name: _gaps_by_metric(
                    rates, {group.name: group.estimates_by_class[class_name] for group in large_groups}
                )
                for class_name, rates in groups[0].estimates_by_class.items()
            }
        return entry

    def _measure_group(self, name: GroupName, is_member: Mask) -> MeasuredGroup:
        """Measure the predictions of the members of a group."""
        members = self.predictions.take(is_member)
        rows = len(members.truth)
        if members.class_count == 0:
            return MeasuredGroup(name, rows, _regression_estimates(members))

        accuracy = Share.count(members.truth == members.predicted, among=np.ones(rows, dtype=np.bool_))
        if members.class_count == 2:
            rates = _class_rates(members, POSITIVE)
            return MeasuredGroup(name, rows, {"accuracy": accuracy, **rates})

        rates_by_class = {str(label): _class_rates(members, code) for code, label in enumerate(self.classes)}
        return MeasuredGroup(name, rows, {"accuracy": accuracy}, rates_by_class)


def _is_member(labels: Labels, name: GroupName) -> Mask:
    """Return a mask of the members of a group. The group None contains the rows without a value."""
    return np.asarray(pd.isna(labels) if name is None else labels == name, dtype=np.bool_)


def _sorted_names(labels: Labels, defined_names: Sequence[str]) -> list[GroupName]:
    """Return the names of the groups that occur, first in the order of their definition, then by name.

    The group of all other values comes last but one, and the group of the rows without a value comes last.
    """
    occurring = set(labels)
    # A category may be called like the group of all other values, and is then part of it.
    defined = [name for name in defined_names if name in occurring and name != OTHER_GROUPS]
    others = sorted(occurring - {*defined, OTHER_GROUPS, None})
    last = [name for name in (OTHER_GROUPS, None) if name in occurring]
    return [*defined, *others, *last]


def _class_rates(predictions: Predictions, code: int) -> Estimates:
    """Return the common fairness rates for one class. A row is selected if the class is predicted for it."""
    is_selected = predictions.predicted == code
    is_positive = predictions.truth == code
    all_rows = np.ones(len(is_selected), dtype=np.bool_)
    return {
        "selection_rate": Share.count(is_selected, among=all_rows),
        "true_positive_rate": Share.count(is_selected, among=is_positive),
        "false_positive_rate": Share.count(is_selected, among=~is_positive),
        "positive_predictive_value": Share.count(is_positive, among=is_selected),
    }


def _regression_estimates(predictions: Predictions) -> Estimates:
    """Return the mean absolute error and the mean signed error."""
    errors = predictions.predicted - predictions.truth
    return {"mae": Mean.from_values(np.abs(errors)), "mean_error": Mean.from_values(errors)}


def _group_to_json(group: MeasuredGroup) -> Json:
    """Return the metrics of a group as JSON."""
    entry: Json = {
        "group": group.name,
        "rows": group.rows,
        "too_small": group.is_too_small,
        "metrics": _estimates_to_json(group.estimates),
    }
    if group.estimates_by_class:
        entry["classes"] = {name: _estimates_to_json(rates) for name, rates in group.estimates_by_class.items()}
    return entry


def _estimates_to_json(estimates: Estimates) -> Json:
    """Return metrics with their intervals, by name."""
    return {name: estimate_to_json(estimate) for name, estimate in estimates.items()}


def _gaps_by_metric(metrics: Iterable[str], estimates_by_group: Mapping[GroupName, Estimates]) -> Json:
    """Return the gap between the two groups that differ most, for each metric."""
    return {
        metric: gap_to_json(widest_gap({name: estimates[metric] for name, estimates in estimates_by_group.items()}))
        for metric in metrics
    }
