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
from touchstone.ranking.column_types import Bools, Floats, Ints
from touchstone.ranking.columns.bitmaps import count_bits_by_leaf, pack_bits, to_smallest_unsigned
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, Segment
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.columns.trigram_signatures import SignatureWriter
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
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
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
_WORD_PLANE_COUNTS: Final = {"domain": 32, "task": 16}  # so many of the most frequent words have a plane
_QUANTILES: Final = {"year": 16}  # a plane begins at each quantile of a number
_DEFAULT_QUANTILES: Final = 4
_ROUND_NUMBERS: Final = 10.0 ** np.arange(1, 8)  # and at each of these, which people like to filter by
_NARROW_LIMIT: Final = 2**16
_VARIABLE_WIDTH: Final = ("features_number", "citations", "missing_values_percentage")


def build_columns(segment: Segment, leaf_words: int) -> IndexColumns:
    """Return the columns of an index over all records of a segment, in leaves of `64 * leaf_words` records."""
    return _IndexBuilder(segment, leaf_words).build()


class _IndexBuilder:
    """Builds the columns of one index; planes are collected while the columns are built.

    `_order` lists the records of the segment in the order of the index, in which similar records lie together.
    """

    def __init__(self, segment: Segment, leaf_words: int) -> None:
        self._segment = segment
        self._leaf_words = leaf_words
        self._leaf_size = BITS_PER_WORD * leaf_words
        self._leaf_count = -(-segment.size // self._leaf_size)
        self._plane_keys: list[str] = []
        self._plane_bitmaps: list[Words] = []

        by_name_and_id = np.lexsort((segment.columns["id"], segment.name_ranks()))
        alphabetical_ranks = np.empty(segment.size, np.int64)
        alphabetical_ranks[by_name_and_id] = np.arange(segment.size)

        self._grades = _grade_criteria(segment)
        importance = np.array([_IMPORTANCE[name] for name in GRADED_CRITERIA])
        self._order = kd_order(KdSpace(self._grades, importance, alphabetical_ranks), self._leaf_size)
        self._alphabetical_ranks = alphabetical_ranks[self._order]
        self._leaf_starts = np.arange(0, segment.size, self._leaf_size)

    def build(self) -> IndexColumns:
        """Return all columns of the index, after which the builder is of no more use."""
        # These four also add planes, which are therefore stacked after them.
        numbers = self._build_numbers()
        criteria = self._build_criteria()
        words = {column: self._build_words(column) for column in WORDS}
        owner = self._build_owner()

        return IndexColumns(
            size=self._segment.size,
            leaf_words=self._leaf_words,
            planes=self._stack_planes(),
            criteria=criteria,
            tables=_build_tables(numbers),
            numbers=numbers,
            integers={column: _encode_integers(self._column(column)) for column in INTEGER_COLUMNS},
            texts={column: self._build_text(column) for column in POOLED_COLUMNS},
            words=words,
            names=self._build_names(),
            owner=owner,
            dataset_ids=UuidColumn(self._column("uuid_high"), self._column("uuid_low")),
            positions_by_id=np.argsort(self._column("id")).astype(np.uint32),
        )

    def _column(self, name: str) -> NDArray[Any]:
        """Return a column of the segment in the order of the index."""
        return np.asarray(self._segment.columns[name][self._order])

    def _pack(self, mask: Bools) -> Words:
        """Return one boolean for each record as a bitmap of whole leaves."""
        return pack_bits(mask, self._leaf_count * self._leaf_words)

    def _add_plane(self, key: str, mask: Bools) -> None:
        """Add a plane of the records for which a mask in the order of the index is true."""
        self._plane_keys.append(key)
        self._plane_bitmaps.append(self._pack(mask))

    def _stack_planes(self) -> Planes:
        """Return all planes that were added."""
        counts = [count_bits_by_leaf(bitmap, self._leaf_words) for bitmap in self._plane_bitmaps]
        return Planes(tuple(self._plane_keys), np.stack(self._plane_bitmaps), np.stack(counts))

    def _build_criteria(self) -> CriterionColumns:
        """Return the criteria of the records in short form, and their extremes in each leaf, a block of records.

        The short form of a record is a grade of one byte for each criterion, and one byte with a bit for each flag.
        """
        self._add_flag_planes()

        flag_bytes = np.zeros(self._segment.size, np.uint8)
        for bit, (flag, value) in enumerate(FLAG_STATES):
            has_state = self._column(flag) == int(value)
            flag_bytes |= has_state.astype(np.uint8) << np.uint8(bit)

        criteria = [self._segment.criteria[name][self._order] for name in CRITERION_NAMES]
        return CriterionColumns(
            grades=np.ascontiguousarray(self._grades[:, self._order]),
            flag_bytes=flag_bytes,
            ethical_by_grade=_ethical_by_grade(),
            upper=np.stack([np.maximum.reduceat(values, self._leaf_starts) for values in criteria]),
            lower=np.stack([np.minimum.reduceat(values, self._leaf_starts) for values in criteria]),
        )

    def _add_flag_planes(self) -> None:
        """Add planes, bitmaps of records, for the flags and the ethical score.

        Each flag has two planes: true and false. The ethical score has one for "at least n criteria are met", for each
        n from 1 to 10.
        """
        ethical_counts = np.zeros(self._segment.size, np.uint8)
        for flag in FLAGS:
            values = self._column(flag)
            self._add_plane(flag_plane(flag, True), values == 1)
            self._add_plane(flag_plane(flag, False), values == 0)
            if flag in ETHICAL:
                ethical_counts += values == 1

        for count in range(1, len(ETHICAL) + 1):
            self._add_plane(ethical_plane(count), ethical_counts >= count)

    def _build_numbers(self) -> dict[str, NumberColumn]:
        """Return the number columns, and add their planes.

        The codes of year and instances have fixed types. Those of the other columns all have the same type, the
        narrower of two that fits, so that kernels need to be compiled for two combinations of types only.
        """
        columns = {column: self._encode_numbers(column) for column in NUMBERS}

        is_narrow = all(len(columns[column].values) < _NARROW_LIMIT for column in _VARIABLE_WIDTH)
        code_types: dict[str, Any] = dict.fromkeys(_VARIABLE_WIDTH, np.uint16 if is_narrow else np.uint32)
        code_types |= {"year": np.uint16, "instances_number": np.uint32}

        return {
            column: NumberColumn(number.values, number.codes.astype(code_types[column]), number.edges)
            for column, number in columns.items()
        }

    def _encode_numbers(self, column: str) -> NumberColumn:
        """Return a number column as codes into its distinct values, and add its planes.

        A plane is a bitmap of the records with a certain code, an edge, or a higher one.
        """
        numbers = self._column(column)
        distinct_numbers = np.unique(numbers[~np.isnan(numbers)])
        codes = np.where(np.isnan(numbers), 0, np.searchsorted(distinct_numbers, numbers) + 1)

        edges = _choose_edges(codes, distinct_numbers, _QUANTILES.get(column, _DEFAULT_QUANTILES))
        for edge in edges:
            self._add_plane(at_least_plane(column, edge), codes >= edge)

        values = np.concatenate([[np.nan], distinct_numbers])  # the value of code 0 is NaN
        return NumberColumn(values, codes, np.array(edges, np.int64))

    def _build_words(self, column: str) -> CodedColumn:
        """Return a column of word lists, and add a plane (a bitmap of records) for each of its most frequent words."""
        vocabulary = self._segment.vocabularies[column]
        used_codes, codes = _renumber(self._column(column))
        word_lists = [vocabulary.values[code] or () for code in used_codes.tolist()]
        folded_word_sets = [frozenset(fold(word) for word in words) for words in word_lists]

        list_counts = np.bincount(codes, minlength=len(used_codes))
        for word in _most_frequent_words(folded_word_sets, list_counts, _WORD_PLANE_COUNTS[column]):
            list_has_word = np.array([word in words for words in folded_word_sets])
            self._add_plane(word_plane(column, word), list_has_word[codes])

        known_lists = [vocabulary.values[code] for code in used_codes[1:].tolist()]
        encoded_lists = [msgspec.json.encode(words).decode() for words in known_lists]
        return CodedColumn(TextPool.from_texts(["", *encoded_lists]), to_smallest_unsigned(codes))

    def _build_names(self) -> NameColumn:
        """Return the names of the records, their alphabetical order, and what a search for a substring needs.

        The search ignores the case of ASCII letters itself. Names with other letters are stored a second time, folded.
        """
        segment, ranks = self._segment, self._alphabetical_ranks
        vocabulary = segment.vocabularies["dataset_name"]
        name_codes = self._column("dataset_name").tolist()
        names = [vocabulary.values[code] for code in name_codes]

        accented_positions = [position for position, name in enumerate(names) if not name.isascii()]
        is_accented = np.zeros(segment.size, np.bool_)
        is_accented[accented_positions] = True

        folded_names = [vocabulary.folded[name_codes[position]] for position in accented_positions]
        folded_pool = TextPool.from_texts(folded_names)
        accented_pool = TextPool(folded_pool.data, folded_pool.offsets.astype(np.int64))

        # In alphabetical order, a new group begins with each record whose folded name differs from the one before.
        permutation = np.empty(segment.size, np.uint32)
        permutation[ranks] = np.arange(segment.size)
        sorted_name_ranks = segment.name_ranks()[self._order][permutation]
        is_group_start = np.diff(sorted_name_ranks, prepend=-1) > 0

        pool = TextPool.from_texts(names)
        return NameColumn(
            pool=pool,
            accented=self._pack(is_accented),
            accented_positions=np.array(accented_positions, np.int64),
            accented_pool=accented_pool,
            places=ranks.astype(np.uint32),
            permutation=permutation,
            group_starts=self._pack(is_group_start),
            first_places=np.minimum.reduceat(ranks, self._leaf_starts).astype(np.uint32),
            signatures=self._build_signatures(pool, accented_pool, np.array(accented_positions, np.int64)),
        )

    def _build_signatures(
        self, names: TextPool, accented_names: TextPool, accented_positions: Ints
    ) -> NDArray[np.uint8]:
        """Return which trigrams (three bytes in a row) occur in the names of each leaf, a block of records.

        A search for a substring skips the leaves in which one of its trigrams does not occur. Both the names as written
        and the folded forms of accented names are taken into account.
        """
        signatures = SignatureWriter(self._leaf_count)
        leaf_borders = np.minimum(np.arange(self._leaf_count + 1) * self._leaf_size, len(names))

        byte_borders = names.offsets[leaf_borders].tolist()
        for leaf, (start, end) in enumerate(pairwise(byte_borders)):
            signatures.add(leaf, names.data[start:end])

        accented_borders = np.searchsorted(accented_positions, leaf_borders)
        accented_byte_borders = accented_names.offsets[accented_borders].tolist()
        for leaf, (start, end) in enumerate(pairwise(accented_byte_borders)):
            signatures.add(leaf, accented_names.data[start:end])

        return signatures.to_bitmaps()

    def _build_owner(self) -> OwnerColumn:
        """Return who owns which records, and add a plane (a bitmap) of the public records."""
        segment = self._segment
        used_codes, owner_codes = _renumber(self._column("owner"))
        owner_uuids = [segment.vocabularies["owner"].values[code].hex for code in used_codes[1:].tolist()]

        is_public_by_code = np.array([value == "public" for value in segment.vocabularies["visibility"].values])
        is_public = is_public_by_code[self._column("visibility")]
        self._add_plane(PUBLIC_PLANE, is_public)

        # The private records are sorted by owner, so that those of one owner are found by binary search.
        private_positions = np.flatnonzero(~is_public)
        by_owner = np.argsort(owner_codes[private_positions], kind="stable")
        private_positions = private_positions[by_owner]

        return OwnerColumn(
            owners=CodedColumn(TextPool.from_texts(["", *owner_uuids]), to_smallest_unsigned(owner_codes)),
            private_positions=private_positions.astype(np.uint32),
            private_codes=owner_codes[private_positions].astype(np.uint32),
        )

    def _build_text(self, column: str) -> TextColumn:
        """Return a text column whose codes are in the order of the folded texts, so that sorting needs no text."""
        vocabulary = self._segment.vocabularies[column]
        used_codes, codes = _renumber(self._column(column))
        known_codes = used_codes[1:]  # without 0, "not known", which stays 0

        ranks = vocabulary.ranks[known_codes]
        by_rank = np.argsort(ranks, kind="stable")
        sorted_code = np.zeros(len(used_codes), np.int64)
        sorted_code[1:][by_rank] = np.arange(1, len(known_codes) + 1)

        # Texts that are equal when folded share a rank. The ranks in use are numbered from 1 without gaps.
        sorted_texts = [vocabulary.values[code] for code in known_codes[by_rank].tolist()]
        _, gapless_ranks = np.unique(ranks[by_rank], return_inverse=True)
        return TextColumn(
            pool=TextPool.from_texts(["", *sorted_texts]),
            codes=to_smallest_unsigned(sorted_code[codes]),
            ranks=np.concatenate([[0], gapless_ranks + 1]).astype(np.uint32),
        )


def _grade_criteria(segment: Segment) -> NDArray[np.uint8]:
    """Return the grades of all records in the order of the segment, one row for each of GRADED_CRITERIA."""
    return np.stack([np.ceil(segment.criteria[name] * GRADE_SCALE).astype(np.uint8) for name in GRADED_CRITERIA])


def _ethical_by_grade() -> Floats:
    """Return a table of the ethical score for each of its grades: a record meets 0 to 10 of ten criteria."""
    score_by_grade = np.zeros(256)
    for count in range(len(ETHICAL) + 1):
        score = count / len(ETHICAL)
        grade = int(np.ceil(score * GRADE_SCALE))
        score_by_grade[grade] = score
    return score_by_grade


def _choose_edges(codes: Ints, distinct_numbers: Floats, quantile_count: int) -> list[int]:
    """Return the codes of a number column that get a plane, a bitmap of the records with this code or a higher one.

    These are, in ascending order: code 1, so that one plane holds all known numbers; the codes at some quantiles of the
    records; and those of round numbers, by which people like to filter.
    """
    edges = {1}
    known_codes = codes[codes > 0]
    if len(known_codes):
        quantiles = np.linspace(0, 1, quantile_count + 1)[1:-1]
        edges |= set(np.quantile(known_codes, quantiles, method="nearest").tolist())

        round_codes = np.searchsorted(distinct_numbers, _ROUND_NUMBERS) + 1
        edges |= set(round_codes[round_codes <= len(distinct_numbers)].tolist())
    return sorted(edges)


def _build_tables(numbers: Mapping[str, NumberColumn]) -> CriterionTables:
    """Return tables of the criteria that depend on one number only, with a value for every code of this number."""
    instances = numbers["instances_number"].values
    features = numbers["features_number"].values
    missing_percentage = numbers["missing_values_percentage"].values
    return CriterionTables(
        year=formulas.novelty({"year": numbers["year"].values}),
        instances=formulas.instances_count({"instances_number": instances}),
        instances_part=formulas.instances_part(instances),
        features=formulas.features_count({"features_number": features}),
        features_part=formulas.features_part(features),
        citations=formulas.popularity_score({"citations": numbers["citations"].values}),
        quality=formulas.complete_share(missing_percentage),
        missing_part=formulas.completeness_part(missing_percentage),
    )


def _renumber(codes: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Return the codes that occur, and for each record the index of its code among them.

    Code 0 ("not known") is always the first, even if it does not occur.
    """
    used_codes = np.union1d([0], codes)
    return used_codes, np.searchsorted(used_codes, codes)


def _most_frequent_words(word_sets: list[frozenset[str]], set_counts: Ints, limit: int) -> list[str]:
    """Return up to `limit` words, most frequent first; `set_counts` says how many records have each set of words."""
    word_counts: dict[str, int] = {}
    for words, count in zip(word_sets, set_counts.tolist(), strict=True):
        for word in words:
            word_counts[word] = word_counts.get(word, 0) + count

    most_frequent_first = sorted(word_counts, key=lambda word: (-word_counts[word], word))
    return most_frequent_first[:limit]


def _encode_integers(integers: Ints) -> IntegerColumn:
    """Return integers in as few bytes as possible: as indices into their distinct values, or as differences.

    Indices pay where each integer occurs several times, as the times of an import do. Otherwise the difference from the
    smallest integer is stored.
    """
    distinct_integers = np.unique(integers)
    if 1 < len(distinct_integers) < len(integers) / 3:
        return IntegerColumn(distinct_integers, to_smallest_unsigned(np.searchsorted(distinct_integers, integers)))

    smallest = integers.min(initial=np.iinfo(np.int64).max)
    return IntegerColumn(np.array([smallest]), to_smallest_unsigned(integers - smallest))
