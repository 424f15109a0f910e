"""The files of a finished training."""

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec
from sklearn.pipeline import Pipeline

from touchstone.learning.artifacts import model_artifact
from touchstone.learning.artifacts.environment import environment_txt
from touchstone.learning.artifacts.example_rows import EXAMPLE_ROWS, pair_with_answers, rows_as_json
from touchstone.learning.artifacts.held_out_rows import predictions_parquet, split_json
from touchstone.learning.artifacts.intended_use import CardSources
from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.artifacts.model_card import build_model_card, render_model_card
from touchstone.learning.artifacts.onnx_delivery import OnnxDelivery, deliver_onnx
from touchstone.learning.artifacts.scratch_files import write_artifact
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.prediction import predict
from touchstone.learning.task_interface import Json, Outcome
from touchstone.learning.time_budget import TimeBudget

MODEL: Final = "model.skops"
ONNX_MODEL: Final = "model.onnx"


@dataclass(frozen=True, slots=True)
class FinishedTraining:
    """A finished training with everything that its files contain.

    Attributes:
        experiment: the prepared data and the request.
        search: the chosen model and its results on the test rows.
        result: the result as documented by the API.
        record: the record stored in the model file.
        pipeline: the model to deliver, from source columns to predictions.
        budget: the time budget of the training. Optional files are only written if enough time remains.
        sources: statements about the dataset and the use of the model for the model card.
    """

    experiment: Experiment
    search: SearchResult
    result: Json
    record: Json
    pipeline: Pipeline = field(repr=False)
    budget: TimeBudget
    sources: CardSources

    def write_files(self, scratch: Path) -> Outcome:
        """Write the files into the folder `scratch`, and return them with the completed result.

        The digest of the model file and the information about the ONNX file are added to the result.
        """
        record = self.record | {"examples": self._build_examples()}
        model = model_artifact.dump(self.pipeline, record)
        onnx = self._deliver_onnx()
        result = self.result | {"onnx": onnx.statement}
        card = build_model_card(result, record, self.sources)

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
        if onnx.content is not None:
            contents[ONNX_MODEL] = onnx.content

        files = {name: write_artifact(scratch, name, content) for name, content in contents.items()}
        stored_model = result["model"] | {"artifact": MODEL, "sha256": files[MODEL].sha256}
        return Outcome(result | {"model": stored_model}, tuple(files.values()))

    def _deliver_onnx(self) -> OnnxDelivery:
        """Convert the model to ONNX and verify it on test rows."""
        model = LoadedModel(self.pipeline, self.record)
        test_rows = self.experiment.data.frame.iloc[self.experiment.folds[0].test]
        return deliver_onnx(model, test_rows, self.budget)

    def _build_examples(self) -> list[Json]:
        """Return some test rows with the predictions of the delivered model."""
        positions = self.experiment.folds[0].test[:EXAMPLE_ROWS]
        names = [*self.experiment.data.frame, *self._extra_group_columns()]
        table_rows = self.experiment.target.rows[positions]
        rows = rows_as_json(self.experiment.table.frame[names].iloc[table_rows])

        model = LoadedModel(self.pipeline, self.record)
        return pair_with_answers(rows, predict(model, rows)["predictions"], model.classes)

    def _extra_group_columns(self) -> list[str]:
        """Return the names of the sensitive columns that are not features, but determine the group threshold."""
        thresholds = self.search.group_thresholds
        if thresholds is None:
            return []
        return [column.name for column in thresholds.columns if column.name not in self.experiment.data.frame]
