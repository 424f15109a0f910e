"""The immutable columns of an index, which a snapshot stores.

The field names are part of the snapshot format. If you rename one, increase the format number in `snapshot_file`.
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
"""The row of the plane shared by all properties that no record has."""
STRICTER_EDGES: Final = np.array([1])
"""The only edge of numbers above `declared`: all known numbers, because few are known there."""
PUBLIC_PLANE: Final = "public"
"""The key of the plane of the public records."""


def flag_plane(flag: str, value: bool) -> str:
    """Return the key of the plane for a flag with the given value."""
    return f"flag:{flag}:{int(value)}"


def word_plane(column: str, word: str) -> str:
    """Return the key of the plane for word lists that contain a folded word."""
    return f"word:{column}:{word}"


def at_least_plane(column: str, code: int) -> str:
    """Return the key of the plane for numbers with the given code or a higher one."""
    return f"least:{column}:{code}"


def ethical_plane(count: int) -> str:
    """Return the key of the plane for records that meet at least `count` of the ten ethical criteria."""
    return f"ethical:{count}"


def without_trailing_zeros(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of `values` without the trailing columns that contain only zeros.

    Args:
        values: an array with one element, or one column, for each record.
    """
    rows = values.reshape(-1, values.shape[-1])
    not_zero = np.flatnonzero(rows.any(axis=0))
    length = int(not_zero[-1]) + 1 if len(not_zero) else 0
    return values[..., :length].copy()


def with_trailing_zeros(values: NDArray[Any], length: int) -> NDArray[Any]:
    """Return `values` padded with zeros along the last axis to the given length.

    The padding uses hardly any memory because the operating system allocates a page of zeros only when it is written.
    """
    extended = np.zeros((*values.shape[:-1], length), values.dtype)
    extended[..., : values.shape[-1]] = values
    return extended


@dataclass(frozen=True, slots=True)
class Planes:
    """The planes of an index, which are bitmaps of the records with a property.

    All assurances share the bitmaps; `rows` selects the planes that apply at one assurance.

    Attributes:
        rows: the row number of each plane by its key, as returned by `flag_plane`, `word_plane` and so on.
        bitmaps: the bits of all records, with one row for each plane.
        counts: the number of records in each leaf, with one row for each plane.
    """

    rows: Mapping[str, int]
    bitmaps: Words
    counts: NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class CriterionColumns:
    """The criteria of records, and their bounds for blocks of 64 records and for leaves.

    Attributes:
        grades: the criteria of each record as bytes, rounded up, with one row for each of GRADED_CRITERIA.
        flag_bytes: a byte for each record with one bit for each of FLAG_STATES.
        block_grades: the highest grade in each block, with one row for each of GRADED_CRITERIA.
        block_flag_bytes: a byte for each block with the bits of FLAG_STATES that any of its records has.
        ethical_by_grade: the ethical score of each grade.
        upper: the highest value in each leaf, with one row for each criterion.
        lower: the lowest value in each leaf, with one row for each criterion.
        known_ethical: the number of ethical attributes with a known value, for each record.
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
        """Return a copy of the columns without trailing zeros."""
        arrays = {field.name: without_trailing_zeros(getattr(self, field.name)) for field in fields(self)}
        return CriterionColumns(**arrays)

    def with_trailing_zeros(self, declared: "CriterionColumns") -> "CriterionColumns":
        """Return the columns padded with zeros to the lengths of the `declared` columns."""
        arrays = {
            field.name: with_trailing_zeros(getattr(self, field.name), getattr(declared, field.name).shape[-1])
            for field in fields(self)
        }
        return CriterionColumns(**arrays)


@dataclass(frozen=True, slots=True)
class CriterionTables:
    """The results of formulas of one number, indexed by the code of the number.

    They are criteria, and parts of the technical score (`*_part`).
    """

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
        values: NaN at index 0, followed by the distinct numbers in ascending order.
        codes: the index in `values` of each record's number; code 0 means unknown.
        edges: the codes, in ascending order, that have a plane of the records with this code or a higher one.
    """

    values: Floats
    codes: NDArray[Any]
    edges: Ints


@dataclass(frozen=True, slots=True)
class IntegerColumn:
    """A column of ids or times, stored in as few bytes as possible.

    Attributes:
        values: the distinct integers, or only the smallest integer.
        stored: the index in `values` of each record's integer, or its difference from the smallest integer.
    """

    values: Ints
    stored: NDArray[Any]

    def take(self, positions: Any) -> Ints:
        """Return the integers at the given positions, an array or a slice."""
        # 32-bit positions come from a ranking of the whole catalog, which is long enough to use two threads.
        is_whole_ranking = isinstance(positions, np.ndarray) and positions.dtype == np.uint32
        stored = take_values(self.stored, positions) if is_whole_ranking else self.stored[positions]

        if len(self.values) > 1:
            return np.asarray(self.values[stored])
        return np.asarray(np.add(self.values[0], stored, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column of texts or of word lists as JSON, stored as codes for distinct values.

    Code 0 means unknown.
    """

    pool: TextPool
    codes: NDArray[Any]


def decode_words(encoded_words: str) -> tuple[str, ...]:
    """Decode a word list from the JSON in a pool."""
    return tuple(msgspec.json.decode(encoded_words))


@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """The owners of the records.

    Attributes:
        owners: the owner of each record as a hexadecimal UUID.
        private_positions: the positions of the private records, sorted by the code of the owner.
        private_codes: the owner codes of these records, in the same order.
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
    """The columns that differ at an assurance above `declared`.

    Trailing zeros are omitted, which saves most of the memory: records with evidence come first in an index, and all
    other records have only zeros.

    Attributes:
        plane_rows: the row numbers of the planes of numbers, flags and ethical criteria.
        criteria: the criteria of records, blocks and leaves, without trailing zeros.
        codes: the code of each record by number attribute, without trailing zeros. All assurances share the numbers.
    """

    plane_rows: Mapping[str, int]
    criteria: CriterionColumns
    codes: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class StoredLevels:
    """The packed evidence levels of the records with evidence.

    Attributes:
        positions: the ascending positions of these records.
        shown: the levels that support the values shown at `declared`.
        stricter: the levels that support the values at the assurances above it.
    """

    positions: NDArray[np.uint32]
    shown: NDArray[np.uint64]
    stricter: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class IndexColumns:
    """All columns of an index over `size` records, in leaves of `64 * leaf_words` records.

    `planes`, `criteria` and `numbers` hold the values known at `assurance`, which is `declared` in a snapshot.
    `stricter` has an entry for each assurance above `declared` with known values. `word_index` is None until the texts
    are indexed, which may happen later.
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
        """Return the columns of the same records at an assurance above `declared`."""
        stricter = self.stricter.get(assurance) or self._without_known_values()
        codes = {name: with_trailing_zeros(stricter.codes[name], self.size) for name in NUMBERS}
        numbers = {name: NumberColumn(self.numbers[name].values, codes[name], STRICTER_EDGES) for name in NUMBERS}
        return replace(
            self,
            planes=replace(self.planes, rows={**self.planes.rows, **stricter.plane_rows}),
            criteria=stricter.criteria.with_trailing_zeros(self.criteria),
            numbers=numbers,
            assurance=assurance,
        )

    def _without_known_values(self) -> StricterColumns:
        """Return the columns for an assurance without any known values."""
        declared = self.criteria
        no_criteria = {field.name: getattr(declared, field.name)[..., :0] for field in fields(declared)}
        return StricterColumns(
            plane_rows=dict.fromkeys(_assurance_plane_keys(), EMPTY_PLANE_ROW),
            criteria=CriterionColumns(**no_criteria),
            codes={name: number.codes[:0] for name, number in self.numbers.items()},
        )

    def plane_rows(self, assurance: Assurance) -> Mapping[str, int]:
        """Return the row numbers, at any assurance, of the planes that depend on the assurance.

        Only columns at `declared` support this.
        """
        assert self.assurance is Assurance.DECLARED
        if assurance is Assurance.DECLARED:
            return self.planes.rows

        stricter = self.stricter.get(assurance)
        return stricter.plane_rows if stricter else dict.fromkeys(_assurance_plane_keys(), EMPTY_PLANE_ROW)

    def packed_levels(self) -> PackedLevels:
        """Return the evidence levels that support the values at this assurance."""
        is_declared = self.assurance is Assurance.DECLARED
        return PackedLevels(self.levels.positions, self.levels.shown if is_declared else self.levels.stricter)

    @property
    def leaf_size(self) -> int:
        """The number of records in a full leaf."""
        return BITS_PER_WORD * self.leaf_words

    @property
    def leaf_count(self) -> int:
        """The number of leaves."""
        return math.ceil(self.size / self.leaf_size)

    @property
    def word_count(self) -> int:
        """The number of 64-bit words in a plane."""
        return self.leaf_count * self.leaf_words

    def text_column(self, name: str) -> TextColumn[TextPool] | TextColumn[PackedTexts]:
        """Return a column of short or long texts by its name."""
        return self.long_texts[name] if name in self.long_texts else self.texts[name]

    def searchable_words(self) -> WordIndex:
        """Return the word index.

        Raises:
            TextsNotIndexed: the word index has not been built yet.
        """
        if self.word_index is None:
            raise TextsNotIndexed
        return self.word_index

    def kernel_columns(self) -> KernelColumns:
        """Return the arrays in the form that kernels read, without copying them."""
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


def _assurance_plane_keys() -> list[str]:
    """Return the keys of the planes that exist at every assurance."""
    keys = [flag_plane(flag, value) for flag in FLAGS for value in (True, False)]
    keys += [ethical_plane(count) for count in range(1, len(ETHICAL) + 1)]
    keys += [at_least_plane(column, edge) for column in NUMBERS for edge in STRICTER_EDGES.tolist()]
    return keys
