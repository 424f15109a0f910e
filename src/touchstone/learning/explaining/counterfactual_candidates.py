"""The rows from which counterfactuals take values: the background rows and, if few columns may change, further ones.

Background rows are a sample, which may lack the values that a single column has to take. With few columns that may
change these decide, so rows with the lowest, the highest and evenly spaced numbers, and with the most frequent
categories, are added.
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
    """Rows of the table whose values counterfactuals may take over, as they are and encoded."""

    frame: pd.DataFrame = field(repr=False)
    encoded: Floats = field(repr=False)


def collect_candidate_rows(context: ExplanationContext) -> CandidateRows:
    """Return the background rows and, if few columns may change, training rows with the range of their values."""
    mutable_columns = [column for column in context.explained.columns if column.name not in context.immutable_columns]
    frame = context.background
    if len(mutable_columns) <= FEW_COLUMNS:
        learning_frame = context.learning_frame
        further_rows = [
            learning_frame.iloc[_rows_with_typical_values(column.kind, learning_frame[column.name])]
            for column in mutable_columns
        ]
        frame = pd.concat([frame, *further_rows], ignore_index=True)
    return CandidateRows(frame, context.explained.encode(frame))


def _rows_with_typical_values(kind: ColumnKind, cells: "pd.Series[Any]") -> Indices:
    """Return the positions of cells with evenly spaced quantiles of numbers or dates, or the most frequent words."""
    if kind in (ColumnKind.NUMBER, ColumnKind.DATE):
        known_rows = np.flatnonzero(cells.notna())
        sorted_rows = known_rows[np.argsort(cells.to_numpy()[known_rows], kind="stable")]
        return sorted_rows[evenly_spaced_positions(len(sorted_rows), VALUES_PER_COLUMN)]

    words = cells.reset_index(drop=True)
    known_words = words[words != MISSING]
    frequent_words = known_words.value_counts().sort_index().nlargest(VALUES_PER_COLUMN).index
    first_occurrences = known_words.drop_duplicates()
    return first_occurrences.index[first_occurrences.isin(frequent_words)].to_numpy(dtype=np.intp)
