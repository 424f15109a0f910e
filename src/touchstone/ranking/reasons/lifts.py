"""What would raise a record in a ranking: the flags that do not have their best value, one by one and together."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.ranking.catalog.view import View
from touchstone.ranking.column_types import Bools, Facts, Floats
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.reasons.rank_lookup import RankLookup, RankRange, find_unknown_ranks
from touchstone.ranking.weighted_mean import active_weights, score_matrix

_BEST_IF_FALSE: Final = frozenset({"has_missing_values"})


class Lift(NamedTuple):
    """What a record would gain if it were established that one of its flags has its best value.

    Attributes:
        attribute, value: The name of the flag, and its best value.
        current: The value that it has at the assurance of the ranking; None if it is not known there.
        declared: The value that it is declared to have; None if there is none.
        criteria: The weighted criteria that would rise.
        gain: By how much the score would rise.
        score, rank: The score and the rank that the record would then have.
    """

    attribute: str
    value: bool
    current: bool | None
    declared: bool | None
    criteria: tuple[str, ...]
    gain: float
    score: float
    rank: int


class LiftedRecord(NamedTuple):
    """Some flags of a record, and the score and rank that it would have if all of them had their best value."""

    attributes: tuple[str, ...]
    score: float
    rank: int


class LiftReport(NamedTuple):
    """What would raise a record in a ranking.

    Attributes:
        score, rank: The score and rank that the record has.
        matches: Whether it matches the query; if not, its rank is that among the records that do.
        total_count: How many records match.
        unknown_ranks: The ranks that the unknown ethical attributes allow.
        lifts: All flags that do not have their best value, the largest gain first, then by name.
        all_established: The record with the best value of every flag.
        smallest_set: The smallest set of flags that gives the record the target rank, the one with the highest score
            if there are several. None if there is no target, or if no set reaches it.
    """

    score: float
    rank: int
    matches: bool
    total_count: int
    unknown_ranks: RankRange
    lifts: tuple[Lift, ...]
    all_established: LiftedRecord
    smallest_set: LiftedRecord | None


def find_lifts(
    view: View, query: Query, weights: Mapping[str, float], position: int, target_rank: int | None = None
) -> LiftReport:
    """Return what would raise the record at a position of a view, in the ranking of the records that match a query.

    Nothing but the flags of this record changes, and the filters of the query are not applied to it anew.
    """
    lookup = RankLookup.of_query(view, query, weights)
    record = _FlagVariants(view, weights, position)
    current = record.establish((), lookup)
    [unknown_ranks] = find_unknown_ranks(view, query, weights, np.array([position]), lookup)

    lifts = [_lift(record, flag, current.score, lookup) for flag in record.improvable_flags]
    raising_flags = tuple(lift.attribute for lift in lifts if lift.criteria)
    return LiftReport(
        score=current.score,
        rank=current.rank,
        matches=lookup.contains(position),
        total_count=len(lookup),
        unknown_ranks=unknown_ranks,
        lifts=tuple(sorted(lifts, key=lambda lift: (-lift.gain, lift.attribute))),
        all_established=record.establish(raising_flags, lookup),
        smallest_set=_find_smallest_set(record, raising_flags, target_rank, lookup) if target_rank else None,
    )


class _FlagVariants:
    """One record of a view, and variants of it in which some of its flags have their best value."""

    def __init__(self, view: View, weights: Mapping[str, float], position: int) -> None:
        positions = np.array([position])
        self.facts: Facts = view.facts(positions)
        self.declared_facts: Facts = view.declared.facts(positions)
        self.improvable_flags = [flag for flag in FLAGS if self.facts[flag][0] != _best_value(flag)]
        self._position = position
        self._weights = weights

    def establish(self, flags: Sequence[str], lookup: RankLookup) -> LiftedRecord:
        """Return the score and the rank that the record would have if some flags had their best value."""
        [score] = self.score_variants(flags, np.ones((1, len(flags)), np.bool_)).tolist()
        return LiftedRecord(tuple(flags), score, lookup.rank_of(self._position, score))

    def raised_criteria(self, flag: str) -> tuple[str, ...]:
        """Return the weighted criteria that would rise if a flag had its best value."""
        criteria = self._compute_criteria((flag,), np.array([[False], [True]]))
        raised_names = np.array(CRITERION_NAMES)[criteria[:, 1] > criteria[:, 0]].tolist()

        weighted_names = [name for name, _ in active_weights(self._weights).terms]
        return tuple(name for name in weighted_names if name in raised_names)

    def score_variants(self, flags: Sequence[str], is_established: Bools) -> Floats:
        """Return the scores of many variants of the record.

        `is_established` has one row for each variant and one column for each flag: whether it has its best value.
        """
        return score_matrix(self._compute_criteria(flags, is_established), self._weights)

    def _compute_criteria(self, flags: Sequence[str], is_established: Bools) -> Floats:
        """Return the criteria of many variants, given as in `score_variants`: one row for each criterion."""
        columns: dict[str, NDArray[Any]] = {
            name: np.repeat(values, len(is_established)) for name, values in self.facts.items()
        }
        for column, flag in enumerate(flags):
            columns[flag][is_established[:, column]] = _best_value(flag)
        return np.stack([criterion.compute(columns) for criterion in CRITERIA])


def _best_value(flag: str) -> int:
    """Return the value of a flag, 1 or 0, that scores highest."""
    return int(flag not in _BEST_IF_FALSE)


def _lift(record: _FlagVariants, flag: str, current_score: float, lookup: RankLookup) -> Lift:
    """Return what a record would gain if one of its flags had its best value."""
    lifted = record.establish((flag,), lookup)
    return Lift(
        attribute=flag,
        value=bool(_best_value(flag)),
        current=_flag_value(record.facts, flag),
        declared=_flag_value(record.declared_facts, flag),
        criteria=record.raised_criteria(flag),
        gain=lifted.score - current_score,
        score=lifted.score,
        rank=lifted.rank,
    )


def _flag_value(facts: Facts, flag: str) -> bool | None:
    """Return a flag of one record; None if it is not known."""
    value = int(facts[flag][0])
    return None if value < 0 else bool(value)


def _find_smallest_set(
    record: _FlagVariants, flags: tuple[str, ...], target_rank: int, lookup: RankLookup
) -> LiftedRecord | None:
    """Return the smallest set of some flags that gives a record a target rank; None if there is no such set.

    A flag may add less if another one has its best value too, so all sets are scored: 16,384 at most.
    """
    set_numbers = np.arange(2 ** len(flags)).reshape(-1, 1)
    is_established = (set_numbers >> np.arange(len(flags))) % 2 == 1
    scores = record.score_variants(flags, is_established)
    sizes = is_established.sum(axis=1)

    # No other set of the same size has a better rank than the one with the highest score.
    for size in range(len(flags) + 1):
        sets = np.flatnonzero(sizes == size)
        best_set = int(sets[scores[sets].argmax()])
        members = [flag for flag, is_member in zip(flags, is_established[best_set], strict=True) if is_member]
        lifted = record.establish(members, lookup)
        if lifted.rank <= target_rank:
            return lifted
    return None
