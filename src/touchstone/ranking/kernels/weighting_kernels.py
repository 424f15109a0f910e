"""The best records of a ranking for each of many sets of weights, found in one pass over the leaves.

The sets of weights are similar, so most of the work is done once for all of them: a leaf is skipped if no set could
rank one of its records high enough, and the conditions of the query and the criteria of a record are looked at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.constants import FLOAT32_TOLERANCE
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery, KernelWeightings, KernelWeights
from touchstone.ranking.kernels.score_kernels import criterion_value
from touchstone.ranking.kernels.top_kernels import (
    LeafQueue,
    ScoredRecords,
    TopSearch,
    add_to_heap,
    find_candidates,
    sift_down,
)


class WeightingsSearch(NamedTuple):
    """A search for the best records that match a query, for each of several sets of weights."""

    columns: KernelColumns
    query: KernelQuery
    weightings: KernelWeightings


class WeightingsScratch(NamedTuple):
    """Scratch space for the leaf and the record that a search looks at.

    Attributes:
        queue: Scratch space for a leaf; the order of the leaves in it is not used.
        is_active: For each set of weights whether the leaf can hold one of its best records.
        envelope: For each weighted criterion its largest share in any active set; no record scores higher in any of
            them than with these shares.
        float32_envelope: The same in float32.
        scores: The score of a record, or the bound of a leaf, by each set of weights.
        worst_scores, worst_ranks: The score, and the rank in the alphabet, of the worst record in each heap.
    """

    queue: LeafQueue
    is_active: NDArray[np.bool_]
    envelope: NDArray[np.float64]
    float32_envelope: NDArray[np.float32]
    scores: NDArray[np.float64]
    worst_scores: NDArray[np.float64]
    worst_ranks: NDArray[np.uint32]


class Heaps(NamedTuple):
    """The best records so far for each of several sets of weights: each row is a heap as in `ScoredRecords`."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


def fill_heaps(
    alphabetical_ranks: NDArray[np.uint32], records: Heaps, heaps: Heaps, scratch: WeightingsScratch
) -> None:
    """Put the best of some records, given as one row for each set of weights, into the heaps.

    There are at least as many records as a heap holds, so all heaps are full afterwards.
    """
    for row in range(len(heaps.positions)):
        heap = ScoredRecords(heaps.positions[row], heaps.scores[row])
        add_to_heap(alphabetical_ranks, ScoredRecords(records.positions[row], records.scores[row]), heap, 0)
        note_worst(alphabetical_ranks, heap, row, scratch)


def note_worst(
    alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, row: int, scratch: WeightingsScratch
) -> None:
    """Note the worst record of the heap of one set of weights, with which all other records are compared."""
    scratch.worst_scores[row] = heap.scores[0]
    scratch.worst_ranks[row] = alphabetical_ranks[heap.positions[0]]


def find_top_by_weightings(search: WeightingsSearch, scratch: WeightingsScratch, heaps: Heaps) -> None:
    """Find the best records that match a query by each of several sets of weights, and put them into the heaps.

    The heaps are full from the start, with good records that the query leaves out. A record replaces the worst one of a
    heap if it is better.
    """
    query = search.query
    for leaf in range(len(query.alive_counts)):
        can_match = query.alive_counts[leaf] > 0 and query.leaf_may_contain_substring[leaf]
        if not can_match or not activate_weightings(search, scratch, leaf):
            continue

        candidate_count = find_leaf_candidates(search, scratch, leaf)
        for i in range(candidate_count):
            position = scratch.queue.candidates[i]
            score_by_weightings(search, position, scratch.scores)
            offer_to_heaps(search.columns.alphabetical_ranks, position, scratch, heaps)


def activate_weightings(search: WeightingsSearch, scratch: WeightingsScratch, leaf: int) -> bool:
    """Mark the sets of weights by which a leaf can hold a record for the heap; return whether there are any.

    The bound of a leaf is the score of an imaginary record that has the leaf's highest value of every criterion.
    """
    columns, weightings = search.columns, search.weightings
    bounds = scratch.scores
    bounds[:] = 0.0
    for term in range(len(weightings.criteria)):
        maximum = columns.leaf_maxima[weightings.criteria[term], leaf]
        for row in range(len(bounds)):
            bounds[row] += weightings.weights[term, row] * maximum

    first_rank = columns.first_alphabetical_ranks[leaf]
    active_count = 0
    for row in range(len(bounds)):
        bound = bounds[row] / weightings.totals[row]
        scratch.is_active[row] = is_better(bound, first_rank, row, scratch)
        active_count += int(scratch.is_active[row])
    return active_count > 0


def is_better(score: float, alphabetical_rank: int, row: int, scratch: WeightingsScratch) -> bool:
    """Return whether a score, or with the same score a name, comes before that of the worst record in a heap."""
    if score != scratch.worst_scores[row]:
        return bool(score > scratch.worst_scores[row])
    return bool(alphabetical_rank < scratch.worst_ranks[row])


def find_leaf_candidates(search: WeightingsSearch, scratch: WeightingsScratch, leaf: int) -> int:
    """Find the records of a leaf that match and may be good enough by an active set of weights.

    Their positions are written into the candidates of `scratch.queue`; the result is their number.
    """
    minimum = fill_envelope(search.weightings, scratch)
    envelope = KernelWeights(search.weightings.criteria, scratch.envelope, 1.0, scratch.float32_envelope)
    return int(find_candidates(TopSearch(search.columns, search.query, envelope), scratch.queue, leaf, minimum))


def fill_envelope(weightings: KernelWeightings, scratch: WeightingsScratch) -> np.float32:
    """Compute the envelope of the active sets of weights, and return what a record needs to score by it.

    A record that is good enough by any of the sets has at least this score: the lowest of the worst scores in their
    heaps, less what an estimate in float32 can differ.
    """
    minimum = np.inf
    for row in range(len(scratch.is_active)):
        if scratch.is_active[row]:
            minimum = min(minimum, scratch.worst_scores[row])

    total = 0.0
    for term in range(len(weightings.criteria)):
        largest_share = 0.0
        for row in range(len(scratch.is_active)):
            if scratch.is_active[row]:
                largest_share = max(largest_share, weightings.shares[term, row])
        scratch.envelope[term] = largest_share
        scratch.float32_envelope[term] = largest_share
        total += largest_share

    return np.float32(minimum - FLOAT32_TOLERANCE * (1.0 + total))


def score_by_weightings(search: WeightingsSearch, position: int, scores: NDArray[np.float64]) -> None:
    """Compute the score of the record at a position by each of several sets of weights.

    The terms are added in the same order as everywhere else, so that scores agree bit for bit.
    """
    weightings = search.weightings
    scores[:] = 0.0
    for term in range(len(weightings.criteria)):
        value = criterion_value(search.columns, weightings.criteria[term], position)
        for row in range(len(scores)):
            scores[row] += weightings.weights[term, row] * value

    for row in range(len(scores)):
        scores[row] /= weightings.totals[row]


def offer_to_heaps(
    alphabetical_ranks: NDArray[np.uint32], position: int, scratch: WeightingsScratch, heaps: Heaps
) -> None:
    """Let a record, whose scores are known, replace the worst one of each heap in which it is better."""
    alphabetical_rank = alphabetical_ranks[position]
    for row in range(len(scratch.scores)):
        if is_better(scratch.scores[row], alphabetical_rank, row, scratch):
            heap = ScoredRecords(heaps.positions[row], heaps.scores[row])
            heap.positions[0] = position
            heap.scores[0] = scratch.scores[row]
            sift_down(alphabetical_ranks, heap, len(heap.positions))
            note_worst(alphabetical_ranks, heap, row, scratch)
