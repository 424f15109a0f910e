"""Model files, which are written with skops and only loaded if their digest and their types are as expected.

A skops file is a zip archive with a JSON schema and arrays. Its object numbers are memory addresses and its entries
have timestamps. Both are replaced, so that the same training produces the same bytes. The record of the model
(`record.json`: target, columns, split, versions) is in the same archive, so that one digest covers everything.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import skops
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from skops.io._utils import SaveContext, get_state
from skops.io.exceptions import UntrustedTypesFoundException

from touchstone.learning.artifacts.example import TRUSTED_TYPES
from touchstone.learning.column_types import ColumnSchema, schema_from_dict
from touchstone.learning.decisions.decision_rule import DEFAULT_RULE, DecisionRule
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Strategy, Task
from touchstone.learning.request_definitions import Cell
from touchstone.learning.splits.split_plan import SplitPlan, plan_from_record
from touchstone.learning.task_interface import Json, ModelFile

FORMAT: Final = 1
RECORD: Final = "record.json"
SCHEMA: Final = "schema.json"
EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip archive can hold
MAX_MODEL_BYTES: Final = 2**30
# Attributes where scikit-learn stores the memory address of an object, which is meaningless in a file.
ADDRESS_ATTRIBUTES: Final = ("_stop_words_id",)


@dataclass(frozen=True)  # without slots, because of the cached property
class LoadedModel:
    """A fitted pipeline (source columns in, class codes or numbers out) and the record of its training."""

    pipeline: Pipeline = field(repr=False)
    record: Json

    @property
    def preparation(self) -> ColumnTransformer:
        """The fitted preparation of the source columns."""
        return self.pipeline.named_steps["prepare"]

    @property
    def estimator(self) -> Any:
        """The fitted model behind the preparation."""
        return self.pipeline.named_steps["model"]

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return str(self.record["algorithm"])

    @property
    def metric(self) -> str:
        """The name of the metric used to choose the model."""
        return str(self.record["metric"])

    @property
    def target(self) -> str:
        """The name of the predicted column."""
        return str(self.record["target"])

    @property
    def task(self) -> Task:
        """Whether classes or numbers are predicted."""
        return Task(self.record["task"])

    @property
    def classes(self) -> tuple[Cell, ...]:
        """The classes in the order of their codes, or an empty tuple for a regression."""
        return tuple(self.record["classes"])

    @property
    def positive_class(self) -> Cell:
        """The positive class, which is the second of two, or None unless there are two classes."""
        return self.classes[1] if len(self.classes) == 2 else None

    @property
    def decision_rule(self) -> DecisionRule:
        """The rule for choosing a class. Models of early releases choose the most probable one."""
        record = self.record.get("decision")
        return DEFAULT_RULE if record is None else DecisionRule.from_record(record)

    @property
    def group_thresholds(self) -> GroupThresholds | None:
        """The decision thresholds by group, or None if the threshold is the same for all groups."""
        record = self.record.get("group_thresholds")
        return None if record is None else GroupThresholds.from_record(record)

    @property
    def is_calibrated(self) -> bool:
        """Whether the probabilities are corrected by calibration curves."""
        return isinstance(self.estimator, CalibratedClassifierCV)

    @property
    def is_balanced(self) -> bool:
        """Whether the classes had the same weight in training."""
        return bool(self.record["balanced"])

    @property
    def sample_weight(self) -> str | None:
        """The name of the column of weights, or None for equal weights."""
        name: str | None = self.record.get("sample_weight")
        return name

    @cached_property
    def columns(self) -> tuple[ColumnSchema, ...]:
        """The source columns, in the order expected by the pipeline."""
        return tuple(schema_from_dict(column) for column in self.record["features"])

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The names of the columns of the training table that are not features."""
        return tuple(self.record["other_columns"])

    @property
    def observed_values(self) -> Json:
        """The values seen in each column (see `observed_values.py`), or empty for models of early releases."""
        observed: Json = self.record.get("observed", {})
        return observed

    @property
    def split(self) -> SplitPlan:
        """The plan used to separate training and test rows."""
        return plan_from_record(self.record["split"])

    @property
    def has_learned_from_all_rows(self) -> bool:
        """Whether the delivered model was fitted on all rows, including the test rows."""
        fitted_on = self.record.get("fitted_on")
        if fitted_on is None:  # a model of an early release
            return self.split.strategy is Strategy.KFOLD
        return bool(fitted_on == "all_rows")

    @property
    def seed(self) -> int:
        """The seed of the training."""
        return int(self.record["seed"])

    @property
    def data_sha256(self) -> str:
        """The digest of the data file that the model was trained on."""
        return str(self.record["sha256"])


def dump(pipeline: Pipeline, record: Json) -> bytes:
    """Serialize a pipeline and its record to a model file, with the same bytes for the same model."""
    files = _NamedFiles()
    context = SaveContext(zip_file=files)
    schema = get_state(pipeline, context)
    schema |= {"protocol": context.protocol, "_skops_version": skops.__version__}
    return _canonical_archive(schema, files.contents, record | {"format": FORMAT})


def load(model: ModelFile) -> LoadedModel:
    """Load a model file written by this service, without running code from it.

    The digest must be the recorded one, and the file may only contain objects of trusted types.

    Raises:
        LearningError: artifact_damaged if the bytes have changed, or artifact_untrusted if another type occurs.
    """
    model.stream.seek(0)
    data = model.stream.read(MAX_MODEL_BYTES + 1)
    if hashlib.sha256(data).hexdigest() != model.sha256:
        raise LearningError("artifact_damaged")

    try:
        untrusted_types = set(skops.io.get_untrusted_types(data=data))
        if not untrusted_types.issubset(TRUSTED_TYPES):
            raise LearningError("artifact_untrusted")

        pipeline = skops.io.loads(data, trusted=list(TRUSTED_TYPES))
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            record = json.loads(archive.read(RECORD))
    except UntrustedTypesFoundException as error:
        raise LearningError("artifact_untrusted") from error
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise LearningError("artifact_damaged") from error
    return LoadedModel(pipeline, record)


class _NamedFiles:
    """Files in memory, with the interface of the zip archive that skops writes to.

    `skops.io.dumps` would write a real archive, which would then have to be read and written again. It would also
    indent the schema, which takes longer than writing the rest of the model.
    """

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def writestr(self, name: str, content: bytes | memoryview | str) -> None:
        """Add a file."""
        self.contents[name] = content.encode() if isinstance(content, str) else bytes(content)

    def namelist(self) -> Collection[str]:
        """Return the names of the files. Skops uses them to avoid writing a file twice."""
        return self.contents.keys()


def _canonical_archive(schema: Json, files: Mapping[str, bytes], record: Json) -> bytes:
    """Return a skops file with the record, and without memory addresses and timestamps."""
    numbering = _Numbering()
    canonical_schema = numbering.renumber(schema)
    renamed_files = [(new_name, files[old_name]) for old_name, new_name in numbering.file_names.items()]
    return _zip([(SCHEMA, _encode_json(canonical_schema)), (RECORD, _encode_json(record)), *sorted(renamed_files)])


class _Numbering:
    """New numbers for the objects and files of a skops schema, in the order of their first appearance.

    Skops uses memory addresses as object numbers. They differ in every run, but the same model must produce the same
    bytes.
    """

    def __init__(self) -> None:
        self.object_numbers: dict[Any, int] = {}  # the new number of each object, by its old number
        self.file_names: dict[str, str] = {}  # the new name of each file, by its old name

    def renumber(self, node: Any) -> Any:
        """Return a node of the schema, and everything below it, with the new numbers and names."""
        if isinstance(node, list | tuple):
            return [self.renumber(child) for child in node]
        if not isinstance(node, dict):
            return node

        renumbered = dict(node)
        if "__id__" in node:
            renumbered["__id__"] = self._object_number(node["__id__"])
        if isinstance(node.get("file"), str):
            renumbered["file"] = self._file_name(node["file"])
        for attribute in ADDRESS_ATTRIBUTES:
            if isinstance(node.get(attribute), dict):
                renumbered[attribute] = node[attribute] | {"content": "0"}
        return {key: self.renumber(child) for key, child in renumbered.items()}

    def _object_number(self, old_number: Any) -> int:
        """Return the new number of an object, assigning the next free one on its first appearance."""
        if old_number not in self.object_numbers:
            self.object_numbers[old_number] = len(self.object_numbers)
        return self.object_numbers[old_number]

    def _file_name(self, old_name: str) -> str:
        """Return the new name of a file, which consists of a sequential number and the suffix of the file."""
        if old_name not in self.file_names:
            self.file_names[old_name] = f"{len(self.file_names):06d}{Path(old_name).suffix}"
        return self.file_names[old_name]


def _encode_json(content: Any) -> bytes:
    """Encode JSON compactly and deterministically."""
    return json.dumps(content, ensure_ascii=False, allow_nan=True, separators=(",", ":")).encode()


def _zip(entries: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a zip archive of named entries, all with the same fixed date."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries:
            entry = zipfile.ZipInfo(name, date_time=EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=1)
    return buffer.getvalue()
