"""Segments, which store records column by column, and the rows that they are built from.

A `Segment` is immutable. A `SegmentWriter` appends records to growing buffers and returns segments over the records
written so far, so readers can use a segment while the writer appends more records.
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
from touchstone.ranking.columns.record_batch import CodedColumn, RecordBatch, encode_arrow_values, split_uuids
from touchstone.ranking.columns.vocabulary import CodeVocabulary, VocabularyWriter, fold_text, fold_words
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.kernels.compilation import are_kernels_replaced
from touchstone.ranking.text.record_words import DecodedWords, RecordWords, RecordWordsWriter
from touchstone.ranking.text.word_collector import (
    LABEL_COLUMNS,
    RECORDS_PER_BATCH,
    BatchTexts,
    TextRanges,
    WordCollector,
)
from touchstone.ranking.text.words import weigh_words

TEXT_COLUMNS: Final = ("dataset_name", "objective", "description", "file_path", "file_type", "visibility")
# Few queries compare these texts, so they are folded on demand. Names are folded when they are added, because rankings
# compare them, and folding all names of a large import in one query would take long.
_RARELY_COMPARED_TEXTS: Final = frozenset({"objective", "description", "file_path"})
WORD_COLUMNS: Final = (*WORDS, "tags", "license", "language", "source", "trainable")
"""The columns of word lists. `trainable` contains `true` or `false`, and `license` all licences of a record."""
INTEGER_COLUMNS: Final = ("id", "created_at", "updated_at")
_CODED_COLUMNS: Final = (*TEXT_COLUMNS, *WORD_COLUMNS, "owner")
_ROW_COLUMNS: Final = (*NUMBERS, *FLAGS, *INTEGER_COLUMNS, *_CODED_COLUMNS)
# Fewer records are split into words in Python, which takes at most a few hundredths of a second.
_MIN_RECORDS_FOR_KERNELS: Final = 500
_FLAG_CODES: Final = {None: -1, False: 0, True: 1}

KNOWN_ETHICAL: Final = "known_ethical"
"""The column with the number of ethical attributes that have a known value."""


class CatalogRow(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the catalog.

    None means unknown, and times are in microseconds since 1970.

    The fields contain the values shown at the assurance `declared`. `evidence` contains, by attribute, the values known
    at higher assurances; attributes without an entry are merely declared.
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
    """Columns restricted to the given positions, each gathered when it is read because queries need few columns."""

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
    """Immutable records, stored column by column.

    Attributes:
        size: the number of records.
        columns: the columns by attribute: numbers as float64 (NaN if unknown), flags as int8 (1, 0, or -1 if
            unknown), `id` and times as int64, texts, word lists and owners as int32 codes, and the two halves of
            `dataset_id` as uint64. KNOWN_ETHICAL counts known attributes.
        criteria: the values of the criteria in 0-1, by name.
        vocabularies: the distinct values that codes refer to, by column.
        words: the words of each record, or None if the segment cannot be searched for words.
        word_positions: the positions of the records in `words` if it also contains other records, and None otherwise.
        criteria_float32: the criteria as a matrix with one row for each criterion, or an empty matrix if it is not
            needed. Multiplying it with the weights rules out most records quickly.
        evidence: the known values at the assurances above `declared`.
        assurance: the assurance of the columns and criteria.
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
        """Return the records at an assurance above `declared`.

        Columns that do not depend on it are shared.
        """
        positions, values = self.evidence.positions, self.evidence.values[assurance]
        columns = {**values, KNOWN_ETHICAL: count_known_ethical(values)}
        criteria = {criterion.name: criterion.compute(values) for criterion in CRITERIA}

        # A record without evidence has no known values, so its criteria are 0.
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
        """Return ranks that sort the records at the given positions by folded name.

        Equal names share a rank.
        """
        name_codes = self.columns["dataset_name"][positions]
        return self.vocabularies["dataset_name"].ranks_of_codes(name_codes)

    def take(self, positions: Ints) -> "Segment":
        """Return the records at the given positions as a segment with the same vocabularies."""
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
    """Records in a form for transfer between segments and indexes.

    Attributes:
        columns: the columns as in a segment, with codes that refer to `values`.
        values: the value of each code, by column; code 0 means unknown.
        evidence: the known values at the assurances above `declared`.
    """

    columns: Mapping[str, NDArray[Any]]
    values: Mapping[str, Sequence[Any]]
    evidence: EvidenceColumns


class SegmentWriter:
    """Builds a segment by appending records.

    `segment` may be called at any time.
    """

    def __init__(self, *, is_searchable: bool = True) -> None:
        """Begin an empty segment, which can be searched for words with `is_searchable`."""
        self._words = RecordWordsWriter(self._words_between) if is_searchable else None
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
        """Append rows, and compute their criteria."""
        columns = {name: self._encode_column(name, rows) for name in _ROW_COLUMNS}
        columns["uuid_high"], columns["uuid_low"] = split_uuids([row.dataset_id for row in rows])
        self._append(columns, encode_evidence([row.evidence for row in rows]))

    def extend_batch(self, batch: RecordBatch) -> None:
        """Append the records of a batch, and compute their criteria."""
        columns = dict(batch.columns)
        for name, texts in batch.texts.items():
            columns[name] = self._to_segment_codes(name, encode_arrow_values(texts))
        for name, words in batch.words.items():
            columns[name] = self._to_segment_codes(name, words)
        columns["owner"] = self._to_segment_codes("owner", batch.owners)

        self._append(columns, batch.evidence)

    def _to_segment_codes(self, name: str, column: CodedColumn) -> NDArray[Any]:
        """Convert the codes of a column to codes of this segment."""
        codes = np.array(self._vocabularies[name].encode_distinct(column.values), np.int32)
        return np.take(codes, column.codes)

    def _encode_column(self, name: str, rows: Sequence[CatalogRow]) -> NDArray[Any]:
        """Encode an attribute of rows as a column, with codes for texts, and -1 or NaN for unknown values."""
        values = [getattr(row, name) for row in rows]
        if name in self._vocabularies:
            return np.fromiter(map(self._vocabularies[name].encode, values), np.int32, len(rows))
        if name in FLAGS:
            return np.array([_FLAG_CODES[value] for value in values], np.int8)
        if name in INTEGER_COLUMNS:
            return np.array(values, np.int64)
        return np.array(values, np.float64)  # None becomes NaN

    def extend_decoded(self, records: DecodedColumns) -> None:
        """Append records from another segment or index, assigning new codes and dropping unused values."""
        columns = dict(records.columns)
        for name, vocabulary in self._vocabularies.items():
            values = records.values[name]
            used_codes, inverse = np.unique(columns[name], return_inverse=True)
            new_codes = [vocabulary.encode(values[code]) for code in used_codes.tolist()]
            columns[name] = np.array(new_codes, np.int32)[inverse]
        self._append(columns, records.evidence)

    def _append(self, columns: Mapping[str, NDArray[Any]], evidence: EvidenceColumns) -> None:
        """Append encoded records, and compute the columns derived from them."""
        all_columns = {**columns, KNOWN_ETHICAL: count_known_ethical(columns)}
        for name, growing_column in self._columns.items():
            growing_column.extend(all_columns[name])

        self._evidence.extend(evidence, first_position=self._size)
        self._size += len(columns["id"])

        criteria = [criterion.compute(columns) for criterion in CRITERIA]
        for criterion, values in zip(CRITERIA, criteria, strict=True):
            self._criteria[criterion.name].extend(values)
        self._criteria_float32.extend(np.stack(criteria).astype(np.float32))

    @property
    def unlisted_count(self) -> int:
        """The number of records whose words have not been listed, although they should be searchable."""
        return self._size - self._words.listed_count if self._words else 0

    def list_words(self) -> None:
        """List the words of all records, which the first search would otherwise do. This may run in another thread."""
        if self._words:
            self._words.list_words(self._size)

    def _words_between(self, start: int, end: int) -> DecodedWords:
        """Return the words of the records at the positions `start` to `end - 1`."""
        if end - start >= _MIN_RECORDS_FOR_KERNELS and are_kernels_replaced():
            return self._collect_words(start, end)
        return DecodedWords.from_weights(self._weigh_words(start, end))

    def _collect_words(self, start: int, end: int) -> DecodedWords:
        """Return the words of the records at the positions `start` to `end - 1`, which kernels collect."""
        words = WordCollector({name: self._vocabularies[name].snapshot().values for name in LABEL_COLUMNS})
        for first in range(start, end, RECORDS_PER_BATCH):
            last = min(first + RECORDS_PER_BATCH, end)
            names, objectives, descriptions = (
                TextRanges.from_texts(self._values(column, first, last))
                for column in ("dataset_name", "objective", "description")
            )
            label_codes = {name: self._columns[name].view()[first:last] for name in LABEL_COLUMNS}
            words.add(BatchTexts(names, (objectives, descriptions), label_codes))
        return words.read()

    def _weigh_words(self, start: int, end: int) -> Iterator[dict[str, int]]:
        """Yield the weights by word of each record at the positions `start` to `end - 1`."""
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
        """Return the values of a coded column at the positions `start` to `end - 1`."""
        codes = self._columns[column].view()[start:end].tolist()
        return [self._vocabularies[column].value(code) for code in codes]

    def segment(self) -> Segment:
        """Return the records so far as an immutable segment."""
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
    """Return the number of ethical attributes with a known value for each record."""
    counts = np.zeros(len(columns[ETHICAL[0]]), np.uint8)
    for name in ETHICAL:
        counts += columns[name] >= 0
    return counts


def _column_types() -> dict[str, Any]:
    """Return the NumPy types of the columns of a segment, keyed by name."""
    return {
        **CLAIM_TYPES,
        **dict.fromkeys(INTEGER_COLUMNS, np.int64),
        **dict.fromkeys(_CODED_COLUMNS, np.int32),
        "uuid_high": np.uint64,
        "uuid_low": np.uint64,
        KNOWN_ETHICAL: np.uint8,
    }
