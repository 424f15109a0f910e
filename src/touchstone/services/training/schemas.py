"""The HTTP schemas of previews and predictions."""

from typing import Any, Literal

from pydantic import BaseModel

from touchstone.http.request_models import RequestModel
from touchstone.jobs.request_schemas import Cell, CellRows
from touchstone.messages.row_warnings import ROW_WARNINGS


class TrainingPreview(BaseModel):
    """The table of a training that has not been started, and how its rows would be divided."""

    rows: int
    columns: int
    sha256: str
    split: dict[str, Any]


class PredictionRequest(RequestModel):
    """Rows to predict, each as {column: value}; a column that is left out counts as missing."""

    rows: CellRows


class RowWarningView(BaseModel):
    """A warning that a prediction is a guess, because the model has not seen such a value or such a row."""

    code: Literal[tuple(ROW_WARNINGS)]  # type: ignore[valid-type]
    column: str | None
    text: dict[str, str]
    facts: dict[str, Any]


class PredictionView(BaseModel):
    """One row's prediction; a classifier gives the probability of each class, in the order of `classes`."""

    prediction: Any
    probabilities: list[float] | None = None
    warnings: list[RowWarningView]


class PredictionsView(BaseModel):
    """The predictions, in the order of the rows.

    If there are two classes, the positive one is predicted if its probability reaches the threshold. Otherwise,
    `positive_class` and `threshold` are null.
    """

    predictions: list[PredictionView]
    classes: list[Cell]
    positive_class: Cell = None
    threshold: float | None = None
