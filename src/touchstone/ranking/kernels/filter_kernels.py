"""Kernels that select the records matching a query, leaf by leaf.

Every function works on a *leaf mask*, which is a bitmap of the records of one leaf that match so far. Initially, it
contains the live records. Each condition of the query clears the bits of records that do not satisfy it, first the
conditions on planes (bitmaps over all records), then the conditions on single records. The caller allocates masks and
results, because compiled kernels cannot allocate memory.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import (
    BITS_PER_WORD,
    ZERO,
    Words,
    clear_bit,
    count_all_bits,
    is_bit_set,
    lowest_bit,
    without_lowest_bit,
)
from touchstone.ranking.kernels.constants import (
    CITATIONS_COLUMN,
    FEATURES_COLUMN,
    INSTANCES_COLUMN,
    YEAR_COLUMN,
)
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery, LeafRange

NO_RECORDS: Final = 0
SOME_RECORDS: Final = 1
ALL_RECORDS: Final = 2
_CAPITAL_A: Final = 65
_CAPITAL_Z: Final = 90
_LOWER_CASE_BIT: Final = np.uint8(32)


def leaf_size(columns: KernelColumns, leaf: int) -> int:
    """Return the number of records in a leaf.

    Only the last leaf may be shorter than the others.
    """
    capacity = columns.words_per_leaf * BITS_PER_WORD
    return min(capacity, columns.record_count - leaf * capacity)


def count_plane(columns: KernelColumns, query: KernelQuery, plane: int, leaf: int) -> int:
    """Return the number of records of a leaf in a plane of the index or of the query."""
    index_plane_count = len(columns.plane_counts)
    if plane < index_plane_count:
        return int(columns.plane_counts[plane, leaf])
    return int(query.extra_plane_counts[plane - index_plane_count, leaf])


def clause_coverage(columns: KernelColumns, query: KernelQuery, clause: int, leaf: int) -> int:
    """Return whether NO_RECORDS, SOME_RECORDS or ALL_RECORDS of a leaf satisfy a clause.

    The result is derived from the stored number of records of each plane in the leaf. It is SOME_RECORDS if these
    numbers are inconclusive.
    """
    record_count = leaf_size(columns, leaf)

    coverage = NO_RECORDS
    for i in range(query.clause_starts[clause], query.clause_starts[clause + 1]):
        plane_count = count_plane(columns, query, query.clause_planes[i], leaf)
        if plane_count == record_count:
            coverage = ALL_RECORDS
        elif plane_count > 0 and coverage == NO_RECORDS:
            coverage = SOME_RECORDS

    # Negation swaps NO_RECORDS and ALL_RECORDS.
    return ALL_RECORDS - coverage if query.clause_is_negated[clause] else coverage


def apply_clause(columns: KernelColumns, query: KernelQuery, clause: int, first_word: int, leaf_mask: Words) -> None:
    """Clear the bits in `leaf_mask` of the records that do not satisfy a clause.

    A clause accepts the records in at least one of its planes or, if it is negated, the records outside its only plane.
    The leaf begins at word `first_word` of every plane.
    """
    start, end = query.clause_starts[clause], query.clause_starts[clause + 1]

    # Plane numbers beyond the planes of the index refer to the planes computed for this query.
    planes, row = columns.planes, query.clause_planes[start]
    if row >= len(columns.planes):
        planes, row = query.extra_planes, row - len(columns.planes)

    if query.clause_is_negated[clause]:
        for i in range(len(leaf_mask)):
            leaf_mask[i] &= ~planes[row, first_word + i]
    elif end == start + 1:
        for i in range(len(leaf_mask)):
            leaf_mask[i] &= planes[row, first_word + i]
    else:
        apply_union(columns.planes, query.clause_planes[start:end], first_word, leaf_mask)


def apply_union(planes: Words, plane_numbers: NDArray[np.int64], first_word: int, leaf_mask: Words) -> None:
    """Clear the bits in `leaf_mask` of the records that are in none of the given planes.

    Two planes, the most frequent case, have a faster loop.

    Args:
        planes: the bitmaps over all records, one in each row.
        plane_numbers: the rows of the planes.
        first_word: the word where the leaf begins in every plane.
        leaf_mask: the bitmap of the leaf, modified in place.
    """
    if len(plane_numbers) == 2:
        first_plane, second_plane = plane_numbers[0], plane_numbers[1]
        for i in range(len(leaf_mask)):
            leaf_mask[i] &= planes[first_plane, first_word + i] | planes[second_plane, first_word + i]
        return

    for i in range(len(leaf_mask)):
        union = ZERO
        for k in range(len(plane_numbers)):
            union |= planes[plane_numbers[k], first_word + i]
        leaf_mask[i] &= union


def select_by_planes(columns: KernelColumns, query: KernelQuery, leaf: int, leaf_mask: Words) -> int:
    """Select the live records of a leaf that satisfy every clause of a query, and return their number.

    The selection is written into `leaf_mask`, which is undefined if the result is 0.
    """
    # Stored counts rule out most leaves without reading a bitmap.
    if query.alive_counts[leaf] == 0 or not query.leaf_may_contain_substring[leaf]:
        return 0

    clause_count = len(query.clause_is_negated)
    for clause in range(clause_count):
        if clause_coverage(columns, query, clause, leaf) == NO_RECORDS:
            return 0

    first_word = leaf * columns.words_per_leaf
    for i in range(columns.words_per_leaf):
        leaf_mask[i] = query.alive[first_word + i]

    # A clause that accepts the whole leaf needs no work.
    for clause in range(clause_count):
        if clause_coverage(columns, query, clause, leaf) == SOME_RECORDS:
            apply_clause(columns, query, clause, first_word, leaf_mask)

    return count_all_bits(leaf_mask)


def contains_substring(text: NDArray[np.uint8], start: int, end: int, substring: NDArray[np.uint8]) -> bool:
    """Return whether `text[start:end]` contains a lower-case substring, ignoring the case of ASCII."""
    length = len(substring)
    for candidate_start in range(start, end - length + 1):
        matched = 0
        while matched < length:
            byte = text[candidate_start + matched]
            if _CAPITAL_A <= byte <= _CAPITAL_Z:
                byte = byte + _LOWER_CASE_BIT
            if byte != substring[matched]:
                break
            matched += 1

        if matched == length:
            return True
    return False


def name_contains(columns: KernelColumns, position: int, substring: NDArray[np.uint8]) -> bool:
    """Return whether the name of the record at a position contains a folded substring, ignoring case and accents.

    ASCII names are searched as stored. All other names have a second, folded form, which is searched instead.
    """
    if is_bit_set(columns.accented, position):
        index = np.searchsorted(columns.accented_positions, position)
        start, end = columns.accented_offsets[index], columns.accented_offsets[index + 1]
        return contains_substring(columns.accented_bytes, start, end, substring)

    start, end = int(columns.name_offsets[position]), int(columns.name_offsets[position + 1])
    return contains_substring(columns.name_bytes, start, end, substring)


def apply_name_substring(
    columns: KernelColumns, first_position: int, substring: NDArray[np.uint8], leaf_mask: Words
) -> None:
    """Clear the bits in `leaf_mask` of the records with a name that does not contain a substring.

    The leaf begins at `first_position`.
    """
    for word_index in range(len(leaf_mask)):
        remaining_bits = leaf_mask[word_index]
        while remaining_bits != ZERO:
            index_in_leaf = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            remaining_bits = without_lowest_bit(remaining_bits)

            if not name_contains(columns, first_position + index_in_leaf, substring):
                clear_bit(leaf_mask, index_in_leaf)


def keep_codes_in_range(
    codes: NDArray[Any], lowest_code: int, highest_code: int, first_position: int, leaf_mask: Words
) -> None:
    """Clear the bits in `leaf_mask` of the records with a code outside a range, both ends included.

    The leaf begins at `first_position`.
    """
    for word_index in range(len(leaf_mask)):
        remaining_bits = leaf_mask[word_index]
        while remaining_bits != ZERO:
            index_in_leaf = BITS_PER_WORD * word_index + lowest_bit(remaining_bits)
            remaining_bits = without_lowest_bit(remaining_bits)

            code = codes[first_position + index_in_leaf]
            if code < lowest_code or code > highest_code:
                clear_bit(leaf_mask, index_in_leaf)


def apply_code_range(
    columns: KernelColumns, code_range: NDArray[np.int64], first_position: int, leaf_mask: Words
) -> None:
    """Clear the bits in `leaf_mask` of the records outside a range of one number column.

    Each column has a separate call, because the compiler generates separate code for each integer type.

    Args:
        columns: the columns of the index.
        code_range: the number of the column, the lowest code and the highest code.
        first_position: the position where the leaf begins.
        leaf_mask: the bitmap of the leaf, modified in place.
    """
    number_column, lowest_code, highest_code = code_range[0], code_range[1], code_range[2]
    if number_column == YEAR_COLUMN:
        keep_codes_in_range(columns.year_codes, lowest_code, highest_code, first_position, leaf_mask)
    elif number_column == INSTANCES_COLUMN:
        keep_codes_in_range(columns.instances_codes, lowest_code, highest_code, first_position, leaf_mask)
    elif number_column == FEATURES_COLUMN:
        keep_codes_in_range(columns.features_codes, lowest_code, highest_code, first_position, leaf_mask)
    elif number_column == CITATIONS_COLUMN:
        keep_codes_in_range(columns.citations_codes, lowest_code, highest_code, first_position, leaf_mask)
    else:
        keep_codes_in_range(columns.missing_percentage_codes, lowest_code, highest_code, first_position, leaf_mask)


def select_in_leaf(columns: KernelColumns, query: KernelQuery, leaf: int, leaf_mask: Words) -> int:
    """Select the records of a leaf that match a query, and return their number.

    The selection is written into `leaf_mask`, which is undefined if the result is 0.
    """
    # Planes come first, because they test 64 records at the same time.
    match_count = select_by_planes(columns, query, leaf, leaf_mask)
    has_other_conditions = len(query.code_ranges) > 0 or len(query.name_substring) > 0
    if match_count == 0 or not has_other_conditions:
        return match_count

    # Number ranges and names are tested for each remaining record.
    first_position = leaf * columns.words_per_leaf * BITS_PER_WORD
    for i in range(len(query.code_ranges)):
        apply_code_range(columns, query.code_ranges[i], first_position, leaf_mask)
    if len(query.name_substring) > 0:
        apply_name_substring(columns, first_position, query.name_substring, leaf_mask)

    return count_all_bits(leaf_mask)


def select_records(
    columns: KernelColumns, query: KernelQuery, leaves: LeafRange, leaf_mask: Words, matches: Words
) -> int:
    """Select the records that match a query in a range of leaves, and return their number.

    Args:
        columns: the columns of the index.
        query: the translated query.
        leaves: the range of leaves.
        leaf_mask: scratch space for the bitmap of one leaf.
        matches: the bitmap of the matches among all records, modified in place, or an empty array if only the number
            is needed. The bits of the leaves must be 0 initially.
    """
    needs_bitmap = len(matches) > 0
    total_count = 0

    for leaf in range(leaves.start, leaves.end):
        match_count = select_in_leaf(columns, query, leaf, leaf_mask)
        total_count += match_count

        if match_count > 0 and needs_bitmap:
            first_word = leaf * columns.words_per_leaf
            for i in range(columns.words_per_leaf):
                matches[first_word + i] = leaf_mask[i]
    return total_count
