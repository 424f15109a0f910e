"""Which records match a query: leaf by leaf, first by planes, then record by record where planes cannot decide.

Every function works on a *leaf mask*: a bitmap of the records of one leaf that match so far. It starts with the records
that are alive, and each condition of the query removes the records that do not satisfy it. The caller allocates masks
and results, because compiled kernels cannot.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import BITS_PER_WORD, ONE, ZERO, Words, count_all_bits, lowest_bit
from touchstone.ranking.kernels.constants import (
    CITATIONS_COLUMN,
    FEATURES_COLUMN,
    INSTANCES_COLUMN,
    YEAR_COLUMN,
)
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery

NO_RECORDS: Final = 0
SOME_RECORDS: Final = 1
ALL_RECORDS: Final = 2
_CAPITAL_A: Final = 65
_CAPITAL_Z: Final = 90
_TO_LOWER: Final = np.uint8(32)


def leaf_size(columns: KernelColumns, leaf: int) -> int:
    """Return how many records a leaf holds; only the last leaf may hold fewer than the others."""
    capacity = columns.words_per_leaf * BITS_PER_WORD
    return min(capacity, columns.record_count - leaf * capacity)


def count_plane(columns: KernelColumns, query: KernelQuery, plane: int, leaf: int) -> int:
    """Return how many records of a leaf are in a plane, which belongs either to the index or to the query."""
    index_plane_count = len(columns.plane_counts)
    if plane < index_plane_count:
        return int(columns.plane_counts[plane, leaf])
    return int(query.extra_plane_counts[plane - index_plane_count, leaf])


def clause_coverage(columns: KernelColumns, query: KernelQuery, clause: int, leaf: int) -> int:
    """Return whether NO_RECORDS, SOME_RECORDS or ALL_RECORDS of a leaf satisfy a clause of a query.

    A leaf is a block of about a thousand records. A clause accepts the records that are in at least one of its planes
    (bitmaps over all records) or, if it is negated, those outside of its only plane. Only the number of records that
    each plane has in the leaf is read, so most leaves are accepted or ruled out without looking at a record.
    SOME_RECORDS means that these numbers do not decide.
    """
    record_count = leaf_size(columns, leaf)

    coverage = NO_RECORDS
    for i in range(query.clause_starts[clause], query.clause_starts[clause + 1]):
        plane_count = count_plane(columns, query, query.clause_planes[i], leaf)
        if plane_count == record_count:
            coverage = ALL_RECORDS
        elif plane_count > 0 and coverage == NO_RECORDS:
            coverage = SOME_RECORDS

    # Negation exchanges NO_RECORDS and ALL_RECORDS, and leaves SOME_RECORDS as it is.
    return ALL_RECORDS - coverage if query.clause_is_negated[clause] else coverage


def apply_clause(columns: KernelColumns, query: KernelQuery, clause: int, first_word: int, leaf_mask: Words) -> None:
    """Clear the bits of the records in a leaf, a block of records, that do not satisfy a clause of a query.

    A clause accepts the records that are in at least one of its planes (bitmaps over all records) or, if it is negated,
    those outside of its only plane. `leaf_mask` has one bit for each record of the leaf, which begins at word
    `first_word` of every plane.
    """
    start, end = query.clause_starts[clause], query.clause_starts[clause + 1]

    # Plane numbers beyond those of the index refer to the planes that were made for this query.
    first_plane, index_plane_count = query.clause_planes[start], len(columns.planes)
    planes = columns.planes if first_plane < index_plane_count else query.extra_planes
    row = first_plane if first_plane < index_plane_count else first_plane - index_plane_count

    # Each loop touches one or two rows of consecutive words, which the compiler turns into vector instructions.
    if query.clause_is_negated[clause]:
        for i in range(len(leaf_mask)):
            leaf_mask[i] &= ~planes[row, first_word + i]
    elif end == start + 1:
        for i in range(len(leaf_mask)):
            leaf_mask[i] &= planes[row, first_word + i]
    else:
        apply_union(columns.planes, query.clause_planes[start:end], first_word, leaf_mask)


def apply_union(planes: Words, plane_numbers: NDArray[np.int64], first_word: int, leaf_mask: Words) -> None:
    """Clear the bits of the records in a leaf, a block of records, that are in none of some planes.

    `planes` holds one bitmap over all records in each row, and `plane_numbers` says which rows count. `leaf_mask` has
    one bit for each record of the leaf, which begins at word `first_word` of every plane. Two planes, the most frequent
    case, have a faster loop.
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
    """Select the live records of a leaf, a block of records, that satisfy every clause of a query; return their number.

    The selection is written into `leaf_mask`, with one bit for each record of the leaf. If the result is 0, the content
    of the mask is undefined: most leaves are ruled out by counts alone, before the mask is touched.
    """
    if query.alive_counts[leaf] == 0 or not query.leaf_may_contain_substring[leaf]:
        return 0

    clause_count = len(query.clause_is_negated)
    for clause in range(clause_count):
        if clause_coverage(columns, query, clause, leaf) == NO_RECORDS:
            return 0

    first_word = leaf * columns.words_per_leaf
    for i in range(columns.words_per_leaf):
        leaf_mask[i] = query.alive[first_word + i]

    # A clause that covers the whole leaf removes nothing.
    for clause in range(clause_count):
        if clause_coverage(columns, query, clause, leaf) == SOME_RECORDS:
            apply_clause(columns, query, clause, first_word, leaf_mask)

    return count_all_bits(leaf_mask)


def contains_substring(text: NDArray[np.uint8], start: int, end: int, substring: NDArray[np.uint8]) -> bool:
    """Return whether the bytes `text[start:end]` contain a substring, ignoring the case of ASCII letters.

    The substring must be in lower case already.
    """
    length = len(substring)
    for candidate_start in range(start, end - length + 1):
        matched = 0
        while matched < length:
            byte = text[candidate_start + matched]
            if _CAPITAL_A <= byte <= _CAPITAL_Z:
                byte = byte + _TO_LOWER
            if byte != substring[matched]:
                break
            matched += 1

        if matched == length:
            return True
    return False


def apply_name_substring(
    columns: KernelColumns, first_position: int, substring: NDArray[np.uint8], leaf_mask: Words
) -> None:
    """Clear the bits of the records in a leaf, a block of records, whose name does not contain a substring.

    Case and accents are ignored: ASCII names are searched as they are stored, ignoring case, and for all other names a
    folded form is stored separately. `leaf_mask` has one bit for each record from `first_position` on.
    """
    names, offsets, accented = columns.name_bytes, columns.name_offsets, columns.accented
    accented_positions, accented_names = columns.accented_positions, columns.accented_bytes
    accented_offsets = columns.accented_offsets

    for i in range(len(leaf_mask)):
        remaining_bits = leaf_mask[i]
        while remaining_bits != ZERO:
            bit = lowest_bit(remaining_bits)
            remaining_bits &= remaining_bits - ONE  # clears this bit
            position = first_position + BITS_PER_WORD * i + bit

            if (accented[position >> 6] >> np.uint64(bit)) & ONE:
                k = np.searchsorted(accented_positions, position)
                is_match = contains_substring(accented_names, accented_offsets[k], accented_offsets[k + 1], substring)
            else:
                is_match = contains_substring(names, int(offsets[position]), int(offsets[position + 1]), substring)

            if not is_match:
                leaf_mask[i] ^= ONE << np.uint64(bit)


def keep_codes_in_range(
    codes: NDArray[Any], code_range: NDArray[np.int64], first_position: int, leaf_mask: Words
) -> None:
    """Clear the bits of the records in a leaf, a block of records, whose number is outside of a range.

    Numbers are stored as codes: indices into their sorted distinct values. `code_range` holds the number of the column,
    the lowest and the highest code. `leaf_mask` has one bit for each record from `first_position` on.
    """
    lowest_code, highest_code = code_range[1], code_range[2]
    for i in range(len(leaf_mask)):
        remaining_bits = leaf_mask[i]
        while remaining_bits != ZERO:
            bit = lowest_bit(remaining_bits)
            remaining_bits &= remaining_bits - ONE  # clears this bit

            code = codes[first_position + BITS_PER_WORD * i + bit]
            if code < lowest_code or code > highest_code:
                leaf_mask[i] ^= ONE << np.uint64(bit)


def apply_code_range(
    columns: KernelColumns, code_range: NDArray[np.int64], first_position: int, leaf_mask: Words
) -> None:
    """Clear the bits of the records in a leaf, a block of records, that are outside of a range in one number column.

    `code_range` holds the number of the column, the lowest and the highest code. The columns have different integer
    types, so each needs a call of its own, which is compiled for its type.
    """
    number_column = code_range[0]
    if number_column == YEAR_COLUMN:
        keep_codes_in_range(columns.year_codes, code_range, first_position, leaf_mask)
    elif number_column == INSTANCES_COLUMN:
        keep_codes_in_range(columns.instances_codes, code_range, first_position, leaf_mask)
    elif number_column == FEATURES_COLUMN:
        keep_codes_in_range(columns.features_codes, code_range, first_position, leaf_mask)
    elif number_column == CITATIONS_COLUMN:
        keep_codes_in_range(columns.citations_codes, code_range, first_position, leaf_mask)
    else:
        keep_codes_in_range(columns.missing_percentage_codes, code_range, first_position, leaf_mask)


def select_in_leaf(columns: KernelColumns, query: KernelQuery, leaf: int, leaf_mask: Words) -> int:
    """Select the records of a leaf, a block of records, that match a query; return how many there are.

    The selection is written into `leaf_mask`, with one bit for each record of the leaf; its content is undefined if the
    result is 0. Conditions that bitmaps decide come first, because they handle 64 records at once. Number ranges and
    names are then checked one by one, for the remaining records only.
    """
    match_count = select_by_planes(columns, query, leaf, leaf_mask)
    if match_count == 0 or (len(query.code_ranges) == 0 and len(query.name_substring) == 0):
        return match_count

    first_position = leaf * columns.words_per_leaf * BITS_PER_WORD
    for i in range(len(query.code_ranges)):
        apply_code_range(columns, query.code_ranges[i], first_position, leaf_mask)
    if len(query.name_substring) > 0:
        apply_name_substring(columns, first_position, query.name_substring, leaf_mask)

    return count_all_bits(leaf_mask)


def select_all(columns: KernelColumns, query: KernelQuery, leaf_mask: Words, matches: Words) -> int:
    """Select all records of an index that match a query; return how many there are.

    The selection is written into the bitmap `matches`, which must hold zeros. Callers that need only the number pass an
    empty array instead. The records are processed leaf by leaf (a leaf is a block of about a thousand records), with
    `leaf_mask` as scratch space for one of them.
    """
    total_count = 0
    for leaf in range(len(query.alive_counts)):
        match_count = select_in_leaf(columns, query, leaf, leaf_mask)
        total_count += match_count

        if match_count > 0 and len(matches) > 0:
            first_word = leaf * columns.words_per_leaf
            for i in range(columns.words_per_leaf):
                matches[first_word + i] = leaf_mask[i]
    return total_count
