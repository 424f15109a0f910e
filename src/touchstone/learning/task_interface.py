"""The types that pass between a training or explanation and its caller: files, progress, results and artifacts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import msgspec

Json = dict[str, Any]

# The media types of the files that a task may write, by their suffix.
MEDIA_TYPES: Final = {
    ".skops": "application/vnd.skops",
    ".onnx": "application/octet-stream",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
}


class Phase(StrEnum):
    """The phases of a job, in the order in which they are reported."""

    CHECKING = "checking"  # The request alone, before any work.
    READING = "reading"
    PREPARING = "preparing"
    SEARCHING = "searching"
    EVALUATING = "evaluating"
    EXPLAINING = "explaining"
    WRITING = "writing"


class Report(Protocol):
    """A callback that is told how far the work is."""

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Take note of the progress; raising an exception ends the work.

        `percent` (0-100) never decreases; `message` is a key of `messages.progress.PROGRESS`.
        """


@dataclass(frozen=True, slots=True)
class StepwiseProgress:
    """A part of a task that advances in equal steps, from one percentage of the whole task to another."""

    report: Report = field(repr=False)
    phase: Phase
    message: str
    start_percent: float
    end_percent: float
    total_steps: int

    def report_step(self, step: int) -> None:
        """Report how many of the steps are done."""
        percent = self.start_percent + (self.end_percent - self.start_percent) * step / self.total_steps
        self.report(percent, self.phase, step=step, total_steps=self.total_steps, message=self.message)


@dataclass(frozen=True, slots=True)
class DataFile:
    """An opened table; it holds no path, so that no other file can be opened.

    `stream` is seekable. `declared` holds the attributes that the dataset's record declares (instances_number,
    features_number, missing_values_percentage), to be set beside the measured ones. `dataset` is what a model card says
    about the dataset: its name, licences, source, documented purposes, and ethical record with the levels of evidence.
    `project` holds the name and the description of the project that needs the model.
    """

    stream: BinaryIO
    file_type: str
    declared: Mapping[str, Any] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)
    project: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """An opened model file with its recorded digest; `stream` is seekable."""

    stream: BinaryIO
    sha256: str


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A file written into the scratch folder."""

    name: str
    path: Path
    media_type: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a task as the API documents it, and the files that it wrote."""

    result: Json
    artifacts: tuple[ArtifactFile, ...] = ()


def to_builtins(result: Json) -> Json:
    """Return the result with the numbers and arrays of the numeric libraries replaced by Python's own.

    A NumPy float passes for a Python float nearly everywhere, but not where a result is encoded.
    """
    builtins: Json = msgspec.to_builtins(result, enc_hook=lambda value: value.tolist())
    return builtins
