"""Kernels that count the matches with a given score without scoring most other records.

A page of a ranking shows the number of records that are tied with (have the same score as) each of its records. The
last record of a page may be tied with records after the page, which have not been scored. Only some leaves, which are
blocks of similar records, can contain them: the score must be between the scores of two hypothetical records, with the
lowest and with the highest value of every criterion in the leaf.
"""

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.constants import FLOAT32_TOLERANCE
from touchstone.ranking.kernels.filter_kernels import select_in_leaf
from touchstone.ranking.kernels.inputs import KernelWeights
from touchstone.ranking.kernels.top_kernels import LeafQueue, TopSearch, bucket_of, score_candidates


def count_ties(search: TopSearch, queue: LeafQueue, leaf_minima: NDArray[np.float64], score: float) -> int:
    """Return the number of matches of a search with exactly the given score.

    Args:
        search: the columns, the query and the weights.
        queue: the leaves and their bounds. The arrays that describe one leaf are overwritten.
        leaf_minima: the lowest value of each criterion (row) in each leaf (column).
        score: the score of the matches to count.
    """
    query = search.query
    tie_count = 0
    for i in range(len(queue.leaves)):
        leaf = queue.leaves[i]
        bound = queue.leaf_bounds[leaf]

        # The leaves are sorted by the buckets of their bounds, so all following bounds are too low as well.
        if bucket_of(bound) > bucket_of(score):
            break
        if query.alive_counts[leaf] == 0 or not query.leaf_may_contain_substring[leaf]:
            continue

        lowest_score = lowest_score_in_leaf(leaf_minima, search.weights, leaf)
        if bound < score or lowest_score > score:
            continue

        if lowest_score == bound:
            # All records of the leaf have the same score, so no match needs to be scored.
            tie_count += select_in_leaf(search.columns, query, leaf, queue.leaf_mask)
        else:
            tie_count += count_ties_in_leaf(search, queue, leaf, score)
    return tie_count


def lowest_score_in_leaf(leaf_minima: NDArray[np.float64], weights: KernelWeights, leaf: int) -> float:
    """Return the score of a hypothetical record with a leaf's lowest value of every criterion.

    The terms are added in the same order as in scores, so rounding cannot make this lower bound too high.
    """
    weighted_sum = 0.0
    for term in range(len(weights.criteria)):
        weighted_sum += weights.weights[term] * leaf_minima[weights.criteria[term], leaf]
    return weighted_sum / weights.total


def count_ties_in_leaf(search: TopSearch, queue: LeafQueue, leaf: int, score: float) -> int:
    """Return the number of matches in a leaf with the given score.

    The arrays of `queue` that describe one leaf are overwritten.
    """
    candidate_count = score_candidates(search, queue, leaf, np.float32(score - FLOAT32_TOLERANCE))

    tie_count = 0
    for i in range(candidate_count):
        tie_count += int(queue.candidate_scores[i] == score)
    return tie_count
