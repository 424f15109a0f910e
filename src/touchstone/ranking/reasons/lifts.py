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
    """What a record would gain if a flag were `value`: in score, and in rank (from 1).

    `known`: False if the flag is not known today, True if it is known to have the other value.
    """

    fact: str
    value: bool
    known: bool
    gain: float
    rank_before: int
    rank_after: int


def lifts(view: View, query: Query, weights: Mapping[str, float], position: int) -> tuple[Lift, ...]:
    """Return the flags that would raise the score of the record at a position, largest gain first.

    Ranks are those among the records that match the query.
    """
    facts = view.facts(np.array([position]))
    flags = [flag for flag in FLAGS if facts[flag][0] != _best_value(flag)]
    criteria = np.stack([criterion.compute(_variants(facts, flags)) for criterion in CRITERIA])
    score_now, *scores = score_matrix(criteria, weights).tolist()

    competitors = _Competitors(view, query, weights, position)
    rank_before = competitors.rank_of(score_now)
    raised = [
        Lift(
            fact=flag,
            value=bool(_best_value(flag)),
            known=bool(facts[flag][0] >= 0),
            gain=score - score_now,
            rank_before=rank_before,
            rank_after=competitors.rank_of(score),
        )
        for flag, score in zip(flags, scores, strict=True)
        if score > score_now
    ]
    return tuple(sorted(raised, key=lambda lift: (-lift.gain, lift.fact)))


def _best_value(flag: str) -> int:
    return int(flag not in _BEST_IF_FALSE)


def _variants(facts: Facts, flags: list[str]) -> Facts:
    """Return the record as it is, then once for each of the flags with that flag at its best value."""
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
        first, last = np.searchsorted(-self._scores, -score, "left"), np.searchsorted(-self._scores, -score, "right")
        tied = self._positions[first:last].tolist()
        tied_before = sum(self._read_name_and_id(position) < self._name_and_id for position in tied)
        return int(first) + tied_before + 1

    def _read_name_and_id(self, position: int) -> tuple[str, int]:
        at = np.array([position])
        [name], [id_] = self._view.names(at), self._view.ids(at).tolist()
        return fold(name), id_
