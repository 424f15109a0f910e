"""Predictions of a stored model for rows that are given by value."""

from collections.abc import Mapping, Sequence

from threadpoolctl import threadpool_limits

from touchstone.learning import model_artifact
from touchstone.learning.interfaces import Json, ModelFile
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.model_search import predict_matrix, suppress_numeric_warnings
from touchstone.learning.preparation import encode_frame
from touchstone.learning.requests import MAX_INSTANCES, Cell
from touchstone.learning.row_values import build_frame


def predict(model_file: ModelFile, rows: Sequence[Mapping[str, Cell]]) -> Json:
    """Predict up to 1 000 rows, each given as `{column: value}`, with a stored model.

    A column that a row does not name counts as missing. Returns `{predictions: [{prediction, probabilities?}],
    classes}`; only classifiers have probabilities, one for each of the classes. Raises `LearningError` if there are too
    many rows, if a row does not suit the model, or if the model file is damaged.
    """
    model = model_artifact.load(model_file)
    if len(rows) > MAX_INSTANCES:
        raise LearningError("too_many_rows", rows=len(rows), maximum=MAX_INSTANCES)
    if not rows:
        return {"predictions": [], "classes": list(model.classes)}

    # One thread, because the order in which several threads add numbers up would change the predictions.
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        frame = build_frame(model.columns, rows, ignored=model.other_columns)
        matrix = encode_frame(model.preparation, frame)
        values, probabilities = predict_matrix(model.estimator, matrix, len(model.classes))

    if not model.classes:
        numbers = [{"prediction": float(value)} for value in values]
        return {"predictions": numbers, "classes": []}

    predictions = []
    for class_code, row_probabilities in zip(values, probabilities.tolist(), strict=True):
        predictions.append({"prediction": model.classes[class_code], "probabilities": row_probabilities})
    return {"predictions": predictions, "classes": list(model.classes)}
