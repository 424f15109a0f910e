"""Files about the test rows of a training: their row numbers and their predictions.

Rows are numbered from 0 in the order of the data file, without counting its header.
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
    """Return a Parquet file with the prediction for every test row.

    Each row is predicted by a model that has not learned from it. The columns are `row`, `fold`, `truth`, `prediction`,
    for a classifier `probability_<class>` for each class, and `weight` if the rows have weights in metrics.
    """
    tables = [
        _fold_table(target, fold_number, fold, predictions)
        for fold_number, (fold, predictions) in enumerate(zip(folds, predictions_of_folds, strict=True))
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.concat_tables(tables), buffer)
    return buffer.getvalue()


def _fold_table(target: Target, fold_number: int, fold: Fold, predictions: Predictions) -> pa.Table:
    """Return the predictions for the test rows of one fold.

    Integers have 64 bits, whatever NumPy uses on this machine, so that the same training writes the same file.
    """
    rows = target.rows[fold.test]
    columns = {
        "row": rows.astype(np.int64),
        "fold": np.full(len(rows), fold_number, dtype=np.int64),
        "truth": _decode_classes(target, predictions.truth),
        "prediction": _decode_classes(target, predictions.predicted),
    }
    for code, class_name in enumerate(target.classes):
        columns[f"probability_{class_name}"] = predictions.probabilities[:, code]
    if predictions.weights is not None:
        columns["weight"] = predictions.weights
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _decode_classes(target: Target, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert class codes to classes, or return the values of a regression unchanged."""
    if not target.is_classification:
        return values
    classes: npt.NDArray[Any] = np.array(target.classes, dtype=object)
    return np.take(classes, values)


def split_json(target: Target, folds: Sequence[Fold], plan: Json) -> bytes:
    """Return a JSON file with the split plan and the training and test rows of every fold.

    A row that is in neither list was not used in this fold, for example because its target is missing.
    """
    content = {
        "plan": plan,
        "folds": [
            {"train": target.rows[fold.train].tolist(), "test": target.rows[fold.test].tolist()} for fold in folds
        ],
    }
    return msgspec.json.encode(content) + b"\n"
