"""The results that a view of the catalog returns: rankings, pages of them, and the fields of their records."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.ties import TieCounter, count_none, find_tied_group

_RECORDS_PER_CHUNK: Final = 8192


class PartRanking(NamedTuple):
    """The first records of a ranking, either of one part of a view or of all its parts.

    Attributes:
        positions, scores: The positions of the records in order, and their scores.
        plan: How they were found: `gather` (all matches were scored and sorted), `best first` (a search that skips most
            records) or `full order` (all matches were sorted for a long answer).
        count_ties: Returns how many matches have exactly a score, including those that come after these records. The
            score must be high enough for the ranking: a part that was asked for scores from a minimum on does not count
            lower ones.
    """

    positions: NDArray[Any]
    scores: Floats
    plan: str
    count_ties: TieCounter


NO_MATCHES: Final = PartRanking(np.empty(0, np.int64), np.empty(0), "gather", count_none)
"""The ranking of a part in which nothing matches."""


class RankedRecords(NamedTuple):
    """Consecutive records of a ranking.

    Attributes:
        positions, scores: Their positions in the view, and their scores.
        ranks: Their numbers in the order, counted from 1; no two records share one.
        places: For each record 1 + the number of records with a higher score, so that tied records share a place.
        tied_with: For each record how many other records of the whole ranking have exactly the same score.
    """

    positions: Ints
    scores: Floats
    ranks: range
    places: Ints
    tied_with: Ints


class RankedWindow:
    """One page of a ranking.

    Attributes:
        positions, scores: The positions of its records in order, and their scores.
        plan: How they were found: `gather`, `best first` or `full order`.
    """

    def __init__(self, ranking: PartRanking, *, skip: int, count: Callable[[], int], is_complete: bool) -> None:
        """Take the page from the end of a ranking of the view, after its first `skip` records.

        `count` returns the number of all matches; it is called only if somebody asks. `is_complete` says that no match
        comes after the page.
        """
        self.positions = ranking.positions[skip:]
        self.scores = ranking.scores[skip:]
        self.plan = ranking.plan
        self._skip = skip
        self._scores_to_end = ranking.scores
        self._count = count
        self._count_ties = None if is_complete else ranking.count_ties

    @cached_property
    def total_count(self) -> int:
        """How many records match in all, counted when this is first read."""
        return self._count()

    def chunks(self, size: int = _RECORDS_PER_CHUNK) -> Iterator[RankedRecords]:
        """Iterate over the records of the page in pieces, for responses that are encoded while they are sent."""
        end = len(self._scores_to_end)
        for start in range(self._skip, end, size):
            yield self._records(start, min(end, start + size))

    def records(self) -> RankedRecords:
        """Return all records of the page."""
        return self._records(self._skip, len(self._scores_to_end))

    def _records(self, start: int, end: int) -> RankedRecords:
        """Return the records of the ranking from index `start` to `end - 1`, where index 0 is the best of all."""
        scores = self._scores_to_end[start:end]
        ranks = range(start + 1, end + 1)
        positions = self.positions[start - self._skip : end - self._skip]
        if not len(scores):
            return RankedRecords(positions, scores, ranks, np.empty(0, np.int64), np.empty(0, np.int64))

        # Records with the same score follow each other. Each such group begins where the score changes.
        begins_group = np.concatenate([[True], scores[1:] != scores[:-1]])
        group_starts = start + np.flatnonzero(begins_group)
        group_ends = np.append(group_starts[1:], self._end_of_group(float(scores[-1])))

        # The first group may begin before these records.
        group_starts[0] = find_tied_group(self._scores_to_end, float(scores[0])).start

        group_numbers = np.cumsum(begins_group) - 1  # the group of each record
        places = group_starts[group_numbers] + 1
        tied_with = (group_ends - group_starts - 1)[group_numbers]
        return RankedRecords(positions, scores, ranks, places, tied_with)

    def _end_of_group(self, score: float) -> int:
        """Return the index after the last record of the whole ranking that has a score; it may lie after the page."""
        group_end = find_tied_group(self._scores_to_end, score).end
        reaches_end_of_page = group_end == len(self._scores_to_end)
        return group_end + self._ties_after_page if reaches_end_of_page else group_end

    @cached_property
    def _ties_after_page(self) -> int:
        """How many records after the page have the score of its last record, counted when this is first read."""
        if self._count_ties is None:
            return 0

        # No score is lower than 0, so all records after the page have this score, too.
        last_score = float(self._scores_to_end[-1])
        if last_score == 0.0:
            return self.total_count - len(self._scores_to_end)

        start, end = find_tied_group(self._scores_to_end, last_score)
        ties_to_end = end - start
        return self._count_ties(last_score) - ties_to_end


class SortedWindow(NamedTuple):
    """One page of a sorted list: the positions of its records in order, and how many records match in all."""

    positions: Ints
    total_count: int


class ScoredItems(NamedTuple):
    """The fields of scored items (interface, section 2.6), column by column, as plain Python values.

    `known` counts the ethical attributes of which it is known whether they are true or false.
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
