"""The best records of one query by each of many sets of weights, found in a single search.

Whoever asks how robust a ranking is wants the same records ranked by, say, a hundred sets of weights that differ a
little from each other. One set of weights is called a *weighting* here. A hundred searches would repeat most of their
work, so one search serves all weightings:

1. The records are stored in leaves, blocks of similar records. A *bound* of a leaf is a score that none of its records
   exceeds; it depends on the weighting. A leaf is skipped if, by every weighting, its bound is below the scores of the
   best records so far. Otherwise it is searched for those weightings by which it is not.
2. For these weightings, each criterion gets the largest share of the weights that it has in any of them. Computed with
   these *upper shares*, the score of a record is never below its score by any of the weightings. One estimate made with
   them is therefore enough to rule a record out for all weightings at once.
3. The records that are left, a few of each leaf, are scored by every weighting.

The best records so far are kept in a heap for each weighting, with the worst of them first. The caller allocates all
arrays that are written, because compiled kernels cannot.
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
    """A search for the best records that match a query by each of several weightings."""

    columns: KernelColumns
    query: KernelQuery
    weightings: KernelWeightings


class BestByWeighting(NamedTuple):
    """Records as their positions and scores, one row for each weighting.

    For the best records of a search, each row is a heap as `ScoredRecords` describes.
    """

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


class SearchedLeaf(NamedTuple):
    """What a search finds out about the leaf that it looks at; the next leaf overwrites it.

    Attributes:
        is_promising: For each weighting whether the leaf may hold one of its best records.
        upper_shares: Holds as `float32_shares` for each criterion the largest share that it has in any weighting for
            which the leaf is promising. Its other fields are not used for estimates.
        queue: Holds the candidates: the records of the leaf that may be among the best by any weighting. The order of
            the leaves in it is not used.
        scores: The score of one record by each weighting.
    """

    is_promising: NDArray[np.bool_]
    upper_shares: KernelWeights
    queue: LeafQueue
    scores: NDArray[np.float64]


def fill_best(alphabetical_ranks: NDArray[np.uint32], records: BestByWeighting, best: BestByWeighting) -> None:
    """Put the best of some records into `best`, where each row still is an empty heap.

    There must be at least as many records as a heap has room for, so that all heaps are full afterwards.
    """
    for row in range(len(best.positions)):
        heap = ScoredRecords(best.positions[row], best.scores[row])
        row_records = ScoredRecords(records.positions[row], records.scores[row])
        add_to_heap(alphabetical_ranks, row_records, heap, 0)


def find_best_by_weightings(search: WeightingsSearch, leaf_results: SearchedLeaf, best: BestByWeighting) -> None:
    """Find the best records that match a query by each weighting, and put them into `best`.

    The heaps of `best` must be full from the start, with good records that `search.query` leaves out; thanks to them
    most leaves can be skipped. `leaf_results` is overwritten.
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
    """Mark in `is_promising` the weightings by which a leaf may hold one of the best records; return their number.

    The bound of the leaf by a weighting is the score of an imaginary record that has the leaf's highest value of every
    criterion. Its terms are added in the same order as those of real scores, so rounding cannot make it too low.
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
    """Compute the upper shares of the weightings for which a leaf is promising; return the minimum score by them.

    A record with an estimate below this minimum is not among the best by any weighting. The minimum is the lowest score
    in the heaps of these weightings, less what an estimate in float32 may be too low, which grows with the sum of the
    shares.
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
    """Compute the score of the record at a position by each weighting.

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


def update_best(
    alphabetical_ranks: NDArray[np.uint32], position: int, scores: NDArray[np.float64], best: BestByWeighting
) -> None:
    """Let a record replace the worst one in the heap of each weighting by which it is better.

    `scores` holds the score of the record at `position` by each weighting.
    """
    alphabetical_rank = alphabetical_ranks[position]
    for row in range(len(scores)):
        heap = ScoredRecords(best.positions[row], best.scores[row])
        if is_better_than_worst(scores[row], alphabetical_rank, alphabetical_ranks, heap):
            replace_worst(alphabetical_ranks, heap, position, scores[row])
