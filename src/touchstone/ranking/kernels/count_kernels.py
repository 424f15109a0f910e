"""Kernels that count the records that match a query, and find the ranges of their numbers and technical scores."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import (
    BITS_PER_WORD,
    ZERO,
    Words,
    count_all_bits,
    count_bits,
    lowest_bit,
    set_bit,
    without_lowest_bit,
)
from touchstone.ranking.kernels.constants import GRADE_SCALE, TECHNICAL_GRADE, TECHNICAL_SCORE
from touchstone.ranking.kernels.filter_kernels import leaf_size
from touchstone.ranking.kernels.inputs import KernelColumns, LeafRange
from touchstone.ranking.kernels.score_kernels import technical_score

NO_CODE: Final = 2**62
"""A code above every code of a column."""


def count_codes(bitmap: Words, codes: NDArray[Any], counts: NDArray[np.int64]) -> None:
    """Add to `counts` how often each code occurs among the records whose bit is set."""
    for word_index in range(len(bitmap)):
        remaining_bits = bitmap[word_index]
        while remaining_bits != ZERO:
            position = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            counts[codes[position]] += 1
            remaining_bits = without_lowest_bit(remaining_bits)


class SelectedRecords(NamedTuple):
    """A bitmap of some records, and how many of its bits are set in each leaf, a block of about a thousand records."""

    bitmap: Words
    counts: NDArray[np.uint16]


def count_in_planes(
    columns: KernelColumns,
    selected: SelectedRecords,
    planes: NDArray[np.int64],
    leaves: LeafRange,
    counts: NDArray[np.int64],
) -> None:
    """Add to `counts` how many selected records of some leaves are in each of some planes, bitmaps over all records.

    How many records of a plane a leaf holds is stored, so bits are compared only in leaves of which a part is selected
    and a part is in the plane.
    """
    for i in range(len(planes)):
        plane = planes[i]
        for leaf in range(leaves.start, leaves.end):
            selected_count = int(selected.counts[leaf])
            plane_count = int(columns.plane_counts[plane, leaf])
            if selected_count == 0 or plane_count == 0:
                continue

            record_count = leaf_size(columns, leaf)
            if selected_count == record_count:
                counts[i] += plane_count
            elif plane_count == record_count:
                counts[i] += selected_count
            else:
                first_word = leaf * columns.words_per_leaf
                end_word = first_word + columns.words_per_leaf
                words_of_plane = columns.planes[plane, first_word:end_word]
                counts[i] += count_common_bits(selected.bitmap[first_word:end_word], words_of_plane)


def count_common_bits(bitmap: Words, other: Words) -> int:
    """Return how many bits are set in both of two bitmaps."""
    total = 0
    for i in range(len(bitmap)):
        total += count_bits(bitmap[i] & other[i])
    return total


def known_code_range(
    codes: NDArray[Any],
    bitmap: Words,
    words_per_leaf: int,
    lowest_in_leaves: NDArray[np.int64],
    highest_in_leaves: NDArray[np.int64],
) -> tuple[int, int]:
    """Return the lowest and the highest code above 0 of the records whose bit is set; (NO_CODE, 0) if there is none.

    Records are stored in leaves, blocks of about a thousand. The lowest and the highest code above 0 of each leaf are
    given, so records are read one by one only in leaves that can extend the range.
    """
    lowest, highest = NO_CODE, 0
    for leaf in range(len(lowest_in_leaves)):
        cannot_extend_range = lowest_in_leaves[leaf] >= lowest and highest_in_leaves[leaf] <= highest
        if cannot_extend_range:
            continue

        for word_index in range(leaf * words_per_leaf, (leaf + 1) * words_per_leaf):
            remaining_bits = bitmap[word_index]
            while remaining_bits != ZERO:
                code = int(codes[BITS_PER_WORD * word_index + lowest_bit(remaining_bits)])
                remaining_bits = without_lowest_bit(remaining_bits)
                if code > 0:
                    lowest = min(lowest, code)
                    highest = max(highest, code)
    return lowest, highest


def select_technical_scores(columns: KernelColumns, lowest: float, highest: float, matches: Words) -> None:
    """Set the bits of the records whose technical score is between `lowest` and `highest` in the bitmap `matches`.

    All bits must be 0 at first. Each record has a grade: its score, scaled to one byte and rounded up. The grade shows
    for almost all records whether they are in the range, so few exact scores have to be computed.
    """
    grades = columns.grades[TECHNICAL_GRADE]
    for position in range(columns.record_count):
        # The score is no higher than its grade, and no more than one step below it.
        score_at_most = grades[position] / GRADE_SCALE
        score_at_least = (int(grades[position]) - 1) / GRADE_SCALE
        is_outside = score_at_most < lowest or score_at_least > highest
        if is_outside:
            continue

        is_next_to_limit = score_at_least < lowest or score_at_most > highest
        if is_next_to_limit:
            exact_score = technical_score(columns, position)
            if exact_score < lowest or exact_score > highest:
                continue

        set_bit(matches, position)


def technical_score_range(
    columns: KernelColumns, bitmap: Words, leaf_minima: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the lowest and the highest technical score of the records whose bit is set; (inf, -inf) if there are none.

    Records are stored in leaves, blocks of about a thousand. `leaf_minima` holds the lowest score in each leaf. Records
    are read one by one only in leaves that can extend the range and of which only some records are selected.
    """
    lowest, highest = np.inf, -np.inf
    leaf_maxima = columns.leaf_maxima[TECHNICAL_SCORE]

    for leaf in range(len(leaf_minima)):
        cannot_extend_range = leaf_minima[leaf] >= lowest and leaf_maxima[leaf] <= highest
        if cannot_extend_range:
            continue

        first_word = leaf * columns.words_per_leaf
        selected_count = count_all_bits(bitmap[first_word : first_word + columns.words_per_leaf])
        if selected_count == leaf_size(columns, leaf):
            lowest = min(lowest, leaf_minima[leaf])
            highest = max(highest, leaf_maxima[leaf])
        elif selected_count > 0:
            lowest, highest = extend_technical_score_range(columns, bitmap, first_word, lowest, highest)

    return lowest, highest


def extend_technical_score_range(
    columns: KernelColumns, bitmap: Words, first_word: int, lowest: float, highest: float
) -> tuple[float, float]:
    """Return a range of technical scores extended by the scores of those records of a leaf whose bit is set.

    A leaf is a block of records; this one begins at word `first_word` of the bitmap.
    """
    for word_index in range(first_word, first_word + columns.words_per_leaf):
        remaining_bits = bitmap[word_index]
        while remaining_bits != ZERO:
            position = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            remaining_bits = without_lowest_bit(remaining_bits)

            exact_score = technical_score(columns, position)
            lowest = min(lowest, exact_score)
            highest = max(highest, exact_score)
    return lowest, highest
