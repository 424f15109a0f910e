"""The rows that supply the new values of counterfactuals.

These are the background rows. They are only a sample, so they may lack the one value that changes a prediction if few
columns may change. In this case, training rows are added: rows with the lowest, the highest and evenly spaced numbers,
and rows with the most frequent categories.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind
from touchstone.learning.even_spacing import evenly_spaced_positions
from touchstone.learning.explaining.counterfactuals import FEW_COLUMNS
from touchstone.learning.explaining.explanation_context import ExplanationContext
from touchstone.learning.target import Floats, Indices

VALUES_PER_COLUMN: Final = 50


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """Rows of the table whose values may be used in counterfactuals, both original and encoded."""

    frame: pd.DataFrame = field(repr=False)
    encoded: Floats = field(repr=False)


def collect_candidate_rows(context: ExplanationContext) -> CandidateRows:
    """Return the background rows, and training rows with typical values if few columns may change."""
    mutable_columns = [column for column in context.explained.columns if column.name not in context.immutable_columns]
    frame = context.background
    if len(mutable_columns) <= FEW_COLUMNS:
        learning_frame = context.learning_frame
        typical_rows = [
            learning_frame.iloc[_find_typical_rows(column.kind, learning_frame[column.name])]
            for column in mutable_columns
        ]
        frame = pd.concat([frame, *typical_rows], ignore_index=True)
    return CandidateRows(frame, context.explained.encode(frame))


def _find_typical_rows(kind: ColumnKind, cells: "pd.Series[Any]") -> Indices:
    """Return the positions of evenly spaced numbers or dates, or of the most frequent categories."""
    if kind.is_ordered:
        present_rows = np.flatnonzero(cells.notna())
        sorted_rows = present_rows[np.argsort(cells.to_numpy()[present_rows], kind="stable")]
        return sorted_rows[evenly_spaced_positions(len(sorted_rows), VALUES_PER_COLUMN)]

    categories = cells.reset_index(drop=True)
    present_categories = categories[categories != MISSING]
    frequent_categories = present_categories.value_counts().sort_index().nlargest(VALUES_PER_COLUMN).index
    first_occurrences = present_categories.drop_duplicates()
    return first_occurrences.index[first_occurrences.isin(frequent_categories)].to_numpy(dtype=np.intp)
