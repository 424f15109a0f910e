"""The inner loops over many leaves or all records: best first, in full order, along a permutation, tallies."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.leaf_kernels import (
    FEW,
    ONE,
    RADIX,
    SLACK,
    ZERO,
    Asked,
    Grid,
    Weighing,
    Words,
    bucket,
    chosen,
    estimate,
    leaf_size,
    lowest,
    ones,
    score,
    scores_at,
    technical,
)

_SHORT: Final = 48  # runs up to this length are sorted where they lie
_VALUES: Final = 12  # runs of no more different scores are dealt out score by score


class Search(NamedTuple):
    """What is looked for where."""

    grid: Grid
    asked: Asked
    weighing: Weighing


class Agenda(NamedTuple):
    """The leaves, best bound first, with their bounds, and room to work on one leaf."""

    leaves: NDArray[np.int64]
    bound: NDArray[np.float64]
    mask: Words
    estimates: NDArray[np.float32]
    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


class Best(NamedTuple):
    """The best records so far: a heap with the worst at its root."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


class Graded(NamedTuple):
    """A score and a key to sort by for every record, filled where they are wanted."""

    scores: NDArray[np.float64]
    keys: NDArray[np.uint32]


class Repairs(NamedTuple):
    """Room to repair an order in: the ends of the runs that are left, and the rows and scores of one run."""

    left: NDArray[np.int64]
    rows: NDArray[np.uint32]
    scores: NDArray[np.float64]


class Keyed(NamedTuple):
    """Keys to sort by, and the index that each came from."""

    keys: NDArray[np.uint32]
    places: NDArray[np.uint32]


def top(search: Search, agenda: Agenda, best: Best) -> tuple[int, int]:
    """The best records that match, into a heap: how many, and how many leaves were visited.

    A leaf is passed over when its bound is below the worst score kept, or equals it while all of its names come
    later; the search ends with the first bucket of bounds that cannot reach it.
    """
    grid, size, visited = search.grid, 0, 0
    for k in range(len(agenda.leaves)):
        leaf = agenda.leaves[k]
        bound = agenda.bound[leaf]
        if search.asked.alive_counts[leaf] == 0 or not search.asked.possible[leaf]:
            continue
        if size == len(best.positions):
            if bucket(bound) > bucket(best.scores[0]):
                break
            tie = bound == best.scores[0] and grid.first[leaf] > grid.order[best.positions[0]]
            if bound < best.scores[0] or tie:
                continue
        visited += 1
        size = visit(search, agenda, best, leaf, size)
    return size, visited


def visit(search: Search, agenda: Agenda, best: Best, leaf: int, size: int) -> int:
    """Offer the records of one leaf that match and can be among the best; returns how many those hold."""
    grid = search.grid
    found = chosen(grid, search.asked, leaf, agenda.mask)
    if found == 0:
        return size
    agenda.estimates[:] = np.float32(np.inf)
    floor = np.float32(-np.inf)
    if size == len(best.positions):
        floor = np.float32(best.scores[0] - SLACK)
        if found > FEW:
            estimate(grid, search.weighing, leaf, agenda.estimates)
    count = likely(agenda.mask, agenda.estimates, floor, agenda.rows)
    rows, scores = agenda.rows[:count], agenda.scores[:count]
    for k in range(count):
        rows[k] += leaf * grid.leaf_words * 64
    scores_at(grid, search.weighing, rows, scores)
    return offer(grid.order, rows, scores, best, size)


def likely(mask: Words, estimates: NDArray[np.float32], floor: np.float32, rows: NDArray[np.int64]) -> int:
    """The records of a mask whose estimate reaches a floor: their places into `rows`, their number returned."""
    count = 0
    for w in range(len(mask)):
        rest = mask[w]
        while rest != ZERO:
            j = 64 * w + lowest(rest)
            rest &= rest - ONE
            rows[count] = j
            count += int(estimates[j] >= floor)
    return count


def worse(order: NDArray[np.uint32], best: Best, a: int, b: int) -> bool:
    """Whether the record at place a of a heap comes after the one at place b."""
    if best.scores[a] != best.scores[b]:
        return bool(best.scores[a] < best.scores[b])
    return bool(order[best.positions[a]] > order[best.positions[b]])


def swap(best: Best, a: int, b: int) -> None:
    """Let two records of a heap change places."""
    best.positions[a], best.positions[b] = best.positions[b], best.positions[a]
    best.scores[a], best.scores[b] = best.scores[b], best.scores[a]


def sink(order: NDArray[np.uint32], best: Best, size: int) -> None:
    """Restore a heap with the worst record at its root after the root was replaced."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and worse(order, best, child + 1, child):
            child += 1
        if not worse(order, best, child, at):
            return
        swap(best, at, child)
        at = child


def rise(order: NDArray[np.uint32], best: Best, size: int) -> None:
    """Restore the heap after a record was put at its end."""
    at = size - 1
    while at > 0:
        parent = (at - 1) >> 1
        if not worse(order, best, at, parent):
            return
        swap(best, at, parent)
        at = parent


def offer(order: NDArray[np.uint32], rows: NDArray[np.int64], found: NDArray[np.float64], best: Best, size: int) -> int:
    """Put those of some records with their scores that belong there among the best; returns how many those hold."""
    room = len(best.positions)
    for k in range(len(rows)):
        if size < room:
            best.positions[size], best.scores[size] = rows[k], found[k]
            size += 1
            rise(order, best, size)
            continue
        tie = found[k] == best.scores[0] and order[rows[k]] < order[best.positions[0]]
        if found[k] > best.scores[0] or tie:
            best.positions[0], best.scores[0] = rows[k], found[k]
            sink(order, best, size)
    return size


def positions_of(words: Words, out: NDArray[np.int64]) -> None:
    """The positions of the set bits, in order."""
    k = 0
    for w in range(len(words)):
        rest = words[w]
        while rest != ZERO:
            out[k] = 64 * w + lowest(rest)
            k += 1
            rest &= rest - ONE


def along(words: Words, permutation: NDArray[np.uint32], out: NDArray[np.uint32]) -> int:
    """The positions whose bits are set in the order of a permutation: all of them; returns how many."""
    k = 0
    for at in range(len(permutation)):
        i = permutation[at]
        out[k] = i
        k += int((words[i >> 6] >> np.uint64(i & 63)) & ONE)
    return k


def walk(words: Words, permutation: NDArray[np.uint32], skip: int, out: NDArray[np.int64]) -> int:
    """The positions whose bits are set in the order of a permutation: from the `skip`-th until `out` is full."""
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


def ranking_keys(grid: Grid, weighing: Weighing, words: Words, start: int, out: Graded) -> None:
    """The scores of the records whose bits are set, and keys that grow as the scores fall; `words` begin at `start`."""
    for w in range(len(words)):
        rest = words[w]
        while rest != ZERO:
            i = 64 * (start + w) + lowest(rest)
            found = score(grid, weighing, i)
            out.scores[i] = found
            out.keys[i] = np.uint32((1.0 - found) * 4294967295.0)
            rest &= rest - ONE


def count_digits(shift: int, keys: NDArray[np.uint32], counts: NDArray[np.int64]) -> None:
    """Add up how often each digit occurs in these keys; `counts`: `RADIX` zeros."""
    low, by = np.uint32(RADIX - 1), np.uint32(shift)
    for k in range(len(keys)):
        counts[int((keys[k] >> by) & low)] += 1


def deal_digits(shift: int, source: Keyed, target: Keyed, starts: NDArray[np.int64]) -> None:
    """Put keys and places where their digit's part of the target begins, in the order they have; `starts` move on."""
    low, by, keys = np.uint32(RADIX - 1), np.uint32(shift), source.keys
    for k in range(len(keys)):
        d = int((keys[k] >> by) & low)
        to = starts[d]
        target.keys[to], target.places[to] = keys[k], source.places[k]
        starts[d] = to + 1


def repair(keys: NDArray[np.uint32], places: NDArray[np.uint32], scores: NDArray[np.float64], room: Repairs) -> int:
    """Sort runs of equal keys by exact score, stable; returns how many were left, their ends in `room.left`."""
    start = left = 0
    for k in range(1, len(keys) + 1):
        if k < len(keys) and keys[k] == keys[start]:
            continue
        if k - start > 1 and not falling(places, scores, start, k):
            if k - start <= _SHORT:
                insert(places, scores, start, k)
            elif not deal(places[start:k], scores, room):
                room.left[2 * left], room.left[2 * left + 1] = start, k
                left += 1
        start = k
    return left


def deal(run: NDArray[np.uint32], scores: NDArray[np.float64], room: Repairs) -> bool:
    """Sort a long run, stable, the records of each score in turn; false, and as it was, when they differ too much."""
    size = len(run)
    for k in range(size):
        room.rows[k] = run[k]
        room.scores[k] = scores[run[k]]
    above, at = np.inf, 0
    for _ in range(_VALUES):
        best = -np.inf
        for k in range(size):
            if best < room.scores[k] < above:
                best = room.scores[k]
        for k in range(size):
            if room.scores[k] == best:
                run[at] = room.rows[k]
                at += 1
        if at == size:
            return True
        above = best
    for k in range(size):
        run[k] = room.rows[k]
    return False


def falling(places: NDArray[np.uint32], scores: NDArray[np.float64], start: int, end: int) -> bool:
    """Whether the scores of a run never rise."""
    k = start + 1
    while k < end and scores[places[k]] <= scores[places[k - 1]]:
        k += 1
    return k == end


def insert(places: NDArray[np.uint32], scores: NDArray[np.float64], start: int, end: int) -> None:
    """Sort a short run by score decreasing, equal scores in the order they had."""
    for k in range(start + 1, end):
        place = places[k]
        at = k
        while at > start and scores[places[at - 1]] < scores[place]:
            places[at] = places[at - 1]
            at -= 1
        places[at] = place


def take(values: NDArray[Any], positions: NDArray[np.uint32], out: NDArray[Any]) -> None:
    """The values at these positions, which NumPy would turn into wider numbers first."""
    for k in range(len(positions)):
        out[k] = values[positions[k]]


def technical_plane(grid: Grid, low: float, high: float, out: Words) -> None:
    """The records whose technical score is within bounds; the grade alone decides all but those at the edges."""
    grades = grid.grades[1]
    for i in range(grid.size):
        above = grades[i] / 255.0
        below = (int(grades[i]) - 1) / 255.0
        if above < low or below > high:
            continue
        if below < low or above > high:
            found = technical(grid, i)
            if found < low or found > high:
                continue
        out[i >> 6] |= ONE << np.uint64(i & 63)


def tally(words: Words, codes: NDArray[Any], counts: NDArray[np.int64]) -> None:
    """Add up how often each code occurs among the records whose bits are set."""
    for w in range(len(words)):
        rest = words[w]
        while rest != ZERO:
            counts[codes[64 * w + lowest(rest)]] += 1
            rest &= rest - ONE


def overlap(words: Words, plane: Words) -> int:
    """How many bits are set in both."""
    total = 0
    for w in range(len(words)):
        if words[w] != ZERO:
            total += ones(words[w] & plane[w])
    return total


def technical_extremes(grid: Grid, words: Words, lowest_of: NDArray[np.float64]) -> tuple[float, float]:
    """The smallest and the largest technical score among the records whose bits are set; (inf, -inf) for none."""
    low, high = np.inf, -np.inf
    for leaf in range(len(lowest_of)):
        if lowest_of[leaf] >= low and grid.upper[1, leaf] <= high:
            continue
        first = leaf * grid.leaf_words
        found = 0
        for w in range(first, first + grid.leaf_words):
            found += ones(words[w])
        if found == leaf_size(grid, leaf):
            low, high = min(low, lowest_of[leaf]), max(high, grid.upper[1, leaf])
        elif found > 0:
            low, high = technical_in(grid, words, first, low, high)
    return low, high


def technical_in(grid: Grid, words: Words, first: int, low: float, high: float) -> tuple[float, float]:
    """The extremes of the technical score so far and in one leaf."""
    for w in range(first, first + grid.leaf_words):
        rest = words[w]
        while rest != ZERO:
            found = technical(grid, 64 * w + lowest(rest))
            rest &= rest - ONE
            low, high = min(low, found), max(high, found)
    return low, high
