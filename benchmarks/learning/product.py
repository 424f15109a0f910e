"""Trainings of the product with default settings, and predictions of the stored model."""

import io
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.bare_training import ignore_progress
from touchstone.learning.artifacts.model_artifact import load
from touchstone.learning.prediction import predict
from touchstone.learning.request_definitions import MAX_INSTANCES, TrainingRequest
from touchstone.learning.task_interface import DataFile, Json, ModelFile
from touchstone.learning.training import run_training


def train(table: DataFile, target: str, **options: Any) -> tuple[Json, ModelFile]:
    """Train with default settings besides the options, and return the result and the stored model."""
    request = msgspec.convert({"dataset_id": 1, "target": target, **options}, TrainingRequest)
    with tempfile.TemporaryDirectory() as scratch:
        outcome = run_training(request, table, scratch=Path(scratch), report=ignore_progress)
        model = next(artifact for artifact in outcome.artifacts if artifact.name == "model.skops")
        return outcome.result, ModelFile(io.BytesIO(model.path.read_bytes()), model.sha256)


def as_file(table: pd.DataFrame) -> DataFile:
    """Return a table as a Parquet file."""
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return DataFile(buffer, "parquet")


def predict_table(model: ModelFile, table: pd.DataFrame) -> NDArray[Any]:
    """Return the predictions of a stored model for all rows of a table."""
    rows = [{str(name): _as_cell(value) for name, value in row.items()} for row in table.to_dict(orient="records")]
    loaded_model = load(model)
    predictions: list[Any] = []
    for start in range(0, len(rows), MAX_INSTANCES):
        prediction_result = predict(loaded_model, rows[start : start + MAX_INSTANCES])
        predictions += [entry["prediction"] for entry in prediction_result["predictions"]]
    return np.asarray(predictions)


def _as_cell(value: Any) -> Any:
    """Return a cell as JSON: None for a missing one, and a string for a date."""
    if pd.isna(value):
        return None
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    return value.item() if isinstance(value, np.generic) else value
