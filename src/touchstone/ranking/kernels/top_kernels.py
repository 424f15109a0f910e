"""Kernels that find the best records of a ranking by branch and bound.

The bound of a leaf is a score that none of its records exceeds. Leaves are visited in descending order of their bounds,
and a heap contains the best records found so far. Leaves with bounds below the worst score in a full heap are skipped.
A leaf consists of *blocks* of 64 records with their own bounds, so most blocks of a visited leaf are skipped as well.

The caller allocates all arrays for results, because compiled kernels cannot allocate memory.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import (
    BITS_PER_WORD,
    ZERO,
    Words,
    count_bits,
    lowest_bit,
    without_lowest_bit,
)
from touchstone.ranking.kernels.constants import BINARY_MASKS, FLOAT32_TOLERANCE, GRADE_ROWS, GRADE_SCALE
from touchstone.ranking.kernels.filter_kernels import select_in_leaf
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery, KernelWeights
from touchstone.ranking.kernels.score_kernels import fill_scores

_FEW_MATCHES: Final = 6  # maximum number of matches in a block that are scored without estimates
BUCKETS: Final = 1024  # number of equal intervals for sorting bounds approximately


class TopSearch(NamedTuple):
    """A search for the best records that match a query."""

    columns: KernelColumns
    query: KernelQuery
    weights: KernelWeights


class GradedCriteria(NamedTuple):
    """The criteria of records, or the best values of blocks of 64 records, rounded up to one byte.

    Attributes:
        grades: the grade, or the highest grade of a block, of each of GRADED_CRITERIA (row).
        flag_bytes: one bit for each of FLAG_STATES, set if the record, or any record of the block, has this state.
    """

    grades: NDArray[np.uint8]
    flag_bytes: NDArray[np.uint8]


class LeafQueue(NamedTuple):
    """The order of the leaves in a search, and scratch space for the current leaf.

    The arrays from `leaf_mask` on describe one leaf, and are overwritten for the next one.

    Attributes:
        leaves: the numbers of all leaves in approximately descending order of their bounds.
        leaf_bounds: the bound of each leaf, by its number.
        leaf_mask: a bitmap of the leaf's matches, with one word for each block.
        block_bounds: for each block of the leaf, a score that none of its records exceeds.
        score_estimates: for each record of one block, an estimate that is never below its score.
        candidates: the positions of the leaf's records that may be among the best, with one spare element at the end.
        candidate_scores: the scores of these records.
    """

    leaves: NDArray[np.int64]
    leaf_bounds: NDArray[np.float64]
    leaf_mask: Words
    block_bounds: NDArray[np.float32]
    score_estimates: NDArray[np.float32]
    candidates: NDArray[np.int64]
    candidate_scores: NDArray[np.float64]


class ScoredRecords(NamedTuple):
    """Records as their positions and scores.

    Searches use such arrays as a heap of the best records found so far, with the worst of them at index 0. The length
    of the arrays is the capacity of the heap.
    """

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


def fill_leaf_bounds(columns: KernelColumns, weights: KernelWeights, leaf_bounds: NDArray[np.float64]) -> None:
    """Write the bound of each leaf, an upper limit of the scores of its records, into `leaf_bounds`.

    A bound is the score of a hypothetical record with the leaf's highest value of every criterion. Its terms are added
    in the same order as in scores, so rounding cannot make it too low.
    """
    leaf_bounds[:] = 0.0
    for term in range(len(weights.criteria)):
        weight = weights.weights[term]
        maxima = columns.leaf_maxima[weights.criteria[term]]
        for leaf in range(len(leaf_bounds)):
            leaf_bounds[leaf] += weight * maxima[leaf]

    for leaf in range(len(leaf_bounds)):
        leaf_bounds[leaf] /= weights.total


def bucket_of(score: float) -> int:
    """Return the bucket of a score or bound in 0-1, from 0 for the highest scores to BUCKETS - 1."""
    return BUCKETS - 1 - int(score * (BUCKETS - 1))


def queue_leaves(leaf_bounds: NDArray[np.float64], next_indices: NDArray[np.int64], leaves: NDArray[np.int64]) -> None:
    """Write the numbers of all leaves into `leaves`, in descending order of the buckets of their bounds.

    This is a stable counting sort.

    Args:
        leaf_bounds: the bound of each leaf.
        next_indices: scratch space with `BUCKETS + 1` elements, which must be zero.
        leaves: the sorted numbers of the leaves, written by this function.
    """
    # Count the leaves of each bucket in the following element, so that the running total is the start of each bucket.
    for leaf in range(len(leaf_bounds)):
        next_indices[bucket_of(leaf_bounds[leaf]) + 1] += 1
    for bucket in range(BUCKETS):
        next_indices[bucket + 1] += next_indices[bucket]

    for leaf in range(len(leaf_bounds)):
        bucket = bucket_of(leaf_bounds[leaf])
        leaves[next_indices[bucket]] = leaf
        next_indices[bucket] += 1


def fill_score_estimates(
    criteria: GradedCriteria, weights: KernelWeights, start: int, score_estimates: NDArray[np.float32]
) -> None:
    """Write estimates for the scores of records, or of blocks, into `score_estimates`.

    Estimates use grades, which are criteria rounded up to one byte. The estimate of a record is therefore never below
    its exact score, except for a rounding error of less than FLOAT32_TOLERANCE. The estimate of a block is never below
    the estimate of any of its records, because it uses their highest grades.

    Args:
        criteria: the grades of records or blocks.
        weights: the shares of the criteria in the score.
        start: the index of the first record or block.
        score_estimates: the estimates for the records or blocks from `start` on, written by this function.
    """
    score_estimates[:] = np.float32(0.0)

    for term in range(len(weights.criteria)):
        criterion = weights.criteria[term]
        share = weights.float32_shares[term]

        if BINARY_MASKS[criterion]:
            # The criterion is 1 for records with any of these flags, and 0 for all others.
            flag_mask = np.uint8(BINARY_MASKS[criterion])
            flags = criteria.flag_bytes[start : start + len(score_estimates)]
            for i in range(len(flags)):
                score_estimates[i] += share if flags[i] & flag_mask else np.float32(0.0)
        else:
            share_per_grade = share / np.float32(GRADE_SCALE)
            criterion_grades = criteria.grades[GRADE_ROWS[criterion], start : start + len(score_estimates)]
            for i in range(len(criterion_grades)):
                score_estimates[i] += share_per_grade * np.float32(criterion_grades[i])


def find_top(search: TopSearch, queue: LeafQueue, heap: ScoredRecords) -> int:
    """Find the best records that match a query, put them into `heap`, and return their number.

    Leaves are visited in the order of `queue`. Once the heap is full, leaves with bounds below the worst score in the
    heap are skipped, and the search ends when this applies to all remaining leaves.
    """
    columns = search.columns
    heap_size = 0

    for i in range(len(queue.leaves)):
        leaf = queue.leaves[i]
        if search.query.alive_counts[leaf] == 0 or not search.query.leaf_may_contain_substring[leaf]:
            continue

        heap_is_full = heap_size == len(heap.positions)
        if heap_is_full:
            bound = queue.leaf_bounds[leaf]
            if bucket_of(bound) > bucket_of(heap.scores[0]):  # the bounds of all following leaves are too low as well
                break

            first_rank = columns.first_alphabetical_ranks[leaf]
            if not is_better_than_worst(bound, first_rank, columns.alphabetical_ranks, heap):
                continue

        heap_size = search_leaf(search, queue, heap, leaf, heap_size)

    return heap_size


def search_leaf(search: TopSearch, queue: LeafQueue, heap: ScoredRecords, leaf: int, heap_size: int) -> int:
    """Add the best matches of one leaf to a heap of `heap_size` records, and return its new size.

    The arrays of `queue` that describe one leaf are overwritten.
    """
    # Every match is a candidate until the heap is full.
    heap_is_full = heap_size == len(heap.positions)
    minimum = np.float32(heap.scores[0] - FLOAT32_TOLERANCE) if heap_is_full else np.float32(0.0)

    candidate_count = score_candidates(search, queue, leaf, minimum)
    candidates = ScoredRecords(queue.candidates[:candidate_count], queue.candidate_scores[:candidate_count])
    return add_to_heap(search.columns.alphabetical_ranks, candidates, heap, heap_size)


def score_candidates(search: TopSearch, queue: LeafQueue, leaf: int, minimum: np.float32) -> int:
    """Find and score the matches of a leaf that may have a score of at least `minimum`, and return their number.

    Their positions and exact scores are written into `queue.candidates` and `queue.candidate_scores`.
    """
    candidate_count = find_candidates(search, queue, leaf, minimum)
    positions = queue.candidates[:candidate_count]
    fill_scores(search.columns, search.weights, positions, queue.candidate_scores[:candidate_count])
    return candidate_count


def find_candidates(search: TopSearch, queue: LeafQueue, leaf: int, minimum: np.float32) -> int:
    """Find the matches of a leaf that may have a score of at least `minimum`, and return their number.

    Their positions are written into `queue.candidates`.
    """
    columns = search.columns

    # The bounds of the blocks rule out most leaves, so check them before the conditions of the query.
    first_block = leaf * columns.words_per_leaf
    blocks = GradedCriteria(columns.block_grades, columns.block_flag_bytes)
    fill_score_estimates(blocks, search.weights, first_block, queue.block_bounds)
    if not any_at_least(queue.block_bounds, minimum):
        return 0
    if select_in_leaf(columns, search.query, leaf, queue.leaf_mask) == 0:
        return 0
    return list_candidates(search, queue, first_block, minimum)


def any_at_least(score_estimates: NDArray[np.float32], minimum: np.float32) -> bool:
    """Return whether any estimate is at least `minimum`."""
    # A loop without an early exit is compiled to SIMD instructions.
    count = 0
    for i in range(len(score_estimates)):
        count += int(score_estimates[i] >= minimum)
    return count > 0


def list_candidates(search: TopSearch, queue: LeafQueue, first_block: int, minimum: np.float32) -> int:
    """List the matches of a leaf that may have a score of at least `minimum`, and return their number.

    If a block has few matches, all of them are listed, because computing their exact scores is cheaper than estimating
    the scores of all 64 records of the block.

    Args:
        search: the columns, the query and the weights.
        queue: the bitmap of the matches, the bounds of the blocks, and the candidates, which are modified in place.
        first_block: the number of the first block of the leaf.
        minimum: the minimum score.
    """
    columns = search.columns
    records = GradedCriteria(columns.grades, columns.flag_bytes)

    candidate_count = 0
    for i in range(len(queue.leaf_mask)):
        matches = queue.leaf_mask[i]
        if matches == ZERO or queue.block_bounds[i] < minimum:
            continue

        first_position = BITS_PER_WORD * (first_block + i)
        has_few_matches = count_bits(matches) <= _FEW_MATCHES
        if not has_few_matches:
            fill_score_estimates(records, search.weights, first_position, queue.score_estimates)
            if not any_at_least(queue.score_estimates, minimum):
                continue

        while matches != ZERO:
            index_in_block = lowest_bit(matches)
            matches = without_lowest_bit(matches)

            # Avoid a slow branch: write every match, and let the next one overwrite it unless it is a candidate.
            queue.candidates[candidate_count] = first_position + index_in_block
            candidate_count += int(has_few_matches or queue.score_estimates[index_in_block] >= minimum)
    return candidate_count


def add_to_heap(
    alphabetical_ranks: NDArray[np.uint32], candidates: ScoredRecords, heap: ScoredRecords, heap_size: int
) -> int:
    """Add the best candidates to a heap of `heap_size` records, and return its new size.

    Until the heap is full, every candidate is added. Then a candidate replaces the worst record if it is better, by
    score and then by name.
    """
    for i in range(len(candidates.positions)):
        position = candidates.positions[i]
        score = candidates.scores[i]

        if heap_size < len(heap.positions):
            heap.positions[heap_size] = position
            heap.scores[heap_size] = score
            heap_size += 1
            sift_up(alphabetical_ranks, heap, heap_size)
        elif is_better_than_worst(score, alphabetical_ranks[position], alphabetical_ranks, heap):
            replace_worst(alphabetical_ranks, heap, position, score)
    return heap_size


def replace_worst(alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, position: int, score: float) -> None:
    """Replace the worst record of a full heap by a better one."""
    heap.positions[0] = position
    heap.scores[0] = score
    sift_down(alphabetical_ranks, heap, len(heap.positions))


def is_better_than_worst(
    score: float, alphabetical_rank: int, alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords
) -> bool:
    """Return whether a record with a score and an alphabetical rank is better than the worst record of a heap."""
    worst_score = heap.scores[0]
    if score != worst_score:
        return bool(score > worst_score)
    return bool(alphabetical_rank < alphabetical_ranks[heap.positions[0]])


def is_worse(alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, index: int, other: int) -> bool:
    """Return whether the record at `index` of a heap is worse than the one at `other`, by score and then by name."""
    if heap.scores[index] != heap.scores[other]:
        return bool(heap.scores[index] < heap.scores[other])
    return bool(alphabetical_ranks[heap.positions[index]] > alphabetical_ranks[heap.positions[other]])


def swap(heap: ScoredRecords, index: int, other: int) -> None:
    """Swap two records of a heap."""
    heap.positions[index], heap.positions[other] = heap.positions[other], heap.positions[index]
    heap.scores[index], heap.scores[other] = heap.scores[other], heap.scores[index]


def sift_down(alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, heap_size: int) -> None:
    """Restore the heap order after the record at index 0 was replaced by a better one.

    The new record is swapped with the worse of its two children until neither is worse than the record.
    """
    index = 0
    while True:
        left, right = 2 * index + 1, 2 * index + 2
        if left >= heap_size:
            return

        worse_child = left
        if right < heap_size and is_worse(alphabetical_ranks, heap, right, left):
            worse_child = right
        if not is_worse(alphabetical_ranks, heap, worse_child, index):
            return

        swap(heap, index, worse_child)
        index = worse_child


def sift_up(alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, heap_size: int) -> None:
    """Restore the heap order after a record was added at the end.

    The new record is swapped with its parent until it is not worse than the parent.
    """
    index = heap_size - 1
    while index > 0:
        parent = (index - 1) // 2
        if not is_worse(alphabetical_ranks, heap, index, parent):
            return

        swap(heap, index, parent)
        index = parent
