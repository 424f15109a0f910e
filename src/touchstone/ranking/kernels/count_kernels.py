"""Counts over the records that match: codes, bits in common, and the technical score, which no plane covers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import ONE, ZERO, Words, count_all_bits, count_bits, lowest_bit
from touchstone.ranking.kernels.constants import GRADE_SCALE, TECHNICAL_GRADE, TECHNICAL_SCORE
from touchstone.ranking.kernels.filter_kernels import leaf_size
from touchstone.ranking.kernels.inputs import KernelColumns
from touchstone.ranking.kernels.score_kernels import technical_score


def tally_codes(words: Words, codes: NDArray[Any], counts: NDArray[np.int64]) -> None:
    """Add to `counts` how often each code occurs among the records whose bit is set."""
    for w in range(len(words)):
        rest = words[w]
        while rest != ZERO:
            counts[codes[64 * w + lowest_bit(rest)]] += 1
            rest &= rest - ONE


def count_common_bits(words: Words, plane: Words) -> int:
    """Return how many bits are set in both of two bitmaps."""
    total = 0
    for w in range(len(words)):
        if words[w] != ZERO:
            total += count_bits(words[w] & plane[w])
    return total


def fill_technical_plane(columns: KernelColumns, low: float, high: float, out: Words) -> None:
    """Set the bits of the records whose technical score is within bounds; `out` must hold zeros.

    The grade decides for all records but those whose grade is next to a bound.
    """
    grades = columns.grades[TECHNICAL_GRADE]
    for i in range(columns.size):
        at_most = grades[i] / GRADE_SCALE
        at_least = (int(grades[i]) - 1) / GRADE_SCALE
        if at_most < low or at_least > high:
            continue
        if at_least < low or at_most > high:
            exact = technical_score(columns, i)
            if exact < low or exact > high:
                continue
        out[i >> 6] |= ONE << np.uint64(i & 63)


def technical_extremes(columns: KernelColumns, words: Words, lower: NDArray[np.float64]) -> tuple[float, float]:
    """Return the lowest and highest technical score among the records whose bit is set; (inf, -inf) for no records.

    `lower` is the lowest technical score of each leaf.
    """
    low, high = np.inf, -np.inf
    upper = columns.upper[TECHNICAL_SCORE]
    for leaf in range(len(lower)):
        if lower[leaf] >= low and upper[leaf] <= high:
            continue
        first_word = leaf * columns.leaf_words
        count = count_all_bits(words[first_word : first_word + columns.leaf_words])
        if count == leaf_size(columns, leaf):
            low, high = min(low, lower[leaf]), max(high, upper[leaf])
        elif count > 0:
            low, high = extend_technical_extremes(columns, words, first_word, low, high)
    return low, high


def extend_technical_extremes(
    columns: KernelColumns, words: Words, first_word: int, low: float, high: float
) -> tuple[float, float]:
    """Return the extremes `low` and `high` of the technical score, extended by the records of one leaf."""
    for w in range(first_word, first_word + columns.leaf_words):
        rest = words[w]
        while rest != ZERO:
            exact = technical_score(columns, 64 * w + lowest_bit(rest))
            rest &= rest - ONE
            low, high = min(low, exact), max(high, exact)
    return low, high
