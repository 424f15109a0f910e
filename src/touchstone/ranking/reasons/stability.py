"""The stability of the first records of a ranking when the weights change slightly.

The records are ranked again with *samples*, which are random variations of the given weights. In each sample, every
weight is multiplied by its own random factor between 1 - spread and 1 + spread. The factors are drawn by NumPy's
default generator with a seed, so the samples can be reproduced. A record is robust if it remains among the first k in
nearly all samples.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.weighted_mean import WeightSets, active_weights, power_of_two_scale

ROBUST_SHARE: Final = 0.9
"""The minimum share of samples in which a robust record is among the first k."""
DEPTH_FACTOR: Final = 10
"""The number of records of each ranking that are examined, as a multiple of k."""


class Verdict(StrEnum):
    """Whether a record remains among the first k when the weights change slightly."""

    ROBUST = "robust"
    FRAGILE = "fragile"


class StabilityOptions(NamedTuple):
    """The parameters for measuring the stability of a ranking.

    Attributes:
        k: the number of first records to examine.
        samples: the number of random sets of weights.
        spread: the maximum relative change of a weight.
        seed: the seed of the random generator.
    """

    k: int = 10
    samples: int = 100
    spread: float = 0.2
    seed: int = 0


class Overtaker(NamedTuple):
    """A record that ranks below another one with the given weights, but above it in some samples.

    Attributes:
        position: its position in the view.
        rank: its rank with the given weights.
        share: the share of samples in which it ranks above the other record.
    """

    position: int
    rank: int
    share: float


class RecordStability(NamedTuple):
    """The stability of one of the first k records.

    Attributes:
        position: the position of the record in the view.
        rank: its rank with the given weights.
        place: 1 plus the number of records with a higher score, so that records with equal scores share a place.
        tied_with: the number of other records with the same score.
        score: its score with the given weights.
        share: the share of samples in which it is among the first k.
        same_rank_share: the share of samples in which it has the same rank as with the given weights.
        best_rank: its best rank in any sample, or None if it is not among the first 10 k in any of them.
        worst_rank: its worst rank in any sample, or None if it is not among the first 10 k in all of them.
        best_place: its best place in any sample, or None as for `best_rank`.
        worst_place: its worst place in any sample, or None as for `worst_rank`.
        overtaken_by: the next lower record, among the first 10 k, that ranks above it in any sample, or None.
    """

    position: int
    rank: int
    place: int
    tied_with: int
    score: float
    share: float
    same_rank_share: float
    best_rank: int | None
    worst_rank: int | None
    best_place: int | None
    worst_place: int | None
    overtaken_by: Overtaker | None

    @property
    def verdict(self) -> Verdict:
        """Whether the record remains among the first k in nearly all samples."""
        return Verdict.ROBUST if self.share >= ROBUST_SHARE else Verdict.FRAGILE


def measure_stability(
    view: View, query: Query, weights: Mapping[str, float], options: StabilityOptions
) -> list[RecordStability]:
    """Measure the stability of the first k records that match a query, in the order of the ranking.

    The records are ranked again with many random variations of the weights.
    """
    depth = DEPTH_FACTOR * options.k
    ranking = view.rank(query, weights, skip=0, limit=depth)
    if not len(ranking.positions):
        return []

    samples = sample_weights(weights, options)
    rankings_by_sample = np.stack(view.rank_by_sets(query, samples, limit=depth))
    first_records = next(ranking.chunks(options.k))
    ranks_by_record = _find_ranks(first_records.positions, rankings_by_sample)
    order_in_samples = _OrderInSamples(view, ranking.positions, samples)

    stabilities = []
    for index, ranks in enumerate(ranks_by_record):
        is_known = ranks > 0  # the rank is 0 in samples where the record is not among the examined records
        is_among_first = is_known & (ranks <= options.k)
        places = ranks - order_in_samples.count_ties_before(index)
        best_rank, worst_rank = _find_extremes(ranks, is_known)
        best_place, worst_place = _find_extremes(places, is_known)

        stability = RecordStability(
            position=int(first_records.positions[index]),
            rank=index + 1,
            place=int(first_records.places[index]),
            tied_with=int(first_records.tied_with[index]),
            score=float(first_records.scores[index]),
            share=float(is_among_first.mean()),
            same_rank_share=float((ranks == index + 1).mean()),
            best_rank=best_rank,
            worst_rank=worst_rank,
            best_place=best_place,
            worst_place=worst_place,
            overtaken_by=order_in_samples.find_overtaker(index),
        )
        stabilities.append(stability)
    return stabilities


def _find_extremes(ranks: Ints, is_known: Bools) -> tuple[int | None, int | None]:
    """Return the best and the worst of the ranks of a record in all samples.

    The best rank is None if no rank is known, and the worst rank is None unless all ranks are known.
    """
    best = int(ranks[is_known].min()) if is_known.any() else None
    worst = int(ranks.max()) if is_known.all() else None
    return best, worst


def sample_weights(weights: Mapping[str, float], options: StabilityOptions) -> WeightSets:
    """Draw random variations of the weights, multiplying each weight by its own random factor.

    With a spread of 0.2, a factor is between 0.8 and 1.2. The factors are drawn set by set, and within a set in the
    order of CRITERIA for each weighted criterion, so that a seed always yields the same sets.
    """
    terms, _ = active_weights(weights)
    names = tuple(name for name, _ in terms)
    scale = power_of_two_scale(weights)
    scaled_weights = [weight / scale for _, weight in terms]  # only the proportions matter

    generator = np.random.default_rng(options.seed)
    draws = generator.uniform(-options.spread, options.spread, size=(options.samples, len(terms)))
    sampled_weights = np.array(scaled_weights) * (1 + draws)
    return WeightSets.from_matrix(names, sampled_weights.T)


def _find_ranks(positions: Ints, rankings: Ints) -> Ints:
    """Return the rank of each record (row) in each ranking (column), or 0 if the ranking does not contain it.

    For example, the records at the positions [7, 3] have the ranks [[3, 1], [1, 0]] in the rankings [[3, 5, 7],
    [7, 4, 5]].

    Args:
        positions: the positions of the records in the view, without repetitions.
        rankings: the positions of the first records of each ranking, the best first, with one row for each ranking.
    """
    # Find the only record that each entry of the rankings may be, by binary search in the sorted positions. For an
    # entry that is greater than all positions, this is the last one.
    order = np.argsort(positions)
    insertion_points = np.searchsorted(positions, rankings, sorter=order)
    candidates = order[insertion_points.clip(max=len(positions) - 1)]

    is_candidate = positions[candidates] == rankings
    ranking_indices, rank_indices = np.nonzero(is_candidate)
    record_indices = candidates[is_candidate]

    ranks = np.zeros((len(positions), len(rankings)), np.int64)
    ranks[record_indices, ranking_indices] = rank_indices + 1
    return ranks


class _OrderInSamples:
    """The order of the first records of a ranking in each sample."""

    def __init__(self, view: View, positions: Ints, samples: WeightSets) -> None:
        """Score the records at the given positions, which are in the order of the ranking, in each sample."""
        self._positions = positions
        self._alphabetical_ranks = view.alphabetical_ranks(positions)
        criteria = {name: view.criterion(name, positions) for name in samples.names}
        self._scores = samples.score(criteria)  # one row for each sample and one column for each record

    def count_ties_before(self, index: int) -> Ints:
        """Return the number of records in each sample that are tied with the record at `index` and precede it."""
        is_earlier_in_alphabet = self._alphabetical_ranks < self._alphabetical_ranks[index]
        is_tied = self._scores == self._scores[:, index : index + 1]
        return np.asarray(np.count_nonzero(is_tied & is_earlier_in_alphabet, axis=1))

    def find_overtaker(self, index: int) -> Overtaker | None:
        """Return the next record after the one at `index` that precedes it in any sample, or None if there is none."""
        first_later = index + 1
        score = self._scores[:, index : index + 1]
        later_scores = self._scores[:, first_later:]

        # Records with equal scores are in alphabetical order.
        is_earlier_in_alphabet = self._alphabetical_ranks[first_later:] < self._alphabetical_ranks[index]
        wins_tie = (later_scores == score) & is_earlier_in_alphabet
        is_before = (later_scores > score) | wins_tie

        shares = is_before.mean(axis=0)
        overtakers = np.flatnonzero(shares)
        if not len(overtakers):
            return None

        nearest = int(overtakers[0])
        overtaker_index = first_later + nearest
        return Overtaker(
            position=int(self._positions[overtaker_index]),
            rank=overtaker_index + 1,
            share=float(shares[nearest]),
        )
