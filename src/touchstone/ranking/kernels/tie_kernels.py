"""Counting the matches of a query that have exactly one score, without scoring most of the other records.

A page of a ranking says how many other records are tied with each of its records: have the same score. Those of the
last record may continue after the page, where nothing has been scored yet. They can only be in certain leaves, blocks
of similar records: none of the records of a leaf scores higher than its bound, the score of an imaginary record that
has the leaf's highest value of every criterion. In the same way, none scores lower than the leaf's lowest values do.
"""

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.constants import FLOAT32_TOLERANCE
from touchstone.ranking.kernels.filter_kernels import select_in_leaf
from touchstone.ranking.kernels.inputs import KernelWeights
from touchstone.ranking.kernels.top_kernels import LeafQueue, TopSearch, bucket_of, score_candidates


def count_ties(search: TopSearch, queue: LeafQueue, leaf_minima: NDArray[np.float64], score: float) -> int:
    """Return how many matches of a query have exactly this score.

    `queue` lists the leaves by their bounds, and its other arrays are overwritten. `leaf_minima` holds the lowest value
    of each criterion (row) in each leaf (column).
    """
    query = search.query
    tie_count = 0
    for i in range(len(queue.leaves)):
        leaf = queue.leaves[i]
        bound = queue.leaf_bounds[leaf]

        # The leaves are sorted by the bucket of their bound, so all that follow have a lower bound, too.
        if bucket_of(bound) > bucket_of(score):
            break
        if query.alive_counts[leaf] == 0 or not query.leaf_may_contain_substring[leaf]:
            continue

        lowest_score = lowest_score_in_leaf(leaf_minima, search.weights, leaf)
        if bound < score or lowest_score > score:
            continue

        if lowest_score == bound:
            # All records of the leaf have this score, so it is enough to count those that match.
            tie_count += select_in_leaf(search.columns, query, leaf, queue.leaf_mask)
        else:
            tie_count += count_ties_in_leaf(search, queue, leaf, score)
    return tie_count


def lowest_score_in_leaf(leaf_minima: NDArray[np.float64], weights: KernelWeights, leaf: int) -> float:
    """Return a score that no record of a leaf falls below: that of its lowest value of every criterion.

    The terms are added in the same order as those of real scores, so rounding cannot make the result too high.
    """
    weighted_sum = 0.0
    for term in range(len(weights.criteria)):
        weighted_sum += weights.weights[term] * leaf_minima[weights.criteria[term], leaf]
    return weighted_sum / weights.total


def count_ties_in_leaf(search: TopSearch, queue: LeafQueue, leaf: int, score: float) -> int:
    """Return how many matches in a leaf have exactly this score; those that may have it are scored one by one.

    The arrays of `queue` that describe one leaf are overwritten.
    """
    candidate_count = score_candidates(search, queue, leaf, np.float32(score - FLOAT32_TOLERANCE))

    tie_count = 0
    for i in range(candidate_count):
        tie_count += int(queue.candidate_scores[i] == score)
    return tie_count
