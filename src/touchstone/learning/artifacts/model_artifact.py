"""Model files: written with skops, and loaded only by their SHA-256 digest and with a fixed list of types.

A skops file is a zip archive with a JSON schema and arrays. Its object numbers are memory addresses and its entries
carry the time of writing; both are replaced, so that the same training produces the same bytes. The model's record
(`record.json`: target, columns, split, versions) lies in the same archive, so one digest covers everything.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
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
EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # The earliest date that a zip archive can hold.
MAX_MODEL_BYTES: Final = 2**30
# Where scikit-learn stores the address of an object in memory, which means nothing to whoever loads the model.
ADDRESS_ATTRIBUTES: Final = ("_stop_words_id",)


@dataclass(frozen=True, slots=True)
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
        """The name of the metric by which the model was chosen."""
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
        """The classes by their codes; empty for a regression."""
        return tuple(self.record["classes"])

    @property
    def positive_class(self) -> Cell:
        """The positive one of two classes, which is the last of them; None unless there are two."""
        return self.classes[1] if len(self.classes) == 2 else None

    @property
    def decision_rule(self) -> DecisionRule:
        """The rule by which classes are predicted; models from before such rules predict the most probable class."""
        record = self.record.get("decision")
        return DEFAULT_RULE if record is None else DecisionRule.from_record(record)

    @property
    def group_thresholds(self) -> GroupThresholds | None:
        """The thresholds by group; None for a model that decides alike for all groups."""
        record = self.record.get("group_thresholds")
        return None if record is None else GroupThresholds.from_record(record)

    @property
    def is_calibrated(self) -> bool:
        """Whether the probabilities are corrected by what the training has learned about them."""
        return isinstance(self.estimator, CalibratedClassifierCV)

    @property
    def is_balanced(self) -> bool:
        """Whether the classes had the same weight in training."""
        return bool(self.record["balanced"])

    @property
    def columns(self) -> tuple[ColumnSchema, ...]:
        """The source columns, in the order in which the pipeline takes them."""
        return tuple(schema_from_dict(column) for column in self.record["features"])

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The names of the columns of the training table that are not features."""
        return tuple(self.record["other_columns"])

    @property
    def observed_values(self) -> Json:
        """What the model has seen in each column, see `observed_values.py`; older models do not say it."""
        observed: Json = self.record.get("observed", {})
        return observed

    @property
    def split(self) -> SplitPlan:
        """How training and test rows were separated."""
        return plan_from_record(self.record["split"])

    @property
    def has_learned_from_all_rows(self) -> bool:
        """Whether the model was finally fitted on all rows, so that there are none that it has not seen."""
        fitted_on = self.record.get("fitted_on")
        if fitted_on is None:  # a model of an earlier release
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
    """Return the pipeline and its record as one file, the same bytes for the same model."""
    files = _NamedFiles()
    context = SaveContext(zip_file=files)
    schema = get_state(pipeline, context)
    schema |= {"protocol": context.protocol, "_skops_version": skops.__version__}
    return _canonical_archive(schema, files.contents, record | {"format": FORMAT})


def load(model: ModelFile) -> LoadedModel:
    """Load a model file that this service has written, without ever running code from it.

    The digest must be the recorded one, and the file may only contain objects whose types are on a fixed list. Raises
    `LearningError`: artifact_damaged if the bytes have changed, artifact_untrusted if another type occurs.
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
    """Files in memory, which skops takes for the zip archive that it writes to.

    `skops.io.dumps` would write a real archive, all of which would have to be read and written again, and would indent
    its schema, which takes longer than writing the rest of the model.
    """

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def writestr(self, name: str, content: bytes | memoryview | str) -> None:
        """Add a file."""
        self.contents[name] = content.encode() if isinstance(content, str) else bytes(content)

    def namelist(self) -> Collection[str]:
        """Return the names of the files, in which skops looks up each further name."""
        return self.contents.keys()


def _canonical_archive(schema: Json, files: Mapping[str, bytes], record: Json) -> bytes:
    """Return a skops file without memory addresses and times, with the record added."""
    numbering = _Numbering()
    canonical_schema = numbering.renumber(schema)
    renamed_files = [(new_name, files[old_name]) for old_name, new_name in numbering.file_names.items()]
    return _zip([(SCHEMA, _encode_json(canonical_schema)), (RECORD, _encode_json(record)), *sorted(renamed_files)])


class _Numbering:
    """New numbers for the objects and files of a skops schema, in the order in which they first appear.

    skops numbers objects by their memory addresses, which differ in every run, and we want the same model to be
    stored as the same bytes.
    """

    def __init__(self) -> None:
        self.object_numbers: dict[Any, int] = {}  # From the old number of each object to its new one.
        self.file_names: dict[str, str] = {}  # From the old name of each file to its new one.

    def renumber(self, node: Any) -> Any:
        """Return a part of the schema, and everything below it, with the new numbers and names."""
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
        """Return the new number of an object, which is the next free one if the object has not appeared before."""
        if old_number not in self.object_numbers:
            self.object_numbers[old_number] = len(self.object_numbers)
        return self.object_numbers[old_number]

    def _file_name(self, old_name: str) -> str:
        """Return the new name of a file, which consists of the next free number and the suffix of the file."""
        if old_name not in self.file_names:
            self.file_names[old_name] = f"{len(self.file_names):06d}{Path(old_name).suffix}"
        return self.file_names[old_name]


def _encode_json(content: Any) -> bytes:
    """Encode JSON without spaces, always in the same way."""
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
