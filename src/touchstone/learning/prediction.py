"""Predictions of a trained model for rows that are given by value."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from threadpoolctl import ThreadpoolController

from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.interfaces import Json
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.model_search import predict_matrix, suppress_numeric_warnings
from touchstone.learning.observed_values import warn_of_unseen_values
from touchstone.learning.requests import MAX_INSTANCES, Cell
from touchstone.learning.row_values import build_frame
from touchstone.learning.target import Floats, Indices


def predict(model: LoadedModel, rows: Sequence[Mapping[str, Cell]]) -> Json:
    """Predict up to 1 000 rows, each given as `{column: value}`, with a trained model.

    A column that a row does not name counts as missing. Returns `{predictions: [{prediction, probabilities?,
    warnings}], classes, positive_class, threshold}`; only classifiers have probabilities, one for each of the classes.
    Of two classes, the positive one is predicted from the threshold on, or from that of its group. The warnings of a
    row name the values for which its prediction is a guess. Raises `LearningError` if there are too many rows, or if a
    row does not suit the model.
    """
    if len(rows) > MAX_INSTANCES:
        raise LearningError("too_many_rows", rows=len(rows), maximum=MAX_INSTANCES)
    if not rows:
        return {"predictions": [], **_description(model)}

    columns = model.columns
    # One thread, because the order in which several threads add numbers up would change the predictions.
    with _thread_pools().limit(limits=1), suppress_numeric_warnings():
        frame = build_frame(columns, rows, ignored=model.other_columns)
        matrix = encode_few_rows(model.preparation, frame)
        values, probabilities = predict_matrix(model.estimator, matrix, len(model.classes), model.decision_rule)
        if model.group_thresholds is not None:
            values = _decide_by_group(model, model.group_thresholds, rows, probabilities)
        warnings = warn_of_unseen_values(columns, model.observed_values, frame)

    if not model.classes:
        numbers = [
            {"prediction": float(value), "warnings": row_warnings}
            for value, row_warnings in zip(values, warnings, strict=True)
        ]
        return {"predictions": numbers, **_description(model)}

    predictions = [
        {"prediction": model.classes[class_code], "probabilities": row_probabilities, "warnings": row_warnings}
        for class_code, row_probabilities, row_warnings in zip(values, probabilities.tolist(), warnings, strict=True)
    ]
    return {"predictions": predictions, **_description(model)}


def encode_few_rows(preparation: ColumnTransformer, frame: pd.DataFrame) -> Floats:
    """Return the matrix that a fitted preparation makes of a frame, faster than the preparation itself.

    Its encoders receive arrays. For a few rows, scikit-learn would check each column of a frame longer than it encodes
    it. It also warns of arrays, which have no names, so the caller has to suppress warnings.
    """
    matrix = np.empty((len(frame), max(columns.stop for columns in preparation.output_indices_.values())))
    for step, encoder, names in preparation.transformers_:
        if step == "remainder":
            continue

        # An encoder of a single column takes a series.
        cells = frame[names] if isinstance(names, str) else frame[list(names)].to_numpy()
        encoded = encoder.transform(cells)
        matrix[:, preparation.output_indices_[step]] = encoded.toarray() if issparse(encoded) else encoded
    return matrix


def _decide_by_group(
    model: LoadedModel, thresholds: GroupThresholds, rows: Sequence[Mapping[str, Cell]], probabilities: Floats
) -> Indices:
    """Return the class codes of rows for which each group of people has a threshold of its own."""
    schemas = [column.schema for column in thresholds.columns]
    other_names = [*model.other_columns, *(column.name for column in model.columns)]
    return thresholds.decide(build_frame(schemas, rows, ignored=other_names), probabilities)


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the thread pools of the numeric libraries of this process; to look for them takes milliseconds."""
    return ThreadpoolController()


def _description(model: LoadedModel) -> Json:
    """Return what is needed to read the predictions of a model: the classes, the positive one and its threshold.

    There is no single threshold if each group of people has its own.
    """
    has_threshold = model.positive_class is not None and model.group_thresholds is None
    threshold = model.decision_rule.threshold if has_threshold else None
    return {"classes": list(model.classes), "positive_class": model.positive_class, "threshold": threshold}
