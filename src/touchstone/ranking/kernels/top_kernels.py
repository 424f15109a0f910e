"""The best records of a ranking: leaves are visited best bound first, and a heap holds the best records so far.

The bound of a leaf is a score that none of its records exceeds, so a leaf can be skipped once the heap holds enough
records that are better. A leaf consists of *blocks* of 64 records, which have bounds of their own, so most of a leaf
that is visited is skipped, too. The caller allocates all arrays that are written, because compiled kernels cannot.
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

_FEW_MATCHES: Final = 6  # of the 64 records of a block
BUCKETS: Final = 1024  # bounds are sorted to within one of so many equal intervals


class TopSearch(NamedTuple):
    """A search for the best records that match a query."""

    columns: KernelColumns
    query: KernelQuery
    weights: KernelWeights


class GradedCriteria(NamedTuple):
    """The criteria of records, or of blocks of 64 records, rounded up to one byte each.

    Attributes:
        grades: One row of bytes for each of GRADED_CRITERIA; for a block its highest grades.
        flag_bytes: One bit for each of FLAG_STATES; for a block those that any of its records has.
    """

    grades: NDArray[np.uint8]
    flag_bytes: NDArray[np.uint8]


class LeafQueue(NamedTuple):
    """The order in which a search visits the leaves, and what it finds out about the leaf that it visits.

    The arrays from `leaf_mask` on describe one leaf, and are overwritten with the next one.

    Attributes:
        leaves: The numbers of all leaves, those with the highest bounds first.
        leaf_bounds: The bound of each leaf, by its number.
        leaf_mask: A bitmap of the leaf's records that match; each word of it stands for a block.
        block_bounds: For each block of the leaf a score that none of its records exceeds.
        score_estimates: For each record of one block an estimate of its score, never too low.
        candidates: The positions of the leaf's records that may be among the best, with room for one more record.
        candidate_scores: The scores of these records.
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

    As a heap, with the worst record at index 0, it holds the best records found so far; its length is their largest
    number.
    """

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


def fill_leaf_bounds(columns: KernelColumns, weights: KernelWeights, leaf_bounds: NDArray[np.float64]) -> None:
    """Compute for each leaf, a block of similar records, a score that none of its records exceeds.

    Such a bound, which is written into `leaf_bounds`, is the score of an imaginary record that has the leaf's highest
    value of every criterion. Its terms are added in the same order as those of real scores, so rounding cannot make it
    too low.
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
    """Return which of BUCKETS equal intervals a score or bound in 0-1 is in; bucket 0 holds the highest scores."""
    return BUCKETS - 1 - int(score * (BUCKETS - 1))


def queue_leaves(leaf_bounds: NDArray[np.float64], next_indices: NDArray[np.int64], leaves: NDArray[np.int64]) -> None:
    """List the numbers of all leaves in `leaves`, those with the highest bounds first.

    A leaf is a block of records, and its bound a score that none of them exceeds. The leaves are sorted into buckets of
    similar bounds by a counting sort; within a bucket they keep their order. `next_indices` must hold `BUCKETS + 1`
    zeros, which are overwritten.
    """
    # Count the leaves of each bucket one element further on. The running total is then where each bucket begins.
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
    """Write an estimate of the score of each record, or of each block, from index `start` on into `score_estimates`.

    Instead of a criterion, an estimate uses its grade: the criterion rounded up to one byte. The estimate of a record
    is therefore never below its exact score, apart from a rounding error of less than FLOAT32_TOLERANCE. That of a
    block is never below the estimate of any of its records, because it uses their highest grades.
    """
    score_estimates[:] = np.float32(0.0)

    for term in range(len(weights.criteria)):
        criterion = weights.criteria[term]
        share = weights.float32_shares[term]

        if BINARY_MASKS[criterion]:
            # The criterion is 1 for a record that has one of these flags, and 0 for all others.
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
    """Find the best records that match a query, put them into `heap`, and return how many there are.

    The records are stored in leaves, blocks of similar records. Each leaf has a bound: a score that none of its records
    exceeds. The leaves with the highest bounds are searched first. Once the heap is full, leaves whose bound is below
    the worst score in the heap are skipped, and the search ends when this is true of all that remain.
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
            if bucket_of(bound) > bucket_of(heap.scores[0]):  # and so are the bounds of all following leaves
                break

            first_rank = columns.first_alphabetical_ranks[leaf]
            if not is_better_than_worst(bound, first_rank, columns.alphabetical_ranks, heap):
                continue

        heap_size = search_leaf(search, queue, heap, leaf, heap_size)

    return heap_size


def search_leaf(search: TopSearch, queue: LeafQueue, heap: ScoredRecords, leaf: int, heap_size: int) -> int:
    """Put the best matches of one leaf into a heap of `heap_size` records, and return its new size.

    The arrays of `queue` that describe one leaf are overwritten.
    """
    # Every match is a candidate until the heap is full.
    heap_is_full = heap_size == len(heap.positions)
    minimum = np.float32(heap.scores[0] - FLOAT32_TOLERANCE) if heap_is_full else np.float32(0.0)

    candidate_count = score_candidates(search, queue, leaf, minimum)
    candidates = ScoredRecords(queue.candidates[:candidate_count], queue.candidate_scores[:candidate_count])
    return add_to_heap(search.columns.alphabetical_ranks, candidates, heap, heap_size)


def score_candidates(search: TopSearch, queue: LeafQueue, leaf: int, minimum: np.float32) -> int:
    """Find the matches of a leaf whose score may be at least `minimum`, and return how many there are.

    Their positions and exact scores are written into the candidates of `queue`.
    """
    candidate_count = find_candidates(search, queue, leaf, minimum)
    positions = queue.candidates[:candidate_count]
    fill_scores(search.columns, search.weights, positions, queue.candidate_scores[:candidate_count])
    return candidate_count


def find_candidates(search: TopSearch, queue: LeafQueue, leaf: int, minimum: np.float32) -> int:
    """Find the matches of a leaf whose score may be at least `minimum`, and return how many there are.

    Their positions are written into the candidates of `queue`.
    """
    columns = search.columns

    # Most leaves are ruled out by the bounds of their blocks, before the conditions of the query are looked at.
    first_block = leaf * columns.words_per_leaf
    blocks = GradedCriteria(columns.block_grades, columns.block_flag_bytes)
    fill_score_estimates(blocks, search.weights, first_block, queue.block_bounds)
    if not any_reaches(queue.block_bounds, minimum):
        return 0
    if select_in_leaf(columns, search.query, leaf, queue.leaf_mask) == 0:
        return 0
    return list_candidates(search, queue, first_block, minimum)


def any_reaches(score_estimates: NDArray[np.float32], minimum: np.float32) -> bool:
    """Return whether any of some estimates is at least `minimum`."""
    # A loop that always runs to its end is compiled to instructions that compare several estimates at once.
    count = 0
    for i in range(len(score_estimates)):
        count += int(score_estimates[i] >= minimum)
    return count > 0


def list_candidates(search: TopSearch, queue: LeafQueue, first_block: int, minimum: np.float32) -> int:
    """List the matches of a leaf whose score may be at least `minimum`, and return how many there are.

    `queue` holds the bitmap of the matches and the bounds of the blocks, and the positions of the listed matches are
    written into its candidates. Where a block has few matches, they are all listed, because computing their exact
    scores is cheaper than estimating all 64 records of the block. `first_block` is the first block of the leaf.
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
            if not any_reaches(queue.score_estimates, minimum):
                continue

        while matches != ZERO:
            index_in_block = lowest_bit(matches)
            matches = without_lowest_bit(matches)

            # Writing first and counting only candidates is faster than a branch: the next record overwrites all others.
            queue.candidates[candidate_count] = first_position + index_in_block
            candidate_count += int(has_few_matches or queue.score_estimates[index_in_block] >= minimum)
    return candidate_count


def add_to_heap(
    alphabetical_ranks: NDArray[np.uint32], candidates: ScoredRecords, heap: ScoredRecords, heap_size: int
) -> int:
    """Put the best of some candidates into a heap of `heap_size` records, and return its new size.

    While the heap has room, every candidate is added. Once it is full, a candidate replaces the worst record, which is
    at index 0, if it is better: by score, then by name.
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
    """Replace the worst record of a full heap, which is at index 0, by a better one."""
    heap.positions[0] = position
    heap.scores[0] = score
    sift_down(alphabetical_ranks, heap, len(heap.positions))


def is_better_than_worst(
    score: float, alphabetical_rank: int, alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords
) -> bool:
    """Return whether a score, or with the same score a name, comes before that of the worst record in a heap.

    The worst record is at index 0. Names are compared by their ranks in the alphabet.
    """
    worst_score = heap.scores[0]
    if score != worst_score:
        return bool(score > worst_score)
    return bool(alphabetical_rank < alphabetical_ranks[heap.positions[0]])


def is_worse(alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, index: int, other: int) -> bool:
    """Return whether the record at `index` of a heap ranks after the one at `other`: by score, then by name."""
    if heap.scores[index] != heap.scores[other]:
        return bool(heap.scores[index] < heap.scores[other])
    return bool(alphabetical_ranks[heap.positions[index]] > alphabetical_ranks[heap.positions[other]])


def swap(heap: ScoredRecords, index: int, other: int) -> None:
    """Exchange two records of a heap."""
    heap.positions[index], heap.positions[other] = heap.positions[other], heap.positions[index]
    heap.scores[index], heap.scores[other] = heap.scores[other], heap.scores[index]


def sift_down(alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, heap_size: int) -> None:
    """Restore the order of a heap after the worst record, at index 0, was replaced by a better one.

    The new record moves down: it changes places with the worse of its two children until neither is worse than itself.
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
    """Restore the order of a heap, after one was added at its end.

    The new record moves up: it changes places with its parent until the parent is not better than itself.
    """
    index = heap_size - 1
    while index > 0:
        parent = (index - 1) // 2
        if not is_worse(alphabetical_ranks, heap, index, parent):
            return

        swap(heap, index, parent)
        index = parent
