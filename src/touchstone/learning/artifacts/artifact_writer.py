"""The files of a finished training."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec
from sklearn.pipeline import Pipeline

from touchstone.learning.artifacts import model_artifact
from touchstone.learning.artifacts.environment import environment_txt
from touchstone.learning.artifacts.example_rows import EXAMPLE_ROWS, pair_with_answers, rows_as_json
from touchstone.learning.artifacts.held_out_rows import predictions_parquet, split_json
from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.artifacts.model_card import build_model_card, render_model_card
from touchstone.learning.artifacts.scratch_files import write_artifact
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.interfaces import Json, Outcome
from touchstone.learning.prediction import predict

MODEL: Final = "model.skops"


@dataclass(frozen=True, slots=True)
class FinishedTraining:
    """A training of which everything is known that its files contain.

    Attributes:
        result: the result as the API documents it.
        record: what is stored with the model for whoever loads it.
        pipeline: the model to deliver, from the columns of the table to predictions.
        dataset: what the catalog says about the dataset.
    """

    experiment: Experiment
    search: SearchResult
    result: Json
    record: Json
    pipeline: Pipeline = field(repr=False)
    dataset: Mapping[str, Any] = field(default_factory=dict)

    def write_files(self, scratch: Path) -> Outcome:
        """Write all files into a folder, and return them with the result, which then holds the digest of the model."""
        record = self.record | {"examples": self._examples()}
        model = model_artifact.dump(self.pipeline, record)
        card = build_model_card(self.result, record, self.dataset)

        target, folds = self.experiment.target, self.experiment.folds
        predictions = [fold.predictions for fold in self.search.folds]
        contents = {
            MODEL: model,
            "example.py": resources.files(__package__).joinpath("example.py").read_bytes(),
            "environment.txt": environment_txt(model),
            "predictions.parquet": predictions_parquet(target, folds, predictions),
            "split.json": split_json(target, folds, record["split"]),
            "model_card.json": msgspec.json.format(msgspec.json.encode(card)) + b"\n",
            "model_card.md": render_model_card(card).encode(),
        }
        files = tuple(write_artifact(scratch, name, content) for name, content in contents.items())

        model_file = files[0]
        stored_model = self.result["model"] | {"artifact": model_file.name, "sha256": model_file.sha256}
        return Outcome(self.result | {"model": stored_model}, files)

    def _examples(self) -> list[Json]:
        """Return some test rows with the predictions of the delivered model."""
        positions = self.experiment.folds[0].test[:EXAMPLE_ROWS]
        names = [*self.experiment.data.frame, *self._deciding_columns()]
        table_rows = self.experiment.target.rows[positions]
        rows = rows_as_json(self.experiment.table.frame[names].iloc[table_rows])

        model = LoadedModel(self.pipeline, self.record)
        return pair_with_answers(rows, predict(model, rows)["predictions"], model.classes)

    def _deciding_columns(self) -> list[str]:
        """Return the sensitive columns that are no features, but by which the model decides."""
        thresholds = self.search.group_thresholds
        if thresholds is None:
            return []
        return [column.name for column in thresholds.columns if column.name not in self.experiment.data.frame]
