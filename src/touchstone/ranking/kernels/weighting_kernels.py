"""Kernels that find the best records for each of many sets of weights in a single search.

The stability of a ranking is measured by ranking the same records with, for example, a hundred sets of weights that
differ a little from each other. A set of weights is called a *weighting* here. Separate searches would repeat most of
their work, so a single search serves all weightings:

1. The *bound* of a leaf is a score that none of its records exceeds under a weighting. A leaf is skipped if its bound
   is below the scores of the best records so far under every weighting. Otherwise, it is *promising* for the other
   weightings.
2. The *upper share* of a criterion is its largest share of the weights in any of these weightings. A score computed
   with upper shares is never below the score under any of these weightings, so a single estimate with upper shares can
   rule out a record for all of them.
3. The few remaining records of each leaf are scored under every weighting.

There is a heap of the best records so far for each weighting. The caller allocates all arrays for results, because
compiled kernels cannot allocate memory.
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
    is_better_than_worst,
    replace_worst,
)


class WeightingsSearch(NamedTuple):
    """A search for the best records that match a query under each weighting."""

    columns: KernelColumns
    query: KernelQuery
    weightings: KernelWeightings


class BestByWeighting(NamedTuple):
    """Records as their positions and scores, with one row for each weighting.

    Searches use each row as a heap, as described for `ScoredRecords`.
    """

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


class SearchedLeaf(NamedTuple):
    """Scratch space for the current leaf of a search.

    Attributes:
        is_promising: whether the leaf is promising for each weighting.
        upper_shares: the upper shares of the criteria in `float32_shares`. The other weights are not used for
            estimates.
        queue: scratch space for candidates, which are records of the leaf that may be among the best under any
            weighting. The order of the leaves is not used.
        scores: the score of one record under each weighting.
    """

    is_promising: NDArray[np.bool_]
    upper_shares: KernelWeights
    queue: LeafQueue
    scores: NDArray[np.float64]


def fill_best(alphabetical_ranks: NDArray[np.uint32], records: BestByWeighting, best: BestByWeighting) -> None:
    """Fill the empty heaps of `best` with the best of the given records.

    There must be at least as many records as the capacity of a heap, so that all heaps are full afterwards.
    """
    for row in range(len(best.positions)):
        heap = ScoredRecords(best.positions[row], best.scores[row])
        row_records = ScoredRecords(records.positions[row], records.scores[row])
        add_to_heap(alphabetical_ranks, row_records, heap, 0)


def find_best_by_weightings(search: WeightingsSearch, leaf_results: SearchedLeaf, best: BestByWeighting) -> None:
    """Find the best records that match a query under each weighting, and add them to the heaps of `best`.

    Args:
        search: the columns, the query and the weightings.
        leaf_results: scratch space for one leaf.
        best: full heaps of good records that `search.query` excludes, modified in place. The better these records are,
            the more leaves are skipped.
    """
    query = search.query
    for leaf in range(len(query.alive_counts)):
        if query.alive_counts[leaf] == 0 or not query.leaf_may_contain_substring[leaf]:
            continue

        promising_count = mark_promising_weightings(search, leaf, best, leaf_results.is_promising)
        if promising_count == 0:
            continue

        minimum = fill_upper_shares(search.weightings, leaf_results, best)
        estimated_search = TopSearch(search.columns, query, leaf_results.upper_shares)
        candidate_count = find_candidates(estimated_search, leaf_results.queue, leaf, minimum)
        for i in range(candidate_count):
            position = leaf_results.queue.candidates[i]
            score_by_weightings(search, position, leaf_results.scores)
            update_best(search.columns.alphabetical_ranks, position, leaf_results.scores, best)


def mark_promising_weightings(
    search: WeightingsSearch, leaf: int, best: BestByWeighting, is_promising: NDArray[np.bool_]
) -> int:
    """Determine whether a leaf is promising for each weighting, and return the number of these weightings.

    The bound of the leaf under a weighting is the score of a hypothetical record with the leaf's highest value of every
    criterion. Its terms are added in the same order as in scores, so rounding cannot make it too low.
    """
    columns, weightings = search.columns, search.weightings
    first_rank = columns.first_alphabetical_ranks[leaf]

    promising_count = 0
    for row in range(len(is_promising)):
        weighted_sum = 0.0
        for term in range(len(weightings.criteria)):
            weighted_sum += weightings.weights[term, row] * columns.leaf_maxima[weightings.criteria[term], leaf]
        bound = weighted_sum / weightings.totals[row]

        heap = ScoredRecords(best.positions[row], best.scores[row])
        is_promising[row] = is_better_than_worst(bound, first_rank, columns.alphabetical_ranks, heap)
        promising_count += int(is_promising[row])
    return promising_count


def fill_upper_shares(weightings: KernelWeightings, leaf_results: SearchedLeaf, best: BestByWeighting) -> np.float32:
    """Compute the upper shares for the marked weightings, and return the minimum estimate of candidates.

    The minimum is the lowest score in the heaps of these weightings, reduced by the largest rounding error of an
    estimate in float32, which is proportional to the sum of the shares.
    """
    lowest_score = np.inf
    for row in range(len(leaf_results.is_promising)):
        if leaf_results.is_promising[row]:
            lowest_score = min(lowest_score, best.scores[row, 0])

    sum_of_shares = 0.0
    for term in range(len(weightings.criteria)):
        largest_share = 0.0
        for row in range(len(leaf_results.is_promising)):
            if leaf_results.is_promising[row]:
                largest_share = max(largest_share, weightings.shares[term, row])
        leaf_results.upper_shares.float32_shares[term] = largest_share
        sum_of_shares += largest_share

    return np.float32(lowest_score - FLOAT32_TOLERANCE * (1.0 + sum_of_shares))


def score_by_weightings(search: WeightingsSearch, position: int, scores: NDArray[np.float64]) -> None:
    """Compute the score of the record at a position under each weighting.

    The order of operations is the same as in `weighted_mean`, so that scores are identical bit for bit.
    """
    weightings = search.weightings
    scores[:] = 0.0
    for term in range(len(weightings.criteria)):
        value = criterion_value(search.columns, weightings.criteria[term], position)
        for row in range(len(scores)):
            scores[row] += weightings.weights[term, row] * value

    for row in range(len(scores)):
        scores[row] /= weightings.totals[row]


def update_best(
    alphabetical_ranks: NDArray[np.uint32], position: int, scores: NDArray[np.float64], best: BestByWeighting
) -> None:
    """Replace the worst record in the heap of each weighting if the record at `position` is better.

    `scores` contains the score of the record under each weighting.
    """
    alphabetical_rank = alphabetical_ranks[position]
    for row in range(len(scores)):
        heap = ScoredRecords(best.positions[row], best.scores[row])
        if is_better_than_worst(scores[row], alphabetical_rank, alphabetical_ranks, heap):
            replace_worst(alphabetical_ranks, heap, position, scores[row])
