"""The best records of a ranking: leaves are visited best bound first, and a heap holds the best records so far.

The bound of a leaf is a score that none of its records exceeds, so a leaf can be skipped once the heap holds enough
records that are better. The caller allocates all arrays that are written, because compiled kernels cannot.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import BITS_PER_WORD, ONE, ZERO, Words, lowest_bit
from touchstone.ranking.kernels.constants import BINARY_MASKS, FLOAT32_TOLERANCE, GRADE_ROWS, GRADE_SCALE
from touchstone.ranking.kernels.filter_kernels import leaf_size, select_in_leaf
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery, KernelWeights
from touchstone.ranking.kernels.score_kernels import fill_scores

BUCKETS: Final = 1024  # bounds are sorted to within one of so many equal intervals
_FEW_MATCHES: Final = 96  # with fewer matches in a leaf, scoring them all is cheaper than estimating the whole leaf
_NO_MINIMUM: Final = np.float32(-np.inf)


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
    """Write into `leaf_bounds` for each leaf, a block of similar records, a score that none of its records exceeds.

    This bound is the score of an imaginary record that has the leaf's highest value of every criterion. Its terms are
    added in the same order as those of real scores, and rounding is monotonic, so no record of the leaf exceeds the
    bound by even one bit.
    """
    leaf_bounds[:] = 0.0
    for term in range(len(weights.criteria)):
        maxima, weight = columns.leaf_maxima[weights.criteria[term]], weights.weights[term]
        for leaf in range(len(leaf_bounds)):
            leaf_bounds[leaf] += weight * maxima[leaf]

    for leaf in range(len(leaf_bounds)):
        leaf_bounds[leaf] /= weights.total


def bucket_of(score: float) -> int:
    """Return which of BUCKETS equal intervals a score or bound in 0-1 is in; bucket 0 holds the highest scores."""
    return BUCKETS - 1 - int(score * (BUCKETS - 1))


def queue_leaves(leaf_bounds: NDArray[np.float64], bucket_ends: NDArray[np.int64], leaves: NDArray[np.int64]) -> None:
    """Write the numbers of all leaves into `leaves`, those with the highest bounds first.

    A leaf is a block of records, and its bound a score that none of them exceeds. This is a counting sort: bounds are
    sorted into buckets only, and leaves in the same bucket keep the order of their numbers. `bucket_ends` is scratch
    space of `BUCKETS + 1` zeros.
    """
    for leaf in range(len(leaf_bounds)):
        bucket_ends[bucket_of(leaf_bounds[leaf]) + 1] += 1
    for bucket in range(BUCKETS):
        bucket_ends[bucket + 1] += bucket_ends[bucket]

    # Element `bucket` now tells where the bucket begins. It advances with every leaf that is placed.
    for leaf in range(len(leaf_bounds)):
        bucket = bucket_of(leaf_bounds[leaf])
        leaves[bucket_ends[bucket]] = leaf
        bucket_ends[bucket] += 1


def fill_score_estimates(
    columns: KernelColumns, weights: KernelWeights, leaf: int, score_estimates: NDArray[np.float32]
) -> None:
    """Write into `score_estimates` a quick estimate of the score of each record of a leaf, a block of records.

    Estimates are too high rather than too low: grades of one byte, which are rounded up, stand in for the criteria, and
    no score exceeds its estimate by more than FLOAT32_TOLERANCE.
    """
    record_count = leaf_size(columns, leaf)
    first_position = leaf * columns.words_per_leaf * BITS_PER_WORD
    score_estimates[:] = np.float32(0.0)

    for term in range(len(weights.criteria)):
        criterion, share = weights.criteria[term], weights.float32_shares[term]
        if BINARY_MASKS[criterion]:
            flag_mask = np.uint8(BINARY_MASKS[criterion])
            flags = columns.flag_bytes[first_position : first_position + record_count]
            for i in range(record_count):
                score_estimates[i] += share if flags[i] & flag_mask else np.float32(0.0)
        else:
            grades = columns.grades[GRADE_ROWS[criterion], first_position : first_position + record_count]
            share_per_grade = share / np.float32(GRADE_SCALE)
            for i in range(record_count):
                score_estimates[i] += share_per_grade * np.float32(grades[i])


def find_top(search: TopSearch, queue: LeafQueue, heap: ScoredRecords) -> int:
    """Fill a heap with the best records that match a query, and return how many it holds.

    The index consists of leaves, blocks of similar records, each with a bound: a score that none of its records
    exceeds. The leaves with the highest bounds are visited first. Once the heap is full, a leaf is skipped if its bound
    is below the worst score in the heap, or equal to it while all names in the leaf come later in the alphabet. The
    search ends when the bounds of all other leaves are too low.
    """
    columns = search.columns
    heap_size = 0

    for i in range(len(queue.leaves)):
        leaf = queue.leaves[i]
        if search.query.alive_counts[leaf] == 0 or not search.query.leaf_may_contain_substring[leaf]:
            continue

        if heap_size == len(heap.positions):
            bound = queue.leaf_bounds[leaf]
            worst_score = heap.scores[0]
            if bucket_of(bound) > bucket_of(worst_score):  # as for all following leaves
                break

            worst_rank = columns.alphabetical_ranks[heap.positions[0]]
            names_come_later = columns.first_alphabetical_ranks[leaf] > worst_rank
            if bound < worst_score or (bound == worst_score and names_come_later):
                continue

        heap_size = visit_leaf(search, queue, heap, leaf, heap_size)

    return heap_size


def visit_leaf(search: TopSearch, queue: LeafQueue, heap: ScoredRecords, leaf: int, heap_size: int) -> int:
    """Put the best matches of one leaf, a block of records, into a heap that holds `heap_size` records.

    Once the heap is full, records whose estimated score is too low are left out before any exact score is computed. The
    scratch arrays of `queue` are overwritten. Returns the new size of the heap.
    """
    columns = search.columns
    match_count = select_in_leaf(columns, search.query, leaf, queue.leaf_mask)
    if match_count == 0:
        return heap_size

    # While the heap has room, every match is a candidate. Infinite estimates let all of them pass.
    queue.score_estimates[:] = np.float32(np.inf)
    minimum = _NO_MINIMUM
    if heap_size == len(heap.positions):
        minimum = np.float32(heap.scores[0] - FLOAT32_TOLERANCE)
        if match_count > _FEW_MATCHES:
            fill_score_estimates(columns, search.weights, leaf, queue.score_estimates)

    candidate_count = list_candidates(queue.leaf_mask, queue.score_estimates, minimum, queue.candidates)
    positions, scores = queue.candidates[:candidate_count], queue.candidate_scores[:candidate_count]

    # Indices within the leaf become positions in the index.
    for i in range(candidate_count):
        positions[i] += leaf * columns.words_per_leaf * BITS_PER_WORD
    fill_scores(columns, search.weights, positions, scores)

    return add_to_heap(columns.alphabetical_ranks, ScoredRecords(positions, scores), heap, heap_size)


def list_candidates(
    leaf_mask: Words, score_estimates: NDArray[np.float32], minimum: np.float32, candidates: NDArray[np.int64]
) -> int:
    """List the records of a leaf whose bit is set and whose estimated score is at least `minimum`; return their number.

    A leaf is a block of records, and `candidates` receives their indices within it. Every record is written there, and
    then either kept or overwritten by the next one: this is faster than a branch that no processor can predict, but
    needs room for one more record.
    """
    candidate_count = 0
    for word_index in range(len(leaf_mask)):
        remaining_bits = leaf_mask[word_index]
        while remaining_bits != ZERO:
            index_in_leaf = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            remaining_bits &= remaining_bits - ONE  # clears this bit

            candidates[candidate_count] = index_in_leaf
            candidate_count += int(score_estimates[index_in_leaf] >= minimum)
    return candidate_count


def add_to_heap(
    alphabetical_ranks: NDArray[np.uint32], candidates: ScoredRecords, heap: ScoredRecords, heap_size: int
) -> int:
    """Put those candidates that are among the best into a heap that holds `heap_size` records; return its new size.

    While there is room, every candidate is added; after that it must replace the worst record. Equal scores are ranked
    by name.
    """
    positions, scores = candidates.positions, candidates.scores
    for i in range(len(positions)):
        if heap_size < len(heap.positions):
            heap.positions[heap_size], heap.scores[heap_size] = positions[i], scores[i]
            heap_size += 1
            sift_up(alphabetical_ranks, heap, heap_size)
            continue

        worst_score = heap.scores[0]
        name_comes_first = alphabetical_ranks[positions[i]] < alphabetical_ranks[heap.positions[0]]
        if scores[i] > worst_score or (scores[i] == worst_score and name_comes_first):
            heap.positions[0], heap.scores[0] = positions[i], scores[i]
            sift_down(alphabetical_ranks, heap, heap_size)
    return heap_size


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
    """Restore the order of a heap after its root, the worst record, was replaced by a better one.

    The new record changes places with the worse of its two children until neither child is worse than the record.
    """
    index = 0
    while True:
        worse_child = 2 * index + 1
        if worse_child >= heap_size:
            return

        if worse_child + 1 < heap_size and is_worse(alphabetical_ranks, heap, worse_child + 1, worse_child):
            worse_child += 1
        if not is_worse(alphabetical_ranks, heap, worse_child, index):
            return

        swap(heap, index, worse_child)
        index = worse_child


def sift_up(alphabetical_ranks: NDArray[np.uint32], heap: ScoredRecords, heap_size: int) -> None:
    """Restore the order of a heap after a record was added at its end.

    The new record changes places with its parent until the parent is at least as bad as the record.
    """
    index = heap_size - 1
    while index > 0:
        parent = (index - 1) >> 1
        if not is_worse(alphabetical_ranks, heap, index, parent):
            return

        swap(heap, index, parent)
        index = parent
