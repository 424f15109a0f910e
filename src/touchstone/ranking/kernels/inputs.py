"""What kernels work on: the columns of an index, a translated query, and weights."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import Words


class KernelColumns(NamedTuple):
    """The columns of an index as plain arrays, with the records ordered leaf by leaf.

    A leaf consists of `words_per_leaf` blocks of 64 similar records. A plane is a bitmap with one bit for each record.

    Attributes:
        grades: One row of bytes for each of GRADED_CRITERIA, with one grade for each record.
        flag_bytes: For each record one bit for each of FLAG_STATES.
        block_grades: The highest grade of each of GRADED_CRITERIA (row) in each block (column).
        block_flag_bytes: For each block the bits of FLAG_STATES that any of its records has.
        year_codes, instances_codes, ...: For each record the index of its number among the sorted distinct numbers;
            code 0 means that the number is not known.
        ethical_score_by_grade: The ethical score for each of its grades.
        year_score_by_code, instances_part_by_code, ...: A criterion ("score"), or a part of the technical score
            ("part"), for each code of the number that it depends on.
        leaf_maxima: The highest value of each criterion (row) in each leaf (column).
        alphabetical_ranks: For each record its rank by folded name, then id; no two records share a rank.
        first_alphabetical_ranks: The lowest of these ranks in each leaf.
        planes, plane_counts: One bitmap for each plane, and how many of its bits are set in each leaf.
        name_bytes, name_offsets: The names of all records as UTF-8, one after the other, and where each begins.
        accented: A bitmap of the records whose name is not plain ASCII.
        accented_positions, accented_bytes, accented_offsets: The positions of these records, and their folded names
            in the same order, stored like the names of all records.
    """

    record_count: int
    words_per_leaf: int
    grades: NDArray[np.uint8]
    flag_bytes: NDArray[np.uint8]
    block_grades: NDArray[np.uint8]
    block_flag_bytes: NDArray[np.uint8]
    year_codes: NDArray[np.uint16]
    instances_codes: NDArray[np.uint32]
    features_codes: NDArray[Any]
    citations_codes: NDArray[Any]
    missing_percentage_codes: NDArray[Any]
    ethical_score_by_grade: NDArray[np.float64]
    year_score_by_code: NDArray[np.float64]
    instances_score_by_code: NDArray[np.float64]
    instances_part_by_code: NDArray[np.float64]
    features_score_by_code: NDArray[np.float64]
    features_part_by_code: NDArray[np.float64]
    citations_score_by_code: NDArray[np.float64]
    data_quality_by_code: NDArray[np.float64]
    completeness_part_by_code: NDArray[np.float64]
    leaf_maxima: NDArray[np.float64]
    first_alphabetical_ranks: NDArray[np.uint32]
    alphabetical_ranks: NDArray[np.uint32]
    planes: Words
    plane_counts: NDArray[np.uint16]
    name_bytes: NDArray[np.uint8]
    name_offsets: NDArray[Any]
    accented: Words
    accented_positions: NDArray[np.int64]
    accented_bytes: NDArray[np.uint8]
    accented_offsets: NDArray[np.int64]


class LeafRange(NamedTuple):
    """Some leaves that follow one another: those from `start` to before `end`."""

    start: int
    end: int


class KernelQuery(NamedTuple):
    """A query in the terms of an index: a record matches if it is alive and meets all conditions.

    Attributes:
        alive, alive_counts: A bitmap of the records that are not deleted, and how many of them each leaf holds.
        clause_starts: Clause `c` consists of `clause_planes[clause_starts[c]:clause_starts[c + 1]]`.
        clause_planes: The numbers of planes. A clause accepts the records that are in at least one of its planes.
            Numbers beyond the planes of the index refer to `extra_planes`.
        clause_is_negated: Whether a clause, which then has a single plane, accepts the records outside of it instead.
        extra_planes, extra_plane_counts: Planes that were made for this query, stored like those of the index.
        code_ranges: Rows of (number column, lowest code, highest code) that a record's code must be within.
        name_substring: UTF-8 bytes that the folded name of a record must contain; empty for any name.
        leaf_may_contain_substring: For each leaf whether one of its names can contain the substring.
    """

    alive: Words
    alive_counts: NDArray[np.uint16]
    clause_starts: NDArray[np.int64]
    clause_planes: NDArray[np.int64]
    clause_is_negated: NDArray[np.bool_]
    extra_planes: Words
    extra_plane_counts: NDArray[np.uint16]
    code_ranges: NDArray[np.int64]
    name_substring: NDArray[np.uint8]
    leaf_may_contain_substring: NDArray[np.bool_]


class KernelWeights(NamedTuple):
    """The weights that are not zero, in the order of CRITERIA.

    Attributes:
        criteria: The index in CRITERIA of each weighted criterion.
        weights: The weight of each of these criteria.
        total: The sum of the weights.
        float32_shares: The weights divided by their sum, for fast estimates.
    """

    criteria: NDArray[np.int64]
    weights: NDArray[np.float64]
    total: float
    float32_shares: NDArray[np.float32]


class KernelWeightings(NamedTuple):
    """Several sets of weights for the same criteria.

    Attributes:
        criteria: The index in CRITERIA of each weighted criterion.
        weights: The weights: one row for each of these criteria, and one column for each set.
        totals: The sum of the weights of each set.
        shares: The weights divided by their sums.
    """

    criteria: NDArray[np.int64]
    weights: NDArray[np.float64]
    totals: NDArray[np.float64]
    shares: NDArray[np.float64]
