"""Counting of tied records, which have exactly the same score."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats

TieCounter: TypeAlias = Callable[[float], int]
"""A function that returns the number of matches with a given score."""


class TiedGroup(NamedTuple):
    """The range of a ranking with records of the same score, from index `start` to `end - 1`."""

    start: int
    end: int


def find_tied_group(scores: Floats, score: float) -> TiedGroup:
    """Return the range of a ranking with a given score, searching its descending `scores`."""
    ascending_scores = scores[::-1]  # `searchsorted` requires ascending values
    lower_count = int(np.searchsorted(ascending_scores, score, side="left"))
    not_higher_count = int(np.searchsorted(ascending_scores, score, side="right"))
    return TiedGroup(start=len(scores) - not_higher_count, end=len(scores) - lower_count)


def count_none(_score: float) -> int:
    """Return 0. This is the tie counter of rankings that are empty or do not need to count ties."""
    return 0


def count_in_unordered(scores: Floats) -> TieCounter:
    """Return a function that counts the occurrences of a given score in unordered scores."""

    def count_ties(score: float) -> int:
        return int(np.count_nonzero(scores == score))

    return count_ties


def count_in_ranking(positions: NDArray[Any], scores_by_position: Floats) -> TieCounter:
    """Return a function that counts the records with a given score in a complete ranking, by binary search.

    Args:
        positions: the positions of all matches in descending order of score.
        scores_by_position: the score of the record at each position.
    """
    ascending_positions = positions[::-1]  # `bisect` requires ascending keys

    def score_at(position: int) -> float:
        return float(scores_by_position[position])

    def count_ties(score: float) -> int:
        start = bisect_left(ascending_positions, score, key=score_at)
        end = bisect_right(ascending_positions, score, lo=start, key=score_at)
        return end - start

    return count_ties
