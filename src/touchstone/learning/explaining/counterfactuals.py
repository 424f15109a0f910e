"""Counterfactuals: the smallest change of a row, towards values of real rows, that changes the predicted class.

The nearest background rows for which the model predicts another class are the candidates (the nearest unlike
neighbours). The row takes over values of such a row one column at a time, always the one that moves the prediction
most, until the predicted class changes. The counterfactual with the fewest changes wins.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats

NEIGHBOURS: Final = 8
MAX_CHANGES: Final = 6


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A changed row for which the model predicts another class.

    Attributes:
        source_row: the position of the background row from which the new values are taken.
        changed_columns: the positions of the changed source columns.
        class_code: the code of the class that is now predicted.
    """

    source_row: int
    changed_columns: tuple[int, ...]
    class_code: int


def find_counterfactual(explained: ExplainedModel, row: Floats) -> Counterfactual | None:
    """Find the fewest changes of an encoded row that make the model predict another class.

    New values are only taken from the background rows that are most similar to the row but belong to another class, so
    that the changed row stays realistic. Returns None for a regression, and if no such change is found.
    """
    if explained.class_code is None:
        return None

    row_class = explained.predict_row(row)
    background_classes, _probabilities = explained.predict(explained.background)
    rows_of_other_classes = np.flatnonzero(background_classes != row_class)

    distances = np.abs(explained.background[rows_of_other_classes] - row).sum(axis=1)
    nearest_first = rows_of_other_classes[np.argsort(distances, kind="stable")]

    counterfactuals = []
    for source_row in nearest_first[:NEIGHBOURS].tolist():
        wanted_class = int(background_classes[source_row])
        counterfactual = _approach_source_row(explained, row, source_row, wanted_class)
        if counterfactual is not None:
            counterfactuals.append(counterfactual)

    if not counterfactuals:
        return None
    return min(counterfactuals, key=lambda counterfactual: len(counterfactual.changed_columns))


def _approach_source_row(
    explained: ExplainedModel, row: Floats, source_row: int, wanted_class: int
) -> Counterfactual | None:
    """Copy values of a background row into the row, column by column, until the wanted class is predicted.

    Each step copies the column that raises the probability of the wanted class most. Returns None if the class is not
    reached within `MAX_CHANGES` steps.
    """
    source_values = explained.background[source_row]
    remaining_columns = np.unique(explained.sources[row != source_values]).tolist()
    changed_columns: list[int] = []
    changed_row = row

    while remaining_columns and len(changed_columns) < MAX_CHANGES:
        candidates = np.array(
            [_copy_column(explained, source_values, changed_row, column) for column in remaining_columns]
        )
        _classes, probabilities = explained.predict(candidates)
        best = int(probabilities[:, wanted_class].argmax())

        changed_row = candidates[best]
        changed_columns.append(remaining_columns.pop(best))
        if explained.predict_row(changed_row) == wanted_class:
            return Counterfactual(source_row, tuple(changed_columns), wanted_class)
    return None


def _copy_column(explained: ExplainedModel, source_values: Floats, row: Floats, column: int) -> Floats:
    """Return a copy of an encoded row in which one source column has the value of another row."""
    encoded_columns = explained.block(column)
    changed_row = row.copy()
    changed_row[encoded_columns] = source_values[encoded_columns]
    return changed_row
