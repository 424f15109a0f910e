"""The rank that a record would have with another score, and its possible ranks given unknown attributes."""

from collections.abc import Mapping
from typing import Final, NamedTuple, Self

import numpy as np

from touchstone.core.attributes import ETHICAL
from touchstone.ranking.array_types import Bools, Floats, Ints
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.weighted_mean import active_weights, weighted_mean

_RECORDS_PER_CHUNK: Final = 65_536
_FLAG_BY_BINARY_CRITERION: Final = {
    criterion.name: criterion.facts[0]
    for criterion in CRITERIA
    if criterion.kind == "binary" and criterion.facts[0] in ETHICAL
}
"""The attribute of each criterion that is 1 if a single ethical attribute is true."""
_ETHICAL_CRITERIA: Final = frozenset({"ethical_score", *_FLAG_BY_BINARY_CRITERION})
"""The criteria that can be higher if unknown ethical attributes are true."""


class RankRange(NamedTuple):
    """The best and the worst rank that a record can have, depending on unknown attributes."""

    best: int
    worst: int


class RankLookup:
    """Finds the rank that a record would have with another score among the records that match a query.

    Each lookup scans the scores of all matches. For a few lookups, this is faster than sorting the scores.
    """

    def __init__(self, view: View, positions: Ints, scores: Floats) -> None:
        """Prepare lookups among the records at the given ascending positions with the given scores."""
        self._view = view
        self._positions = positions
        self._scores = scores
        self._ranks: dict[tuple[int, float], int] = {}

    @classmethod
    def for_query(cls, view: View, query: Query, weights: Mapping[str, float]) -> Self:
        """Create a lookup among the records that match a query, with their actual scores."""
        positions = view.matching_positions(query)
        return cls(view, positions, view.scores(positions, weights))

    @classmethod
    def for_query_with_unknowns_true(cls, view: View, query: Query, weights: Mapping[str, float]) -> Self:
        """Create a lookup among the matches, with the scores that they would have if unknown flags were true."""
        positions = view.matching_positions(query)
        return cls(view, positions, _optimistic_scores(view, positions, weights))

    def __len__(self) -> int:
        """Return the number of matches."""
        return len(self._positions)

    def contains(self, position: int) -> bool:
        """Return whether the record at a position of the view matches."""
        index = self._index_of(position)
        return index is not None

    def rank_of(self, position: int, score: float) -> int:
        """Return the rank that the record at a position of the view would have with the given score.

        This is 1 plus the number of other matches before it. The record itself need not match. Equal scores are sorted
        by folded name and then by id.
        """
        key = (position, score)
        if key not in self._ranks:
            self._ranks[key] = self._count_before(position, score) + 1
        return self._ranks[key]

    def place_of(self, score: float) -> int:
        """Return 1 plus the number of matches with a higher score, so that matches with equal scores share a place."""
        return int(np.count_nonzero(self._scores > score)) + 1

    def count_tied_with(self, position: int, score: float) -> int:
        """Return the number of matches with the given score, except the record at a position of the view."""
        is_tied = self._scores == score
        index = self._index_of(position)
        if index is not None:
            is_tied[index] = False
        return int(np.count_nonzero(is_tied))

    def _count_before(self, position: int, score: float) -> int:
        """Return the number of other matches before the record at a position if it had the given score."""
        is_higher = self._scores > score
        is_tied = self._scores == score

        # Exclude the record itself with its actual score.
        index = self._index_of(position)
        if index is not None:
            is_higher[index] = False
            is_tied[index] = False

        higher_count = int(np.count_nonzero(is_higher))
        return higher_count + self._view.count_before(position, self._positions[is_tied])

    def _index_of(self, position: int) -> int | None:
        """Return the index of the record at a position of the view among the matches, or None if it does not match."""
        index = int(np.searchsorted(self._positions, position))
        is_match = index < len(self._positions) and int(self._positions[index]) == position
        return index if is_match else None


def find_possible_ranks(
    view: View, query: Query, weights: Mapping[str, float], positions: Ints, lookup: RankLookup | None = None
) -> list[RankRange]:
    """Return the best and the worst rank that each record could have if all ethical attributes were known.

    A record has its best rank if all its unknown attributes are true and the unknown attributes of all other records
    are false, and its worst rank in the opposite case.

    Args:
        view: the state of the catalog.
        query: the query of the ranking.
        weights: the weights by criterion.
        positions: the positions of the records in the view.
        lookup: the lookup for the query if it exists already, to avoid scoring all matches again, or None.
    """
    if lookup is None:
        lookup = RankLookup.for_query(view, query, weights)
    optimistic_lookup = RankLookup.for_query_with_unknowns_true(view, query, weights)
    scores = view.scores(positions, weights).tolist()
    optimistic_scores = _optimistic_scores(view, positions, weights).tolist()

    ranges = []
    for position, score, optimistic_score in zip(positions.tolist(), scores, optimistic_scores, strict=True):
        best_rank = lookup.rank_of(position, optimistic_score)
        worst_rank = optimistic_lookup.rank_of(position, score)
        ranges.append(RankRange(best_rank, worst_rank))
    return ranges


def _optimistic_scores(view: View, positions: Ints, weights: Mapping[str, float]) -> Floats:
    """Return the scores that records would have if all their unknown ethical attributes were true.

    The records are scored in chunks to limit the memory for their criteria.
    """
    weighted_names = [name for name, _ in active_weights(weights).terms]
    if not _ETHICAL_CRITERIA.intersection(weighted_names):
        return view.scores(positions, weights)

    scores = np.empty(len(positions))
    for start in range(0, len(positions), _RECORDS_PER_CHUNK):
        chunk = positions[start : start + _RECORDS_PER_CHUNK]
        criteria = {name: _optimistic_criterion(view, name, chunk) for name in weighted_names}
        scores[start : start + len(chunk)] = weighted_mean(criteria, weights, len(chunk))
    return scores


def _optimistic_criterion(view: View, criterion: str, positions: Ints) -> Floats:
    """Return the values of a criterion that records would have if their unknown ethical attributes were true."""
    if criterion == "ethical_score":
        true_counts = np.rint(view.criterion(criterion, positions) * len(ETHICAL))
        unknown_counts = len(ETHICAL) - view.known_ethical_counts(positions)
        return np.asarray((true_counts + unknown_counts) / len(ETHICAL))

    flag = _FLAG_BY_BINARY_CRITERION.get(criterion)
    if flag is None:
        return view.criterion(criterion, positions)
    is_true_or_unknown: Bools = view.attribute(flag, positions) != 0
    return is_true_or_unknown.astype(np.float64)
