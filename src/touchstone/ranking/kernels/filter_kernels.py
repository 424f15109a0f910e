"""Which records match a query: leaf by leaf, first by planes, then record by record where planes cannot decide."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import ONE, ZERO, Words, count_all_bits, lowest_bit
from touchstone.ranking.kernels.constants import (
    CITATIONS_COLUMN,
    FEATURES_COLUMN,
    INSTANCES_COLUMN,
    YEAR_COLUMN,
)
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery

NONE: Final = 0
SOME: Final = 1
ALL: Final = 2
_CAPITAL_A: Final = 65
_CAPITAL_Z: Final = 90
_TO_LOWER: Final = np.uint8(32)


def leaf_size(columns: KernelColumns, leaf: int) -> int:
    """Return how many records a leaf holds; only the last leaf may hold fewer than the others."""
    capacity = columns.leaf_words * 64
    return min(capacity, columns.size - leaf * capacity)


def count_plane(columns: KernelColumns, query: KernelQuery, plane: int, leaf: int) -> int:
    """Return how many records of a leaf are in a plane."""
    indexed = len(columns.plane_counts)
    if plane < indexed:
        return int(columns.plane_counts[plane, leaf])
    return int(query.extra_counts[plane - indexed, leaf])


def judge_clause(columns: KernelColumns, query: KernelQuery, clause: int, leaf: int) -> int:
    """Return whether NONE, SOME or ALL records of a leaf satisfy a clause, as far as plane counts tell."""
    size = leaf_size(columns, leaf)
    verdict = NONE
    for at in range(query.clause_starts[clause], query.clause_starts[clause + 1]):
        count = count_plane(columns, query, query.clause_planes[at], leaf)
        if count == size:
            verdict = ALL
        elif count > 0 and verdict == NONE:
            verdict = SOME

    return ALL - verdict if query.clause_negated[clause] else verdict


def apply_clause(columns: KernelColumns, query: KernelQuery, clause: int, first_word: int, mask: Words) -> None:
    """Remove from a leaf's mask the records that do not satisfy a clause."""
    start, end = query.clause_starts[clause], query.clause_starts[clause + 1]
    plane, indexed = query.clause_planes[start], len(columns.planes)
    planes = columns.planes if plane < indexed else query.extra_planes
    row = plane if plane < indexed else plane - indexed

    # Each loop touches one or two rows of consecutive words, which the compiler turns into vector instructions.
    if query.clause_negated[clause]:
        for w in range(len(mask)):
            mask[w] &= ~planes[row, first_word + w]
    elif end == start + 1:
        for w in range(len(mask)):
            mask[w] &= planes[row, first_word + w]
    else:
        apply_union(columns.planes, query.clause_planes[start:end], first_word, mask)


def apply_union(planes: Words, rows: NDArray[np.int64], first_word: int, mask: Words) -> None:
    """Remove from a leaf's mask the records that are in none of several planes of the index."""
    if len(rows) == 2:
        a, b = rows[0], rows[1]
        for w in range(len(mask)):
            mask[w] &= planes[a, first_word + w] | planes[b, first_word + w]
        return

    for w in range(len(mask)):
        union = ZERO
        for at in range(len(rows)):
            union |= planes[rows[at], first_word + w]
        mask[w] &= union


def select_by_planes(columns: KernelColumns, query: KernelQuery, leaf: int, mask: Words) -> int:
    """Fill `mask` with the live records of a leaf that satisfy every clause; return how many there are."""
    if query.alive_counts[leaf] == 0 or not query.possible_leaves[leaf]:
        return 0
    clauses = len(query.clause_negated)
    for clause in range(clauses):
        if judge_clause(columns, query, clause, leaf) == NONE:
            return 0

    first_word = leaf * columns.leaf_words
    for w in range(columns.leaf_words):
        mask[w] = query.alive[first_word + w]
    for clause in range(clauses):
        if judge_clause(columns, query, clause, leaf) == SOME:
            apply_clause(columns, query, clause, first_word, mask)

    return count_all_bits(mask)


def contains_needle(text: NDArray[np.uint8], start: int, end: int, needle: NDArray[np.uint8]) -> bool:
    """Return whether the bytes from `start` to `end` contain the needle, ignoring the case of ASCII letters."""
    size = len(needle)
    for at in range(start, end - size + 1):
        k = 0
        while k < size:
            byte = text[at + k]
            if _CAPITAL_A <= byte <= _CAPITAL_Z:
                byte = byte + _TO_LOWER
            if byte != needle[k]:
                break
            k += 1
        if k == size:
            return True
    return False


def apply_needle(columns: KernelColumns, first: int, needle: NDArray[np.uint8], mask: Words) -> None:
    """Remove from the mask of the records from `first` on those whose folded name does not contain the needle."""
    names, offsets, accented = columns.name_bytes, columns.name_offsets, columns.accented
    accented_positions, accented_names = columns.accented_positions, columns.accented_bytes
    accented_offsets = columns.accented_offsets

    for w in range(len(mask)):
        rest = mask[w]
        while rest != ZERO:
            bit = lowest_bit(rest)
            rest &= rest - ONE
            i = first + 64 * w + bit
            if (accented[i >> 6] >> np.uint64(bit)) & ONE:
                at = np.searchsorted(accented_positions, i)
                matches = contains_needle(accented_names, accented_offsets[at], accented_offsets[at + 1], needle)
            else:
                matches = contains_needle(names, int(offsets[i]), int(offsets[i + 1]), needle)
            if not matches:
                mask[w] ^= ONE << np.uint64(bit)


def apply_code_range(codes: NDArray[Any], limit: NDArray[np.int64], first: int, mask: Words) -> None:
    """Remove from the mask of the records from `first` on those whose code is outside of a limit."""
    low, high = limit[1], limit[2]
    for w in range(len(mask)):
        rest = mask[w]
        while rest != ZERO:
            bit = lowest_bit(rest)
            rest &= rest - ONE
            code = codes[first + 64 * w + bit]
            if code < low or code > high:
                mask[w] ^= ONE << np.uint64(bit)


def apply_code_limit(columns: KernelColumns, limit: NDArray[np.int64], first: int, mask: Words) -> None:
    """Apply a code limit to the number column that it names."""
    column = limit[0]
    if column == YEAR_COLUMN:
        apply_code_range(columns.year_codes, limit, first, mask)
    elif column == INSTANCES_COLUMN:
        apply_code_range(columns.instances_codes, limit, first, mask)
    elif column == FEATURES_COLUMN:
        apply_code_range(columns.features_codes, limit, first, mask)
    elif column == CITATIONS_COLUMN:
        apply_code_range(columns.citations_codes, limit, first, mask)
    else:
        apply_code_range(columns.missing_codes, limit, first, mask)


def select_in_leaf(columns: KernelColumns, query: KernelQuery, leaf: int, mask: Words) -> int:
    """Fill `mask` with the records of a leaf that match; return how many there are."""
    count = select_by_planes(columns, query, leaf, mask)
    if count == 0 or (len(query.code_limits) == 0 and len(query.needle) == 0):
        return count

    first = leaf * columns.leaf_words * 64
    for limit in range(len(query.code_limits)):
        apply_code_limit(columns, query.code_limits[limit], first, mask)
    if len(query.needle) > 0:
        apply_needle(columns, first, query.needle, mask)

    return count_all_bits(mask)


def select_all(columns: KernelColumns, query: KernelQuery, mask: Words, out: Words) -> int:
    """Write the bitmap of all records that match and return how many there are.

    `mask` is scratch space for one leaf. An empty `out` is left alone, for callers that need the number only.
    """
    total = 0
    for leaf in range(len(query.alive_counts)):
        count = select_in_leaf(columns, query, leaf, mask)
        total += count
        if count > 0 and len(out) > 0:
            first_word = leaf * columns.leaf_words
            for w in range(columns.leaf_words):
                out[first_word + w] = mask[w]
    return total
