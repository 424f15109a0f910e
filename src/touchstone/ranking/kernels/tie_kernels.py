"""Counting the matches that have exactly one score, such as the last one of a page, without scoring most records."""

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.constants import FLOAT32_TOLERANCE
from touchstone.ranking.kernels.filter_kernels import select_in_leaf
from touchstone.ranking.kernels.inputs import KernelWeights
from touchstone.ranking.kernels.top_kernels import LeafQueue, TopSearch, bucket_of, score_candidates


def count_ties(search: TopSearch, queue: LeafQueue, leaf_minima: NDArray[np.float64], score: float) -> int:
    """Return how many matches of a query have exactly a score.

    The records are stored in leaves, blocks of similar records. Leaves all of whose records have a lower score, by the
    bound of the leaf, or a higher one, by its lowest criteria, are skipped. `leaf_minima` has the lowest value of each
    criterion (row) in each leaf (column).
    """
    tie_count = 0
    for i in range(len(queue.leaves)):
        leaf = queue.leaves[i]
        bound = queue.leaf_bounds[leaf]
        if bucket_of(bound) > bucket_of(score):  # and so are the bounds of all following leaves
            break
        if bound < score or search.query.alive_counts[leaf] == 0:
            continue
        if not search.query.leaf_may_contain_substring[leaf]:
            continue

        lowest_score = score_of_minima(leaf_minima, search.weights, leaf)
        if lowest_score > score:
            continue

        if lowest_score == bound:  # then all records of the leaf have this score
            tie_count += select_in_leaf(search.columns, search.query, leaf, queue.leaf_mask)
        else:
            tie_count += count_ties_in_leaf(search, queue, leaf, score)
    return tie_count


def score_of_minima(leaf_minima: NDArray[np.float64], weights: KernelWeights, leaf: int) -> float:
    """Return a score that no record of a leaf, a block of records, falls below.

    It is the score of an imaginary record that has the leaf's lowest value of every criterion. Its terms are added in
    the same order as those of real scores, so rounding cannot make it too high.
    """
    weighted_sum = 0.0
    for term in range(len(weights.criteria)):
        weighted_sum += weights.weights[term] * leaf_minima[weights.criteria[term], leaf]
    return weighted_sum / weights.total


def count_ties_in_leaf(search: TopSearch, queue: LeafQueue, leaf: int, score: float) -> int:
    """Return how many of the matches in a leaf, a block of records, have exactly a score.

    `queue` provides scratch space, which is overwritten.
    """
    candidate_count = score_candidates(search, queue, leaf, np.float32(score - FLOAT32_TOLERANCE))

    tie_count = 0
    for i in range(candidate_count):
        tie_count += int(queue.candidate_scores[i] == score)
    return tie_count
