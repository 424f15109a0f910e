"""The catalog as columns: one record as the evaluator reads it, and segments of records laid out column by column.

A `Segment` never changes. A `SegmentWriter` appends to buffers that grow by doubling and returns segments over the part
written so far, so a reader keeps its records while the writer goes on behind them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS, WORDS
from touchstone.core.evidence import Assurance, AttributeEvidence
from touchstone.ranking.array_types import Facts, Floats, Ints
from touchstone.ranking.columns.evidence_columns import (
    CLAIM_TYPES,
    NO_EVIDENCE,
    UNKNOWN_VALUES,
    EvidenceColumns,
    EvidenceWriter,
    ReplacedColumns,
    SparseColumns,
    encode_evidence,
)
from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.columns.record_batch import CodedColumn, RecordBatch, code_distinct, split_uuids
from touchstone.ranking.columns.vocabulary import CodeVocabulary, VocabularyWriter, fold_text, fold_words
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.text.record_words import RecordWords, RecordWordsWriter
from touchstone.ranking.text.words import weigh_words

TEXT_COLUMNS: Final = ("dataset_name", "objective", "description", "file_path", "file_type", "visibility")
# Hardly any query compares these texts of new records, most of which are long or different from each other. Rankings
# compare names, which are folded as they are added: to fold those of a long import later, all together, takes long.
_RARELY_COMPARED_TEXTS: Final = frozenset({"objective", "description", "file_path"})
WORD_COLUMNS: Final = (*WORDS, "tags", "license", "language", "source", "trainable")
"""The columns of word lists: `trainable` holds `true` or `false`, `license` the licences that one may choose from."""
INTEGER_COLUMNS: Final = ("id", "created_at", "updated_at")
_CODED_COLUMNS: Final = (*TEXT_COLUMNS, *WORD_COLUMNS, "owner")
_ROW_COLUMNS: Final = (*NUMBERS, *FLAGS, *INTEGER_COLUMNS, *_CODED_COLUMNS)
_FLAG_CODES: Final = {None: -1, False: 0, True: 1}

KNOWN_ETHICAL: Final = "known_ethical"
"""The column with the number of ethical attributes of which it is known whether they are true or false."""


class CatalogRow(msgspec.Struct, frozen=True, kw_only=True):
    """One record as the evaluator reads it; None is "not known", times are microseconds since the epoch.

    The attributes hold what the record shows. `evidence` says by attribute what is known at the assurances above
    `declared`; an attribute without an entry is merely declared.
    """

    id: int
    dataset_id: UUID
    dataset_name: str
    objective: str | None = None
    domain: tuple[str, ...] | None = None
    task: tuple[str, ...] | None = None
    year: int | None = None
    instances_number: int | None = None
    features_number: int | None = None
    citations: int | None = None
    missing_values_percentage: float | None = None
    has_missing_values: bool | None = None
    is_split: bool | None = None
    has_temporal_factors: bool | None = None
    is_public: bool | None = None
    metadata_provided_with_dataset: bool | None = None
    external_documentation_available: bool | None = None
    informed_consent: bool | None = None
    transparency: bool | None = None
    user_control: bool | None = None
    equity_non_discrimination: bool | None = None
    security_measures_in_place: bool | None = None
    data_quality_documented: bool | None = None
    anonymization_applied: bool | None = None
    record_keeping_policy_exists: bool | None = None
    purpose_limitation_respected: bool | None = None
    accountability_defined: bool | None = None
    visibility: str = "public"
    owner: UUID | None = None
    description: str | None = None
    file_path: str | None = None
    file_type: str | None = None
    tags: tuple[str, ...] | None = None
    license: tuple[str, ...] | None = None
    language: tuple[str, ...] | None = None
    source: tuple[str, ...] | None = None
    trainable: tuple[str, ...] | None = None
    created_at: int = 0
    updated_at: int = 0
    evidence: Mapping[str, AttributeEvidence] | None = None


class _ColumnsAtPositions(Mapping[str, NDArray[Any]]):
    """Columns at some positions only; each is gathered when it is read, because a query needs few of them."""

    def __init__(self, columns: Mapping[str, NDArray[Any]], positions: Ints) -> None:
        self._columns = columns
        self._positions = positions

    def __getitem__(self, name: str) -> NDArray[Any]:
        return np.asarray(self._columns[name][self._positions])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@dataclass(frozen=True, slots=True)
class Segment:
    """Some records, column by column.

    Attributes:
        size: The number of records.
        columns: By attribute, numbers as float64 (NaN: not known), flags as int8 (1, 0, -1: not known), `id` and times
            as int64, texts, word lists and owners as int32 codes into `vocabularies`, and the two halves of
            `dataset_id` as uint64. KNOWN_ETHICAL counts known attributes.
        criteria: By name, the value of each criterion in 0-1.
        vocabularies: By column, the distinct values that codes refer to.
        words: The words of each record; None if nobody searches this segment by words.
        word_positions: The positions of these records in `words`, if that holds more records than these.
        criteria_float32: The criteria once more, as a matrix with one row for each criterion. Its product with the
            weights rules out most records at once. Empty where nobody needs it.
        evidence: What is known at the assurances above `declared`.
        assurance: The assurance at which columns and criteria are known.
    """

    size: int
    columns: Mapping[str, NDArray[Any]]
    criteria: Mapping[str, Floats]
    vocabularies: Mapping[str, CodeVocabulary]
    words: RecordWords | None = None
    word_positions: Ints | None = None
    criteria_float32: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    evidence: EvidenceColumns = NO_EVIDENCE
    assurance: Assurance = Assurance.DECLARED

    def at(self, assurance: Assurance) -> "Segment":
        """Return these records with what is known at an assurance above `declared`; all other columns are shared."""
        positions, values = self.evidence.positions, self.evidence.values[assurance]
        columns = {**values, KNOWN_ETHICAL: count_known_ethical(values)}
        criteria = {criterion.name: criterion.compute(values) for criterion in CRITERIA}

        # Of a record without evidence nothing is known, so its criteria are 0.
        unknown_columns = {**UNKNOWN_VALUES, KNOWN_ETHICAL: 0}
        unknown_criteria = dict.fromkeys(CRITERION_NAMES, 0.0)
        return replace(
            self,
            columns=ReplacedColumns(self.columns, SparseColumns(self.size, positions, columns, unknown_columns)),
            criteria=SparseColumns(self.size, positions, criteria, unknown_criteria),
            criteria_float32=np.empty((0, 0), np.float32),
            assurance=assurance,
        )

    def name_ranks(self, positions: Any = slice(None)) -> Ints:
        """Return the rank of each record's folded name among the names of this segment; equal names share a rank."""
        name_codes = self.columns["dataset_name"][positions]
        return self.vocabularies["dataset_name"].ranks_at(name_codes)

    def take(self, positions: Ints) -> "Segment":
        """Return the records at some positions as a segment over the same vocabularies."""
        return Segment(
            size=len(positions),
            columns=_ColumnsAtPositions(self.columns, positions),
            criteria=_ColumnsAtPositions(self.criteria, positions),
            vocabularies=self.vocabularies,
            words=self.words,
            word_positions=positions,
        )

    def dataset_id(self, position: int) -> UUID:
        """Return the UUID of the record at a position."""
        high, low = self.columns["uuid_high"][position], self.columns["uuid_low"][position]
        return UUID(int=(int(high) << 64) | int(low))


class DecodedColumns(NamedTuple):
    """Records on their way from one layout, a segment or an index, to another.

    Attributes:
        columns: The columns of a segment, except that codes refer to `values`.
        values: By column, the value of each code; code 0 means "not known".
        evidence: What is known at the assurances above `declared`.
    """

    columns: Mapping[str, NDArray[Any]]
    values: Mapping[str, Sequence[Any]]
    evidence: EvidenceColumns


class SegmentWriter:
    """A segment that grows: records are appended, and the segment so far can be taken at any time.

    With `is_searchable`, the words of the records are listed, which takes most of the time.
    """

    def __init__(self, *, is_searchable: bool = True) -> None:
        self._words = RecordWordsWriter(self._weigh_words) if is_searchable else None
        self._columns = {name: GrowingArray(dtype) for name, dtype in _column_types().items()}
        self._criteria = {criterion.name: GrowingArray(np.float64) for criterion in CRITERIA}
        self._criteria_float32 = GrowingArray(np.float32, (len(CRITERIA),))
        self._evidence = EvidenceWriter()
        self._size = 0

        self._vocabularies: dict[str, VocabularyWriter[Any]] = {"owner": VocabularyWriter(str)}
        for name in TEXT_COLUMNS:
            self._vocabularies[name] = VocabularyWriter(fold_text, folds_lazily=name in _RARELY_COMPARED_TEXTS)
        for name in WORD_COLUMNS:
            self._vocabularies[name] = VocabularyWriter(partial(fold_words, name))

    def extend(self, rows: Sequence[CatalogRow]) -> None:
        """Append records, and compute their criteria."""
        columns = {name: self._encode_column(name, rows) for name in _ROW_COLUMNS}
        columns["uuid_high"], columns["uuid_low"] = split_uuids([row.dataset_id for row in rows])
        self._append(columns, encode_evidence([row.evidence for row in rows]))

    def extend_batch(self, batch: RecordBatch) -> None:
        """Append the records of a batch, and compute their criteria; each distinct text or list is encoded once."""
        columns = dict(batch.columns)
        for name, texts in batch.texts.items():
            columns[name] = self._recode(name, code_distinct(texts))
        for name, words in batch.words.items():
            columns[name] = self._recode(name, words)
        columns["owner"] = self._recode("owner", batch.owners)

        self._append(columns, batch.evidence)

    def _recode(self, name: str, column: CodedColumn) -> NDArray[Any]:
        """Return a column with the codes of this segment in place of its own."""
        codes = np.array(self._vocabularies[name].encode_distinct(column.values), np.int32)
        return np.take(codes, column.codes)

    def _encode_column(self, name: str, rows: Sequence[CatalogRow]) -> NDArray[Any]:
        """Return one attribute of some records as a column: codes for texts, -1 or NaN for what is not known."""
        values = [getattr(row, name) for row in rows]
        if name in self._vocabularies:
            return np.fromiter(map(self._vocabularies[name].encode, values), np.int32, len(rows))
        if name in FLAGS:
            return np.array([_FLAG_CODES[value] for value in values], np.int8)
        if name in INTEGER_COLUMNS:
            return np.array(values, np.int64)
        return np.array(values, np.float64)  # None becomes NaN

    def extend_decoded(self, records: DecodedColumns) -> None:
        """Append records of another segment or index.

        Their texts get new codes, so texts that no record uses any more are not taken over.
        """
        columns = dict(records.columns)
        for name, vocabulary in self._vocabularies.items():
            values = records.values[name]
            used_codes, inverse = np.unique(columns[name], return_inverse=True)
            new_codes = [vocabulary.encode(values[code]) for code in used_codes.tolist()]
            columns[name] = np.array(new_codes, np.int32)[inverse]
        self._append(columns, records.evidence)

    def _append(self, columns: Mapping[str, NDArray[Any]], evidence: EvidenceColumns) -> None:
        """Append records whose columns are encoded already, and compute what is derived from them."""
        all_columns = {**columns, KNOWN_ETHICAL: count_known_ethical(columns)}
        for name, growing_column in self._columns.items():
            growing_column.extend(all_columns[name])

        self._evidence.extend(evidence, first_position=self._size)
        self._size += len(columns["id"])

        criteria = [criterion.compute(columns) for criterion in CRITERIA]
        for criterion, values in zip(CRITERIA, criteria, strict=True):
            self._criteria[criterion.name].extend(values)
        self._criteria_float32.extend(np.stack(criteria).astype(np.float32))

    def _weigh_words(self, start: int, end: int) -> Iterator[dict[str, int]]:
        """Yield the words by which each record from one position up to another is searched, with their weights."""
        names, objectives, descriptions, tags, domains, tasks = (
            self._values(column, start, end)
            for column in ("dataset_name", "objective", "description", "tags", "domain", "task")
        )
        for position in range(end - start):
            domain_terms = [("domain", value) for value in domains[position] or ()]
            task_terms = [("task", value) for value in tasks[position] or ()]
            texts = (objectives[position], descriptions[position])
            yield weigh_words(names[position], texts, tags[position] or (), domain_terms + task_terms)

    def _values(self, column: str, start: int, end: int) -> list[Any]:
        """Return the values of a coded column for the records from one position up to another."""
        codes = self._columns[column].view()[start:end].tolist()
        return [self._vocabularies[column].value(code) for code in codes]

    def segment(self) -> Segment:
        """Return the records so far as a segment, which later appends do not change."""
        columns = {name: growing_column.view() for name, growing_column in self._columns.items()}
        return Segment(
            size=self._size,
            columns=columns,
            criteria={name: growing_column.view() for name, growing_column in self._criteria.items()},
            vocabularies={name: vocabulary.snapshot() for name, vocabulary in self._vocabularies.items()},
            words=self._words.record_words(self._size) if self._words else None,
            criteria_float32=self._criteria_float32.view(),
            evidence=self._evidence.snapshot(),
        )


def count_known_ethical(columns: Facts) -> NDArray[np.uint8]:
    """Return for each record of how many ethical attributes it is known whether they are true or false."""
    counts = np.zeros(len(columns[ETHICAL[0]]), np.uint8)
    for name in ETHICAL:
        counts += columns[name] >= 0
    return counts


def _column_types() -> dict[str, Any]:
    """Return the NumPy type of every column of a segment, by name."""
    return {
        **CLAIM_TYPES,
        **dict.fromkeys(INTEGER_COLUMNS, np.int64),
        **dict.fromkeys(_CODED_COLUMNS, np.int32),
        "uuid_high": np.uint64,
        "uuid_low": np.uint64,
        KNOWN_ETHICAL: np.uint8,
    }
