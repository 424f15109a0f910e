"""Files about the rows that a model was measured on: which they are, and what was predicted for each.

Rows are numbered as in the data file, from 0, without its header.
"""

import io
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.learning.evaluation import Predictions
from touchstone.learning.splits.folds import Fold
from touchstone.learning.target import Target
from touchstone.learning.task_interface import Json


def predictions_parquet(target: Target, folds: Sequence[Fold], predictions_of_folds: Sequence[Predictions]) -> bytes:
    """Return a Parquet file with the prediction for every test row, made by a model that did not learn from the row.

    Its columns are `row`, `fold`, `truth`, `prediction` and, for classes, `probability_<class>` for each class.
    """
    tables = [
        _fold_table(target, number, fold, predictions)
        for number, (fold, predictions) in enumerate(zip(folds, predictions_of_folds, strict=True))
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.concat_tables(tables), buffer)
    return buffer.getvalue()


def _fold_table(target: Target, number: int, fold: Fold, predictions: Predictions) -> pa.Table:
    """Return the predictions for the test rows of one fold."""
    rows = target.rows[fold.test]
    columns = {
        "row": rows.astype(np.int64),
        "fold": np.full(len(rows), number, dtype=np.int64),
        "truth": _values(target, predictions.truth),
        "prediction": _values(target, predictions.predicted),
    }
    for code, label in enumerate(target.classes):
        columns[f"probability_{label}"] = predictions.probabilities[:, code]
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _values(target: Target, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the classes that class codes stand for; the values of a regression are returned as they are."""
    if not target.is_classification:
        return values
    classes: npt.NDArray[Any] = np.array(target.classes, dtype=object)
    return np.take(classes, values)


def split_json(target: Target, folds: Sequence[Fold], plan: Json) -> bytes:
    """Return a JSON file with the training and the test rows of every fold.

    `plan` says how the rows were divided. A row in neither list of a fold took no part in it, for example because its
    target is missing.
    """
    content = {
        "plan": plan,
        "folds": [
            {"train": target.rows[fold.train].tolist(), "test": target.rows[fold.test].tolist()} for fold in folds
        ],
    }
    return msgspec.json.encode(content) + b"\n"
