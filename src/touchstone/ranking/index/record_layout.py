"""The order of the records of an index: similar ones lie together, and those with evidence in leaves of their own."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.columns.evidence_columns import EvidenceColumns
from touchstone.ranking.index.collected_records import CollectedRecords
from touchstone.ranking.index.kd_layout import KdSpace, kd_order, order_in_leaves
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
"""How much each graded criterion counts when the records are laid out."""
_MINOR_IMPORTANCE: Final = 0.3
"""The factor by which criteria count less at those assurances for which a division of the records is not made."""


def lay_out_records(records: CollectedRecords, alphabetical_ranks: NDArray[np.uint32], leaf_size: int) -> Ints:
    """Return records in an order in which those with similar criteria lie together.

    The records with evidence come first, in leaves of their own, because nothing is known about the others above
    `declared`. They are laid out by their criteria at each assurance at which something is known about them.
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
    """Return the records of a group in an order in which similar ones lie together, in leaves and their blocks.

    `known_grades` holds the grades of all records at each assurance at which the group is known, `declared` first.
    """
    leaf_importance, block_importance = _importances(stricter_count=len(known_grades) - 1)
    dimensions = np.concatenate([grades[:, group] for grades in known_grades])

    # First divide the records into leaves, then those of each leaf into blocks, for which other dimensions count more.
    leaf_space = KdSpace(dimensions, leaf_importance, alphabetical_ranks[group])
    order = kd_order(leaf_space, leaf_size)
    block_space = replace(leaf_space, importance=block_importance)
    return group[order_in_leaves(block_space, order, leaf_size)]


def _importances(stricter_count: int) -> tuple[Floats, Floats]:
    """Return two lists: how much each dimension counts for the division into leaves, and for that into blocks.

    The dimensions are the graded criteria at `declared`, and then at each of `stricter_count` assurances above. The
    leaves are made for `declared`: there the records with evidence compete with all others, and whole leaves can be
    skipped. Above `declared` only they can be among the best, so most of their leaves are searched, and a search is
    fast if it can skip their blocks. The blocks are therefore made for the assurances above.
    """
    importance = np.array([_IMPORTANCE[name] for name in GRADED_CRITERIA])
    if stricter_count == 0:
        return importance, importance

    minor_importance = _MINOR_IMPORTANCE * importance
    leaf_importance = np.concatenate([importance, *([minor_importance] * stricter_count)])
    block_importance = np.concatenate([minor_importance, *([importance] * stricter_count)])
    return leaf_importance, block_importance


def _group_by_evidence(evidence: EvidenceColumns, record_count: int, leaf_size: int) -> list[Ints]:
    """Divide all records into groups by the evidence about them: the best supported first, those without any last.

    There is one group for each distinct assurance above `declared`, and one for the rest. All groups but the last
    consist of whole leaves, for which they borrow some records from the next group.
    """
    assurances = evidence.distinct_assurances()
    known_count = np.zeros(record_count, np.int8)  # at how many assurances above `declared` something is known
    for assurance in assurances:
        known_count[evidence.known_positions(assurance)] += 1

    group_ends = [np.count_nonzero(known_count >= count) for count in range(len(assurances), 0, -1)]
    borders = [math.ceil(end / leaf_size) * leaf_size for end in group_ends]

    best_supported_first = np.argsort(-known_count, kind="stable")
    return np.split(best_supported_first, borders)
