"""A few rows of the training table with the predictions of a model, by which its users can check that it works."""

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from touchstone.learning.column_types import MISSING
from touchstone.learning.request_definitions import Cell
from touchstone.learning.task_interface import Json

EXAMPLE_ROWS: Final = 5


def rows_as_json(frame: pd.DataFrame) -> list[Json]:
    """Return the rows of a table as requests give them: `{column: value}`, where a missing value is None."""
    names = list(frame.columns)
    return [
        dict(zip(names, map(_cell_as_json, cells), strict=True)) for cells in frame.itertuples(index=False, name=None)
    ]


def _cell_as_json(cell: Any) -> Cell:
    """Return a cell as JSON: a number, a text, a date in ISO 8601, or None."""
    if cell == MISSING or pd.isna(cell):
        return None
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat()
    return float(cell) if isinstance(cell, float) else str(cell)


def pair_with_answers(rows: Sequence[Json], answers: Sequence[Json], classes: Sequence[Cell]) -> list[Json]:
    """Return rows with the predictions for them, as `example.py` compares them: `[{row, answer}]`."""
    examples = []
    for row, answer in zip(rows, answers, strict=True):
        expected: Json = {"prediction": answer["prediction"]}
        if classes:
            expected["probabilities"] = dict(zip(map(str, classes), answer["probabilities"], strict=True))
        examples.append({"row": row, "answer": expected})
    return examples
