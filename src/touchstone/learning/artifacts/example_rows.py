"""Example rows of the training table with their predictions, which users of a model can check."""

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from touchstone.learning.column_types import MISSING
from touchstone.learning.request_definitions import Cell
from touchstone.learning.task_interface import Json

EXAMPLE_ROWS: Final = 5


def rows_as_json(frame: pd.DataFrame) -> list[Json]:
    """Convert the rows of a table to `{column: value}` as in requests, with None for missing values."""
    names = list(frame.columns)
    return [
        dict(zip(names, map(_cell_as_json, cells), strict=True)) for cells in frame.itertuples(index=False, name=None)
    ]


def _cell_as_json(cell: Any) -> Cell:
    """Convert a cell to JSON: a number, a string, a date in ISO 8601, or None."""
    if cell == MISSING or pd.isna(cell):
        return None
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat()
    return float(cell) if isinstance(cell, float) else str(cell)


def pair_with_answers(rows: Sequence[Json], answers: Sequence[Json], classes: Sequence[Cell]) -> list[Json]:
    """Pair rows with their predictions as `[{row, answer}]`, the format that `example.py` reads."""
    examples = []
    for row, answer in zip(rows, answers, strict=True):
        expected: Json = {"prediction": answer["prediction"]}
        if classes:
            expected["probabilities"] = dict(zip(map(str, classes), answer["probabilities"], strict=True))
        examples.append({"row": row, "answer": expected})
    return examples
