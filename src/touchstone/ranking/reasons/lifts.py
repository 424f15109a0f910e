"""The *lifts* of a record, which are changes of single attributes that would raise it in a ranking.

A flag is an attribute that is true, false or unknown. The best value of a flag maximizes the criteria computed from it.
A lift belongs to a flag of the record that does not have its best value. It consists of the score and the rank that the
record would have if the flag were verified to have its best value.
"""

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.ranking.array_types import Bools, Facts, Floats
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.reasons.best_case import best_value
from touchstone.ranking.reasons.rank_lookup import RankLookup, RankRange, find_possible_ranks
from touchstone.ranking.weighted_mean import active_weights, score_matrix


class Lift(NamedTuple):
    """The improvement of a record if one of its flags were verified to have its best value.

    Attributes:
        attribute: the name of the flag.
        value: the best value of the flag.
        current: the value of the flag at the assurance of the ranking, or None if it is unknown.
        declared: the declared value of the flag, or None if there is none.
        criteria: the weighted criteria that would rise.
        gain: the increase of the score.
        score: the resulting score.
        rank: the resulting rank.
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
    """Flags of a record, and the score and rank that it would have if all of them had their best values."""

    attributes: tuple[str, ...]
    score: float
    rank: int


class LiftReport(NamedTuple):
    """All lifts of a record, individually and combined.

    Attributes:
        score: the current score of the record.
        rank: the current rank of the record among the matches, even if it does not match itself.
        place: 1 plus the number of matches with a higher score.
        tied_with: the number of other matches with the same score.
        matches: whether the record matches the query.
        total_count: the number of matches.
        unknown_ranks: the range of possible ranks, depending on unknown ethical attributes of this and other records.
        lifts: a lift for each flag without its best value, in descending order of the gain and then by name.
        all_established: the score and rank that the record would have with the best values of all flags.
        smallest_set: the smallest set of flags that would lift the record to the target rank with their best values,
            and the one with the highest score if there are several. None if there is no target or no such set.
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
    """Determine how the score and the rank of a record would change if its ethical attributes were established.

    All other records keep their values. Whether the record matches the query depends on its current values.

    Args:
        view: the state of the catalog.
        query: the query of the ranking.
        weights: the weights by criterion.
        position: the position of the record in the view.
        target_rank: the rank to reach with the smallest set of flags, or None if there is no target.
    """
    lookup = RankLookup.for_query(view, query, weights)
    variants = _RecordVariants(view, weights, position, lookup)
    current = variants.with_best_values(())
    [unknown_ranks] = find_possible_ranks(view, query, weights, np.array([position]), lookup)

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
        all_established=variants.with_best_values(raising_flags),
        smallest_set=smallest_set,
    )


class _RecordVariants:
    """Computes the scores and ranks of variants of one record in which certain flags have their best values."""

    def __init__(self, view: View, weights: Mapping[str, float], position: int, lookup: RankLookup) -> None:
        """Prepare variants of the record at a position of a view, with `lookup` for their ranks."""
        positions = np.array([position])
        self.facts: Facts = view.facts(positions)
        self.declared_facts: Facts = view.declared.facts(positions)
        self.improvable_flags = [flag for flag in FLAGS if self.facts[flag][0] != best_value(flag)]
        self._position = position
        self._weights = weights
        self._lookup = lookup

    def with_best_values(self, flags: Sequence[str]) -> LiftedRecord:
        """Return the score and the rank that the record would have with the best values of all given flags."""
        all_flags = np.ones((1, len(flags)), np.bool_)
        [score] = self.score_variants(flags, all_flags).tolist()
        return LiftedRecord(tuple(flags), score, self._lookup.rank_of(self._position, score))

    def find_raised_criteria(self, flag: str) -> tuple[str, ...]:
        """Return the weighted criteria that would rise if a flag had its best value."""
        # One variant (column 0) has the current value of the flag, and the other one (column 1) has the best value.
        criteria = self._compute_criteria((flag,), np.array([[False], [True]]))
        is_raised = dict(zip(CRITERION_NAMES, criteria[:, 1] > criteria[:, 0], strict=True))
        return tuple(name for name, _ in active_weights(self._weights).terms if is_raised[name])

    def score_variants(self, flags: Sequence[str], has_best_value: Bools) -> Floats:
        """Return the scores of variants of the record.

        Args:
            flags: the flags to vary.
            has_best_value: whether each variant (row) has the best value of each flag (column) rather than the current
                value of the record.
        """
        return score_matrix(self._compute_criteria(flags, has_best_value), self._weights)

    def _compute_criteria(self, flags: Sequence[str], has_best_value: Bools) -> Floats:
        """Return the criteria (rows) of variants (columns), with the same parameters as `score_variants`."""
        variant_count = len(has_best_value)
        facts: dict[str, NDArray[Any]] = {name: np.repeat(value, variant_count) for name, value in self.facts.items()}
        for column, flag in enumerate(flags):
            facts[flag][has_best_value[:, column]] = best_value(flag)
        return np.stack([criterion.compute(facts) for criterion in CRITERIA])


def _describe_lift(variants: _RecordVariants, flag: str, current_score: float) -> Lift:
    """Return the lift of a record by one of its flags."""
    lifted = variants.with_best_values((flag,))
    return Lift(
        attribute=flag,
        value=bool(best_value(flag)),
        current=_read_flag(variants.facts, flag),
        declared=_read_flag(variants.declared_facts, flag),
        criteria=variants.find_raised_criteria(flag),
        gain=lifted.score - current_score,
        score=lifted.score,
        rank=lifted.rank,
    )


def _read_flag(facts: Facts, flag: str) -> bool | None:
    """Return the value of a flag of a single record, or None if it is unknown."""
    value = int(facts[flag][0])
    return None if value < 0 else bool(value)


def _find_smallest_set(variants: _RecordVariants, flags: Sequence[str], target_rank: int) -> LiftedRecord | None:
    """Return the smallest set of flags that raises a record to a target rank, or None if no set does.

    All sets are scored, because the gains of single flags cannot be added up if several flags raise the same criterion.
    Only 14 flags affect any criterion, so there are at most 16,384 sets.
    """
    # Each number represents a set, which contains flag `i` if bit `i` of the number is set.
    set_numbers = np.arange(2 ** len(flags)).reshape(-1, 1)
    has_best_value = (set_numbers >> np.arange(len(flags))) % 2 == 1
    scores = variants.score_variants(flags, has_best_value)
    set_sizes = has_best_value.sum(axis=1)

    for size in range(len(flags) + 1):
        # If the set with the highest score does not reach the target rank, no other set of this size does.
        sets_of_size = np.flatnonzero(set_sizes == size)
        best_set = int(sets_of_size[scores[sets_of_size].argmax()])
        best_flags = list(compress(flags, has_best_value[best_set]))

        lifted = variants.with_best_values(best_flags)
        if lifted.rank <= target_rank:
            return lifted
    return None
