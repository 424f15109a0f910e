"""Small tables for the tests, and helpers to train models on them and to explain these."""

import io
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.learning.explaining.explanation_run import run_explanation
from touchstone.learning.request_definitions import ExplanationRequest, TrainingRequest
from touchstone.learning.task_interface import DataFile, Json, ModelFile, Outcome
from touchstone.learning.training import run_training


class Progress:
    """A progress callback that records what is reported."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, str, str]] = []

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        self.reports.append((percent, phase, message))


def messy_table(rows: int = 240, seed: int = 0) -> pd.DataFrame:
    """Return a table with all kinds of columns that real tables have; `outcome` depends on `amount` and `colour`."""
    rng = np.random.default_rng(seed)
    amount = rng.normal(50, 10, rows).round(2)
    colour = rng.choice(["red", "green", "blue"], rows)
    outcome = np.where(amount + 8 * (colour == "red") + rng.normal(0, 4, rows) > 52, "yes", "no")
    cells = amount.astype(str).astype(object)
    cells[::17] = " ?"
    cells[5] = "inf"
    return pd.DataFrame(
        {
            "id": np.arange(1, rows + 1),
            "amount": cells,
            "colour": np.where(rng.random(rows) < 0.1, "NA", colour),
            "city": [f"city {number}" for number in rng.integers(0, 60, rows)],
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(rows), unit="D"),
            "notes": [f"a note about {word} and number {number % 50}" for number, word in enumerate(colour)],
            "constant": "same",
            "empty": "",
            "sex": rng.choice(["f", "m"], rows),
            "outcome": outcome,
        }
    )


def csv_file(frame: pd.DataFrame, **settings: Any) -> DataFile:
    """Return a frame as a CSV file."""
    return DataFile(io.BytesIO(frame.to_csv(index=False, **settings).encode()), "csv")


def parquet_file(table: pa.Table) -> DataFile:
    """Return a table as a Parquet file."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return DataFile(buffer, "parquet")


def data_file(text: str | bytes, file_type: str = "csv") -> DataFile:
    """Return bytes as a data file."""
    return DataFile(io.BytesIO(text.encode() if isinstance(text, str) else text), file_type)


def train(frame: pd.DataFrame, target: str, folder: Path, **body: Any) -> Outcome:
    """Train a model with few trials."""
    request = msgspec.convert({"dataset_id": 1, "target": target, "budget": {"max_trials": 2}, **body}, TrainingRequest)
    return run_training(request, csv_file(frame), scratch=folder, report=Progress())


def model_of(outcome: Outcome) -> ModelFile:
    """Return the model file that a training has written."""
    artifact = outcome.artifacts[0]
    return ModelFile(io.BytesIO(artifact.path.read_bytes()), artifact.sha256)


def explain(frame: pd.DataFrame, model: ModelFile | None, folder: Path, **body: Any) -> Json:
    """Explain a model, or the table alone."""
    subject = {"dataset_id": 1} if model is None else {"job_id": "job"}
    request = msgspec.convert({**subject, **body}, ExplanationRequest)
    return run_explanation(request, csv_file(frame), model, scratch=folder, report=Progress()).result
