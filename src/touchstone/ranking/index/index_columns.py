"""The columns of an index, in leaf order: everything that is built once, stored in a snapshot, and never changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelColumns
from touchstone.ranking.kernels.two_threads import take_values

PUBLIC_PLANE: Final = "public"
"""The key of the plane of the public records."""


def flag_plane(flag: str, value: bool) -> str:
    """Return the key of the plane of the records whose flag has a value."""
    return f"flag:{flag}:{int(value)}"


def word_plane(column: str, word: str) -> str:
    """Return the key of the plane of the records whose word list contains a folded word."""
    return f"word:{column}:{word}"


def at_least_plane(column: str, code: int) -> str:
    """Return the key of the plane of the records whose number has at least a code."""
    return f"least:{column}:{code}"


def ethical_plane(count: int) -> str:
    """Return the key of the plane of the records that meet at least so many ethical criteria."""
    return f"ethical:{count}"


@dataclass(frozen=True, slots=True)
class Planes:
    """The planes and what they stand for: `keys`, one bitmap each, and the number of bits in each leaf."""

    keys: tuple[str, ...]
    bitmaps: Words
    counts: NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class CriterionColumns:
    """The grades and flag bytes of the records, and the highest and lowest criteria of each leaf."""

    grades: NDArray[np.uint8]
    flag_bytes: NDArray[np.uint8]
    ethical_by_grade: Floats
    upper: Floats
    lower: Floats


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
    """A number attribute as codes into its sorted distinct values; code 0 is "not known", value 0 is NaN.

    `edges`: the codes from which planes begin, ascending.
    """

    values: Floats
    codes: NDArray[Any]
    edges: Ints


@dataclass(frozen=True, slots=True)
class IntegerColumn:
    """An id or a time. `stored` holds indices into `values`, or is added to the only one of the `values`."""

    values: Ints
    stored: NDArray[Any]

    def take(self, positions: Any) -> Ints:
        """Return the integers at some positions, which may be a slice."""
        # A whole ranking comes as 32-bit positions, which are worth both threads.
        is_ranking = isinstance(positions, np.ndarray) and positions.dtype == np.uint32
        stored = take_values(self.stored, positions) if is_ranking else self.stored[positions]
        if len(self.values) > 1:
            return np.asarray(self.values[stored])
        return np.asarray(np.add(self.values[0], stored, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """Texts as codes into a pool of distinct texts; code 0 is "not known". Word lists are stored as JSON."""

    pool: TextPool
    codes: NDArray[Any]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Texts as codes into a pool that is sorted by folded text, with the rank of each code's folded text."""

    pool: TextPool
    codes: NDArray[Any]
    ranks: NDArray[np.uint32]

    def take(self, positions: NDArray[Any]) -> list[str | None]:
        """Return the texts at some positions."""
        codes = self.codes[positions].tolist()
        texts = {code: self.pool[code] if code else None for code in set(codes)}
        return [texts[code] for code in codes]


@dataclass(frozen=True, slots=True)
class NameColumn:
    """The names of the records, and their order by folded name, then id.

    `accented`: a bitmap of the names that are not plain ASCII, whose folded forms are in `accented_pool` in the order
    of `accented_positions`. `places`: each record's place in the order; `permutation`: the positions in that order;
    `group_starts`: a bitmap of the places at which another folded name begins; `first_places`: the first place in each
    leaf. `signatures`: the trigrams of each leaf.
    """

    pool: TextPool
    accented: Words
    accented_positions: Ints
    accented_pool: TextPool
    places: NDArray[np.uint32]
    permutation: NDArray[np.uint32]
    group_starts: Words
    first_places: NDArray[np.uint32]
    signatures: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """The owners of the records, as hexadecimal UUIDs, and the private records sorted by the code of their owner."""

    owners: CodedColumn
    private_positions: NDArray[np.uint32]
    private_codes: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class UuidColumn:
    """The UUIDs of the records, as two halves of 64 bits."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]

    def at(self, position: int) -> int:
        """Return the UUID at a position as an integer."""
        return (int(self.high[position]) << 64) | int(self.low[position])


@dataclass(frozen=True, slots=True)
class IndexColumns:
    """All columns of an index over `size` records, in leaves of `64 * leaf_words` records."""

    size: int
    leaf_words: int
    planes: Planes
    criteria: CriterionColumns
    tables: CriterionTables
    numbers: Mapping[str, NumberColumn]
    integers: Mapping[str, IntegerColumn]
    texts: Mapping[str, TextColumn]
    words: Mapping[str, CodedColumn]
    names: NameColumn
    owner: OwnerColumn
    dataset_ids: UuidColumn
    positions_by_id: NDArray[np.uint32]

    @property
    def leaf_size(self) -> int:
        """How many records a full leaf holds."""
        return 64 * self.leaf_words

    @property
    def leaf_count(self) -> int:
        """How many leaves there are."""
        return -(-self.size // self.leaf_size)

    @property
    def word_count(self) -> int:
        """How many words a plane has."""
        return self.leaf_count * self.leaf_words

    def kernel_columns(self) -> KernelColumns:
        """Return the arrays that kernels work on."""
        return KernelColumns(
            size=self.size,
            leaf_words=self.leaf_words,
            grades=self.criteria.grades,
            flag_bytes=self.criteria.flag_bytes,
            year_codes=self.numbers["year"].codes,
            instances_codes=self.numbers["instances_number"].codes,
            features_codes=self.numbers["features_number"].codes,
            citations_codes=self.numbers["citations"].codes,
            missing_codes=self.numbers["missing_values_percentage"].codes,
            ethical_by_grade=self.criteria.ethical_by_grade,
            year_scores=self.tables.year,
            instances_scores=self.tables.instances,
            instances_parts=self.tables.instances_part,
            features_scores=self.tables.features,
            features_parts=self.tables.features_part,
            citations_scores=self.tables.citations,
            quality_scores=self.tables.quality,
            missing_parts=self.tables.missing_part,
            upper=self.criteria.upper,
            first_places=self.names.first_places,
            name_places=self.names.places,
            planes=self.planes.bitmaps,
            plane_counts=self.planes.counts,
            name_bytes=self.names.pool.data,
            name_offsets=self.names.pool.offsets,
            accented=self.names.accented,
            accented_positions=self.names.accented_positions,
            accented_bytes=self.names.accented_pool.data,
            accented_offsets=self.names.accented_pool.offsets,
        )
