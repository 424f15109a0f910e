"""Building of the columns of an index: first the order of the records, then every column in this order."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, NUMBERS
from touchstone.core.evidence import Assurance
from touchstone.ranking import criterion_formulas as formulas
from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.columns.bitmaps import to_smallest_unsigned
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, KNOWN_ETHICAL
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.array_store import ArrayStore, Component, store_arrays
from touchstone.ranking.index.collected_records import CODED_WORDS, LONG_TEXTS, POOLED_COLUMNS, TAGS, CollectedRecords
from touchstone.ranking.index.index_columns import (
    STRICTER_EDGES,
    CodedColumn,
    CriterionColumns,
    CriterionTables,
    IndexColumns,
    IntegerColumn,
    NumberColumn,
    OwnerColumn,
    StoredLevels,
    StricterColumns,
    UuidColumn,
    without_trailing_zeros,
)
from touchstone.ranking.index.ordered_records import OrderedRecords
from touchstone.ranking.index.plane_builder import PlaneWriter
from touchstone.ranking.index.record_layout import lay_out_records
from touchstone.ranking.index.text_builder import build_names, build_tags, build_text, number_long_texts, number_texts
from touchstone.ranking.index.text_order import sort_texts
from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.kernels.bits import BITS_PER_WORD
from touchstone.ranking.kernels.constants import FLAG_STATES, GRADE_SCALE
from touchstone.ranking.text.record_words import DecodedWords

# Planes of numbers begin at quantiles, and at round numbers because people often filter by them.
_QUANTILES: Final = {"year": 16}
_DEFAULT_QUANTILES: Final = 4
_ROUND_NUMBERS: Final = 10.0 ** np.arange(1, 8)
_NARROW_LIMIT: Final = 2**16
_NUMBERS_PER_CHUNK: Final = 1 << 20
_VARIABLE_WIDTH: Final = ("features_number", "citations", "missing_values_percentage")


def build_columns(
    collected: CollectedRecords,
    leaf_words: int,
    store: ArrayStore,
    words: DecodedWords | None = None,
    *,
    defers_texts: bool = False,
) -> IndexColumns:
    """Build the columns of an index over the collected records.

    The records are ordered so that similar records are next to each other, and divided into leaves of
    `64 * leaf_words` records.

    Args:
        collected: the records.
        leaf_words: the number of 64-bit words in the bitmap of a leaf.
        store: where the arrays are stored.
        words: the words of the records in the order of collection, or None to index words later.
        defers_texts: whether to leave the ranks of many texts and the compression of long texts to `TextIndexing`.
    """
    # Most of the work is done in NumPy, Arrow and kernels, which release the GIL, so use two more threads.
    with ThreadPoolExecutor(2, "index-column") as pool:

        def submit(build: Callable[..., Component], *arguments: Any) -> Future[Component]:
            """Build a part of the index in another thread, and add its arrays to the store."""
            return pool.submit(lambda: store_arrays(store, build(*arguments)))

        numbered = {name: pool.submit(number_texts, texts, store) for name, texts in collected.repeated_texts.items()}
        numbered_long = {
            name: pool.submit(
                number_long_texts, collected.texts[name], store, collected.folder, defers_packing=defers_texts
            )
            for name in LONG_TEXTS
        }

        name_order = sort_texts(collected.folded_names.texts, tie_breakers=collected.columns["id"])
        alphabetical_ranks = _invert_permutation(name_order.order, np.uint32)
        order = lay_out_records(collected, alphabetical_ranks, leaf_size=BITS_PER_WORD * leaf_words)
        records = OrderedRecords(collected, order, _invert_permutation(order, np.uint32), leaf_words)

        names = pool.submit(build_names, records, name_order, alphabetical_ranks[order], store)
        criteria = submit(_build_criteria, records)
        integers = {name: submit(_build_integer_column, records, name) for name in INTEGER_COLUMNS}
        dataset_ids = submit(_build_dataset_ids, records)
        positions_by_id = submit(_sort_ids, records)
        owner = submit(_build_owner_column, records)
        words_by_column = {name: submit(_build_word_column, records, name) for name in CODED_WORDS}

        numbers = store_arrays(store, _build_numbers(records))
        planes = PlaneWriter(records)
        plane_rows = planes.add_declared_planes(numbers)
        stricter_columns = _build_stricter_by_assurance(records, numbers, planes, store)

        return IndexColumns(
            size=collected.size,
            leaf_words=leaf_words,
            planes=store_arrays(store, planes.planes(plane_rows)),
            criteria=criteria.result(),
            tables=store_arrays(store, _build_criterion_tables(numbers)),
            numbers=numbers,
            integers={name: column.result() for name, column in integers.items()},
            texts={
                name: build_text(numbered[name].result(), records, store, defers_ranks=defers_texts)
                for name in POOLED_COLUMNS
            },
            long_texts={
                name: build_text(numbered_long[name].result(), records, store, defers_ranks=defers_texts)
                for name in LONG_TEXTS
            },
            words={
                **{name: column.result() for name, column in words_by_column.items()},
                TAGS: build_tags(numbered[TAGS].result(), records, store),
            },
            names=names.result(),
            owner=owner.result(),
            dataset_ids=dataset_ids.result(),
            positions_by_id=positions_by_id.result(),
            levels=store_arrays(store, _build_levels(records)),
            stricter=stricter_columns,
            word_index=store_arrays(store, WordIndex.build(words, order)) if words else None,
        )


def _invert_permutation(order: NDArray[Any], integer_type: type[np.integer[Any]]) -> NDArray[Any]:
    """Return the position of each record in an order, which is the inverse of the permutation.

    For example, in the order [2, 0, 1], the records 0, 1 and 2 have the positions [1, 2, 0].
    """
    positions = np.empty(len(order), integer_type)
    positions[order] = np.arange(len(order), dtype=integer_type)
    return positions


def _build_criteria(records: OrderedRecords) -> CriterionColumns:
    """Build the criteria of records in compact form, and the best values in each block and each leaf.

    A record has one byte for each graded criterion and one byte with a bit for each state of a flag. A search skips the
    blocks and leaves with best values that are too low, without reading their records.
    """
    # Each state of a flag, such as "is_split is true", has one bit; the first state has the lowest bit.
    has_state = [records.column(flag) == int(value) for flag, value in FLAG_STATES]
    flag_bytes = np.packbits(np.stack(has_state), axis=0, bitorder="little")[0]

    grades = records.grades()
    upper, lower = [], []
    for name in CRITERION_NAMES:
        values = records.criterion(name)
        upper.append(records.highest_in_leaves(values))
        lower.append(records.lowest_in_leaves(values))

    return CriterionColumns(
        grades=grades,
        flag_bytes=flag_bytes,
        block_grades=records.combine_in_blocks(np.maximum, grades),
        block_flag_bytes=records.combine_in_blocks(np.bitwise_or, flag_bytes),
        ethical_by_grade=_ethical_score_by_grade(),
        upper=np.stack(upper),
        lower=np.stack(lower),
        known_ethical=records.column(KNOWN_ETHICAL),
    )


def _build_stricter_by_assurance(
    records: OrderedRecords, numbers: Mapping[str, NumberColumn], planes: PlaneWriter, store: ArrayStore
) -> dict[Assurance, StricterColumns]:
    """Build the columns that differ at each assurance above `declared` with known values, and add their planes."""
    evidence = records.collected.evidence
    stricter_columns = {
        assurance: store_arrays(store, _build_stricter_columns(records.at(assurance), numbers, planes))
        for assurance in evidence.distinct_assurances()
    }

    if Assurance.DOCUMENTED in stricter_columns and evidence.are_stricter_values_equal():
        stricter_columns[Assurance.REVIEWED] = stricter_columns[Assurance.DOCUMENTED]
    return stricter_columns


def _build_stricter_columns(
    records: OrderedRecords, numbers: Mapping[str, NumberColumn], planes: PlaneWriter
) -> StricterColumns:
    """Build the columns that differ from the level `declared` at the stricter assurance of `records`.

    Args:
        records: the records at the assurance.
        numbers: the number columns at the assurance `declared`, by name.
        planes: where the planes are added.
    """
    codes: dict[str, NDArray[Any]] = {}
    stricter_numbers: dict[str, NumberColumn] = {}
    for name, number in numbers.items():
        codes[name] = _encode_known(records.column(name), number.values, number.codes.dtype)
        stricter_numbers[name] = NumberColumn(number.values, codes[name], STRICTER_EDGES)

    return StricterColumns(
        plane_rows=planes.add_assurance_planes(records, stricter_numbers),
        criteria=_build_criteria(records).without_trailing_zeros(),
        codes={name: without_trailing_zeros(number_codes) for name, number_codes in codes.items()},
    )


def _build_levels(records: OrderedRecords) -> StoredLevels:
    """Return the evidence levels of the records with evidence, sorted by position in the index."""
    evidence = records.collected.evidence
    evidence_positions = records.evidence_positions
    by_position = np.argsort(evidence_positions)
    return StoredLevels(
        positions=evidence_positions[by_position],
        shown=evidence.shown_levels[by_position],
        stricter=evidence.stricter_levels[by_position],
    )


def _ethical_score_by_grade() -> Floats:
    """Return the ethical score of each grade as a table of 256 elements."""
    score_by_grade = np.zeros(256)
    for count in range(len(ETHICAL) + 1):
        score = count / len(ETHICAL)
        grade = int(np.ceil(score * GRADE_SCALE))
        score_by_grade[grade] = score
    return score_by_grade


def _build_numbers(records: OrderedRecords) -> dict[str, NumberColumn]:
    """Build the columns of number attributes by name, with codes in integer types that suit the kernels.

    Year and instances have fixed types. The other columns share the narrower of two types that fits all of them, so
    that kernels are compiled for at most two combinations of types.
    """
    values = {column: _distinct_numbers(column, records) for column in NUMBERS}

    all_fit_16_bits = all(len(values[column]) < _NARROW_LIMIT for column in _VARIABLE_WIDTH)
    code_types: dict[str, Any] = dict.fromkeys(_VARIABLE_WIDTH, np.uint16 if all_fit_16_bits else np.uint32)
    code_types["year"] = np.uint16
    code_types["instances_number"] = np.uint32

    return {column: _build_number_column(column, records, values[column], code_types[column]) for column in NUMBERS}


def _distinct_numbers(column: str, records: OrderedRecords) -> Floats:
    """Return NaN, which means unknown, followed by the distinct numbers of a column in ascending order.

    Numbers that are known only above `declared` are included, because all assurances share the result.
    """
    numbers = records.collected.columns[column]
    stricter_numbers = [values[column] for values in records.collected.evidence.values.values()]
    return np.concatenate([[np.nan], _distinct_known_numbers([numbers, *stricter_numbers])])


def _build_number_column(column: str, records: OrderedRecords, values: Floats, code_type: Any) -> NumberColumn:
    """Build a number column, given its distinct numbers in `values`."""
    # Reorder the codes rather than the numbers, because codes take less memory.
    codes = _encode_known(records.collected.columns[column], values, code_type)[records.order]
    quantile_count = _QUANTILES.get(column, _DEFAULT_QUANTILES)
    edges = _choose_edges(codes, values[1:], quantile_count)
    return NumberColumn(values, codes, np.array(edges, np.int64))


def _distinct_known_numbers(columns: list[Floats]) -> Floats:
    """Return the distinct numbers of the given columns in ascending order, without NaN.

    Arrow finds distinct numbers with a hash table, which is much faster than sorting all numbers.
    """
    distinct_numbers = [pa.array(numbers).unique().to_numpy(zero_copy_only=False) for numbers in columns]
    all_numbers = np.concatenate(distinct_numbers)
    return np.unique(all_numbers[~np.isnan(all_numbers)])


def _encode_known(numbers: Floats, values: Floats, code_type: Any) -> NDArray[Any]:
    """Return the index in `values` of each number.

    NaN, which means unknown, has code 0.
    """
    known_values = pa.array(values[1:] + 0.0)
    codes = np.empty(len(numbers), code_type)
    for start in range(0, len(numbers), _NUMBERS_PER_CHUNK):
        # Arrow distinguishes -0.0 from 0.0, but the catalog does not. Adding 0.0 turns -0.0 into 0.0.
        chunk = pa.array(numbers[start : start + _NUMBERS_PER_CHUNK] + 0.0)
        indices = pc.index_in(chunk, value_set=known_values).fill_null(-1)
        codes[start : start + len(chunk)] = indices.to_numpy() + 1
    return codes


def _choose_edges(codes: NDArray[Any], distinct_numbers: Floats, quantile_count: int) -> list[int]:
    """Choose the codes of a number column where filters are likely to begin or end, in ascending order.

    The index has a bitmap of the records with each of these codes or a higher one, which speeds up range filters. The
    codes are 1 (all known numbers), the codes of quantiles, and the codes of round numbers.
    """
    edges = {1}
    counts_up_to_code = np.cumsum(np.bincount(codes, minlength=1)[1:])
    known_count = int(counts_up_to_code[-1]) if len(counts_up_to_code) else 0
    if known_count:
        ranks = np.arange(1, quantile_count) * (known_count - 1) // quantile_count
        quantile_codes = np.searchsorted(counts_up_to_code, ranks, side="right") + 1
        edges |= set(quantile_codes.tolist())

        round_codes = np.searchsorted(distinct_numbers, _ROUND_NUMBERS) + 1
        edges |= set(round_codes[round_codes <= len(distinct_numbers)].tolist())
    return sorted(edges)


def _build_criterion_tables(numbers: Mapping[str, NumberColumn]) -> CriterionTables:
    """Evaluate the formulas that depend on a single number once for each distinct number.

    The code of a number is its index in the result. The kernels then look values up instead of computing them for each
    record. A part is a contribution to the technical score.
    """
    years = numbers["year"].values
    instances = numbers["instances_number"].values
    features = numbers["features_number"].values
    citations = numbers["citations"].values
    missing_percentages = numbers["missing_values_percentage"].values

    return CriterionTables(
        year=formulas.novelty({"year": years}),
        instances=formulas.instances_count({"instances_number": instances}),
        instances_part=formulas.instances_part(instances),
        features=formulas.features_count({"features_number": features}),
        features_part=formulas.features_part(features),
        citations=formulas.popularity_score({"citations": citations}),
        quality=formulas.complete_share(missing_percentages),
        missing_part=formulas.completeness_part(missing_percentages),
    )


def _build_dataset_ids(records: OrderedRecords) -> UuidColumn:
    """Return the UUIDs of the records."""
    return UuidColumn(records.column("uuid_high"), records.column("uuid_low"))


def _sort_ids(records: OrderedRecords) -> NDArray[np.uint32]:
    """Return the positions of the records in ascending order of their integer ids."""
    by_id = np.argsort(records.collected.columns["id"], kind="stable")  # fast if collected in this order
    return records.positions[by_id]


def _build_integer_column(records: OrderedRecords, column: str) -> IntegerColumn:
    """Build a column of ids or times."""
    integer_column = _encode_integers(records.collected.columns[column])
    return replace(integer_column, stored=integer_column.stored[records.order])


def _encode_integers(integers: Ints) -> IntegerColumn:
    """Encode integers in as few bytes as possible.

    If most integers occur several times, such as the times of an import, their indices among the distinct integers are
    stored. Otherwise their differences from the smallest integer are stored.
    """
    # Records are mostly collected in the order of ids and times. A stable sort is fast on nearly sorted input.
    sorted_integers = np.sort(integers, kind="stable")
    is_new = np.diff(sorted_integers, prepend=sorted_integers[0] - 1) > 0
    distinct_integers = sorted_integers[is_new]

    has_many_repetitions = 1 < len(distinct_integers) < len(integers) / 3
    if has_many_repetitions:
        indices = np.searchsorted(distinct_integers, integers)
        return IntegerColumn(distinct_integers, to_smallest_unsigned(indices))

    smallest = integers.min(initial=np.iinfo(np.int64).max)
    return IntegerColumn(np.array([smallest]), to_smallest_unsigned(integers - smallest))


def _build_word_column(records: OrderedRecords, column: str) -> CodedColumn:
    """Build a column of word lists, such as the domains, with a code for each record and the lists as JSON."""
    word_lists = records.collected.values[column]
    used_codes, codes = _renumber(records.column(column))

    known_lists = [word_lists[code] for code in used_codes[1:].tolist()]  # code 0 means unknown
    encoded_lists = [msgspec.json.encode(words).decode() for words in known_lists]
    return CodedColumn(TextPool.from_texts(["", *encoded_lists]), codes)


def _renumber(codes: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    """Return the codes that occur and the index of each record's code among them.

    Code 0, which means unknown, is always the first one, even if it does not occur.
    """
    is_used = np.bincount(codes, minlength=1) > 0
    is_used[0] = True
    indices_by_code = to_smallest_unsigned(np.cumsum(is_used) - 1)
    return np.flatnonzero(is_used), indices_by_code[codes]


def _build_owner_column(records: OrderedRecords) -> OwnerColumn:
    """Build the column of owners, with the private records sorted by owner.

    Private records are visible only to their owner, and the sorted order allows finding them by binary search.
    """
    owners = records.collected.values["owner"]
    used_codes, owner_codes = _renumber(records.column("owner"))
    owner_uuids = [owners[code].hex for code in used_codes[1:].tolist()]  # code 0 means unknown

    private_positions = np.flatnonzero(~records.is_public())
    by_owner = np.argsort(owner_codes[private_positions], kind="stable")
    private_positions = private_positions[by_owner]

    return OwnerColumn(
        owners=CodedColumn(TextPool.from_texts(["", *owner_uuids]), owner_codes),
        private_positions=private_positions.astype(np.uint32),
        private_codes=owner_codes[private_positions].astype(np.uint32),
    )
