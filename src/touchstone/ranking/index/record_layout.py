"""The order of records in an index, which places similar records next to each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.columns.evidence_columns import EvidenceColumns
from touchstone.ranking.index.collected_records import CollectedRecords
from touchstone.ranking.index.kd_layout import KdSpace, kd_order, order_within_leaves
from touchstone.ranking.kernels.constants import GRADED_CRITERIA

_IMPORTANCE: Final[Mapping[str, float]] = {
    "ethical_score": 1.0,
    "technical_score": 1.0,
    "data_quality": 0.4,
    "instances_count": 0.4,
    "features_count": 0.25,
    "citations": 1.0,
    "year": 0.7,
}
"""The weight of each graded criterion in the layout of the records."""
_MINOR_IMPORTANCE: Final = 0.3
"""A factor for criteria at assurances that a division of the records is not optimized for."""


def lay_out_records(records: CollectedRecords, alphabetical_ranks: NDArray[np.uint32], leaf_size: int) -> Ints:
    """Return the numbers of the records in an order that places records with similar criteria next to each other.

    Records with evidence come first, in separate leaves, because no other record has known values above `declared`.
    They are laid out by their criteria at each assurance at which they have known values.

    Args:
        records: the collected records.
        alphabetical_ranks: the rank of each record by name.
        leaf_size: the number of records in a full leaf.
    """
    assurances = records.evidence.distinct_assurances()
    grades = [records.grades, *map(records.stricter_grades, assurances)]

    order = []
    for number, group in enumerate(_group_by_evidence(records.evidence, records.size, leaf_size)):
        known_grades = grades[: len(grades) - number]
        order.append(_lay_out_group(group, known_grades, alphabetical_ranks, leaf_size))
    return np.concatenate(order)


def _lay_out_group(
    group: Ints, known_grades: Sequence[NDArray[np.uint8]], alphabetical_ranks: NDArray[np.uint32], leaf_size: int
) -> Ints:
    """Return the records of a group in an order that places similar records in the same leaf and block.

    Args:
        group: the numbers of the records of the group.
        known_grades: the grades of all records at each assurance at which the group has known values, beginning with
            `declared`. Each array has one row for each graded criterion.
        alphabetical_ranks: the rank of each record by name.
        leaf_size: the number of records in a full leaf.
    """
    leaf_importance, block_importance = _dimension_weights(stricter_count=len(known_grades) - 1)
    dimensions = np.concatenate([grades[:, group] for grades in known_grades])

    # Divide the records into leaves, and each leaf into blocks, with different weights for the dimensions.
    leaf_space = KdSpace(dimensions, leaf_importance, alphabetical_ranks[group])
    order = kd_order(leaf_space, leaf_size)
    block_space = replace(leaf_space, importance=block_importance)
    return group[order_within_leaves(block_space, order, leaf_size)]


def _dimension_weights(stricter_count: int) -> tuple[Floats, Floats]:
    """Return the weight of each dimension for the division into leaves and for the division into blocks.

    The dimensions are the graded criteria at `declared`, followed by the graded criteria at each of `stricter_count`
    assurances above it. At `declared`, the records with evidence compete with all others, and a search can skip whole
    leaves, so the leaves are optimized for `declared`. Above it, only the records with evidence can be among the best.
    A search visits most of their leaves but can skip blocks, so the blocks are optimized for these assurances.
    """
    importance = np.array([_IMPORTANCE[name] for name in GRADED_CRITERIA])
    if stricter_count == 0:
        return importance, importance

    minor_importance = _MINOR_IMPORTANCE * importance
    leaf_importance = np.concatenate([importance, *([minor_importance] * stricter_count)])
    block_importance = np.concatenate([minor_importance, *([importance] * stricter_count)])
    return leaf_importance, block_importance


def _group_by_evidence(evidence: EvidenceColumns, record_count: int, leaf_size: int) -> list[Ints]:
    """Divide all records into groups by their evidence, with the best supported records first.

    There is one group for each distinct assurance above `declared`, and one for the rest. Every group except the last
    is filled up to whole leaves with records from the next group.
    """
    assurances = evidence.distinct_assurances()
    # The number of assurances above `declared` at which each record has known values.
    known_count = np.zeros(record_count, np.int8)
    for assurance in assurances:
        known_count[evidence.known_positions(assurance)] += 1

    group_ends = [np.count_nonzero(known_count >= count) for count in range(len(assurances), 0, -1)]
    boundaries = [math.ceil(end / leaf_size) * leaf_size for end in group_ends]

    best_supported_first = np.argsort(-known_count, kind="stable")
    return np.split(best_supported_first, boundaries)
