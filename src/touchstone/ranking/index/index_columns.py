"""The columns of an index, in leaf order: everything that is built once, stored in a snapshot, and never changed.

The names of the fields are part of the format of snapshots: whoever renames one must give the format a new number.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.columns.evidence_columns import PackedLevels
from touchstone.ranking.columns.packed_texts import PackedTexts
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.text_columns import NameColumn, TextColumn
from touchstone.ranking.index.word_index import TextsNotIndexed, WordIndex
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.kernels.inputs import KernelColumns
from touchstone.ranking.kernels.two_threads import take_values

EMPTY_PLANE_ROW: Final = 0
"""The row of the plane that stands for every property that no record has."""
STRICTER_EDGES: Final = np.array([1])
"""Above `declared`, numbers have a plane of the records whose number is known only: there are few of them."""
PUBLIC_PLANE: Final = "public"
"""The key of the plane of the public records."""


def flag_plane(flag: str, value: bool) -> str:
    """Return the key of the plane of the records whose flag has a value."""
    return f"flag:{flag}:{int(value)}"


def word_plane(column: str, word: str) -> str:
    """Return the key of the plane of the records whose word list contains a folded word."""
    return f"word:{column}:{word}"


def at_least_plane(column: str, code: int) -> str:
    """Return the key of the plane of the records whose number has this code or a higher one."""
    return f"least:{column}:{code}"


def ethical_plane(count: int) -> str:
    """Return the key of the plane of the records that meet at least `count` of the ten ethical criteria."""
    return f"ethical:{count}"


def without_trailing_zeros(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of some values, one for each record, without the zeros at the end.

    The values may have several rows, which keep the same length: that of the row with the fewest zeros at its end.
    """
    rows = values.reshape(-1, values.shape[-1])
    not_zero = np.flatnonzero(rows.any(axis=0))
    length = int(not_zero[-1]) + 1 if len(not_zero) else 0
    return values[..., :length].copy()


def with_trailing_zeros(values: NDArray[Any], length: int) -> NDArray[Any]:
    """Return values, in one row or several, with zeros at the end up to some length.

    The operating system reserves no memory for zeros that are never written.
    """
    extended = np.zeros((*values.shape[:-1], length), values.dtype)
    extended[..., : values.shape[-1]] = values
    return extended


@dataclass(frozen=True, slots=True)
class Planes:
    """The planes of an index: bitmaps of the records that have some property.

    The bitmaps are shared by all assurances; `rows` says which of them hold at one.

    Attributes:
        rows: The row of each plane by its key, as returned by `flag_plane`, `word_plane` and so on.
        bitmaps: One row for each plane, with one bit for each record.
        counts: One row for each plane, with the number of its records in each leaf.
    """

    rows: Mapping[str, int]
    bitmaps: Words
    counts: NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class CriterionColumns:
    """What the index knows about the criteria of single records, of blocks of 64 records, and of whole leaves.

    Attributes:
        grades: One row for each of GRADED_CRITERIA: the criterion in one byte, rounded up.
        flag_bytes: For each record one bit for each of FLAG_STATES.
        block_grades: One row for each of GRADED_CRITERIA: its highest grade in each block.
        block_flag_bytes: For each block the bits of FLAG_STATES that any of its records has.
        ethical_by_grade: The ethical score for each of its grades.
        upper, lower: One row for each criterion: its highest and its lowest value in each leaf.
        known_ethical: For each record of how many ethical attributes it is known whether they are true or false.
    """

    grades: NDArray[np.uint8]
    flag_bytes: NDArray[np.uint8]
    block_grades: NDArray[np.uint8]
    block_flag_bytes: NDArray[np.uint8]
    ethical_by_grade: Floats
    upper: Floats
    lower: Floats
    known_ethical: NDArray[np.uint8]

    def without_trailing_zeros(self) -> "CriterionColumns":
        """Return the same columns without the zeros at the end of each."""
        arrays = {field.name: without_trailing_zeros(getattr(self, field.name)) for field in fields(self)}
        return CriterionColumns(**arrays)

    def with_trailing_zeros(self, declared: "CriterionColumns") -> "CriterionColumns":
        """Return the same columns with zeros at the end of each, so that they are as long as those at `declared`."""
        arrays = {
            field.name: with_trailing_zeros(getattr(self, field.name), getattr(declared, field.name).shape[-1])
            for field in fields(self)
        }
        return CriterionColumns(**arrays)


@dataclass(frozen=True, slots=True)
class CriterionTables:
    """Each criterion, or part of the technical score, that depends on one number only, for every code of it."""

    year: Floats
    instances: Floats
    instances_part: Floats
    features: Floats
    features_part: Floats
    citations: Floats
    quality: Floats
    missing_part: Floats


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A number attribute, stored as codes.

    Attributes:
        values: The distinct numbers in ascending order, after NaN at index 0.
        codes: For each record the index of its number in `values`; code 0 means "not known".
        edges: The codes that have a plane of the records with this code or a higher one, in ascending order.
    """

    values: Floats
    codes: NDArray[Any]
    edges: Ints


@dataclass(frozen=True, slots=True)
class IntegerColumn:
    """An id or a time, stored in as few bytes as possible.

    Attributes:
        values: The distinct integers, or the smallest integer only.
        stored: For each record the index of its integer in `values`, or the difference from the only one of `values`.
    """

    values: Ints
    stored: NDArray[Any]

    def take(self, positions: Any) -> Ints:
        """Return the integers at some positions, which may be a slice."""
        # Positions of 32 bits come from a ranking of the whole catalog, which is long enough for two threads.
        is_whole_ranking = isinstance(positions, np.ndarray) and positions.dtype == np.uint32
        stored = take_values(self.stored, positions) if is_whole_ranking else self.stored[positions]

        if len(self.values) > 1:
            return np.asarray(self.values[stored])
        return np.asarray(np.add(self.values[0], stored, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """Texts as codes into a pool of distinct texts; code 0 is "not known". Word lists are stored as JSON."""

    pool: TextPool
    codes: NDArray[Any]


def decode_words(encoded_words: str) -> tuple[str, ...]:
    """Return a word list from the JSON in which it is stored."""
    return tuple(msgspec.json.decode(encoded_words))


@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """The owners of the records.

    Attributes:
        owners: The owner of each record as a hexadecimal UUID.
        private_positions: The positions of the private records, sorted by the code of their owner.
        private_codes: The codes of these owners, in the same order.
    """

    owners: CodedColumn
    private_positions: NDArray[np.uint32]
    private_codes: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class UuidColumn:
    """The UUIDs of the records, as two halves of 64 bits."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]

    def integer_at(self, position: int) -> int:
        """Return the UUID at a position as an integer."""
        return (int(self.high[position]) << 64) | int(self.low[position])


@dataclass(frozen=True, slots=True)
class StricterColumns:
    """What differs at an assurance above `declared`; everything else is shared.

    The records about which something is known come first in an index, so most columns end in zeros, which are left out.

    Attributes:
        plane_rows: The rows of the planes of numbers, flags and ethical criteria.
        criteria: The criteria of records, blocks and leaves, without trailing zeros.
        codes: By number attribute, the code of each record, without trailing zeros; all assurances share the numbers.
    """

    plane_rows: Mapping[str, int]
    criteria: CriterionColumns
    codes: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class StoredLevels:
    """The levels of the evidence, packed, for the records about which there is any, in the order of their positions."""

    positions: NDArray[np.uint32]
    shown: NDArray[np.uint64]
    stricter: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class IndexColumns:
    """All columns of an index over `size` records, in leaves of `64 * leaf_words` records.

    `planes`, `criteria` and `numbers` hold what is known at `assurance`, which is `declared` in a snapshot. `stricter`
    has an entry for each assurance above at which anything is known.
    `word_index` is None until the texts of the records are indexed, which may happen after everything else.
    """

    size: int
    leaf_words: int
    planes: Planes
    criteria: CriterionColumns
    tables: CriterionTables
    numbers: Mapping[str, NumberColumn]
    integers: Mapping[str, IntegerColumn]
    texts: Mapping[str, TextColumn[TextPool]]
    long_texts: Mapping[str, TextColumn[PackedTexts]]
    words: Mapping[str, CodedColumn]
    names: NameColumn
    owner: OwnerColumn
    dataset_ids: UuidColumn
    positions_by_id: NDArray[np.uint32]
    levels: StoredLevels
    stricter: Mapping[Assurance, StricterColumns]
    word_index: WordIndex | None
    assurance: Assurance = Assurance.DECLARED

    def at(self, assurance: Assurance) -> "IndexColumns":
        """Return the columns of the same records with what is known at an assurance above `declared`."""
        stricter = self.stricter.get(assurance) or self._nothing_known()
        codes = {name: with_trailing_zeros(stricter.codes[name], self.size) for name in NUMBERS}
        numbers = {name: NumberColumn(self.numbers[name].values, codes[name], STRICTER_EDGES) for name in NUMBERS}
        return replace(
            self,
            planes=replace(self.planes, rows={**self.planes.rows, **stricter.plane_rows}),
            criteria=stricter.criteria.with_trailing_zeros(self.criteria),
            numbers=numbers,
            assurance=assurance,
        )

    def _nothing_known(self) -> StricterColumns:
        """Return the columns for an assurance at which nothing is known about any record."""
        declared = self.criteria
        no_criteria = {field.name: getattr(declared, field.name)[..., :0] for field in fields(declared)}
        return StricterColumns(
            plane_rows=dict.fromkeys(_assured_planes(), EMPTY_PLANE_ROW),
            criteria=CriterionColumns(**no_criteria),
            codes={name: number.codes[:0] for name, number in self.numbers.items()},
        )

    def plane_rows(self, assurance: Assurance) -> Mapping[str, int]:
        """Return the rows of the planes that depend on the assurance, at any one; only `declared` columns know them."""
        assert self.assurance is Assurance.DECLARED
        if assurance is Assurance.DECLARED:
            return self.planes.rows

        stricter = self.stricter.get(assurance)
        return stricter.plane_rows if stricter else dict.fromkeys(_assured_planes(), EMPTY_PLANE_ROW)

    def packed_levels(self) -> PackedLevels:
        """Return the levels of the evidence that support the values at this assurance."""
        is_declared = self.assurance is Assurance.DECLARED
        return PackedLevels(self.levels.positions, self.levels.shown if is_declared else self.levels.stricter)

    @property
    def leaf_size(self) -> int:
        """How many records a full leaf holds."""
        return BITS_PER_WORD * self.leaf_words

    @property
    def leaf_count(self) -> int:
        """How many leaves there are."""
        return math.ceil(self.size / self.leaf_size)

    @property
    def word_count(self) -> int:
        """How many words a plane has."""
        return self.leaf_count * self.leaf_words

    def text_column(self, name: str) -> TextColumn[TextPool] | TextColumn[PackedTexts]:
        """Return a column of texts, which may be long ones."""
        return self.long_texts[name] if name in self.long_texts else self.texts[name]

    def searchable_words(self) -> WordIndex:
        """Return the index of the words.

        Raises:
            TextsNotIndexed: it has not been built yet.
        """
        if self.word_index is None:
            raise TextsNotIndexed
        return self.word_index

    def kernel_columns(self) -> KernelColumns:
        """Return the arrays that compiled kernels read, by the names that they have there; no array is copied."""
        return KernelColumns(
            record_count=self.size,
            words_per_leaf=self.leaf_words,
            grades=self.criteria.grades,
            flag_bytes=self.criteria.flag_bytes,
            block_grades=self.criteria.block_grades,
            block_flag_bytes=self.criteria.block_flag_bytes,
            year_codes=self.numbers["year"].codes,
            instances_codes=self.numbers["instances_number"].codes,
            features_codes=self.numbers["features_number"].codes,
            citations_codes=self.numbers["citations"].codes,
            missing_percentage_codes=self.numbers["missing_values_percentage"].codes,
            ethical_score_by_grade=self.criteria.ethical_by_grade,
            year_score_by_code=self.tables.year,
            instances_score_by_code=self.tables.instances,
            instances_part_by_code=self.tables.instances_part,
            features_score_by_code=self.tables.features,
            features_part_by_code=self.tables.features_part,
            citations_score_by_code=self.tables.citations,
            data_quality_by_code=self.tables.quality,
            completeness_part_by_code=self.tables.missing_part,
            leaf_maxima=self.criteria.upper,
            first_alphabetical_ranks=self.names.first_places,
            alphabetical_ranks=self.names.places,
            planes=self.planes.bitmaps,
            plane_counts=self.planes.counts,
            name_bytes=self.names.pool.data,
            name_offsets=self.names.pool.offsets,
            accented=self.names.accented,
            accented_positions=self.names.accented_positions,
            accented_bytes=self.names.accented_pool.data,
            accented_offsets=self.names.accented_pool.offsets,
        )


def _assured_planes() -> list[str]:
    """Return the keys of the planes that there are at every assurance."""
    keys = [flag_plane(flag, value) for flag in FLAGS for value in (True, False)]
    keys += [ethical_plane(count) for count in range(1, len(ETHICAL) + 1)]
    keys += [at_least_plane(column, edge) for column in NUMBERS for edge in STRICTER_EDGES.tolist()]
    return keys
