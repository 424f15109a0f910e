"""Models as files: written by skops, loaded only by their sha256 and only from a fixed list of types.

A skops file is a zip with a JSON schema and arrays. Its object numbers are memory addresses and its entries carry the
time, so `_canonical` numbers them in order and dates them alike: the same training makes the same bytes. The model's
own record (`record.json`: target, columns, split, versions) lies in the same zip, so one digest covers all of it.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import skops.io
from sklearn.pipeline import Pipeline
from skops.io.exceptions import UntrustedTypesFoundException

from touchstone.learning.column_types import Column, from_dict
from touchstone.learning.errors import LearningError
from touchstone.learning.interfaces import MEDIA_TYPES, ArtifactFile, Json, ModelFile
from touchstone.learning.requests import Cell, Split, Task

FORMAT: Final = 1
RECORD: Final = "record.json"
SCHEMA: Final = "schema.json"
EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can hold
MAX_MODEL_BYTES: Final = 2**30
ALLOWED: Final = (
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.model_selection._split.KFold",
    "sklearn.tree._tree.Tree",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._string_encoder.StringEncoder",
    "skrub._to_str.ToStr",
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A loaded model: the fitted pipeline (source columns in, codes or numbers out) and its record."""

    pipeline: Pipeline = field(repr=False)
    record: Json

    @property
    def columns(self) -> tuple[Column, ...]:
        """The source columns, in the order in which the pipeline takes them."""
        return tuple(from_dict(column) for column in self.record["features"])

    @property
    def classes(self) -> tuple[Cell, ...]:
        """The classes by their codes; empty for a regression."""
        return tuple(self.record["classes"])

    @property
    def task(self) -> Task:
        """What is predicted."""
        return Task(self.record["task"])

    @property
    def split(self) -> Split:
        """How rows were kept aside when the model was trained."""
        return msgspec.convert(self.record["split"], Split)


def dump(pipeline: Pipeline, record: Json) -> bytes:
    """The model and its record as one file, the same bytes for the same model."""
    return _canonical(skops.io.dumps(pipeline), record | {"format": FORMAT})


def load(model: ModelFile) -> Kept:
    """Load a model; raises `artifact_damaged` when the bytes are not those recorded, `artifact_untrusted` for types."""
    model.stream.seek(0)
    data = model.stream.read(MAX_MODEL_BYTES + 1)
    if hashlib.sha256(data).hexdigest() != model.sha256:
        raise LearningError("artifact_damaged")
    try:
        foreign = set(skops.io.get_untrusted_types(data=data)) - set(ALLOWED)
        if foreign:
            raise LearningError("artifact_untrusted")
        pipeline = skops.io.loads(data, trusted=list(ALLOWED))
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            record = json.loads(archive.read(RECORD))
    except UntrustedTypesFoundException as error:
        raise LearningError("artifact_untrusted") from error
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise LearningError("artifact_damaged") from error
    return Kept(pipeline, record)


def write(scratch: Path, name: str, data: bytes) -> ArtifactFile:
    """Write an artefact into the scratch folder."""
    path = scratch / name
    path.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    return ArtifactFile(name, path, MEDIA_TYPES[path.suffix], digest, len(data))


def _canonical(data: bytes, record: Json) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = json.loads(archive.read(SCHEMA))
        numbers: dict[Any, int] = {}
        files: dict[str, str] = {}
        _renumber(schema, numbers, files)
        entries = [(files[name], archive.read(name)) for name in sorted(files, key=lambda name: files[name])]
    texts = [(SCHEMA, _json(schema)), (RECORD, _json(record))]
    return _zipped([*texts, *entries])


def _renumber(node: Any, numbers: dict[Any, int], files: dict[str, str]) -> None:
    """Replace memory addresses by order of appearance, in place; the same object keeps the same number."""
    if isinstance(node, dict):
        if "__id__" in node:
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers))
        if isinstance(node.get("file"), str):
            suffix = Path(node["file"]).suffix
            node["file"] = files.setdefault(node["file"], f"{len(files):06d}{suffix}")
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _renumber(child, numbers, files)


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=True, separators=(",", ":")).encode()


def _zipped(entries: Sequence[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries:
            entry = zipfile.ZipInfo(name, date_time=EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=6)
    return buffer.getvalue()
