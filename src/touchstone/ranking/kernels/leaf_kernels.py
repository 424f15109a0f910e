"""The inner loops of the index: they run as plain Python and, once `compile_kernels` was called, natively.

Rows lie in leaves of `64 * leaf_words` records. A plane is a bitmap over all records; for every plane each leaf knows
how many of its bits are set, so most leaves are decided without reading a bit. Bounds may be coarse (one byte a
criterion), the scores that decide are float64, their terms added in a fixed order.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

ZERO: Final = np.uint64(0)
ONE: Final = np.uint64(1)
FULL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_M1: Final = np.uint64(0x5555555555555555)
_M2: Final = np.uint64(0x3333333333333333)
_M4: Final = np.uint64(0x0F0F0F0F0F0F0F0F)
_LOW: Final = np.uint64(0x7F)
_S2, _S4, _S8, _S16, _S32 = np.uint64(2), np.uint64(4), np.uint64(8), np.uint64(16), np.uint64(32)
FEW: Final = 96  # with fewer candidates in a leaf than this, scoring them all is cheaper than bounding the leaf's rows
BUCKETS: Final = 1024
SLACK: Final = 4e-6  # more than float32 can lose over twelve terms
DIGIT: Final = 11
RADIX: Final = 1 << DIGIT


class Grid(NamedTuple):
    """The records in leaf order.

    `grades`: one byte each for ethical, technical, data quality, instances, features, citations, year: the criterion
    times 255, rounded up. `marks`: the flags that criteria use, one bit each (see `MARKS` in clustered). `*_code`:
    codes into the sorted distinct values, 0 for "not known"; the tables give a criterion or a part of the technical
    score for each code. `order`: the place of each record by folded name, then id.
    """

    size: int
    leaf_words: int
    grades: NDArray[np.uint8]
    marks: NDArray[np.uint8]
    year_code: NDArray[np.uint16]
    instances_code: NDArray[np.uint32]
    features_code: NDArray[Any]
    citations_code: NDArray[Any]
    missing_code: NDArray[Any]
    ethical: NDArray[np.float64]
    year: NDArray[np.float64]
    instances: NDArray[np.float64]
    instances_part: NDArray[np.float64]
    features: NDArray[np.float64]
    features_part: NDArray[np.float64]
    citations: NDArray[np.float64]
    quality: NDArray[np.float64]
    missing_part: NDArray[np.float64]
    upper: NDArray[np.float64]
    first: NDArray[np.uint32]
    order: NDArray[np.uint32]
    planes: Words
    counts: NDArray[np.uint16]
    blob: NDArray[np.uint8]
    offsets: NDArray[Any]
    odd: Words
    odd_positions: NDArray[np.int64]
    odd_blob: NDArray[np.uint8]
    odd_offsets: NDArray[np.int64]


class Asked(NamedTuple):
    """A query in the terms of the index: all of its clauses, each a union of planes or the complement of one.

    Planes beyond those of the grid are in `extra`. `limits`: rows of (column, lowest code, highest code) that are
    checked record by record. `needle`: bytes that the folded name must hold, none when empty. `possible`: leaves
    that may hold it.
    """

    alive: Words
    alive_counts: NDArray[np.uint16]
    starts: NDArray[np.int64]
    planes: NDArray[np.int64]
    negated: NDArray[np.bool_]
    extra: Words
    extra_counts: NDArray[np.uint16]
    limits: NDArray[np.int64]
    needle: NDArray[np.uint8]
    possible: NDArray[np.bool_]


class Weighing(NamedTuple):
    """The criteria that weigh anything (by index, in order), their weights, the sum, and the shares as float32."""

    criteria: NDArray[np.int64]
    weights: NDArray[np.float64]
    total: float
    shares: NDArray[np.float32]


def ones(word: np.uint64) -> int:
    """How many bits of a word are set, without a product: plain Python would warn that it overflows."""
    word = word - ((word >> ONE) & _M1)
    word = (word & _M2) + ((word >> _S2) & _M2)
    word = (word + (word >> _S4)) & _M4
    word = word + (word >> _S8)
    word = word + (word >> _S16)
    word = word + (word >> _S32)
    return np.int64(word & _LOW)  # type: ignore[return-value]


def lowest(word: np.uint64) -> int:
    """The index of the lowest set bit of a word that is not zero."""
    return ones((word ^ (word - ONE)) >> ONE)


def technical(grid: Grid, i: int) -> float:
    """The technical score of one record, part by part in the order of `criteria.technical_score`."""
    marks = grid.marks[i]
    documented = (0.15 if marks & 1 else 0.0) + (0.15 if marks & 2 else 0.0)
    code = grid.missing_code[i]
    missing = grid.missing_part[code] if code > 0 else (0.2 if marks & 8 else 0.0)
    quality = missing + (0.2 if marks & 4 else 0.0)
    size = grid.instances_part[grid.instances_code[i]] + grid.features_part[grid.features_code[i]]
    return float(min(1.0, documented + quality + size))


def data_quality(grid: Grid, i: int) -> float:
    """The data quality of one record."""
    code, marks = grid.missing_code[i], grid.marks[i]
    if code > 0:
        return float(grid.quality[code])
    return 1.0 if marks & 8 else (0.5 if marks & 16 else 0.0)


def binary(grid: Grid, criterion: int, i: int) -> float:
    """One of the four binary criteria: 3 anonymization, 4 transparency, 5 consent, 6 documentation."""
    marks = grid.marks[i]
    mask = 3 if criterion == 6 else 1 << (criterion + 2)
    return 1.0 if marks & mask else 0.0


def composite(grid: Grid, criterion: int, i: int) -> float:
    """One of the three composite scores."""
    if criterion == 0:
        return float(grid.ethical[grid.grades[0, i]])
    if criterion == 1:
        return technical(grid, i)
    return float(grid.citations[grid.citations_code[i]])


def continuous(grid: Grid, criterion: int, i: int) -> float:
    """One of the five continuous criteria: 7 data quality, 8 instances, 9 features, 10 citations, 11 year."""
    if criterion == 7:
        return data_quality(grid, i)
    if criterion == 8:
        return float(grid.instances[grid.instances_code[i]])
    if criterion == 9:
        return float(grid.features[grid.features_code[i]])
    if criterion == 10:
        return float(grid.citations[grid.citations_code[i]])
    return float(grid.year[grid.year_code[i]])


def value(grid: Grid, criterion: int, i: int) -> float:
    """One criterion of one record, in float64, bit for bit as `criteria` gives it."""
    if criterion <= 2:
        return composite(grid, criterion, i)
    if criterion <= 6:
        return binary(grid, criterion, i)
    return continuous(grid, criterion, i)


def score(grid: Grid, weighing: Weighing, i: int) -> float:
    """The score of one record: the terms in order, divided once."""
    added = 0.0
    for term in range(len(weighing.criteria)):
        added += weighing.weights[term] * value(grid, weighing.criteria[term], i)
    return added / weighing.total


def values_at(grid: Grid, criterion: int, positions: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """One criterion of the records at these positions."""
    for k in range(len(positions)):
        out[k] = value(grid, criterion, positions[k])


def scores_at(grid: Grid, weighing: Weighing, positions: NDArray[Any], out: NDArray[np.float64]) -> None:
    """The scores of the records at these positions."""
    for k in range(len(positions)):
        out[k] = score(grid, weighing, positions[k])


def plane_count(grid: Grid, asked: Asked, plane: int, leaf: int) -> int:
    """How many records of a leaf are in a plane."""
    known = len(grid.counts)
    if plane < known:
        return int(grid.counts[plane, leaf])
    return int(asked.extra_counts[plane - known, leaf])


def clause_state(grid: Grid, asked: Asked, clause: int, leaf: int) -> int:
    """What a clause leaves of a leaf: 0 nothing, 2 everything, 1 it must be looked at."""
    size = leaf_size(grid, leaf)
    state = 0
    for at in range(asked.starts[clause], asked.starts[clause + 1]):
        count = plane_count(grid, asked, asked.planes[at], leaf)
        if count == size:
            state = 2
        elif count > 0 and state == 0:
            state = 1
    return 2 - state if asked.negated[clause] else state


def leaf_size(grid: Grid, leaf: int) -> int:
    """How many records a leaf holds; only the last may be short."""
    full = grid.leaf_words * 64
    return min(full, grid.size - leaf * full)


def narrow(grid: Grid, asked: Asked, clause: int, first: int, mask: Words) -> None:
    """Take out of a leaf's mask what one clause rules out: plane by plane, which vectorises."""
    start, end = asked.starts[clause], asked.starts[clause + 1]
    plane, known = asked.planes[start], len(grid.planes)
    source = grid.planes if plane < known else asked.extra
    row = plane if plane < known else plane - known
    if asked.negated[clause]:
        for w in range(len(mask)):
            mask[w] &= ~source[row, first + w]
    elif end == start + 1:
        for w in range(len(mask)):
            mask[w] &= source[row, first + w]
    else:
        unite(grid.planes, asked.planes[start:end], first, mask)


def unite(planes: Words, rows: NDArray[np.int64], first: int, mask: Words) -> None:
    """Take out of a leaf's mask what is in none of these planes; only the grid's own are ever united."""
    one, other = rows[0], rows[1]
    if len(rows) == 2:
        for w in range(len(mask)):
            mask[w] &= planes[one, first + w] | planes[other, first + w]
        return
    for w in range(len(mask)):
        union = ZERO
        for at in range(len(rows)):
            union |= planes[rows[at], first + w]
        mask[w] &= union


def select(grid: Grid, asked: Asked, leaf: int, mask: Words) -> int:
    """The records of a leaf that are alive and pass every clause: fills `mask`, returns how many."""
    if asked.alive_counts[leaf] == 0 or not asked.possible[leaf]:
        return 0
    clauses = len(asked.negated)
    for clause in range(clauses):
        if clause_state(grid, asked, clause, leaf) == 0:
            return 0
    first = leaf * grid.leaf_words
    for w in range(grid.leaf_words):
        mask[w] = asked.alive[first + w]
    for clause in range(clauses):
        if clause_state(grid, asked, clause, leaf) == 1:
            narrow(grid, asked, clause, first, mask)
    found = 0
    for w in range(grid.leaf_words):
        found += ones(mask[w])
    return found


def holds(blob: NDArray[np.uint8], start: int, end: int, needle: NDArray[np.uint8]) -> bool:
    """Whether the bytes from start to end hold the needle, capital ASCII letters counting as small ones."""
    size = len(needle)
    for at in range(start, end - size + 1):
        k = 0
        while k < size:
            byte = blob[at + k]
            if 65 <= byte <= 90:
                byte = byte + np.uint8(32)
            if byte != needle[k]:
                break
            k += 1
        if k == size:
            return True
    return False


def named(grid: Grid, first: int, needle: NDArray[np.uint8], mask: Words) -> None:
    """Take out of the mask of the records from `first` on those whose folded name does not hold the needle."""
    blob, offsets, odd, odd_positions = grid.blob, grid.offsets, grid.odd, grid.odd_positions
    odd_blob, odd_offsets = grid.odd_blob, grid.odd_offsets
    for w in range(len(mask)):
        rest = mask[w]
        while rest != ZERO:
            bit = lowest(rest)
            rest &= rest - ONE
            i = first + 64 * w + bit
            if (odd[i >> 6] >> np.uint64(bit)) & ONE:
                at = np.searchsorted(odd_positions, i)
                found = holds(odd_blob, odd_offsets[at], odd_offsets[at + 1], needle)
            else:
                found = holds(blob, int(offsets[i]), int(offsets[i + 1]), needle)
            if not found:
                mask[w] ^= ONE << np.uint64(bit)


def limited(codes: NDArray[Any], limit: NDArray[np.int64], first: int, mask: Words) -> None:
    """Take out of the mask of the records from `first` on those whose code is not within a limit."""
    low, high = limit[1], limit[2]
    for w in range(len(mask)):
        rest = mask[w]
        while rest != ZERO:
            bit = lowest(rest)
            rest &= rest - ONE
            code = codes[first + 64 * w + bit]
            if code < low or code > high:
                mask[w] ^= ONE << np.uint64(bit)


def limit_codes(grid: Grid, limit: NDArray[np.int64], first: int, mask: Words) -> None:
    """Apply a limit to its column: 0 year, 1 instances, 2 features, 3 citations, 4 missing percentage."""
    column = limit[0]
    if column == 0:
        limited(grid.year_code, limit, first, mask)
    elif column == 1:
        limited(grid.instances_code, limit, first, mask)
    elif column == 2:
        limited(grid.features_code, limit, first, mask)
    elif column == 3:
        limited(grid.citations_code, limit, first, mask)
    else:
        limited(grid.missing_code, limit, first, mask)


def refine(grid: Grid, asked: Asked, leaf: int, mask: Words) -> int:
    """Take out of a leaf's mask what planes could not decide: limits and the needle; return how many are left."""
    first = leaf * grid.leaf_words * 64
    for limit in range(len(asked.limits)):
        limit_codes(grid, asked.limits[limit], first, mask)
    if len(asked.needle) > 0:
        named(grid, first, asked.needle, mask)
    found = 0
    for w in range(len(mask)):
        found += ones(mask[w])
    return found


def chosen(grid: Grid, asked: Asked, leaf: int, mask: Words) -> int:
    """The records of a leaf that match: fills `mask`, returns how many."""
    found = select(grid, asked, leaf, mask)
    if found > 0 and (len(asked.limits) > 0 or len(asked.needle) > 0):
        found = refine(grid, asked, leaf, mask)
    return found


def match(grid: Grid, asked: Asked, mask: Words, out: Words) -> int:
    """All records that match: their bits into `out` (when it has room for them), their number returned.

    `mask` is room to work on one leaf.
    """
    total = 0
    for leaf in range(len(asked.alive_counts)):
        found = chosen(grid, asked, leaf, mask)
        total += found
        if found > 0 and len(out) > 0:
            first = leaf * grid.leaf_words
            for w in range(grid.leaf_words):
                out[first + w] = mask[w]
    return total


def bounds(grid: Grid, weighing: Weighing, out: NDArray[np.float64]) -> None:
    """For each leaf the score that a record with all of the leaf's best values would have.

    Rounding never decreases a larger operand's result, so no record of the leaf can be above it, not by one bit.
    """
    out[:] = 0.0
    for term in range(len(weighing.criteria)):
        best, weight = grid.upper[weighing.criteria[term]], weighing.weights[term]
        for leaf in range(len(out)):
            out[leaf] += weight * best[leaf]
    for leaf in range(len(out)):
        out[leaf] /= weighing.total


def by_bound(bound: NDArray[np.float64], ends: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """The leaves by bound decreasing, to within a bucket: a counting sort. `ends`: `BUCKETS + 1` zeros."""
    for leaf in range(len(bound)):
        ends[bucket(bound[leaf]) + 1] += 1
    for b in range(BUCKETS):
        ends[b + 1] += ends[b]
    for leaf in range(len(bound)):
        b = bucket(bound[leaf])
        out[ends[b]] = leaf
        ends[b] += 1


def bucket(bound: float) -> int:
    """The bucket of a bound, the best first."""
    return BUCKETS - 1 - int(bound * (BUCKETS - 1))


def estimate(grid: Grid, weighing: Weighing, leaf: int, out: NDArray[np.float32]) -> None:
    """For each record of a leaf a number that its score does not exceed by more than SLACK."""
    size = leaf_size(grid, leaf)
    first = leaf * grid.leaf_words * 64
    out[:] = np.float32(0.0)
    for term in range(len(weighing.criteria)):
        criterion, share = weighing.criteria[term], weighing.shares[term]
        if 3 <= criterion <= 6:
            mask = np.uint8(3) if criterion == 6 else np.uint8(1 << (criterion + 2))
            marks = grid.marks[first : first + size]
            for j in range(size):
                out[j] += share if marks[j] & mask else np.float32(0.0)
        else:
            grades = grid.grades[grade_of(criterion), first : first + size]
            part = share / np.float32(255.0)
            for j in range(size):
                out[j] += part * np.float32(grades[j])


def grade_of(criterion: int) -> int:
    """The row of `grades` that bounds a criterion."""
    if criterion <= 1:
        return criterion
    if criterion in (2, 10):
        return 5
    if criterion == 11:
        return 6
    return criterion - 5
