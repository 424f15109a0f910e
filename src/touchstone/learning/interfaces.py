"""What passes between this room and whoever runs it: files in, progress and artefacts out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import msgspec

Json = dict[str, Any]
# What the files are that a task may write, by their suffix.
MEDIA_TYPES: Final = {".skops": "application/vnd.skops", ".md": "text/markdown; charset=utf-8"}


class Report(Protocol):
    """Told how far the work is; `percent` (0-100) never goes back, `message` is a key of
    `messages.progress.PROGRESS`.
    """

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Take note of the progress; may raise to end the work."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """An opened table and what is known about it; nothing here is a path, so nothing else can be opened.

    `stream` is seekable; `declared` holds the declared attributes of the dataset record (instances_number,
    features_number, missing_values_percentage), to be set beside the measured ones.
    """

    stream: BinaryIO
    file_type: str
    declared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model artefact as it was recorded: only bytes with this very sha256 are loaded; `stream` is seekable."""

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
    """What a task hands back: the result in the words of the contract (JSON-able), and the files it wrote."""

    result: Json
    artifacts: tuple[ArtifactFile, ...] = ()


def plain(result: Json) -> Json:
    """The same result with every number and array of the numeric libraries as JSON's own.

    A NumPy float passes for a Python one nearly everywhere, except where the result is encoded.
    """
    answer: Json = msgspec.to_builtins(result, enc_hook=lambda value: value.tolist())
    return answer
