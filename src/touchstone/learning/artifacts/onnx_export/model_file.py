"""The file `model.onnx`, which predicts from the columns of the table like the service itself.

It is only delivered if the predictions of ONNX Runtime equal the predictions of the model for all verified rows.
"""

import importlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.artifacts.onnx_export.estimators import add_model
from touchstone.learning.artifacts.onnx_export.graph import Graph
from touchstone.learning.artifacts.onnx_export.preparation import encode_columns, input_ports
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx
from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.preparation import encode_frame
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json
from touchstone.learning.trial_fitting import predict_matrix

TOLERANCE: Final = 1e-5  # The tree operators use 32-bit sums.
EPOCH: Final = pd.Timestamp("1970-01-01")
ERRORS_ONLY: Final = 3  # the least severity that ONNX Runtime logs

Array = npt.NDArray[Any]


def convert_model(model: LoadedModel) -> bytes:
    """Convert a model to the content of an ONNX file.

    The first output is `prediction`, a class name or a number. A classifier also has the output `probabilities`, with
    a column for each class. The properties of the file contain the kinds of the inputs, the target and the classes.

    Raises:
        NotInOnnx: a part of the model has no equivalent in ONNX.
    """
    if model.group_thresholds is not None:
        raise NotInOnnx("group_thresholds")

    graph = Graph(input_ports(model.columns))
    predictions = add_model(graph, model.estimator, encode_columns(graph, model.preparation))
    if not model.classes:
        numbers = graph.apply("Reshape", predictions, graph.constant([-1], np.int64))
        graph.add_output("prediction", numbers, np.float64, (None,))
        return graph.serialize(_properties(model))

    probabilities = _add_missing_classes(graph, model, predictions)
    graph.add_output("prediction", _add_decision(graph, model, probabilities), np.object_, (None,))
    graph.add_output("probabilities", probabilities, np.float64, (None, len(model.classes)))
    return graph.serialize(_properties(model))


def _properties(model: LoadedModel) -> Json:
    """Return the properties that describe the model to users of the file."""
    return {
        "kinds": {column.name: str(column.kind) for column in model.columns},
        "target": model.target,
        "classes": list(model.classes),
        "positive_class": model.positive_class,
        "decision": model.decision_rule.to_record(),
        "data_sha256": model.data_sha256,
    }


def _add_missing_classes(graph: Graph, model: LoadedModel, probabilities: str) -> str:
    """Add probabilities of 0 for the classes that do not occur in the training rows."""
    all_classes = np.eye(len(model.classes))
    learned_classes = all_classes[model.estimator.classes_]
    return graph.apply("MatMul", probabilities, graph.constant(learned_classes))


def _add_decision(graph: Graph, model: LoadedModel, probabilities: str) -> str:
    """Add the name of the class chosen by the decision rule of the model."""
    rule = model.decision_rule
    if len(model.classes) == 2:
        positive = graph.apply("Gather", probabilities, graph.constant(1, np.int64), axis=1)
        is_positive = graph.apply("GreaterOrEqual", positive, graph.constant(rule.threshold))
        codes = graph.cast(is_positive, np.int64)
    else:
        weights = graph.constant(rule.class_weights or [1.0] * len(model.classes))
        codes = graph.apply("ArgMax", graph.apply("Mul", probabilities, weights), axis=1, keepdims=0)

    names = graph.constant([str(label) for label in model.classes], np.object_)
    return graph.apply("Gather", names, codes)


def verify_file(content: bytes, model: LoadedModel, frame: pd.DataFrame) -> None:
    """Raise `NotInOnnx` if the predictions of an ONNX file differ from the predictions of the model."""
    matrix = encode_frame(model.preparation, frame)
    values, probabilities = predict_matrix(model.estimator, matrix, len(model.classes), model.decision_rule)

    outputs = _run(content, model, frame)
    if model.classes:
        names = np.array([str(label) for label in model.classes], dtype=object)
        is_same_class = outputs[0] == names[values]
        is_same = is_same_class & _are_close(outputs[1], probabilities).all(axis=1)
    else:
        is_same = _are_close(outputs[0], values)

    different_rows = int((~is_same).sum())
    if different_rows:
        raise NotInOnnx("differs", different=different_rows, rows=len(frame))


def _are_close(numbers: Floats, expected: Floats) -> npt.NDArray[np.bool_]:
    """Return a mask of the numbers that equal the expected ones, with a tolerance relative to the largest."""
    return np.isclose(numbers, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())


def _run(content: bytes, model: LoadedModel, frame: pd.DataFrame) -> list[Array]:
    """Run an ONNX file on the rows of a frame, and return its outputs."""
    onnxruntime = importlib.import_module("onnxruntime")  # an optional package
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS_ONLY
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    inputs = {column.name: _input_values(column, frame[column.name]).reshape(-1, 1) for column in model.columns}
    outputs: list[Array] = session.run(None, inputs)
    return outputs


def _input_values(column: ColumnSchema, cells: "pd.Series[Any]") -> Array:
    """Convert the cells of a column to the input type of the file."""
    if column.kind is ColumnKind.DATE:
        return ((cells - EPOCH) / pd.Timedelta(seconds=1)).to_numpy(dtype=np.float64)
    return cells.to_numpy(dtype=np.float64 if column.kind is ColumnKind.NUMBER else np.object_)
