"""The order of the records of an index: similar ones lie together, and those with evidence in leaves of their own."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.columns.evidence_columns import EvidenceColumns
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.index.kd_layout import KdSpace, kd_order, order_in_leaves
from touchstone.ranking.kernels.constants import GRADE_SCALE, GRADED_CRITERIA

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


def lay_out_records(segment: Segment, alphabetical_ranks: Ints, leaf_size: int) -> Ints:
    """Return the records of a segment in an order in which those with similar criteria lie together.

    The records with evidence come first, in leaves of their own, because nothing is known about the others above
    `declared`. They are laid out by their criteria at each assurance at which something is known about them.
    """
    assurances = segment.evidence.distinct_assurances()
    segments = [segment, *(segment.at(assurance) for assurance in assurances)]

    order = []
    for number, records in enumerate(_group_by_evidence(segment.evidence, segment.size, leaf_size)):
        known_segments = [known_segment.take(records) for known_segment in segments[: len(segments) - number]]
        group_order = _lay_out_group(known_segments, alphabetical_ranks[records], leaf_size)
        order.append(records[group_order])
    return np.concatenate(order)


def _lay_out_group(known_segments: Sequence[Segment], alphabetical_ranks: Ints, leaf_size: int) -> Ints:
    """Return an order of some records in which similar ones lie together, in leaves and within these in blocks.

    `known_segments` holds the records with what is known of them at each assurance, `declared` first.
    """
    grades = np.concatenate([grade_criteria(known_segment) for known_segment in known_segments])
    leaf_importance, block_importance = _importances(stricter_count=len(known_segments) - 1)

    space = KdSpace(grades, leaf_importance, alphabetical_ranks)
    order = kd_order(space, leaf_size)
    return order_in_leaves(replace(space, importance=block_importance), order, leaf_size)


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
    """Return all records in groups: those that are known at the strictest assurance first, those without evidence last.

    There is one group for each distinct assurance above `declared`, and one for the rest. All groups but the last
    consist of whole leaves, for which they borrow some records from the next group.
    """
    assurances = evidence.distinct_assurances()
    known_count = np.zeros(record_count, np.int8)  # at how many assurances above `declared` something is known
    for assurance in assurances:
        known_count[evidence.known_positions(assurance)] += 1

    group_ends = [np.count_nonzero(known_count >= count) for count in range(len(assurances), 0, -1)]
    borders = [math.ceil(end / leaf_size) * leaf_size for end in group_ends]
    return np.split(np.argsort(-known_count, kind="stable"), borders)


def grade_criteria(segment: Segment) -> NDArray[np.uint8]:
    """Return the grades of all records, one row for each of GRADED_CRITERIA.

    A grade is a criterion, a number in 0-1, in one byte: it is multiplied by 255 and rounded up.
    """
    grades = [np.ceil(segment.criteria[name] * GRADE_SCALE).astype(np.uint8) for name in GRADED_CRITERIA]
    return np.stack(grades)
