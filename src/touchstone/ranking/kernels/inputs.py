"""What kernels work on: the columns of an index, a translated query, and weights."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import Words


class KernelColumns(NamedTuple):
    """The columns of an index in leaf order, as plain arrays.

    `grades`: one row of bytes for each of GRADED_CRITERIA. `flag_bytes`: one bit for each of FLAG_STATES. `*_codes`:
    codes into the sorted distinct values of a number, 0 for "not known". `*_scores` and `*_parts`: a criterion, or a
    part of the technical score, for each code. `ethical_by_grade`: the ethical score for each of its grades. `upper`:
    for each criterion and leaf the highest value. `name_places`: each record's place by folded name, then id;
    `first_places`: the first of these places in each leaf. `planes` and `plane_counts`: one row for each plane.
    `accented_*`: the folded names of the records whose name is not plain ASCII.
    """

    size: int
    leaf_words: int
    grades: NDArray[np.uint8]
    flag_bytes: NDArray[np.uint8]
    year_codes: NDArray[np.uint16]
    instances_codes: NDArray[np.uint32]
    features_codes: NDArray[Any]
    citations_codes: NDArray[Any]
    missing_codes: NDArray[Any]
    ethical_by_grade: NDArray[np.float64]
    year_scores: NDArray[np.float64]
    instances_scores: NDArray[np.float64]
    instances_parts: NDArray[np.float64]
    features_scores: NDArray[np.float64]
    features_parts: NDArray[np.float64]
    citations_scores: NDArray[np.float64]
    quality_scores: NDArray[np.float64]
    missing_parts: NDArray[np.float64]
    upper: NDArray[np.float64]
    first_places: NDArray[np.uint32]
    name_places: NDArray[np.uint32]
    planes: Words
    plane_counts: NDArray[np.uint16]
    name_bytes: NDArray[np.uint8]
    name_offsets: NDArray[Any]
    accented: Words
    accented_positions: NDArray[np.int64]
    accented_bytes: NDArray[np.uint8]
    accented_offsets: NDArray[np.int64]


class KernelQuery(NamedTuple):
    """A query in the terms of an index: clauses that must all hold, and conditions that planes cannot decide.

    Clause `c` is the union of the planes from `clause_starts[c]` to `clause_starts[c + 1]` in `clause_planes`, or the
    complement of a single plane where `clause_negated[c]` is set. Plane numbers beyond those of the index refer to
    `extra_planes`. `code_limits`: rows of (number column, lowest code, highest code). `needle`: bytes that the folded
    name must contain, empty for any name. `possible_leaves`: the leaves in which the needle can occur.
    """

    alive: Words
    alive_counts: NDArray[np.uint16]
    clause_starts: NDArray[np.int64]
    clause_planes: NDArray[np.int64]
    clause_negated: NDArray[np.bool_]
    extra_planes: Words
    extra_counts: NDArray[np.uint16]
    code_limits: NDArray[np.int64]
    needle: NDArray[np.uint8]
    possible_leaves: NDArray[np.bool_]


class KernelWeights(NamedTuple):
    """The criteria with a weight, by number and in order, their weights, the sum, and the shares of it as float32."""

    criteria: NDArray[np.int64]
    weights: NDArray[np.float64]
    total: float
    shares: NDArray[np.float32]
