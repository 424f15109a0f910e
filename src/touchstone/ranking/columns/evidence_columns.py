"""The known values of records at the assurances above `declared`.

Most records of a large catalog have no evidence, so values are stored only for records with evidence. At an assurance
above `declared`, all claimable attributes of the other records are unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import (
    CLAIMED_ATTRIBUTES,
    Assurance,
    AttributeEvidence,
    EvidenceByAttribute,
    EvidenceLevel,
)
from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.criteria import COMPOSITES

STRICTER_ASSURANCES: Final = (Assurance.DOCUMENTED, Assurance.REVIEWED)
ASSURED_COLUMNS: Final = frozenset({*CLAIMED_ATTRIBUTES, *COMPOSITES})
"""The columns with values that depend on the assurance, unlike names, texts, words, owners and ids."""

CLAIM_TYPES: Final[Mapping[str, Any]] = {**dict.fromkeys(NUMBERS, np.float64), **dict.fromkeys(FLAGS, np.int8)}
UNKNOWN_VALUES: Final[Mapping[str, float]] = {**dict.fromkeys(NUMBERS, np.nan), **dict.fromkeys(FLAGS, -1)}
"""The representation of an unknown value in the column of each attribute."""

_STRENGTHS: Final = {level: level.strength for level in EvidenceLevel}
_LEVEL_BITS: Final = 2
_LEVEL_SHIFTS: Final = {name: _LEVEL_BITS * number for number, name in enumerate(CLAIMED_ATTRIBUTES)}
_SHIFT_COLUMN: Final = np.array([[shift] for shift in _LEVEL_SHIFTS.values()], np.uint64)
_LEVEL_MASK: Final = np.uint64(2**_LEVEL_BITS - 1)


@dataclass(frozen=True, slots=True)
class PackedLevels:
    """The evidence levels of records, with two bits for each attribute in the order of CLAIMED_ATTRIBUTES.

    Attributes:
        positions: the ascending positions of the records with evidence.
        levels: the levels of each of these records. All attributes of the other records are merely declared.
    """

    positions: NDArray[Any]
    levels: NDArray[np.uint64]

    def at(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the levels of the records at the given positions."""
        if not len(self.positions):
            return np.zeros(len(positions), np.uint64)

        # With positions of another type, `searchsorted` would convert the whole array first.
        positions = positions.astype(self.positions.dtype)
        indices = np.minimum(np.searchsorted(self.positions, positions), len(self.positions) - 1)
        has_evidence = self.positions[indices] == positions
        return np.where(has_evidence, self.levels[indices], np.uint64(0))


def unpack_levels(packed_levels: NDArray[np.uint64]) -> Ints:
    """Return the strength of the evidence level of each of CLAIMED_ATTRIBUTES (row) of each record (column)."""
    strengths = (packed_levels >> _SHIFT_COLUMN) & _LEVEL_MASK
    return strengths.astype(np.int64)


def pack_levels(strengths: Mapping[str, Ints], record_count: int) -> NDArray[np.uint64]:
    """Pack the evidence levels of each record, given as strengths by attribute, into one integer per record."""
    packed_levels = np.zeros(record_count, np.uint64)
    for attribute, attribute_strengths in strengths.items():
        packed_levels |= attribute_strengths.astype(np.uint64) << np.uint64(_LEVEL_SHIFTS[attribute])
    return packed_levels


@dataclass(frozen=True, slots=True)
class EvidenceColumns:
    """The evidence about the records of a segment or an index.

    Attributes:
        positions: the ascending positions of the records with evidence.
        values: the known values of these records by assurance above `declared` and by attribute.
        shown_levels: the packed levels that support the values shown at `declared`.
        stricter_levels: the packed levels that support the values at the assurances above `declared`.
    """

    positions: Ints
    values: Mapping[Assurance, Mapping[str, NDArray[Any]]]
    shown_levels: NDArray[np.uint64]
    stricter_levels: NDArray[np.uint64]

    def known_positions(self, assurance: Assurance) -> Ints:
        """Return the positions of the records with any known value at an assurance above `declared`."""
        is_known = np.zeros(len(self.positions), np.bool_)
        for name in CLAIMED_ATTRIBUTES:
            is_known |= _is_known(self.values[assurance][name], name)
        return self.positions[is_known]

    def distinct_assurances(self) -> list[Assurance]:
        """Return the assurances above `declared` with known values, omitting an assurance with the same values."""
        assurances = STRICTER_ASSURANCES[:1] if self.are_stricter_values_equal() else STRICTER_ASSURANCES
        return [assurance for assurance in assurances if len(self.known_positions(assurance))]

    def are_stricter_values_equal(self) -> bool:
        """Return whether all assurances above `declared` have the same known values, as with measurements."""
        documented = self.values[Assurance.DOCUMENTED]
        reviewed = self.values[Assurance.REVIEWED]
        return all(
            np.array_equal(documented[name], reviewed[name], equal_nan=name in NUMBERS) for name in CLAIMED_ATTRIBUTES
        )

    def packed_levels(self, assurance: Assurance) -> PackedLevels:
        """Return the evidence levels that support the values at an assurance."""
        levels = self.shown_levels if assurance is Assurance.DECLARED else self.stricter_levels
        return PackedLevels(self.positions, levels)

    def select(self, selection: NDArray[Any], new_positions: Ints) -> "EvidenceColumns":
        """Return the evidence about selected records, with new positions of these records.

        Args:
            selection: indices into the columns, or a mask.
            new_positions: the new position of each selected record.
        """
        values = {
            assurance: {name: column[selection] for name, column in columns.items()}
            for assurance, columns in self.values.items()
        }
        return EvidenceColumns(
            positions=new_positions,
            values=values,
            shown_levels=self.shown_levels[selection],
            stricter_levels=self.stricter_levels[selection],
        )


_NO_VALUES: Final[Mapping[str, NDArray[Any]]] = {name: np.empty(0, dtype) for name, dtype in CLAIM_TYPES.items()}

NO_EVIDENCE: Final = EvidenceColumns(
    positions=np.empty(0, np.int64),
    values=dict.fromkeys(STRICTER_ASSURANCES, _NO_VALUES),
    shown_levels=np.empty(0, np.uint64),
    stricter_levels=np.empty(0, np.uint64),
)
"""The columns of a catalog without evidence."""


def _is_known(values: NDArray[Any], attribute: str) -> Bools:
    """Return a mask of the known values in the column of an attribute."""
    return ~np.isnan(values) if attribute in NUMBERS else values >= 0


def encode_evidence(evidence_by_row: Sequence[EvidenceByAttribute | None]) -> EvidenceColumns:
    """Encode the evidence about rows as columns.

    A row without evidence has None or an empty mapping.
    """
    if not any(evidence_by_row):
        return NO_EVIDENCE

    positions = [position for position, evidence in enumerate(evidence_by_row) if evidence]
    entries = [evidence for evidence in evidence_by_row if evidence]
    evidence_by_attribute = _group_by_attribute(entries)

    values: dict[Assurance, dict[str, NDArray[Any]]] = {}
    for assurance in STRICTER_ASSURANCES:
        values[assurance] = {
            name: _encode_values(evidence, name, assurance, len(entries))
            for name, evidence in evidence_by_attribute.items()
        }

    return EvidenceColumns(
        positions=np.array(positions, np.int64),
        values=values,
        shown_levels=_encode_levels(evidence_by_attribute, Assurance.DECLARED, len(entries)),
        stricter_levels=_encode_levels(evidence_by_attribute, Assurance.DOCUMENTED, len(entries)),
    )


class _AttributeEntries(NamedTuple):
    """The evidence about one attribute, and the index of the record for each piece of evidence."""

    record_indices: list[int]
    evidence: list[AttributeEvidence]


def _group_by_attribute(entries: Sequence[EvidenceByAttribute]) -> dict[str, _AttributeEntries]:
    """Group the evidence about records by attribute."""
    groups = {name: _AttributeEntries([], []) for name in CLAIMED_ATTRIBUTES}
    for index, evidence_by_name in enumerate(entries):
        for name, evidence in evidence_by_name.items():
            groups[name].record_indices.append(index)
            groups[name].evidence.append(evidence)
    return groups


def _encode_values(entries: _AttributeEntries, attribute: str, assurance: Assurance, size: int) -> NDArray[Any]:
    """Return a column of the known values of an attribute at an assurance above `declared`."""
    unknown_value = UNKNOWN_VALUES[attribute]
    values = (evidence.value_at(assurance, shown_value=None) for evidence in entries.evidence)
    column = np.full(size, unknown_value, CLAIM_TYPES[attribute])
    column[entries.record_indices] = [unknown_value if value is None else value for value in values]
    return column


def _encode_levels(
    evidence_by_attribute: Mapping[str, _AttributeEntries], assurance: Assurance, size: int
) -> NDArray[np.uint64]:
    """Return the packed evidence levels of records at an assurance."""
    strengths: dict[str, Ints] = {}
    for name, entries in evidence_by_attribute.items():
        strengths[name] = np.zeros(size, np.int64)  # records without evidence are merely declared
        levels = [evidence.level_at(assurance) for evidence in entries.evidence]
        strengths[name][entries.record_indices] = [_STRENGTHS[level] for level in levels]
    return pack_levels(strengths, size)


class EvidenceWriter:
    """Collects the evidence about a growing number of records.

    `snapshot` may be called at any time.
    """

    def __init__(self) -> None:
        self._positions = GrowingArray(np.int64)
        self._shown_levels = GrowingArray(np.uint64)
        self._stricter_levels = GrowingArray(np.uint64)
        self._values: dict[Assurance, dict[str, GrowingArray]] = {}

    def extend(self, evidence: EvidenceColumns, first_position: int) -> None:
        """Append the evidence about a batch of records that begins at `first_position`."""
        if not len(evidence.positions):
            return

        if not self._values:
            for assurance in STRICTER_ASSURANCES:
                self._values[assurance] = {name: GrowingArray(dtype) for name, dtype in CLAIM_TYPES.items()}

        self._positions.extend(evidence.positions + first_position)
        self._shown_levels.extend(evidence.shown_levels)
        self._stricter_levels.extend(evidence.stricter_levels)
        for assurance, columns in self._values.items():
            for name, growing_column in columns.items():
                growing_column.extend(evidence.values[assurance][name])

    def snapshot(self) -> EvidenceColumns:
        """Return an immutable snapshot of the evidence so far."""
        if not self._values:
            return NO_EVIDENCE

        values = {
            assurance: {name: growing_column.view() for name, growing_column in columns.items()}
            for assurance, columns in self._values.items()
        }
        return EvidenceColumns(
            positions=self._positions.view(),
            values=values,
            shown_levels=self._shown_levels.view(),
            stricter_levels=self._stricter_levels.view(),
        )


class SparseColumns(Mapping[str, NDArray[Any]]):
    """Columns with values at the given positions, and a default value at all others.

    A column is expanded to its full length when it is first read, because a query needs only a few columns.
    """

    def __init__(
        self, size: int, positions: Ints, values: Mapping[str, NDArray[Any]], default_values: Mapping[str, float]
    ) -> None:
        self._size = size
        self._positions = positions
        self._values = values
        self._default_values = default_values
        self._columns: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self._columns.get(name)
        if column is None:
            values = self._values[name]
            column = np.full(self._size, self._default_values[name], values.dtype)
            column[self._positions] = values
            self._columns[name] = column
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class ReplacedColumns(Mapping[str, NDArray[Any]]):
    """A view of columns in which some are replaced by other columns of the same name."""

    def __init__(self, columns: Mapping[str, NDArray[Any]], replacements: Mapping[str, NDArray[Any]]) -> None:
        self._columns = columns
        self._replacements = replacements

    def __getitem__(self, name: str) -> NDArray[Any]:
        columns = self._replacements if name in self._replacements else self._columns
        return columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
