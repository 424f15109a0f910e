"""The files, progress reports, results and artifacts of trainings and explanations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import msgspec

Json = dict[str, Any]

# The media types of the artifacts by file suffix.
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

    CHECKING = "checking"  # checking the request alone
    READING = "reading"
    PREPARING = "preparing"
    SEARCHING = "searching"
    EVALUATING = "evaluating"
    EXPLAINING = "explaining"
    WRITING = "writing"


class Report(Protocol):
    """A callback for the progress of a task."""

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Record the progress, or raise an exception to abort the task.

        Args:
            percent: the progress of the whole task from 0 to 100, which never decreases.
            phase: the current phase.
            step: the number of completed steps of the phase.
            total_steps: the number of steps of the phase.
            message: a key of `messages.progress.PROGRESS`.
        """


@dataclass(frozen=True, slots=True)
class StepwiseProgress:
    """A part of a task that advances in equal steps from `start_percent` to `end_percent`."""

    report: Report = field(repr=False)
    phase: Phase
    message: str
    start_percent: float
    end_percent: float
    total_steps: int

    def report_step(self, step: int) -> None:
        """Report the number of completed steps."""
        percent = self.start_percent + (self.end_percent - self.start_percent) * step / self.total_steps
        self.report(percent, self.phase, step=step, total_steps=self.total_steps, message=self.message)


@dataclass(frozen=True, slots=True)
class DataFile:
    """An open data file and its metadata. It contains no path, so that no other file can be opened.

    Attributes:
        stream: the seekable content.
        file_type: the file type, such as `csv`.
        declared: the attributes declared in the dataset's record (instances_number, features_number,
            missing_values_percentage), for comparison with the measured ones.
        dataset: the information about the dataset for the model card: its name, licences, source, documented purposes,
            and ethical record with the levels of evidence.
        project: the name and the description of the project that needs the model.
    """

    stream: BinaryIO
    file_type: str
    declared: Mapping[str, Any] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)
    project: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """An open model file with its recorded digest. The stream is seekable."""

    stream: BinaryIO
    sha256: str


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A file that a task has written to its scratch folder."""

    name: str
    path: Path
    media_type: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a task as documented in the API, and its files."""

    result: Json
    artifacts: tuple[ArtifactFile, ...] = ()


def to_builtins(result: Json) -> Json:
    """Replace NumPy numbers and arrays in a result by built-in types, which the JSON encoder requires."""
    builtins: Json = msgspec.to_builtins(result, enc_hook=lambda value: value.tolist())
    return builtins
