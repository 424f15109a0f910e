"""The catalog as columns: what one record is to the evaluator, and a segment of records laid out column by column.

A `Segment` is immutable. `SegmentWriter` appends to buffers that grow by doubling and hands out segments over the
part that is written, so a reader keeps what it was given while the writer goes on behind it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS, WORDS
from touchstone.ranking.columns.vocabulary import Vocabulary, VocabularyWriter, fold_text, fold_words
from touchstone.ranking.criteria import CRITERIA, Floats, Ints

CODE: Final = np.int32
TEXT_COLUMNS: Final = ("dataset_name", "objective", "description", "file_path", "file_type", "visibility")
INTEGER_COLUMNS: Final = ("id", "created_at", "updated_at")


class CatalogRow(msgspec.Struct, frozen=True, kw_only=True):
    """One catalog record as the evaluator sees it; None is "not known", times are microseconds since the epoch."""

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
    created_at: int = 0
    updated_at: int = 0


class _Gathered(Mapping[str, NDArray[Any]]):
    """Columns at some positions, each gathered only when it is looked at: a query needs few of them."""

    def __init__(self, columns: Mapping[str, NDArray[Any]], positions: Ints) -> None:
        self._columns, self._positions = columns, positions

    def __getitem__(self, name: str) -> NDArray[Any]:
        return np.asarray(self._columns[name][self._positions])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@dataclass(frozen=True, slots=True)
class Segment:
    """`size` records, column by column.

    `columns`: numbers as float64 (NaN: not known), flags as int8 (1, 0, -1: not known), `id` and times as int64,
    texts, word lists and owners as int32 codes into `vocabularies` (0: not known), the two halves of `dataset_id`
    as uint64. `criteria`: float64 in 0-1 by criterion name. `rough`: the same as float32, one row a criterion, to rule
    records out with a single product; empty where that is never asked for.
    """

    size: int
    columns: Mapping[str, NDArray[Any]]
    criteria: Mapping[str, Floats]
    vocabularies: Mapping[str, Vocabulary]
    rough: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def name_order(self, positions: Any = slice(None)) -> Ints:
        """The rank of each record's folded name among the names of this segment; equal names, equal ranks."""
        return np.asarray(self.vocabularies["dataset_name"].ranks[self.columns["dataset_name"][positions]])

    def at(self, positions: Ints) -> "Segment":
        """The records at these positions as a segment of their own, over the same vocabularies."""
        return Segment(
            size=len(positions),
            columns=_Gathered(self.columns, positions),
            criteria=_Gathered(self.criteria, positions),
            vocabularies=self.vocabularies,
        )

    def dataset_id(self, position: int) -> UUID:
        """The UUID of the record at a position."""
        high, low = self.columns["uuid_high"][position], self.columns["uuid_low"][position]
        return UUID(int=(int(high) << 64) | int(low))


class Decoded(NamedTuple):
    """Records as columns whose codes (0: not known) index plain lists of values: what every layout can be read as."""

    columns: Mapping[str, NDArray[Any]]
    values: Mapping[str, Sequence[Any]]


class _Growing:
    """One column, or several rows of one, that grows at its end; what was handed out is never written again."""

    def __init__(self, dtype: Any, rows: tuple[int, ...] = ()) -> None:
        self._buffer: NDArray[Any] = np.empty((*rows, 0), dtype)
        self._size = 0

    def extend(self, values: NDArray[Any]) -> None:
        end = self._size + values.shape[-1]
        if end > self._buffer.shape[-1]:
            larger = np.empty((*self._buffer.shape[:-1], max(end, 2 * self._size)), self._buffer.dtype)
            larger[..., : self._size] = self.view()
            self._buffer = larger
        self._buffer[..., self._size : end] = values
        self._size = end

    def view(self) -> NDArray[Any]:
        return self._buffer[..., : self._size]


def _dtypes() -> dict[str, Any]:
    dtypes: dict[str, Any] = dict.fromkeys(NUMBERS, np.float64)
    dtypes |= dict.fromkeys(FLAGS, np.int8) | dict.fromkeys(INTEGER_COLUMNS, np.int64)
    dtypes |= dict.fromkeys((*TEXT_COLUMNS, *WORDS, "owner"), CODE)
    return dtypes | dict.fromkeys(("uuid_high", "uuid_low"), np.uint64)


def _vocabularies() -> dict[str, VocabularyWriter[Any]]:
    made: dict[str, VocabularyWriter[Any]] = {name: VocabularyWriter(fold_text) for name in TEXT_COLUMNS}
    return made | {name: VocabularyWriter(fold_words) for name in WORDS} | {"owner": VocabularyWriter(str)}


class SegmentWriter:
    """The growing end of a segment: append rows, take immutable segments."""

    def __init__(self) -> None:
        self._columns = {name: _Growing(dtype) for name, dtype in _dtypes().items()}
        self._criteria = {criterion.name: _Growing(np.float64) for criterion in CRITERIA}
        self._rough = _Growing(np.float32, (len(CRITERIA),))
        self._vocabularies = _vocabularies()

    def extend(self, rows: Sequence[CatalogRow]) -> None:
        """Append records; the criteria are computed here, once for each record."""
        chunk = {name: self._encoded(name, rows) for name in self._columns if not name.startswith("uuid_")}
        ids = [row.dataset_id.int for row in rows]
        chunk["uuid_high"] = np.fromiter((i >> 64 for i in ids), np.uint64, len(ids))
        chunk["uuid_low"] = np.fromiter((i & (2**64 - 1) for i in ids), np.uint64, len(ids))
        self._append(chunk)

    def _encoded(self, name: str, rows: Sequence[CatalogRow]) -> NDArray[Any]:
        values: Iterable[Any] = (getattr(row, name) for row in rows)
        if name in self._vocabularies:
            return np.fromiter(map(self._vocabularies[name].code, values), CODE, len(rows))
        if name in FLAGS:
            return np.fromiter((-1 if v is None else v for v in values), np.int8, len(rows))
        if name in INTEGER_COLUMNS:
            return np.fromiter(values, np.int64, len(rows))
        return np.fromiter((np.nan if v is None else v for v in values), np.float64, len(rows))

    def _append(self, chunk: Mapping[str, NDArray[Any]]) -> None:
        for name, growing in self._columns.items():
            growing.extend(chunk[name])
        computed = [criterion.of(chunk) for criterion in CRITERIA]
        for criterion, values in zip(CRITERIA, computed, strict=True):
            self._criteria[criterion.name].extend(values)
        self._rough.extend(np.stack(computed).astype(np.float32))

    def segment(self) -> Segment:
        """What is written so far."""
        columns = {name: growing.view() for name, growing in self._columns.items()}
        return Segment(
            size=len(columns["id"]),
            columns=columns,
            criteria={name: growing.view() for name, growing in self._criteria.items()},
            vocabularies={name: vocabulary.snapshot() for name, vocabulary in self._vocabularies.items()},
            rough=self._rough.view(),
        )

    def extend_decoded(self, records: Decoded) -> None:
        """Append records that come from another segment or index; only values that they use are taken over."""
        chunk = dict(records.columns)
        for name, vocabulary in self._vocabularies.items():
            used, codes = np.unique(chunk[name], return_inverse=True)
            values = records.values[name]
            table = np.array([vocabulary.code(values[code]) for code in used.tolist()], CODE)
            chunk[name] = table[codes]
        self._append(chunk)
