"""Predicting with a kept model, row by row, as its owner asks."""

from collections.abc import Mapping, Sequence

from threadpoolctl import threadpool_limits

from touchstone.learning import model_artifact
from touchstone.learning.errors import LearningError
from touchstone.learning.interfaces import Json, ModelFile
from touchstone.learning.model_artifact import Kept
from touchstone.learning.model_search import predict as predict_matrix
from touchstone.learning.model_search import quiet
from touchstone.learning.preparation import transform
from touchstone.learning.requests import MAX_INSTANCES, Cell
from touchstone.learning.row_values import frame_of


def predict(model: ModelFile, rows: Sequence[Mapping[str, Cell]]) -> Json:
    """Predict up to 1 000 rows given as {column: value}.

    Answers `{predictions: [{prediction, probabilities?}], classes}`; a feature that a row does not name counts as
    missing, a column of the data file that was not learned from is passed over.

    Raises `LearningError` (row_column_unknown, row_value_invalid, too_many_rows, artifact_damaged).
    """
    return predict_rows(model_artifact.load(model), rows)


def predict_rows(kept: Kept, rows: Sequence[Mapping[str, Cell]]) -> Json:
    """As `predict`, with a model that is already loaded."""
    if len(rows) > MAX_INSTANCES:
        raise LearningError("too_many_rows", rows=len(rows), maximum=MAX_INSTANCES)
    if not rows:
        return {"predictions": [], "classes": list(kept.classes)}
    with threadpool_limits(limits=1), quiet():
        frame = frame_of(kept.columns, rows, ignored=kept.record["other_columns"])
        prepare, model = kept.pipeline.named_steps["prepare"], kept.pipeline.named_steps["model"]
        values, probabilities = predict_matrix(model, transform(prepare, frame), len(kept.classes))
    if not kept.classes:
        return {"predictions": [{"prediction": float(value)} for value in values], "classes": []}
    answers = zip(values, probabilities.tolist(), strict=True)
    return {
        "predictions": [{"prediction": kept.classes[code], "probabilities": shares} for code, shares in answers],
        "classes": list(kept.classes),
    }
