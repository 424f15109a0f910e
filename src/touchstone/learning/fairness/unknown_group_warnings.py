"""Warnings about rows without a group threshold, which are decided by the default threshold."""

import pandas as pd

from touchstone.learning.fairness.group_thresholds import GroupThresholds, name_groups
from touchstone.learning.observed_values import RowWarnings, row_warning
from touchstone.learning.row_values import cell_as_text


def warn_of_unknown_groups(thresholds: GroupThresholds, frame: pd.DataFrame) -> list[RowWarnings]:
    """Return a list of warnings for each row of a frame with the sensitive columns.

    There is a warning about each value that is missing or belongs to no group of the training, unless its group has a
    threshold. Groups of the training that were too small for a threshold are known and cause no warning.
    """
    names = name_groups(thresholds.columns, frame)
    rows_without_threshold = [row for row, name in enumerate(names) if name not in thresholds.by_group]

    warnings: list[RowWarnings] = [[] for _ in names]
    for column in thresholds.columns:
        cells = frame[column.name]
        labels = column.assign(cells)
        for row in rows_without_threshold:
            if labels[row] is None:
                warnings[row].append(row_warning("group_missing", column.name))
            elif labels[row] not in column.groups:
                warnings[row].append(row_warning("group_unseen", column.name, value=cell_as_text(cells.iloc[row])))
    return warnings
