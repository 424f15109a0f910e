"""The kinds of work that exist, and how each calls the learning room. Loaded by working processes only: it is heavy."""

import base64
import hashlib
from typing import BinaryIO, Final

import msgspec

from touchstone.jobs.execution.protocol import Bench, Done, Produced, Task, TaskSet
from touchstone.jobs.job_inputs import DATA, MODEL
from touchstone.jobs.kinds import DRAW, EXPLAIN, PREDICT, PREFLIGHT, TRAIN
from touchstone.learning import training
from touchstone.learning.charts.renderer import render_png, render_svg
from touchstone.learning.errors import LearningError
from touchstone.learning.explaining import explanation_run as explaining
from touchstone.learning.interfaces import DataFile, ModelFile, Outcome
from touchstone.learning.prediction import predict
from touchstone.learning.requests import ExplanationRequest, TrainingRequest


def train(bench: Bench) -> Done:
    """Train a model by a `TrainingRequest`."""
    order = msgspec.convert(bench.order, TrainingRequest)
    return _done(training.run_training(order, _data(bench), scratch=bench.scratch, report=bench.report))


def explain(bench: Bench) -> Done:
    """Explain a model or a dataset by an `ExplanationRequest`."""
    order = msgspec.convert(bench.order, ExplanationRequest)
    return _done(
        explaining.run_explanation(order, _data(bench), _model(bench), scratch=bench.scratch, report=bench.report)
    )


def predict_rows(bench: Bench) -> Done:
    """Predict `rows` with a kept model."""
    return Done(result=predict(ModelFile(bench.files[MODEL], bench.source["model_sha256"]), bench.order["rows"]))


def preflight_train(bench: Bench) -> Done:
    """Do what a training does before it learns, and say what the table holds."""
    return Done(result=training.preflight(msgspec.convert(bench.order, TrainingRequest), _data(bench)))


def preflight_explain(bench: Bench) -> Done:
    """Do what an explanation does before it computes, and say what the table holds."""
    order = msgspec.convert(bench.order, ExplanationRequest)
    return Done(result=explaining.preflight(order, _data(bench), _model(bench)))


def draw(bench: Bench) -> Done:
    """Draw a chart: `{spec, format}` in, the picture in base64 out."""
    spec = bench.order["spec"]
    picture = render_png(spec) if bench.order["format"] == "png" else render_svg(spec).encode()
    return Done(result=base64.b64encode(picture).decode())


def _data(bench: Bench) -> DataFile:
    """The data file; what was promised when the job was accepted is held to when it runs, maybe much later."""
    stream, promised = bench.files[DATA], bench.source.get("sha256")
    if promised is not None and _digest(stream) != promised:
        raise LearningError("data_changed")
    return DataFile(bench.files[DATA], bench.source["file_type"], bench.source.get("declared", {}))


def _digest(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(2**20):
        digest.update(chunk)
    stream.seek(0)
    return digest.hexdigest()


def _model(bench: Bench) -> ModelFile | None:
    return ModelFile(bench.files[MODEL], bench.source["model_sha256"]) if MODEL in bench.files else None


def _done(outcome: Outcome) -> Done:
    files = tuple(Produced(name=file.name, media_type=file.media_type) for file in outcome.artifacts)
    return Done(result=outcome.result, files=files)


TASKS: Final = TaskSet(
    Task(TRAIN, train),
    Task(EXPLAIN, explain),
    Task(PREDICT, predict_rows),
    Task(PREFLIGHT[TRAIN], preflight_train),
    Task(PREFLIGHT[EXPLAIN], preflight_explain),
    Task(DRAW, draw),
)
