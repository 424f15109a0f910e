"""Warnings about rows that a model with thresholds by group decides with the common threshold."""

import pandas as pd

from touchstone.learning.fairness.group_thresholds import GroupThresholds, name_groups
from touchstone.learning.observed_values import RowWarnings, row_warning
from touchstone.learning.row_values import cell_as_text


def warn_of_unknown_groups(thresholds: GroupThresholds, frame: pd.DataFrame) -> list[RowWarnings]:
    """Return the warnings about each row of a frame with the sensitive columns.

    Warned of are values that are missing or belong to none of the groups of the training, unless they have a threshold
    of their own. A group of the training that was too small for a threshold is known, so there is no warning about it.
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
