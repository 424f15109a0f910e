"""Whole orders: walks along a permutation, and the steps of a radix sort by score with exact ties."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import ONE, ZERO, Words, lowest_bit
from touchstone.ranking.kernels.inputs import KernelColumns, KernelWeights
from touchstone.ranking.kernels.score_kernels import score

DIGIT_BITS: Final = 11
RADIX: Final = 1 << DIGIT_BITS
_LARGEST_KEY: Final = 4294967295.0
_SHORT_RUN: Final = 48  # runs up to this length are sorted by insertion
_DISTINCT_SCORES: Final = 12  # longer runs with no more different scores than this are sorted score by score


class ScoreKeys(NamedTuple):
    """A score and a sort key for every record, filled for those that match."""

    scores: NDArray[np.float64]
    keys: NDArray[np.uint32]


class KeyedPositions(NamedTuple):
    """Sort keys, and the position that each belongs to."""

    keys: NDArray[np.uint32]
    positions: NDArray[np.uint32]


class RunSpace(NamedTuple):
    """Scratch space for sorting runs: the bounds of unsorted runs, and the positions and scores of one run."""

    unsorted: NDArray[np.int64]
    positions: NDArray[np.uint32]
    scores: NDArray[np.float64]


def list_positions(words: Words, out: NDArray[np.int64]) -> None:
    """Write the positions of the bits that are set, in ascending order."""
    k = 0
    for w in range(len(words)):
        rest = words[w]
        while rest != ZERO:
            out[k] = 64 * w + lowest_bit(rest)
            k += 1
            rest &= rest - ONE


def filter_permutation(words: Words, permutation: NDArray[np.uint32], out: NDArray[np.uint32]) -> int:
    """Write all positions whose bit is set in the order of a permutation; return how many there are.

    Every position is written and then kept or overwritten, so `out` needs room for one more.
    """
    k = 0
    for at in range(len(permutation)):
        i = permutation[at]
        out[k] = i
        k += int((words[i >> 6] >> np.uint64(i & 63)) & ONE)
    return k


def walk_permutation(words: Words, permutation: NDArray[np.uint32], skip: int, out: NDArray[np.int64]) -> int:
    """Write the positions whose bit is set in the order of a permutation, from the `skip`-th until `out` is full."""
    seen = k = 0
    for at in range(len(permutation)):
        if k == len(out):
            break
        i = permutation[at]
        if (words[i >> 6] >> np.uint64(i & 63)) & ONE:
            if seen >= skip:
                out[k] = i
                k += 1
            seen += 1
    return k


def fill_score_keys(
    columns: KernelColumns, weights: KernelWeights, words: Words, first_word: int, out: ScoreKeys
) -> None:
    """Write the scores of the records whose bit is set, and keys that grow as the scores fall.

    `words` is the part of a bitmap that begins at `first_word`.
    """
    for w in range(len(words)):
        rest = words[w]
        while rest != ZERO:
            i = 64 * (first_word + w) + lowest_bit(rest)
            exact = score(columns, weights, i)
            out.scores[i] = exact
            out.keys[i] = np.uint32((1.0 - exact) * _LARGEST_KEY)
            rest &= rest - ONE


def count_digits(shift: int, keys: NDArray[np.uint32], counts: NDArray[np.int64]) -> None:
    """Add to `counts` how often each digit occurs in some keys."""
    digit_mask, shift_bits = np.uint32(RADIX - 1), np.uint32(shift)
    for k in range(len(keys)):
        counts[int((keys[k] >> shift_bits) & digit_mask)] += 1


def scatter_by_digit(shift: int, source: KeyedPositions, target: KeyedPositions, starts: NDArray[np.int64]) -> None:
    """Copy keys and positions to where their digit begins in the target, in the order that they have.

    `starts` gives the next free index of each digit and is moved on.
    """
    digit_mask, shift_bits, keys = np.uint32(RADIX - 1), np.uint32(shift), source.keys
    for k in range(len(keys)):
        digit = int((keys[k] >> shift_bits) & digit_mask)
        to = starts[digit]
        target.keys[to], target.positions[to] = keys[k], source.positions[k]
        starts[digit] = to + 1


def sort_runs(
    keys: NDArray[np.uint32], positions: NDArray[np.uint32], scores: NDArray[np.float64], space: RunSpace
) -> int:
    """Sort each run of equal keys by exact score, highest first and stable; return how many runs are left unsorted.

    Their starts and ends are written to `space.unsorted`.
    """
    start = unsorted = 0
    for k in range(1, len(keys) + 1):
        if k < len(keys) and keys[k] == keys[start]:
            continue
        if k - start > 1 and not is_sorted_run(positions, scores, start, k):
            if k - start <= _SHORT_RUN:
                insertion_sort_run(positions, scores, start, k)
            elif not sort_run_by_distinct_scores(positions[start:k], scores, space):
                space.unsorted[2 * unsorted], space.unsorted[2 * unsorted + 1] = start, k
                unsorted += 1
        start = k
    return unsorted


def is_sorted_run(positions: NDArray[np.uint32], scores: NDArray[np.float64], start: int, end: int) -> bool:
    """Return whether the scores of a run never rise."""
    k = start + 1
    while k < end and scores[positions[k]] <= scores[positions[k - 1]]:
        k += 1
    return k == end


def insertion_sort_run(positions: NDArray[np.uint32], scores: NDArray[np.float64], start: int, end: int) -> None:
    """Sort a short run by score decreasing; equal scores keep their order."""
    for k in range(start + 1, end):
        position = positions[k]
        at = k
        while at > start and scores[positions[at - 1]] < scores[position]:
            positions[at] = positions[at - 1]
            at -= 1
        positions[at] = position


def sort_run_by_distinct_scores(run: NDArray[np.uint32], scores: NDArray[np.float64], space: RunSpace) -> bool:
    """Sort a long run by collecting the records of the highest score, then those of the next, and so on.

    Return False and leave `run` unchanged if it contains more than twelve distinct scores.
    """
    size = len(run)
    for k in range(size):
        space.positions[k] = run[k]
        space.scores[k] = scores[run[k]]

    previous, at = np.inf, 0
    for _ in range(_DISTINCT_SCORES):
        highest = -np.inf
        for k in range(size):
            if highest < space.scores[k] < previous:
                highest = space.scores[k]
        for k in range(size):
            if space.scores[k] == highest:
                run[at] = space.positions[k]
                at += 1
        if at == size:
            return True
        previous = highest

    for k in range(size):
        run[k] = space.positions[k]
    return False


def take(values: NDArray[Any], positions: NDArray[np.uint32], out: NDArray[Any]) -> None:
    """Write the values at some positions; NumPy would first convert the positions to a wider type."""
    for k in range(len(positions)):
        out[k] = values[positions[k]]
