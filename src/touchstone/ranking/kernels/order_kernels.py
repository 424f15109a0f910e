"""Kernels for sorted lists of all records: filtering of permutations, and sorting by exact score.

A permutation lists the positions of all records in some order. The caller allocates all arrays for results, because
compiled kernels cannot allocate memory.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import BITS_PER_WORD, ZERO, Words, is_bit_set, lowest_bit, without_lowest_bit
from touchstone.ranking.kernels.inputs import KernelColumns, KernelWeights
from touchstone.ranking.kernels.score_kernels import score

DIGIT_BITS: Final = 11
RADIX: Final = 1 << DIGIT_BITS
_LARGEST_KEY: Final = 4294967295.0
_SHORT_RUN: Final = 48  # maximum length of runs that are sorted by insertion
_MAX_DISTINCT_SCORES: Final = 12  # maximum number of distinct scores in longer runs that are sorted score by score


class ScoreKeys(NamedTuple):
    """The score and the sort key at each position, valid only for the matches."""

    scores: NDArray[np.float64]
    keys: NDArray[np.uint32]


class KeyedPositions(NamedTuple):
    """Sort keys and the position of each key's record."""

    keys: NDArray[np.uint32]
    positions: NDArray[np.uint32]


class RunScratch(NamedTuple):
    """Scratch space for sorting runs of equal keys.

    Attributes:
        unsorted_runs: the start and end of each run that is left unsorted, alternately.
        positions: a copy of the positions of the run that is being sorted.
        scores: the scores of these positions.
    """

    unsorted_runs: NDArray[np.int64]
    positions: NDArray[np.uint32]
    scores: NDArray[np.float64]


def filter_permutation(bitmap: Words, permutation: NDArray[np.uint32], matches: NDArray[np.uint32]) -> int:
    """Write the positions in a bitmap into `matches`, in the order of a permutation, and return their number.

    `matches` must have at least one more element than there are matches.
    """
    match_count = 0
    for i in range(len(permutation)):
        position = permutation[i]

        # Avoid a slow branch: write every position, and let the next one overwrite it unless it is a match.
        matches[match_count] = position
        match_count += int(is_bit_set(bitmap, position))
    return match_count


def fill_window(bitmap: Words, permutation: NDArray[np.uint32], skip: int, window: NDArray[np.int64]) -> int:
    """Write one page of the positions in a bitmap, in the order of a permutation, and return its length.

    The page begins after the first `skip` of these positions. It is written into `window`, which limits its length.
    """
    match_count = 0
    window_length = 0
    for i in range(len(permutation)):
        if window_length == len(window):
            break

        position = permutation[i]
        if not is_bit_set(bitmap, position):
            continue

        match_count += 1
        if match_count > skip:
            window[window_length] = position
            window_length += 1
    return window_length


def fill_score_keys(
    columns: KernelColumns, weights: KernelWeights, words: Words, first_word: int, score_keys: ScoreKeys
) -> None:
    """Compute the score and the sort key of each record in a part of a bitmap.

    A sort key is a 32-bit integer that falls with rising score. Scores that differ only in the last digits may share a
    key.

    Args:
        columns: the columns of the index.
        weights: the shares of the criteria in the score.
        words: a part of a bitmap of the records.
        first_word: the index of the first of these words in the bitmap.
        score_keys: the scores and keys by position, written by this function.
    """
    for i in range(len(words)):
        remaining_bits = words[i]
        while remaining_bits != ZERO:
            position = BITS_PER_WORD * (first_word + i) + lowest_bit(remaining_bits)
            remaining_bits = without_lowest_bit(remaining_bits)

            exact_score = score(columns, weights, position)
            score_keys.scores[position] = exact_score
            score_keys.keys[position] = np.uint32((1.0 - exact_score) * _LARGEST_KEY)


def count_digits(shift: int, keys: NDArray[np.uint32], digit_counts: NDArray[np.int64]) -> None:
    """Add the number of occurrences of each digit to `digit_counts`.

    The digit of a key consists of DIGIT_BITS bits, beginning at bit `shift`.
    """
    digit_mask, shift_bits = np.uint32(RADIX - 1), np.uint32(shift)
    for i in range(len(keys)):
        digit_counts[int((keys[i] >> shift_bits) & digit_mask)] += 1


def scatter_by_digit(
    shift: int, source: KeyedPositions, target: KeyedPositions, next_free_indices: NDArray[np.int64]
) -> None:
    """Copy keys and positions into the target, stably sorted by one digit of the keys.

    Args:
        shift: the first bit of the digit.
        source: the keys and positions to sort.
        target: the sorted keys and positions, written by this function.
        next_free_indices: the index in the target for the next key with each digit, modified in place.
    """
    digit_mask, shift_bits, keys = np.uint32(RADIX - 1), np.uint32(shift), source.keys
    for i in range(len(keys)):
        digit = int((keys[i] >> shift_bits) & digit_mask)
        target_index = next_free_indices[digit]
        target.keys[target_index] = keys[i]
        target.positions[target_index] = source.positions[i]
        next_free_indices[digit] = target_index + 1


def sort_runs(
    keys: NDArray[np.uint32], positions: NDArray[np.uint32], scores: NDArray[np.float64], scratch: RunScratch
) -> int:
    """Sort each run of equal keys by descending exact score, and return the number of unsorted runs.

    The sort is stable. Long runs with many distinct scores are left to the caller; their starts and ends are written
    into `scratch.unsorted_runs`.

    Args:
        keys: the sorted keys.
        positions: the positions of the keys' records, modified in place.
        scores: the scores by position.
        scratch: scratch space.
    """
    start = 0
    unsorted_count = 0
    for end in range(1, len(keys) + 1):
        run_continues = end < len(keys) and keys[end] == keys[start]
        if run_continues:
            continue

        run_length = end - start
        if run_length > 1 and not is_sorted_run(positions, scores, start, end):
            if run_length <= _SHORT_RUN:
                insertion_sort_run(positions, scores, start, end)
            elif not sort_run_by_distinct_scores(positions[start:end], scores, scratch):
                scratch.unsorted_runs[2 * unsorted_count] = start
                scratch.unsorted_runs[2 * unsorted_count + 1] = end
                unsorted_count += 1
        start = end

    return unsorted_count


def is_sorted_run(positions: NDArray[np.uint32], scores: NDArray[np.float64], start: int, end: int) -> bool:
    """Return whether the records `positions[start:end]` are in descending order of their scores."""
    i = start + 1
    while i < end and scores[positions[i]] <= scores[positions[i - 1]]:
        i += 1
    return i == end


def insertion_sort_run(positions: NDArray[np.uint32], scores: NDArray[np.float64], start: int, end: int) -> None:
    """Sort a short run `positions[start:end]` stably by descending score."""
    for i in range(start + 1, end):
        position = positions[i]
        insertion = i
        while insertion > start and scores[positions[insertion - 1]] < scores[position]:
            positions[insertion] = positions[insertion - 1]
            insertion -= 1
        positions[insertion] = position


def sort_run_by_distinct_scores(run: NDArray[np.uint32], scores: NDArray[np.float64], scratch: RunScratch) -> bool:
    """Sort a run of positions stably by descending score, or return False if it has too many distinct scores.

    Each pass over the run appends the records with the next lower score. With more than _MAX_DISTINCT_SCORES distinct
    scores, `run` is left unchanged.
    """
    size = len(run)

    # Read from a copy, because the run is overwritten.
    for i in range(size):
        scratch.positions[i] = run[i]
        scratch.scores[i] = scores[run[i]]

    previous_score, sorted_count = np.inf, 0
    for _ in range(_MAX_DISTINCT_SCORES):
        next_score = -np.inf
        for i in range(size):
            if next_score < scratch.scores[i] < previous_score:
                next_score = scratch.scores[i]

        for i in range(size):
            if scratch.scores[i] == next_score:
                run[sorted_count] = scratch.positions[i]
                sorted_count += 1

        if sorted_count == size:
            return True
        previous_score = next_score

    # There are too many distinct scores, so restore the run.
    for i in range(size):
        run[i] = scratch.positions[i]
    return False


def take(values: NDArray[Any], positions: NDArray[np.uint32], taken_values: NDArray[Any]) -> None:
    """Write the values at the given positions into `taken_values`.

    Unlike indexing in NumPy, this does not convert the positions to 64-bit integers first.
    """
    for i in range(len(positions)):
        taken_values[i] = values[positions[i]]
