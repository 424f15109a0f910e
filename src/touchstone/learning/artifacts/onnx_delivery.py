"""The optional delivery of a trained model in ONNX, with the reason if there is no file."""

import importlib.util
from dataclasses import dataclass, field
from typing import Final

import pandas as pd

from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.artifacts.onnx_export.model_file import convert_model, verify_file
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx
from touchstone.learning.localized_text import localize
from touchstone.learning.task_interface import Json
from touchstone.learning.time_budget import TimeBudget
from touchstone.messages.onnx_reasons import ONNX_DELIVERED, ONNX_REASONS

PACKAGES: Final = ("onnx", "onnxruntime")  # the extra `onnx`
MIN_SECONDS: Final = 3.0  # With less time left, the conversion is skipped to stay within the budget.
VERIFIED_ROWS: Final = 1_000


@dataclass(frozen=True, slots=True)
class OnnxDelivery:
    """The content of `model.onnx`, or None, and the statement about it in the training result."""

    statement: Json
    content: bytes | None = field(default=None, repr=False)


def deliver_onnx(model: LoadedModel, rows: pd.DataFrame, budget: TimeBudget) -> OnnxDelivery:
    """Convert a model to ONNX, and verify that its predictions for the given rows are the same.

    A failed conversion does not fail the training. The statement then contains the reason.
    """
    try:
        content = _convert_and_verify(model, rows.head(VERIFIED_ROWS), budget)
    except NotInOnnx as error:
        return _explain_absence(error)
    except Exception as error:  # noqa: BLE001 - an optional file must not fail the training
        return _explain_absence(NotInOnnx("failed", error=type(error).__name__))

    verified_rows = min(len(rows), VERIFIED_ROWS)
    text = localize(ONNX_DELIVERED, rows=verified_rows)
    return OnnxDelivery({"written": True, "reason": None, "rows": verified_rows, "text": text}, content)


def _convert_and_verify(model: LoadedModel, rows: pd.DataFrame, budget: TimeBudget) -> bytes:
    """Return the content of the file, or raise `NotInOnnx` with the reason."""
    if not all(importlib.util.find_spec(package) for package in PACKAGES):
        raise NotInOnnx("not_installed")
    if budget.remaining_seconds < MIN_SECONDS:
        raise NotInOnnx("no_time")

    content = convert_model(model)
    verify_file(content, model, rows)
    return content


def _explain_absence(error: NotInOnnx) -> OnnxDelivery:
    """Return an empty delivery that states the reason."""
    text = localize(ONNX_REASONS[error.reason], **error.facts)
    return OnnxDelivery({"written": False, "reason": error.reason, "rows": None, "text": text})
