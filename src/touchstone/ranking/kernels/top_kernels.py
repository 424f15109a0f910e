"""The best records of a ranking: leaves are visited best bound first, and a heap holds the best records so far."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import ONE, ZERO, Words, lowest_bit
from touchstone.ranking.kernels.constants import BINARY_MASKS, FLOAT32_TOLERANCE, GRADE_ROWS, GRADE_SCALE
from touchstone.ranking.kernels.filter_kernels import leaf_size, select_in_leaf
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery, KernelWeights
from touchstone.ranking.kernels.score_kernels import fill_scores

BUCKETS: Final = 1024  # bounds are sorted to within one of so many equal intervals
_FEW_MATCHES: Final = 96  # with fewer matches in a leaf, scoring them all is cheaper than estimating the whole leaf
_NO_FLOOR: Final = np.float32(-np.inf)


class TopSearch(NamedTuple):
    """A search for the best records that match a query."""

    columns: KernelColumns
    query: KernelQuery
    weights: KernelWeights


class LeafQueue(NamedTuple):
    """The leaves in the order of a search, the bound of each leaf by its number, and scratch space for one leaf."""

    leaves: NDArray[np.int64]
    bounds: NDArray[np.float64]
    mask: Words
    estimates: NDArray[np.float32]
    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


class TopHeap(NamedTuple):
    """The best records so far, as a heap with the worst of them at its root."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


def fill_bounds(columns: KernelColumns, weights: KernelWeights, out: NDArray[np.float64]) -> None:
    """Write the bound of every leaf: the score of a record that has the leaf's best value of every criterion.

    The terms are added in the order of the scores, and rounding is monotonic, so no record of the leaf exceeds its
    bound by even one bit.
    """
    out[:] = 0.0
    for term in range(len(weights.criteria)):
        upper, weight = columns.upper[weights.criteria[term]], weights.weights[term]
        for leaf in range(len(out)):
            out[leaf] += weight * upper[leaf]

    for leaf in range(len(out)):
        out[leaf] /= weights.total


def bound_bucket(bound: float) -> int:
    """Return the bucket of a bound or score in 0-1, the best bucket being 0."""
    return BUCKETS - 1 - int(bound * (BUCKETS - 1))


def queue_leaves(bounds: NDArray[np.float64], ends: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Write the leaves by bound decreasing, to within a bucket, with a counting sort.

    `ends` must hold `BUCKETS + 1` zeros.
    """
    for leaf in range(len(bounds)):
        ends[bound_bucket(bounds[leaf]) + 1] += 1
    for bucket in range(BUCKETS):
        ends[bucket + 1] += ends[bucket]

    for leaf in range(len(bounds)):
        bucket = bound_bucket(bounds[leaf])
        out[ends[bucket]] = leaf
        ends[bucket] += 1


def fill_estimates(columns: KernelColumns, weights: KernelWeights, leaf: int, out: NDArray[np.float32]) -> None:
    """Write for each record of a leaf a number that its score exceeds by no more than FLOAT32_TOLERANCE."""
    size = leaf_size(columns, leaf)
    first = leaf * columns.leaf_words * 64
    out[:] = np.float32(0.0)

    for term in range(len(weights.criteria)):
        criterion, share = weights.criteria[term], weights.shares[term]
        if BINARY_MASKS[criterion]:
            mask = np.uint8(BINARY_MASKS[criterion])
            flags = columns.flag_bytes[first : first + size]
            for j in range(size):
                out[j] += share if flags[j] & mask else np.float32(0.0)
        else:
            grades = columns.grades[GRADE_ROWS[criterion], first : first + size]
            share_per_grade = share / np.float32(GRADE_SCALE)
            for j in range(size):
                out[j] += share_per_grade * np.float32(grades[j])


def find_top(search: TopSearch, queue: LeafQueue, heap: TopHeap) -> int:
    """Fill a heap with the best records that match; return how many it holds.

    A leaf is skipped if its bound is below the worst score in a full heap, or equal to it while all of the leaf's
    names come later. The search ends at the first bucket of bounds that cannot reach this score.
    """
    columns, size = search.columns, 0
    for k in range(len(queue.leaves)):
        leaf = queue.leaves[k]
        bound = queue.bounds[leaf]
        if search.query.alive_counts[leaf] == 0 or not search.query.possible_leaves[leaf]:
            continue

        if size == len(heap.positions):
            worst = heap.scores[0]
            if bound_bucket(bound) > bound_bucket(worst):
                break
            names_come_later = columns.first_places[leaf] > columns.name_places[heap.positions[0]]
            if bound < worst or (bound == worst and names_come_later):
                continue

        size = visit_leaf(search, queue, heap, leaf, size)
    return size


def visit_leaf(search: TopSearch, queue: LeafQueue, heap: TopHeap, leaf: int, size: int) -> int:
    """Offer the matches of one leaf that may be among the best to a heap of `size` records; return its new size."""
    columns = search.columns
    matches = select_in_leaf(columns, search.query, leaf, queue.mask)
    if matches == 0:
        return size

    queue.estimates[:] = np.float32(np.inf)
    floor = _NO_FLOOR
    if size == len(heap.positions):
        floor = np.float32(heap.scores[0] - FLOAT32_TOLERANCE)
        if matches > _FEW_MATCHES:
            fill_estimates(columns, search.weights, leaf, queue.estimates)

    count = list_candidates(queue.mask, queue.estimates, floor, queue.rows)
    rows, scores = queue.rows[:count], queue.scores[:count]
    for k in range(count):
        rows[k] += leaf * columns.leaf_words * 64
    fill_scores(columns, search.weights, rows, scores)

    return offer_rows(columns.name_places, TopHeap(rows, scores), heap, size)


def list_candidates(mask: Words, estimates: NDArray[np.float32], floor: np.float32, out: NDArray[np.int64]) -> int:
    """Write which records of a mask have an estimate that reaches a floor; return how many there are.

    Every record is written and then kept or overwritten, which is faster than a branch that nobody can predict; `out`
    therefore needs room for one more.
    """
    count = 0
    for w in range(len(mask)):
        rest = mask[w]
        while rest != ZERO:
            j = 64 * w + lowest_bit(rest)
            rest &= rest - ONE
            out[count] = j
            count += int(estimates[j] >= floor)
    return count


def offer_rows(name_places: NDArray[np.uint32], candidates: TopHeap, heap: TopHeap, size: int) -> int:
    """Put those candidates that are among the best into a heap of `size` records; return its new size."""
    rows, scores = candidates.positions, candidates.scores
    for k in range(len(rows)):
        if size < len(heap.positions):
            heap.positions[size], heap.scores[size] = rows[k], scores[k]
            size += 1
            sift_up(name_places, heap, size)
            continue

        worst = heap.scores[0]
        name_comes_first = name_places[rows[k]] < name_places[heap.positions[0]]
        if scores[k] > worst or (scores[k] == worst and name_comes_first):
            heap.positions[0], heap.scores[0] = rows[k], scores[k]
            sift_down(name_places, heap, size)
    return size


def is_worse(name_places: NDArray[np.uint32], heap: TopHeap, a: int, b: int) -> bool:
    """Return whether the record at index `a` of a heap ranks after the one at index `b`."""
    if heap.scores[a] != heap.scores[b]:
        return bool(heap.scores[a] < heap.scores[b])
    return bool(name_places[heap.positions[a]] > name_places[heap.positions[b]])


def swap(heap: TopHeap, a: int, b: int) -> None:
    """Exchange two records of a heap."""
    heap.positions[a], heap.positions[b] = heap.positions[b], heap.positions[a]
    heap.scores[a], heap.scores[b] = heap.scores[b], heap.scores[a]


def sift_down(name_places: NDArray[np.uint32], heap: TopHeap, size: int) -> None:
    """Restore the heap after its root was replaced."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and is_worse(name_places, heap, child + 1, child):
            child += 1
        if not is_worse(name_places, heap, child, at):
            return
        swap(heap, at, child)
        at = child


def sift_up(name_places: NDArray[np.uint32], heap: TopHeap, size: int) -> None:
    """Restore the heap after a record was put at its end."""
    at = size - 1
    while at > 0:
        parent = (at - 1) >> 1
        if not is_worse(name_places, heap, at, parent):
            return
        swap(heap, at, parent)
        at = parent
