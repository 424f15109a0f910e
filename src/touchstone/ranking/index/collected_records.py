"""All records of a catalog, collected batch by batch before an index is built over them.

Their columns are in temporary files or in memory (see `spool`). Word lists with few distinct values are collected as
codes. Texts and tags, which may differ for almost every record, are collected as they are.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Facts, Floats
from touchstone.ranking.columns.evidence_columns import CLAIM_TYPES, EvidenceColumns, EvidenceWriter
from touchstone.ranking.columns.record_batch import CodedColumn, RecordBatch, Words
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, KNOWN_ETHICAL, WORD_COLUMNS, count_known_ethical
from touchstone.ranking.columns.spool import (
    FoldedTexts,
    FoldedTextSpool,
    RepeatedTexts,
    RepeatedTextSpool,
    SpooledColumn,
    SpooledTexts,
    TextSpool,
)
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.kernels.constants import GRADE_SCALE, GRADED_CRITERIA

POOLED_COLUMNS: Final = ("objective", "file_path", "file_type")
LONG_TEXTS: Final = ("description",)
"""The columns of texts that make up most of the size of a catalog, and are stored compressed."""
TAGS: Final = "tags"
"""The column of word lists that may differ for almost every record, and is therefore collected as JSON."""
CODED_WORDS: Final = tuple(name for name in WORD_COLUMNS if name != TAGS)
IS_VISIBLE: Final = "is_visible"
"""The column of records that everyone may see, not to be confused with the dataset attribute `is_public`."""


@dataclass(frozen=True, slots=True)
class CollectedRecords:
    """All records that an index is built over, in the order of collection.

    Attributes:
        size: the number of records.
        columns: the columns by name: numbers as float64, flags as int8, ids, times and halves of UUIDs as integers,
            IS_VISIBLE as booleans, KNOWN_ETHICAL as counts, and CODED_WORDS and `owner` as codes.
        criteria: the values of GRADED_CRITERIA by name.
        grades: the criteria as bytes, with one row for each of GRADED_CRITERIA and one column for each record.
        texts: the columns of names and LONG_TEXTS by name.
        repeated_texts: the columns POOLED_COLUMNS and the tags as JSON, by name.
        folded_names: the names in the form in which they are sorted and searched.
        values: the word list or owner of each code, by column; code 0 has the value None.
        evidence: the known values at the assurances above `declared`.
        folder: where temporary files hold large arrays, or None to use memory.
    """

    size: int
    columns: Mapping[str, NDArray[Any]]
    criteria: Mapping[str, Floats]
    grades: NDArray[np.uint8]
    texts: Mapping[str, SpooledTexts]
    repeated_texts: Mapping[str, RepeatedTexts]
    folded_names: FoldedTexts
    values: Mapping[str, Sequence[Any]]
    evidence: EvidenceColumns
    folder: Path | None

    def stricter_grades(self, assurance: Assurance) -> NDArray[np.uint8]:
        """Return the grades of all records at an assurance above `declared`, in the form of `grades`."""
        grades = np.zeros(self.grades.shape, np.uint8)
        criteria = compute_graded_criteria(self.evidence.values[assurance])
        for row, name in enumerate(GRADED_CRITERIA):
            grades[row, self.evidence.positions] = _grade(criteria[name])
        return grades


class RecordCollector:
    """Collects the records of a catalog batch by batch in a single thread."""

    def __init__(self, folder: Path | None) -> None:
        """Prepare to collect records in temporary files in `folder`, or in memory if it is None."""
        self.size = 0
        self._folder = folder
        self._columns = {name: SpooledColumn(dtype, folder) for name, dtype in _column_types().items()}
        self._criteria = {name: SpooledColumn(np.float64, folder) for name in GRADED_CRITERIA}
        self._grades = {name: SpooledColumn(np.uint8, folder) for name in GRADED_CRITERIA}
        self._texts = {name: TextSpool(folder) for name in ("dataset_name", *LONG_TEXTS)}
        self._repeated_texts = {name: RepeatedTextSpool(folder) for name in (*POOLED_COLUMNS, TAGS)}
        self._folded_names = FoldedTextSpool(folder)
        self._codes: dict[str, dict[Hashable, int]] = {name: {None: 0} for name in (*CODED_WORDS, "owner")}
        self._evidence = EvidenceWriter()

    def add(self, batch: RecordBatch) -> None:
        """Append the records of a batch."""
        columns = dict(batch.columns)
        columns[KNOWN_ETHICAL] = count_known_ethical(batch.columns)
        columns[IS_VISIBLE] = _is_visible(batch.texts["visibility"])
        columns["owner"] = self._encode("owner", batch.owners)
        for name in CODED_WORDS:
            columns[name] = self._encode(name, batch.words[name])
        for name, spooled_column in self._columns.items():
            spooled_column.append(columns[name])

        for name, values in compute_graded_criteria(batch.columns).items():
            self._criteria[name].append(values)
            self._grades[name].append(_grade(values))
        for name, texts in self._texts.items():
            texts.append(batch.texts[name])
        self._folded_names.append(batch.texts["dataset_name"])
        for name in POOLED_COLUMNS:
            self._repeated_texts[name].append(batch.texts[name])
        tags = batch.words[TAGS]
        self._repeated_texts[TAGS].append_codes(tags.codes, _to_json_texts(tags.values[1:]))

        self._evidence.extend(batch.evidence, first_position=self.size)
        self.size += batch.size

    def _encode(self, name: str, column: CodedColumn) -> NDArray[np.int32]:
        """Convert the codes of a batch's column to codes shared by all batches."""
        shared_codes = self._codes[name]
        new_codes = [shared_codes.setdefault(value, len(shared_codes)) for value in column.values]
        return np.asarray(np.array(new_codes, np.int32)[column.codes])

    def read(self) -> CollectedRecords:
        """Finish the collection and return all records."""
        return CollectedRecords(
            size=self.size,
            columns={name: column.read() for name, column in self._columns.items()},
            criteria={name: column.read() for name, column in self._criteria.items()},
            grades=np.stack([column.read() for column in self._grades.values()]),
            texts={name: spool.read() for name, spool in self._texts.items()},
            repeated_texts={name: spool.read() for name, spool in self._repeated_texts.items()},
            folded_names=self._folded_names.read(),
            values={name: list(codes) for name, codes in self._codes.items()},
            evidence=self._evidence.snapshot(),
            folder=self._folder,
        )


def compute_graded_criteria(columns: Facts) -> dict[str, Floats]:
    """Compute GRADED_CRITERIA from columns of attributes, by name."""
    return {criterion.name: criterion.compute(columns) for criterion in CRITERIA if criterion.name in GRADED_CRITERIA}


def _grade(values: Floats) -> NDArray[np.uint8]:
    """Convert the values of a criterion, from 0 to 1, to bytes by multiplying with 255 and rounding up."""
    return np.ceil(values * GRADE_SCALE).astype(np.uint8)


def _is_visible(visibilities: pa.Array) -> NDArray[Any]:
    """Return whether each record is public."""
    return np.asarray(pa.compute.equal(visibilities, "public").to_numpy(zero_copy_only=False))


def _to_json_texts(word_lists: Iterable[Words]) -> pa.Array:
    """Encode word lists as JSON strings."""
    return pa.array([msgspec.json.encode(words).decode() for words in word_lists], pa.large_string())


def _column_types() -> dict[str, Any]:
    """Return the NumPy types of `CollectedRecords.columns`, keyed by name."""
    return {
        **{name: CLAIM_TYPES[name] for name in (*NUMBERS, *FLAGS)},
        **dict.fromkeys(INTEGER_COLUMNS, np.int64),
        "uuid_high": np.uint64,
        "uuid_low": np.uint64,
        **dict.fromkeys((*CODED_WORDS, "owner"), np.int32),
        IS_VISIBLE: np.bool_,
        KNOWN_ETHICAL: np.uint8,
    }
