"""The best records of a ranking: leaves are visited best bound first, and a heap holds the best records so far.

The bound of a leaf is a score that none of its records exceeds, so a leaf can be skipped once the heap holds enough
records that are better. The caller allocates all arrays that are written, because compiled kernels cannot.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import (
    BITS_PER_WORD,
    ZERO,
    Words,
    list_set_bits,
    lowest_bit,
    without_lowest_bit,
)
from touchstone.ranking.kernels.constants import BINARY_MASKS, FLOAT32_TOLERANCE, GRADE_ROWS, GRADE_SCALE
from touchstone.ranking.kernels.filter_kernels import leaf_size, select_in_leaf
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery, KernelWeights
from touchstone.ranking.kernels.score_kernels import fill_scores

BUCKETS: Final = 1024  # bounds are sorted to within one of so many equal intervals
_FEW_MATCHES: Final = 96  # with fewer matches in a leaf, scoring them all is cheaper than estimating the whole leaf


class TopSearch(NamedTuple):
    """A search for the best records that match a query."""

    columns: KernelColumns
    query: KernelQuery
    weights: KernelWeights


class LeafQueue(NamedTuple):
    """The order in which a search visits the leaves, and scratch space for the leaf that it visits.

    Attributes:
        leaves: The numbers of all leaves, those with the highest bounds first.
        leaf_bounds: The bound of each leaf, by its number.
        leaf_mask: A bitmap of the leaf's records that match.
        score_estimates: An estimate of the score of each record of the leaf.
        candidates: The leaf's records that may be among the best, with room for one more than the leaf holds.
        candidate_scores: The scores of these records.
    """

    leaves: NDArray[np.int64]
    leaf_bounds: NDArray[np.float64]
    leaf_mask: Words
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
    similar bounds by a counting sort; within a bucket they keep their order. `next_indices` is scratch space and must
    hold `BUCKETS + 1` zeros.
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
    columns: KernelColumns, weights: KernelWeights, leaf: int, score_estimates: NDArray[np.float32]
) -> None:
    """Write a quick estimate of the score of each record of a leaf, a block of records, into `score_estimates`.

    Instead of a criterion, an estimate uses its grade: the criterion rounded up to one byte. An estimate is therefore
    never below the exact score, apart from a rounding error of less than FLOAT32_TOLERANCE.
    """
    record_count = leaf_size(columns, leaf)
    start = leaf * columns.words_per_leaf * BITS_PER_WORD
    end = start + record_count
    score_estimates[:] = np.float32(0.0)

    for term in range(len(weights.criteria)):
        criterion = weights.criteria[term]
        share = weights.float32_shares[term]

        if BINARY_MASKS[criterion]:
            # The criterion is 1 for a record that has one of these flags, and 0 for all others.
            flag_mask = np.uint8(BINARY_MASKS[criterion])
            flags = columns.flag_bytes[start:end]
            for i in range(record_count):
                score_estimates[i] += share if flags[i] & flag_mask else np.float32(0.0)
        else:
            share_per_grade = share / np.float32(GRADE_SCALE)
            grades = columns.grades[GRADE_ROWS[criterion], start:end]
            for i in range(record_count):
                score_estimates[i] += share_per_grade * np.float32(grades[i])


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
    """Put the best matches of one leaf, a block of records, into a heap of `heap_size` records; return its new size.

    `queue` provides scratch space, which is overwritten.
    """
    columns = search.columns
    match_count = select_in_leaf(columns, search.query, leaf, queue.leaf_mask)
    if match_count == 0:
        return heap_size

    # Estimates rule out most records once the heap is full. Before that, every match is a candidate.
    heap_is_full = heap_size == len(heap.positions)
    if heap_is_full and match_count > _FEW_MATCHES:
        fill_score_estimates(columns, search.weights, leaf, queue.score_estimates)
        minimum = np.float32(heap.scores[0] - FLOAT32_TOLERANCE)
        candidate_count = list_candidates(queue.leaf_mask, queue.score_estimates, minimum, queue.candidates)
    else:
        list_set_bits(queue.leaf_mask, queue.candidates)
        candidate_count = match_count

    # Positions within the leaf become positions in the index, and all candidates get their exact scores.
    positions = queue.candidates[:candidate_count]
    scores = queue.candidate_scores[:candidate_count]
    first_position = leaf * columns.words_per_leaf * BITS_PER_WORD
    for i in range(candidate_count):
        positions[i] += first_position
    fill_scores(columns, search.weights, positions, scores)

    return add_to_heap(columns.alphabetical_ranks, ScoredRecords(positions, scores), heap, heap_size)


def list_candidates(
    leaf_mask: Words, score_estimates: NDArray[np.float32], minimum: np.float32, candidates: NDArray[np.int64]
) -> int:
    """List the records of a leaf that match and whose estimated score is at least `minimum`; return their number.

    A leaf is a block of records, and `leaf_mask` has a bit for each that is set if the record matches. The positions of
    the listed records within the leaf are written into `candidates`, which needs room for one more than there are.
    """
    candidate_count = 0
    for word_index in range(len(leaf_mask)):
        remaining_bits = leaf_mask[word_index]
        while remaining_bits != ZERO:
            index_in_leaf = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            remaining_bits = without_lowest_bit(remaining_bits)

            # Writing first and counting only candidates is faster than a branch: the next record overwrites all others.
            candidates[candidate_count] = index_in_leaf
            candidate_count += int(score_estimates[index_in_leaf] >= minimum)
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
            heap.positions[0] = position
            heap.scores[0] = score
            sift_down(alphabetical_ranks, heap, heap_size)
    return heap_size


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
