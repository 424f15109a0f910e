"""The HTTP schemas of predictions."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from touchstone.http.request_models import RequestModel
from touchstone.jobs.request_schemas import Cell, CellRow
from touchstone.learning.requests import MAX_INSTANCES


class PredictionRequest(RequestModel):
    """Rows to predict, each as {column: value}; a column that is left out counts as missing."""

    rows: Annotated[list[CellRow], Field(max_length=MAX_INSTANCES)]


class PredictionView(BaseModel):
    """One row's prediction; a classifier gives the probability of each class, in the order of `classes`."""

    prediction: Any
    probabilities: list[float] | None = None


class PredictionsView(BaseModel):
    """The predictions, in the order of the rows."""

    predictions: list[PredictionView]
    classes: list[Cell]
