"""Kernels that count matches of a query, and find the ranges of their codes and technical scores."""

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
    """Add the number of records in the bitmap with each code to `counts`."""
    for word_index in range(len(bitmap)):
        remaining_bits = bitmap[word_index]
        while remaining_bits != ZERO:
            position = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            counts[codes[position]] += 1
            remaining_bits = without_lowest_bit(remaining_bits)


class SelectedRecords(NamedTuple):
    """A bitmap of records, and the number of its set bits in each leaf."""

    bitmap: Words
    counts: NDArray[np.uint16]


def count_in_planes(
    columns: KernelColumns,
    selected: SelectedRecords,
    planes: NDArray[np.int64],
    leaves: LeafRange,
    counts: NDArray[np.int64],
) -> None:
    """Add the number of selected records in each plane to `counts`, for a range of leaves.

    The number of records in each leaf of a plane is stored, so bits are compared only in leaves that are partly
    selected and partly in the plane.

    Args:
        columns: the columns of the index.
        selected: the selected records.
        planes: the numbers of the planes.
        leaves: the range of leaves.
        counts: the count for each plane, modified in place.
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
    """Return the number of bits that are set in both bitmaps."""
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
    """Return the lowest and the highest code above 0 of the records in a bitmap, or (NO_CODE, 0) if there is none.

    Only leaves that can extend the range are read.

    Args:
        codes: the code of each record.
        bitmap: the bitmap of the records.
        words_per_leaf: the number of 64-bit words in the bitmap of a leaf.
        lowest_in_leaves: the lowest code above 0 in each leaf.
        highest_in_leaves: the highest code in each leaf.
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
    """Set the bits in `matches` of the records with a technical score between `lowest` and `highest`.

    All bits must be 0 initially. The grade of a record, which is its score scaled to one byte and rounded up, decides
    for almost all records, so few exact scores are computed.
    """
    grades = columns.grades[TECHNICAL_GRADE]
    for position in range(columns.record_count):
        # The score is not above its grade, and at most one step below it.
        score_at_most = grades[position] / GRADE_SCALE
        score_at_least = (int(grades[position]) - 1) / GRADE_SCALE
        is_outside = score_at_most < lowest or score_at_least > highest
        if is_outside:
            continue

        is_undecided = score_at_least < lowest or score_at_most > highest
        if is_undecided:
            exact_score = technical_score(columns, position)
            if exact_score < lowest or exact_score > highest:
                continue

        set_bit(matches, position)


def technical_score_range(
    columns: KernelColumns, bitmap: Words, leaf_minima: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the lowest and the highest technical score of the records in a bitmap, or (inf, -inf) if it is empty.

    Single records are read only in partly selected leaves that can extend the range.

    Args:
        columns: the columns of the index.
        bitmap: the bitmap of the records.
        leaf_minima: the lowest technical score in each leaf.
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
    """Extend a range of technical scores by the scores of the records in a bitmap that belong to one leaf.

    The leaf begins at word `first_word` of the bitmap.
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
