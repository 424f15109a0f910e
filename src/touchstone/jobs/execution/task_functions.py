"""The task functions of worker processes, which call the `learning` package.

Importing this module loads heavy libraries, so only worker processes and the fork server import it.
"""

import base64
import hashlib
from typing import Final

import msgspec

from touchstone.jobs.execution.protocol import OutputFile, TaskContext, TaskSet, TaskSucceeded, WorkerTask
from touchstone.jobs.input_files import DATA, MODEL
from touchstone.jobs.job_kinds import DRAW_TASK, EXPLANATION, PREDICT_TASK, PREVIEW_TASK, TRAINING
from touchstone.learning import training
from touchstone.learning.charts.renderer import render_png, render_svg
from touchstone.learning.explaining import explanation_run
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.model_cache import ModelCache
from touchstone.learning.request_definitions import ExplanationRequest, TrainingRequest
from touchstone.learning.task_interface import DataFile, ModelFile, Outcome

MODEL_CACHE: Final = ModelCache()


def train(context: TaskContext) -> TaskSucceeded:
    """Run the training of a `TrainingRequest`."""
    request = msgspec.convert(context.request, TrainingRequest)
    outcome = training.run_training(request, _data_file(context), scratch=context.scratch_folder, report=context.report)
    return _success_message(outcome)


def explain(context: TaskContext) -> TaskSucceeded:
    """Run the explanation of an `ExplanationRequest`."""
    request = msgspec.convert(context.request, ExplanationRequest)
    outcome = explanation_run.run_explanation(
        request, _data_file(context), _model_file(context), scratch=context.scratch_folder, report=context.report
    )
    return _success_message(outcome)


def predict_rows(context: TaskContext) -> TaskSucceeded:
    """Predict the `rows` of the request with a trained model, which stays cached if the process is kept."""
    model_file = _model_file(context)
    assert model_file is not None, "a prediction needs a model"
    predictor = MODEL_CACHE.load(model_file)
    return TaskSucceeded(result=predictor.predict(context.request["rows"]))


def preflight_train(context: TaskContext) -> TaskSucceeded:
    """Check a training request against its table, and return the dimensions and the digest of the table."""
    request = msgspec.convert(context.request, TrainingRequest)
    return TaskSucceeded(result=training.preflight(request, _data_file(context)))


def preview_train(context: TaskContext) -> TaskSucceeded:
    """Check a training request like `preflight_train`, and also return the planned split of the rows."""
    request = msgspec.convert(context.request, TrainingRequest)
    return TaskSucceeded(result=training.preview(request, _data_file(context)))


def preflight_explain(context: TaskContext) -> TaskSucceeded:
    """Check an explanation request against its files, and return the table's dimensions and digest."""
    request = msgspec.convert(context.request, ExplanationRequest)
    return TaskSucceeded(result=explanation_run.preflight(request, _data_file(context), _model_file(context)))


def draw(context: TaskContext) -> TaskSucceeded:
    """Render the Vega-Lite `spec` of the request as a PNG or SVG image, and return it in base64."""
    spec = context.request["spec"]
    image_format = context.request["format"]
    image = render_png(spec) if image_format == "png" else render_svg(spec).encode()
    return TaskSucceeded(result=base64.b64encode(image).decode())


def _data_file(context: TaskContext) -> DataFile:
    """Return the data file of a task, after checking that it has not changed since the job was accepted.

    Raises:
        LearningError: the content of the file has changed.
    """
    stream = context.files[DATA]
    source = context.source

    if source.sha256 is not None:
        # Every binary stream has the required method `readinto`, but `typing.BinaryIO` does not declare it.
        digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        stream.seek(0)
        if digest != source.sha256:
            raise LearningError("data_changed")

    assert source.file_type is not None, "a task with a data file has its type"
    return DataFile(stream, source.file_type, source.declared, source.dataset, source.project)


def _model_file(context: TaskContext) -> ModelFile | None:
    """Return the model file of a task with its expected digest, or None if the task has no model."""
    if MODEL not in context.files:
        return None

    assert context.source.model_sha256 is not None, "a task with a model file has its digest"
    return ModelFile(context.files[MODEL], context.source.model_sha256)


def _success_message(outcome: Outcome) -> TaskSucceeded:
    """Convert the outcome of a training or an explanation to a message for the parent process."""
    output_files = tuple(OutputFile(name=file.name, media_type=file.media_type) for file in outcome.artifacts)
    return TaskSucceeded(result=outcome.result, files=output_files)


TASKS: Final = TaskSet(
    WorkerTask(TRAINING.name, train),
    WorkerTask(EXPLANATION.name, explain),
    WorkerTask(TRAINING.preflight_task, preflight_train),
    WorkerTask(EXPLANATION.preflight_task, preflight_explain),
    WorkerTask(PREVIEW_TASK, preview_train),
    WorkerTask(PREDICT_TASK, predict_rows),
    WorkerTask(DRAW_TASK, draw),
)
