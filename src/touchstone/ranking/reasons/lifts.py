"""What would raise a record in a ranking: the gain in score and rank from each flag that does not have its best value.

Nothing calls this module yet; advice to the owners of datasets will.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.text import fold
from touchstone.ranking.catalog.view import View
from touchstone.ranking.column_types import Facts, Floats, Ints
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.weighted_mean import score_matrix

_BEST_IF_FALSE: Final = frozenset({"has_missing_values"})


class Lift(NamedTuple):
    """What a record would gain if one of its flags had another value.

    Attributes:
        fact, value: The name of the flag, and the value that it would have.
        known: Whether the flag is known today and has the other value; False if it is not known.
        gain: By how much the score would rise.
        rank_before, rank_after: The rank of the record today and with the new value, counted from 1.
    """

    fact: str
    value: bool
    known: bool
    gain: float
    rank_before: int
    rank_after: int


def lifts(view: View, query: Query, weights: Mapping[str, float], position: int) -> tuple[Lift, ...]:
    """Return the flags that would raise the score of the record at a position, the largest gain first.

    Each flag is considered on its own. Ranks are those among the records that match the query.
    """
    facts = view.facts(np.array([position]))
    improvable_flags = [flag for flag in FLAGS if facts[flag][0] != _best_value(flag)]
    current_score, *new_scores = _score_variants(facts, improvable_flags, weights)

    competitors = _Competitors(view, query, weights, position)
    current_rank = competitors.rank_of(current_score)
    raising_lifts = []
    for flag, new_score in zip(improvable_flags, new_scores, strict=True):
        if new_score > current_score:
            lift = Lift(
                fact=flag,
                value=bool(_best_value(flag)),
                known=bool(facts[flag][0] >= 0),
                gain=new_score - current_score,
                rank_before=current_rank,
                rank_after=competitors.rank_of(new_score),
            )
            raising_lifts.append(lift)

    return tuple(sorted(raising_lifts, key=lambda lift: (-lift.gain, lift.fact)))


def _score_variants(facts: Facts, flags: list[str], weights: Mapping[str, float]) -> list[float]:
    """Return the score of one record as it is, followed by the score that it would have with each flag at its best."""
    variants = _make_variants(facts, flags)
    criteria = np.stack([criterion.compute(variants) for criterion in CRITERIA])
    scores: list[float] = score_matrix(criteria, weights).tolist()
    return scores


def _best_value(flag: str) -> int:
    """Return the value of a flag, 1 or 0, that scores highest."""
    return int(flag not in _BEST_IF_FALSE)


def _make_variants(facts: Facts, flags: list[str]) -> Facts:
    """Return the facts of one record as they are, followed by one variant for each flag with that flag at its best."""
    columns = {name: np.repeat(facts[name], len(flags) + 1) for name in (*NUMBERS, *FLAGS)}
    for variant, flag in enumerate(flags, start=1):
        columns[flag][variant] = _best_value(flag)
    return columns


class _Competitors:
    """The other records of a ranking, among which the rank of one record is looked up for any score."""

    def __init__(self, view: View, query: Query, weights: Mapping[str, float], position: int) -> None:
        ranking = view.rank(query, weights, skip=0, limit=None)
        is_other = ranking.positions != position
        self._view = view
        self._positions: Ints = ranking.positions[is_other]
        self._scores: Floats = ranking.scores[is_other]
        self._name_and_id = self._read_name_and_id(position)

    def rank_of(self, score: float) -> int:
        """Return the rank that the record would have with a score; ties are decided by folded name, then id."""
        negated_scores = -self._scores  # in ascending order, as a binary search requires
        first_tied = int(np.searchsorted(negated_scores, -score, "left"))
        after_tied = int(np.searchsorted(negated_scores, -score, "right"))

        tied_positions = self._positions[first_tied:after_tied].tolist()
        tied_before = sum(self._read_name_and_id(position) < self._name_and_id for position in tied_positions)
        return first_tied + tied_before + 1

    def _read_name_and_id(self, position: int) -> tuple[str, int]:
        """Return the folded name and the id of a record, which decide between equal scores."""
        positions = np.array([position])
        [name] = self._view.names(positions)
        [id_] = self._view.ids(positions).tolist()
        return fold(name), id_
