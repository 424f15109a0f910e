"""Counting tied records: those that have exactly the same score."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats

TieCounter: TypeAlias = Callable[[float], int]
"""A function that returns how many matches of a query have exactly a score."""


class TiedGroup(NamedTuple):
    """Where the records with one score are in a ranking: from index `start` to `end - 1`."""

    start: int
    end: int


def find_tied_group(scores: Floats, score: float) -> TiedGroup:
    """Return where the records with a score are in a ranking, which is given by its scores, the highest first."""
    lowest_first = scores[::-1]  # `searchsorted` expects values that rise
    lower_count = int(np.searchsorted(lowest_first, score, side="left"))
    not_higher_count = int(np.searchsorted(lowest_first, score, side="right"))
    return TiedGroup(start=len(scores) - not_higher_count, end=len(scores) - lower_count)


def count_none(_score: float) -> int:
    """Return 0: the tie counter of a ranking in which nothing matches, or whose ties nobody asks for."""
    return 0


def count_in_unordered(scores: Floats) -> TieCounter:
    """Return a function that counts how many of some scores, in any order, equal the score that it is given."""

    def count_ties(score: float) -> int:
        return int(np.count_nonzero(scores == score))

    return count_ties


def count_in_ranking(positions: NDArray[Any], scores_by_position: Floats) -> TieCounter:
    """Return a function that counts the records with a given score in a ranking of all matches.

    `positions` lists all matches, the highest score first. `scores_by_position` holds the score of the record at each
    position; a binary search reads only a few of them.
    """
    lowest_first = positions[::-1]  # `bisect` expects keys that rise

    def score_at(position: int) -> float:
        return float(scores_by_position[position])

    def count_ties(score: float) -> int:
        start = bisect_left(lowest_first, score, key=score_at)
        end = bisect_right(lowest_first, score, lo=start, key=score_at)
        return end - start

    return count_ties
