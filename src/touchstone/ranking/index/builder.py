"""Building the columns of an index from a segment: the leaf order first, then every column in that order."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS, WORDS
from touchstone.core.text import fold
from touchstone.ranking import criterion_formulas as formulas
from touchstone.ranking.columns.bitmaps import count_bits_by_leaf, pack_bits, to_smallest_unsigned
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, Segment
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.columns.trigram_signatures import SignatureWriter
from touchstone.ranking.column_types import Bools, Floats, Ints
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.index_columns import (
    PUBLIC_PLANE,
    CodedColumn,
    CriterionColumns,
    CriterionTables,
    IndexColumns,
    IntegerColumn,
    NameColumn,
    NumberColumn,
    OwnerColumn,
    Planes,
    TextColumn,
    UuidColumn,
    at_least_plane,
    ethical_plane,
    flag_plane,
    word_plane,
)
from touchstone.ranking.index.kd_layout import KdSpace, kd_order
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.constants import FLAG_STATES, GRADE_SCALE, GRADED_CRITERIA

POOLED_COLUMNS: Final = ("objective", "description", "file_path", "file_type")
_IMPORTANCE: Final[Mapping[str, float]] = {
    "ethical_score": 1.0,
    "technical_score": 1.0,
    "data_quality": 0.4,
    "instances_count": 0.4,
    "features_count": 0.25,
    "citations": 1.0,
    "year": 0.7,
}
"""How much each graded criterion counts when the records are laid out."""
_WORD_PLANES: Final = {"domain": 32, "task": 16}  # the most frequent words of each column have a plane
_QUANTILES: Final = {"year": 16}
_DEFAULT_QUANTILES: Final = 4
_ROUND_NUMBERS: Final = 10.0 ** np.arange(1, 8)
_NARROW_LIMIT: Final = 2**16
_VARIABLE_WIDTH: Final = ("features_number", "citations", "missing_values_percentage")


def build_columns(segment: Segment, leaf_words: int) -> IndexColumns:
    """Return the columns of an index over all records of a segment, in leaves of `64 * leaf_words` records."""
    return _IndexBuilder(segment, leaf_words).build()


class _IndexBuilder:
    """Builds the columns of one index; planes are collected on the way."""

    def __init__(self, segment: Segment, leaf_words: int) -> None:
        self._segment = segment
        self._leaf_words = leaf_words
        self._leaf_size = 64 * leaf_words
        self._leaf_count = -(-segment.size // self._leaf_size)
        self._plane_keys: list[str] = []
        self._plane_bitmaps: list[Words] = []

        permutation = np.lexsort((segment.columns["id"], segment.name_ranks()))
        name_places = np.empty(segment.size, np.int64)
        name_places[permutation] = np.arange(segment.size)

        self._grades = _grade_criteria(segment)
        importance = np.array([_IMPORTANCE[name] for name in GRADED_CRITERIA])
        self._order = kd_order(KdSpace(self._grades, importance, name_places), self._leaf_size)
        self._name_places = name_places[self._order]

    def build(self) -> IndexColumns:
        """Return all columns."""
        segment, order = self._segment, self._order
        numbers = self._build_numbers()
        criteria = self._build_criteria()
        words = {column: self._build_words(column) for column in WORDS}
        owner = self._build_owner()

        return IndexColumns(
            size=segment.size,
            leaf_words=self._leaf_words,
            planes=self._stack_planes(),
            criteria=criteria,
            tables=_build_tables(numbers),
            numbers=numbers,
            integers={column: _encode_integers(segment.columns[column][order]) for column in INTEGER_COLUMNS},
            texts={column: self._build_text(column) for column in POOLED_COLUMNS},
            words=words,
            names=self._build_names(),
            owner=owner,
            dataset_ids=UuidColumn(segment.columns["uuid_high"][order], segment.columns["uuid_low"][order]),
            positions_by_id=np.argsort(segment.columns["id"][order]).astype(np.uint32),
        )

    def _pack(self, mask: Bools) -> Words:
        return pack_bits(mask, self._leaf_count * self._leaf_words)

    def _add_plane(self, key: str, mask: Bools) -> None:
        self._plane_keys.append(key)
        self._plane_bitmaps.append(self._pack(mask))

    def _stack_planes(self) -> Planes:
        counts = [count_bits_by_leaf(bitmap, self._leaf_words) for bitmap in self._plane_bitmaps]
        return Planes(tuple(self._plane_keys), np.stack(self._plane_bitmaps), np.stack(counts))

    def _build_criteria(self) -> CriterionColumns:
        """Return grades, flag bytes and leaf extremes, and add the planes of flags and ethical scores."""
        segment, order = self._segment, self._order

        flag_bytes = np.zeros(segment.size, np.uint8)
        for bit, (flag, value) in enumerate(FLAG_STATES):
            flag_bytes |= (segment.columns[flag][order] == int(value)).astype(np.uint8) << np.uint8(bit)

        ethical_count = np.zeros(segment.size, np.uint8)
        for flag in FLAGS:
            values = segment.columns[flag][order]
            self._add_plane(flag_plane(flag, True), values == 1)
            self._add_plane(flag_plane(flag, False), values == 0)
            if flag in ETHICAL:
                ethical_count += values == 1
        for count in range(1, len(ETHICAL) + 1):
            self._add_plane(ethical_plane(count), ethical_count >= count)

        leaf_starts = np.arange(0, segment.size, self._leaf_size)
        criteria = [segment.criteria[name][order] for name in CRITERION_NAMES]
        return CriterionColumns(
            grades=np.ascontiguousarray(self._grades[:, order]),
            flag_bytes=flag_bytes,
            ethical_by_grade=_ethical_by_grade(),
            upper=np.stack([np.maximum.reduceat(values, leaf_starts) for values in criteria]),
            lower=np.stack([np.minimum.reduceat(values, leaf_starts) for values in criteria]),
        )

    def _build_numbers(self) -> dict[str, NumberColumn]:
        """Return the number columns and add their planes.

        Codes have one of two widths for all columns that may be wide, so that kernels are compiled for two cases only.
        """
        columns = {column: self._encode_numbers(column) for column in NUMBERS}
        is_narrow = all(len(columns[column].values) < _NARROW_LIMIT for column in _VARIABLE_WIDTH)
        widths: dict[str, Any] = dict.fromkeys(_VARIABLE_WIDTH, np.uint16 if is_narrow else np.uint32)
        widths |= {"year": np.uint16, "instances_number": np.uint32}
        return {
            column: NumberColumn(number.values, number.codes.astype(widths[column]), number.edges)
            for column, number in columns.items()
        }

    def _encode_numbers(self, column: str) -> NumberColumn:
        values = self._segment.columns[column][self._order]
        distinct = np.unique(values[~np.isnan(values)])
        codes = np.where(np.isnan(values), 0, np.searchsorted(distinct, values) + 1)

        edges = _plane_edges(codes, distinct, _QUANTILES.get(column, _DEFAULT_QUANTILES))
        for edge in edges:
            self._add_plane(at_least_plane(column, edge), codes >= edge)
        return NumberColumn(np.concatenate([[np.nan], distinct]), codes, np.array(edges, np.int64))

    def _build_words(self, column: str) -> CodedColumn:
        """Return a column of word lists and add the planes of its most frequent words."""
        vocabulary = self._segment.vocabularies[column]
        used_codes, codes = _renumber(self._segment.columns[column][self._order])
        lists = [vocabulary.values[code] or () for code in used_codes.tolist()]
        folded = [frozenset(fold(word) for word in words) for words in lists]

        counts = np.bincount(codes, minlength=len(used_codes))
        for word in _most_frequent_words(folded, counts, _WORD_PLANES[column]):
            has_word = np.array([word in words for words in folded])
            self._add_plane(word_plane(column, word), has_word[codes])

        encoded = [msgspec.json.encode(vocabulary.values[code]).decode() for code in used_codes[1:].tolist()]
        return CodedColumn(TextPool.from_texts(["", *encoded]), to_smallest_unsigned(codes))

    def _build_names(self) -> NameColumn:
        segment, places = self._segment, self._name_places
        vocabulary = segment.vocabularies["dataset_name"]
        codes = segment.columns["dataset_name"][self._order].tolist()
        names = [vocabulary.values[code] for code in codes]

        accented_positions = [position for position, name in enumerate(names) if not name.isascii()]
        accented = np.zeros(segment.size, np.bool_)
        accented[accented_positions] = True
        folded_pool = TextPool.from_texts(vocabulary.folded[codes[position]] for position in accented_positions)
        accented_pool = TextPool(folded_pool.data, folded_pool.offsets.astype(np.int64))

        permutation = np.empty(segment.size, np.uint32)
        permutation[places] = np.arange(segment.size)
        ranks = segment.name_ranks()[self._order][permutation]

        pool = TextPool.from_texts(names)
        leaf_starts = np.arange(0, segment.size, self._leaf_size)
        return NameColumn(
            pool=pool,
            accented=self._pack(accented),
            accented_positions=np.array(accented_positions, np.int64),
            accented_pool=accented_pool,
            places=places.astype(np.uint32),
            permutation=permutation,
            group_starts=self._pack(np.diff(ranks, prepend=-1) > 0),
            first_places=np.minimum.reduceat(places, leaf_starts).astype(np.uint32),
            signatures=self._build_signatures(pool, accented_pool, np.array(accented_positions, np.int64)),
        )

    def _build_signatures(
        self, names: TextPool, accented_names: TextPool, accented_positions: Ints
    ) -> NDArray[np.uint8]:
        """Return the trigrams of each leaf: those of the names as written, and of the folded accented names."""
        signatures = SignatureWriter(self._leaf_count)
        leaf_ends = np.minimum(np.arange(self._leaf_count + 1) * self._leaf_size, len(names))
        for leaf, (start, end) in enumerate(pairwise(names.offsets[leaf_ends].tolist())):
            signatures.add(leaf, names.data[start:end])

        accented_ends = np.searchsorted(accented_positions, leaf_ends)
        for leaf, (start, end) in enumerate(pairwise(accented_names.offsets[accented_ends].tolist())):
            signatures.add(leaf, accented_names.data[start:end])
        return signatures.to_bitmaps()

    def _build_owner(self) -> OwnerColumn:
        """Return who owns which records, and add the plane of public records."""
        segment = self._segment
        used_codes, codes = _renumber(segment.columns["owner"][self._order])
        owners = [segment.vocabularies["owner"].values[code].hex for code in used_codes[1:].tolist()]

        is_public_value = np.array([value == "public" for value in segment.vocabularies["visibility"].values])
        is_public = is_public_value[segment.columns["visibility"][self._order]]
        self._add_plane(PUBLIC_PLANE, is_public)

        private = np.flatnonzero(~is_public)
        private = private[np.argsort(codes[private], kind="stable")]
        return OwnerColumn(
            owners=CodedColumn(TextPool.from_texts(["", *owners]), to_smallest_unsigned(codes)),
            private_positions=private.astype(np.uint32),
            private_codes=codes[private].astype(np.uint32),
        )

    def _build_text(self, column: str) -> TextColumn:
        """Return a text column with codes in the order of the folded texts."""
        vocabulary = self._segment.vocabularies[column]
        used_codes, codes = _renumber(self._segment.columns[column][self._order])
        known_codes = used_codes[1:]

        ranks = vocabulary.ranks[known_codes]
        by_rank = np.argsort(ranks, kind="stable")
        code_of = np.zeros(len(used_codes), np.int64)
        code_of[1:][by_rank] = np.arange(1, len(known_codes) + 1)

        texts = [vocabulary.values[code] for code in known_codes[by_rank].tolist()]
        _, dense_ranks = np.unique(ranks[by_rank], return_inverse=True)
        return TextColumn(
            pool=TextPool.from_texts(["", *texts]),
            codes=to_smallest_unsigned(code_of[codes]),
            ranks=np.concatenate([[0], dense_ranks + 1]).astype(np.uint32),
        )


def _grade_criteria(segment: Segment) -> NDArray[np.uint8]:
    """Return the grades of all records in the order of the segment, one row for each of GRADED_CRITERIA."""
    return np.stack([np.ceil(segment.criteria[name] * GRADE_SCALE).astype(np.uint8) for name in GRADED_CRITERIA])


def _ethical_by_grade() -> Floats:
    """Return the ethical score for each of its grades: a record meets 0 to 10 of ten criteria."""
    scores = np.zeros(256)
    for count in range(len(ETHICAL) + 1):
        score = count / len(ETHICAL)
        scores[int(np.ceil(score * GRADE_SCALE))] = score
    return scores


def _plane_edges(codes: Ints, distinct: Floats, quantiles: int) -> list[int]:
    """Return the codes from which planes begin: the first, some quantiles, and those of round numbers."""
    edges = {1}
    known = codes[codes > 0]
    if len(known):
        shares = np.linspace(0, 1, quantiles + 1)[1:-1]
        edges |= set(np.quantile(known, shares, method="nearest").tolist())
        round_codes = np.searchsorted(distinct, _ROUND_NUMBERS) + 1
        edges |= set(round_codes[round_codes <= len(distinct)].tolist())
    return sorted(edges)


def _build_tables(numbers: Mapping[str, NumberColumn]) -> CriterionTables:
    """Return the criteria for every code of the numbers that they depend on."""
    instances = numbers["instances_number"].values
    features = numbers["features_number"].values
    missing = numbers["missing_values_percentage"].values
    return CriterionTables(
        year=formulas.novelty({"year": numbers["year"].values}),
        instances=formulas.instances_count({"instances_number": instances}),
        instances_part=formulas.instances_part(instances),
        features=formulas.features_count({"features_number": features}),
        features_part=formulas.features_part(features),
        citations=formulas.popularity_score({"citations": numbers["citations"].values}),
        quality=formulas.complete_share(missing),
        missing_part=formulas.missing_part(missing),
    )


def _renumber(codes: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Return the codes in use, 0 ("not known") always the first of them, and each record's index among them."""
    used_codes = np.union1d([0], codes)
    return used_codes, np.searchsorted(used_codes, codes)


def _most_frequent_words(lists: list[frozenset[str]], counts: Ints, limit: int) -> list[str]:
    """Return the most frequent words of some lists that occur so many times each, most frequent first."""
    totals: dict[str, int] = {}
    for words, count in zip(lists, counts.tolist(), strict=True):
        for word in words:
            totals[word] = totals.get(word, 0) + count
    return sorted(totals, key=lambda word: (-totals[word], word))[:limit]


def _encode_integers(values: Ints) -> IntegerColumn:
    """Return integers as indices into their distinct values, or as differences from the smallest.

    Distinct values pay where each occurs several times, as the times of an import do.
    """
    distinct = np.unique(values)
    if 1 < len(distinct) < len(values) / 3:
        return IntegerColumn(distinct, to_smallest_unsigned(np.searchsorted(distinct, values)))

    smallest = values.min(initial=np.iinfo(np.int64).max)
    return IntegerColumn(np.array([smallest]), to_smallest_unsigned(values - smallest))
