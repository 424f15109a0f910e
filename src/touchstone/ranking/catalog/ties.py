"""Counting the records that share one score: among some scores, or in an order of all matches."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Floats

TieCounter: TypeAlias = Callable[[float], int]
"""A function that returns how many matches have exactly a score."""


def count_none(_score: float) -> int:
    """Return the number of ties where nothing matches."""
    return 0


def count_among(scores: Floats) -> TieCounter:
    """Return the function that counts how many of some scores, in any order, equal another one."""
    return lambda score: int(np.count_nonzero(scores == score))


def count_in_order(positions: NDArray[Any], scores: Floats) -> TieCounter:
    """Return the function that counts records with a score in a ranking of all matches.

    `positions` lists the matches by score decreasing, and `scores` holds the score at each position.
    """

    def count_ties(score: float) -> int:
        first, after = find_ties(positions, score, lambda position: float(scores[position]))
        return after - first

    return count_ties


def find_ties(descending: NDArray[Any], score: float, score_of: Callable[[Any], float] = float) -> tuple[int, int]:
    """Return where the elements with a score begin and end in a list that is ordered by score decreasing.

    `score_of` returns the score of an element; by default the elements are scores.
    """

    def negated_score(index: int) -> float:
        return -score_of(descending[index])

    indices = range(len(descending))
    first = bisect_left(indices, -score, key=negated_score)
    after = bisect_right(indices, -score, lo=first, key=negated_score)
    return first, after
