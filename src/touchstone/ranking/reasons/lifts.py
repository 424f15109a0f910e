"""What would move a record up in a ranking: its *lifts*.

A flag is an attribute that is true, false or not known. Each has a best value, with which the criteria computed from it
are highest. A lift is one flag of a record that does not have its best value, together with the score and the rank that
the record would have if it were established that it does.
"""

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.ranking.array_types import Bools, Facts, Floats
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.reasons.rank_lookup import RankLookup, RankRange, find_unknown_ranks
from touchstone.ranking.weighted_mean import active_weights, score_matrix

_BEST_IF_FALSE: Final = frozenset({"has_missing_values"})
"""The flags whose best value is false; that of all others is true."""


class Lift(NamedTuple):
    """How far a record would rise if it were established that one of its flags has its best value.

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
    """All lifts of a record, one by one and together.

    Attributes:
        score, rank: The score and rank that the record has now.
        place: 1 + the number of matches with a higher score; `tied_with` is how many other matches have this score.
        matches: Whether it matches the query; if not, its rank is that among the records that do.
        total_count: How many records match.
        unknown_ranks: The ranks that it can have, depending on what is not known of its and others' ethical attributes.
        lifts: A lift for each flag that does not have its best value, the largest gain first, then by name.
        all_established: The score and rank that the record would have with the best value of every flag.
        smallest_set: The smallest set of flags whose best values give the record the target rank, the one with the
            highest score if there are several. None if there is no target, or if no set reaches it.
    """

    score: float
    rank: int
    place: int
    tied_with: int
    matches: bool
    total_count: int
    unknown_ranks: RankRange
    lifts: tuple[Lift, ...]
    all_established: LiftedRecord
    smallest_set: LiftedRecord | None


def find_lifts(
    view: View, query: Query, weights: Mapping[str, float], position: int, target_rank: int | None = None
) -> LiftReport:
    """Find out how far a record would rise in a ranking if its flags had their best value, which is mostly "true".

    The ranking is that of the records that match the query, and `position` denotes the record in the view. With a
    target rank, the report also names the smallest set of flags that would bring the record there. Only the flags of
    this record change. Whether it matches the query is decided by the values that it has now.
    """
    lookup = RankLookup.of_query(view, query, weights)
    variants = _RecordVariants(view, weights, position, lookup)
    current = variants.establish(())
    [unknown_ranks] = find_unknown_ranks(view, query, weights, np.array([position]), lookup)

    lifts = [_describe_lift(variants, flag, current.score) for flag in variants.improvable_flags]
    largest_gain_first = sorted(lifts, key=lambda lift: (-lift.gain, lift.attribute))

    raising_flags = tuple(lift.attribute for lift in lifts if lift.criteria)
    smallest_set = None
    if target_rank is not None:
        smallest_set = _find_smallest_set(variants, raising_flags, target_rank)

    return LiftReport(
        score=current.score,
        rank=current.rank,
        place=lookup.place_of(current.score),
        tied_with=lookup.count_tied_with(position, current.score),
        matches=lookup.contains(position),
        total_count=len(lookup),
        unknown_ranks=unknown_ranks,
        lifts=tuple(largest_gain_first),
        all_established=variants.establish(raising_flags),
        smallest_set=smallest_set,
    )


class _RecordVariants:
    """Variants of one record, in which some of its flags have their best value, with their scores and ranks."""

    def __init__(self, view: View, weights: Mapping[str, float], position: int, lookup: RankLookup) -> None:
        """Prepare variants of the record at a position of a view; `lookup` finds their ranks."""
        positions = np.array([position])
        self.facts: Facts = view.facts(positions)
        self.declared_facts: Facts = view.declared.facts(positions)
        self.improvable_flags = [flag for flag in FLAGS if self.facts[flag][0] != best_value(flag)]
        self._position = position
        self._weights = weights
        self._lookup = lookup

    def establish(self, flags: Sequence[str]) -> LiftedRecord:
        """Return the score and the rank that the record would have if all of some flags had their best value."""
        all_flags = np.ones((1, len(flags)), np.bool_)
        [score] = self.score_variants(flags, all_flags).tolist()
        return LiftedRecord(tuple(flags), score, self._lookup.rank_of(self._position, score))

    def raised_criteria(self, flag: str) -> tuple[str, ...]:
        """Return the weighted criteria that would be higher if a flag had its best value."""
        without_and_with_flag = np.array([[False], [True]])
        criteria = self._compute_criteria((flag,), without_and_with_flag)
        is_raised = dict(zip(CRITERION_NAMES, criteria[:, 1] > criteria[:, 0], strict=True))
        return tuple(name for name, _ in active_weights(self._weights).terms if is_raised[name])

    def score_variants(self, flags: Sequence[str], is_established: Bools) -> Floats:
        """Return the scores of many variants of the record.

        `is_established` has one row for each variant and one column for each of `flags`. It tells whether this variant
        has the best value of this flag, or else the value of the record.
        """
        return score_matrix(self._compute_criteria(flags, is_established), self._weights)

    def _compute_criteria(self, flags: Sequence[str], is_established: Bools) -> Floats:
        """Return one row for each criterion: its values for many variants, which are given as in `score_variants`."""
        variant_count = len(is_established)
        facts: dict[str, NDArray[Any]] = {name: np.repeat(value, variant_count) for name, value in self.facts.items()}
        for column, flag in enumerate(flags):
            facts[flag][is_established[:, column]] = best_value(flag)
        return np.stack([criterion.compute(facts) for criterion in CRITERIA])


def best_value(flag: str) -> int:
    """Return the value of a flag, 1 or 0, with which the criteria computed from it are highest."""
    return int(flag not in _BEST_IF_FALSE)


def _describe_lift(variants: _RecordVariants, flag: str, current_score: float) -> Lift:
    """Return how far a record would rise if one of its flags had its best value."""
    lifted = variants.establish((flag,))
    return Lift(
        attribute=flag,
        value=bool(best_value(flag)),
        current=_read_flag(variants.facts, flag),
        declared=_read_flag(variants.declared_facts, flag),
        criteria=variants.raised_criteria(flag),
        gain=lifted.score - current_score,
        score=lifted.score,
        rank=lifted.rank,
    )


def _read_flag(facts: Facts, flag: str) -> bool | None:
    """Return whether a flag of a single record is true or false; None if this is not known."""
    value = int(facts[flag][0])
    return None if value < 0 else bool(value)


def _find_smallest_set(variants: _RecordVariants, flags: Sequence[str], target_rank: int) -> LiftedRecord | None:
    """Return the smallest set of some flags whose best values give a record a target rank; None if no set does.

    The gains of single flags do not add up, because one may raise the same criterion as another one already does. All
    sets are therefore scored: at most 16,384, because only 14 flags have a part in any criterion.
    """
    # Each number from 0 on stands for a set: if its bit `i` is 1, flag `i` belongs to the set.
    set_numbers = np.arange(2 ** len(flags)).reshape(-1, 1)
    is_established = (set_numbers >> np.arange(len(flags))) % 2 == 1
    scores = variants.score_variants(flags, is_established)
    set_sizes = is_established.sum(axis=1)

    for size in range(len(flags) + 1):
        # If the set with the highest score does not reach the rank, no other set of this size does.
        sets = np.flatnonzero(set_sizes == size)
        best_set = int(sets[scores[sets].argmax()])
        best_flags = list(compress(flags, is_established[best_set]))

        lifted = variants.establish(best_flags)
        if lifted.rank <= target_rank:
            return lifted
    return None
