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

    Returns `{predictions: [{prediction, probabilities?}], classes}`; only classifiers have probabilities, one for each
    of the classes. A feature that a row does not name counts as missing, and other columns of the training table are
    ignored. Raises `LearningError` (row_column_unknown, row_value_invalid, too_many_rows, artifact_damaged).
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

    predictions: list[Json]
    if model.classes:
        predictions = [
            {"prediction": model.classes[code], "probabilities": row_probabilities}
            for code, row_probabilities in zip(values, probabilities.tolist(), strict=True)
        ]
    else:
        predictions = [{"prediction": float(value)} for value in values]
    return {"predictions": predictions, "classes": list(model.classes)}
