"""The results of a view of the catalog: rankings, pages of rankings, and fields of records."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.ties import TieCounter, count_none, find_tied_group

_RECORDS_PER_CHUNK: Final = 8192


class PartRanking(NamedTuple):
    """The first records of a ranking of one part of a view or of the whole view.

    Attributes:
        positions: the positions of the records in the order of the ranking.
        scores: the scores of the records.
        plan: the query plan: `gather` (score and sort all matches), `best first` (a search that skips most records) or
            `full order` (sort all matches for a long result).
        count_ties: a function that returns the number of all matches with a given score. The score must not be below
            the requested minimum score of the ranking.
    """

    positions: NDArray[Any]
    scores: Floats
    plan: str
    count_ties: TieCounter


NO_MATCHES: Final = PartRanking(np.empty(0, np.int64), np.empty(0), "gather", count_none)
"""The ranking of a part without matches."""


class RankedRecords(NamedTuple):
    """Consecutive records of a ranking.

    Attributes:
        positions: their positions in the view.
        scores: their scores.
        ranks: their unique ranks, counted from 1.
        places: for each record, 1 plus the number of records with a higher score, so that tied records share a place.
        tied_with: for each record, the number of other records of the whole ranking with the same score.
    """

    positions: Ints
    scores: Floats
    ranks: range
    places: Ints
    tied_with: Ints


class RankedWindow:
    """One page of a ranking.

    Attributes:
        positions: the positions of the records in the order of the ranking.
        scores: the scores of the records.
        plan: the query plan: `gather`, `best first` or `full order`.
    """

    def __init__(self, ranking: PartRanking, *, skip: int, count: Callable[[], int], is_complete: bool) -> None:
        """Create a page.

        Args:
            ranking: the ranking of the view from the best record to the end of the page.
            skip: the number of records before the page.
            count: a function that returns the number of all matches, called only if it is needed.
            is_complete: whether there are no matches after the page.
        """
        self.positions = ranking.positions[skip:]
        self.scores = ranking.scores[skip:]
        self.plan = ranking.plan
        self._skip = skip
        self._ranking_scores = ranking.scores
        self._count = count
        self._count_ties = None if is_complete else ranking.count_ties

    @cached_property
    def total_count(self) -> int:
        """The total number of matches, counted on first access."""
        return self._count()

    def chunks(self, size: int = _RECORDS_PER_CHUNK) -> Iterator[RankedRecords]:
        """Iterate over the records of the page in chunks, for streaming responses."""
        end = len(self._ranking_scores)
        for start in range(self._skip, end, size):
            yield self._records(start, min(end, start + size))

    def records(self) -> RankedRecords:
        """Return all records of the page."""
        return self._records(self._skip, len(self._ranking_scores))

    def _records(self, start: int, end: int) -> RankedRecords:
        """Return the records of the ranking from index `start` to `end - 1`, counted from the best record."""
        scores = self._ranking_scores[start:end]
        ranks = range(start + 1, end + 1)
        positions = self.positions[start - self._skip : end - self._skip]
        if not len(scores):
            return RankedRecords(positions, scores, ranks, np.empty(0, np.int64), np.empty(0, np.int64))

        # Records with the same score are adjacent and form a group, which begins where the score changes.
        is_group_start = np.concatenate([[True], scores[1:] != scores[:-1]])
        group_starts = start + np.flatnonzero(is_group_start)
        group_ends = np.append(group_starts[1:], self._end_of_group(float(scores[-1])))

        # The first group may begin before these records.
        group_starts[0] = find_tied_group(self._ranking_scores, float(scores[0])).start

        group_numbers = np.cumsum(is_group_start) - 1  # the group of each record
        places = group_starts[group_numbers] + 1
        tied_with = (group_ends - group_starts - 1)[group_numbers]
        return RankedRecords(positions, scores, ranks, places, tied_with)

    def _end_of_group(self, score: float) -> int:
        """Return the index after the last record of the whole ranking with the given score, even after the page."""
        group_end = find_tied_group(self._ranking_scores, score).end
        reaches_end_of_page = group_end == len(self._ranking_scores)
        return group_end + self._ties_after_page if reaches_end_of_page else group_end

    @cached_property
    def _ties_after_page(self) -> int:
        """The number of records after the page with the score of its last record, counted on first access."""
        if self._count_ties is None:
            return 0

        # No score is below 0, so all records after the page have the same score.
        last_score = float(self._ranking_scores[-1])
        if last_score == 0.0:
            return self.total_count - len(self._ranking_scores)

        start, end = find_tied_group(self._ranking_scores, last_score)
        ties_to_end = end - start
        return self._count_ties(last_score) - ties_to_end


class SortedWindow(NamedTuple):
    """One page of a sorted list, as positions in the order of the list, and the total number of matches."""

    positions: Ints
    total_count: int


class ScoredItems(NamedTuple):
    """The fields of scored items (interface, section 2.6), column by column, as plain Python values.

    Attributes:
        known: for each record, the number of ethical attributes with a known value.
    """

    id: list[int]
    dataset_id: list[str]
    dataset_name: list[str]
    ethical_score: list[float]
    technical_score: list[float]
    popularity_score: list[float]
    instances_number: list[int | None]
    features_number: list[int | None]
    objective: list[str | None]
    known: list[int]
