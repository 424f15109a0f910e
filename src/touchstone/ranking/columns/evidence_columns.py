"""What is known about records at the assurances above `declared`.

Most records of a large catalog have no evidence, so values are stored only for those that do. At an assurance above
`declared`, every claimable attribute of all other records is unknown.
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
"""The columns whose values depend on the assurance; names, texts, words, owners and ids do not."""

CLAIM_TYPES: Final[Mapping[str, Any]] = {**dict.fromkeys(NUMBERS, np.float64), **dict.fromkeys(FLAGS, np.int8)}
UNKNOWN_VALUES: Final[Mapping[str, float]] = {**dict.fromkeys(NUMBERS, np.nan), **dict.fromkeys(FLAGS, -1)}
"""For each attribute, what its column contains where the value is not known."""

_STRENGTHS: Final = {level: level.strength for level in EvidenceLevel}
_LEVEL_BITS: Final = 2
_LEVEL_SHIFTS: Final = {name: _LEVEL_BITS * number for number, name in enumerate(CLAIMED_ATTRIBUTES)}
_SHIFT_COLUMN: Final = np.array([[shift] for shift in _LEVEL_SHIFTS.values()], np.uint64)
_LEVEL_MASK: Final = np.uint64(2**_LEVEL_BITS - 1)


@dataclass(frozen=True, slots=True)
class PackedLevels:
    """The levels of the evidence about some records: two bits for each attribute, in the order of CLAIMED_ATTRIBUTES.

    Attributes:
        positions: The positions of the records about which there is evidence, in ascending order.
        levels: The levels of each of these records; every attribute of all other records is declared.
    """

    positions: NDArray[Any]
    levels: NDArray[np.uint64]

    def at(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the levels of the records at some positions."""
        if not len(self.positions):
            return np.zeros(len(positions), np.uint64)

        # A search for numbers of another type would first convert all of the array.
        positions = positions.astype(self.positions.dtype)
        places = np.minimum(np.searchsorted(self.positions, positions), len(self.positions) - 1)
        has_evidence = self.positions[places] == positions
        return np.where(has_evidence, self.levels[places], np.uint64(0))


def unpack_levels(packed_levels: NDArray[np.uint64]) -> Ints:
    """Return the strength of the level that supports each of CLAIMED_ATTRIBUTES (row) of each record (column)."""
    strengths = (packed_levels >> _SHIFT_COLUMN) & _LEVEL_MASK
    return strengths.astype(np.int64)


def pack_levels(strengths: Mapping[str, Ints], record_count: int) -> NDArray[np.uint64]:
    """Pack the levels of each record, given as strengths by attribute, into one integer per record."""
    packed_levels = np.zeros(record_count, np.uint64)
    for attribute, attribute_strengths in strengths.items():
        packed_levels |= attribute_strengths.astype(np.uint64) << np.uint64(_LEVEL_SHIFTS[attribute])
    return packed_levels


@dataclass(frozen=True, slots=True)
class EvidenceColumns:
    """The evidence about the records of a segment or an index.

    Attributes:
        positions: The positions of the records about which there is evidence, in ascending order.
        values: By assurance above `declared` and by attribute, what is known about these records.
        shown_levels: The packed levels that support the values that records show.
        stricter_levels: The packed levels that support the values at the assurances above `declared`.
    """

    positions: Ints
    values: Mapping[Assurance, Mapping[str, NDArray[Any]]]
    shown_levels: NDArray[np.uint64]
    stricter_levels: NDArray[np.uint64]

    def known_positions(self, assurance: Assurance) -> Ints:
        """Return the positions of the records about which anything is known at an assurance above `declared`."""
        is_known = np.zeros(len(self.positions), np.bool_)
        for name in CLAIMED_ATTRIBUTES:
            is_known |= _is_known(self.values[assurance][name], name)
        return self.positions[is_known]

    def distinct_assurances(self) -> list[Assurance]:
        """Return the assurances above `declared` at which anything is known, each of which differs from the others."""
        assurances = STRICTER_ASSURANCES[:1] if self.is_same_at_all() else STRICTER_ASSURANCES
        return [assurance for assurance in assurances if len(self.known_positions(assurance))]

    def is_same_at_all(self) -> bool:
        """Return whether the same is known at every assurance above `declared`, as with measurements."""
        documented = self.values[Assurance.DOCUMENTED]
        reviewed = self.values[Assurance.REVIEWED]
        return all(
            np.array_equal(documented[name], reviewed[name], equal_nan=name in NUMBERS) for name in CLAIMED_ATTRIBUTES
        )

    def packed_levels(self, assurance: Assurance) -> PackedLevels:
        """Return the levels that support the values at an assurance."""
        levels = self.shown_levels if assurance is Assurance.DECLARED else self.stricter_levels
        return PackedLevels(self.positions, levels)

    def keep(self, places: NDArray[Any], new_positions: Ints) -> "EvidenceColumns":
        """Return a part of the evidence, with new positions of the records that it is about.

        `places` selects the part, as indices into the columns or as a mask; `new_positions` has one position for each
        selected entry.
        """
        return EvidenceColumns(
            positions=new_positions,
            values={
                assurance: {name: column[places] for name, column in columns.items()}
                for assurance, columns in self.values.items()
            },
            shown_levels=self.shown_levels[places],
            stricter_levels=self.stricter_levels[places],
        )


NO_EVIDENCE: Final = EvidenceColumns(
    positions=np.empty(0, np.int64),
    values={
        assurance: {name: np.empty(0, dtype) for name, dtype in CLAIM_TYPES.items()}
        for assurance in STRICTER_ASSURANCES
    },
    shown_levels=np.empty(0, np.uint64),
    stricter_levels=np.empty(0, np.uint64),
)
"""The evidence of a catalog without any."""


def _is_known(values: NDArray[Any], attribute: str) -> Bools:
    """Return a mask of the known values in the column of an attribute."""
    return ~np.isnan(values) if attribute in NUMBERS else values >= 0


def encode_evidence(evidence_by_row: Sequence[EvidenceByAttribute | None]) -> EvidenceColumns:
    """Encode the evidence about rows as columns. A row without evidence has None or an empty mapping."""
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
    """The evidence about one attribute, and the places of the records that it is about."""

    places: list[int]
    evidence: list[AttributeEvidence]


def _group_by_attribute(entries: Sequence[EvidenceByAttribute]) -> dict[str, _AttributeEntries]:
    """Return the evidence about some records by attribute; most records have evidence about few attributes."""
    groups = {name: _AttributeEntries([], []) for name in CLAIMED_ATTRIBUTES}
    for place, evidence_by_name in enumerate(entries):
        for name, evidence in evidence_by_name.items():
            groups[name].places.append(place)
            groups[name].evidence.append(evidence)
    return groups


def _encode_values(entries: _AttributeEntries, attribute: str, assurance: Assurance, size: int) -> NDArray[Any]:
    """Return what is known about an attribute of some records at an assurance above `declared`, as a column."""
    unknown_value = UNKNOWN_VALUES[attribute]
    values = (evidence.value_at(assurance, shown_value=None) for evidence in entries.evidence)
    column = np.full(size, unknown_value, CLAIM_TYPES[attribute])
    column[entries.places] = [unknown_value if value is None else value for value in values]
    return column


def _encode_levels(
    evidence_by_attribute: Mapping[str, _AttributeEntries], assurance: Assurance, size: int
) -> NDArray[np.uint64]:
    """Return the levels of the evidence about some records at an assurance, packed."""
    strengths: dict[str, Ints] = {}
    for name, entries in evidence_by_attribute.items():
        strengths[name] = np.zeros(size, np.int64)  # records without evidence are merely declared
        strengths[name][entries.places] = [_STRENGTHS[evidence.level_at(assurance)] for evidence in entries.evidence]
    return pack_levels(strengths, size)


class EvidenceWriter:
    """Collects the evidence about records that are added one batch after another.

    `snapshot` returns the evidence so far at any time.
    """

    def __init__(self) -> None:
        self._positions = GrowingArray(np.int64)
        self._shown_levels = GrowingArray(np.uint64)
        self._stricter_levels = GrowingArray(np.uint64)
        self._values: dict[Assurance, dict[str, GrowingArray]] = {}

    def extend(self, evidence: EvidenceColumns, first_position: int) -> None:
        """Append the evidence about further records, the first of which is at `first_position`."""
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
        """Return the evidence so far, which later appends do not change."""
        if not self._values:
            return NO_EVIDENCE

        return EvidenceColumns(
            positions=self._positions.view(),
            values={
                assurance: {name: growing_column.view() for name, growing_column in columns.items()}
                for assurance, columns in self._values.items()
            },
            shown_levels=self._shown_levels.view(),
            stricter_levels=self._stricter_levels.view(),
        )


class SparseColumns(Mapping[str, NDArray[Any]]):
    """Columns with values at some positions, and the same value at all others.

    A column is expanded to its full length when it is first read, because a query needs few of them.
    """

    def __init__(
        self, size: int, positions: Ints, values: Mapping[str, NDArray[Any]], elsewhere: Mapping[str, float]
    ) -> None:
        self._size = size
        self._positions = positions
        self._values = values
        self._elsewhere = elsewhere
        self._columns: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self._columns.get(name)
        if column is None:
            values = self._values[name]
            column = np.full(self._size, self._elsewhere[name], values.dtype)
            column[self._positions] = values
            self._columns[name] = column
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class ReplacedColumns(Mapping[str, NDArray[Any]]):
    """Columns, some of which are replaced by others of the same name."""

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
