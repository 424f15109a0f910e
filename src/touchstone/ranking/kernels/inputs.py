"""The inputs of kernels: the columns of an index, a translated query, and weights."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import Words


class KernelColumns(NamedTuple):
    """The columns of an index as plain arrays, with the records ordered leaf by leaf.

    A leaf consists of `words_per_leaf` blocks of 64 similar records. A plane is a bitmap with one bit for each record.

    Attributes:
        grades: the grade of each of GRADED_CRITERIA (row) for each record (column).
        flag_bytes: a byte for each record with one bit for each of FLAG_STATES.
        block_grades: the highest grade of each of GRADED_CRITERIA (row) in each block (column).
        block_flag_bytes: a byte for each block with the bits of FLAG_STATES that any of its records has.
        year_codes, instances_codes, ...: the index of each record's number among the sorted distinct numbers; code 0
            means unknown.
        ethical_score_by_grade: the ethical score of each grade.
        year_score_by_code, instances_part_by_code, ...: a criterion ("score"), or a part of the technical score
            ("part"), for each code of the number that it depends on.
        leaf_maxima: the highest value of each criterion (row) in each leaf (column).
        alphabetical_ranks: the unique rank of each record by folded name and then by id.
        first_alphabetical_ranks: the lowest of these ranks in each leaf.
        planes: the bitmap of each plane, one in each row.
        plane_counts: the number of set bits of each plane (row) in each leaf (column).
        name_bytes: the concatenated names of all records in UTF-8.
        name_offsets: the start of each name, followed by the end of the last one.
        accented: a bitmap of the records with names that are not plain ASCII.
        accented_positions: the ascending positions of these records.
        accented_bytes: the concatenated folded names of these records in UTF-8.
        accented_offsets: the start of each of these names, followed by the end of the last one.
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
    """The consecutive leaves from `start` to before `end`."""

    start: int
    end: int


class KernelQuery(NamedTuple):
    """A query translated for an index.

    A record matches if it is alive and meets all conditions.

    Attributes:
        alive: a bitmap of the records that are not deleted.
        alive_counts: the number of these records in each leaf.
        clause_starts: the start of each clause's planes in `clause_planes`, followed by the end of the last ones.
        clause_planes: the numbers of planes. A clause accepts the records in at least one of its planes. Numbers
            beyond the planes of the index refer to `extra_planes`.
        clause_is_negated: whether each clause accepts the records outside its planes instead. A negated clause has
            exactly one plane.
        extra_planes: the bitmaps of planes computed for this query, one in each row.
        extra_plane_counts: the number of set bits of these planes (row) in each leaf (column).
        code_ranges: rows of (number column, lowest code, highest code), the permitted ranges of codes.
        name_substring: UTF-8 bytes that the folded name of a record must contain; empty if any name is accepted.
        leaf_may_contain_substring: whether each leaf may have a name that contains the substring.
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
        criteria: the index in CRITERIA of each weighted criterion.
        weights: the weight of each of these criteria.
        total: the sum of the weights.
        float32_shares: the weights divided by their sum, for fast estimates.
    """

    criteria: NDArray[np.int64]
    weights: NDArray[np.float64]
    total: float
    float32_shares: NDArray[np.float32]


class KernelWeightings(NamedTuple):
    """Several sets of weights for the same criteria.

    Attributes:
        criteria: the index in CRITERIA of each weighted criterion.
        weights: the weights, with one row for each of these criteria and one column for each set.
        totals: the sum of the weights of each set.
        shares: the weights divided by their sums.
    """

    criteria: NDArray[np.int64]
    weights: NDArray[np.float64]
    totals: NDArray[np.float64]
    shares: NDArray[np.float64]
