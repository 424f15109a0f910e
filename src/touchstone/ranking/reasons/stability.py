"""How stable the first places of a ranking are: whether the same records are first with slightly different weights.

The records are ranked again by *samples*: sets of weights that differ from the given ones at random. In each sample,
every weight is multiplied by a factor of its own between 1 - spread and 1 + spread. The factors are drawn by NumPy's
default generator from a seed, so anybody can draw the same samples again. A record is robust if it stays among the
first k in nearly all samples.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.array_types import Ints
from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.weighted_mean import WeightSets, active_weights, power_of_two_scale

ROBUST_SHARE: Final = 0.9
"""A record is robust if it is among the first k in at least this share of the samples."""
DEPTH_FACTOR: Final = 10
"""How many times k records of each ranking are looked at."""


class Verdict(StrEnum):
    """Whether a record stays among the first k when the weights are a bit different."""

    ROBUST = "robust"
    FRAGILE = "fragile"


class StabilityOptions(NamedTuple):
    """How the stability of a ranking is measured.

    Attributes:
        k: How many of the first records are looked at.
        samples: How many sets of weights are drawn.
        spread: By which share of itself a weight rises or falls at most.
        seed: What the random generator starts from.
    """

    k: int = 10
    samples: int = 100
    spread: float = 0.2
    seed: int = 0


class Overtaker(NamedTuple):
    """A record that comes after another one in a ranking, but before it in some of the samples.

    Attributes:
        position: Its position in the view.
        rank: Its rank with the weights as given.
        share: The share of the samples in which it is before the other one.
    """

    position: int
    rank: int
    share: float


class RecordStability(NamedTuple):
    """How stable the place of one of the first k records is.

    Attributes:
        position: The position of the record in the view.
        rank, score: Its rank and score with the weights as given.
        place: 1 + the number of records with a higher score, so that records with the same score share a place.
        tied_with: How many other records have exactly its score.
        share: The share of the samples in which it is among the first k.
        same_rank_share: The share of the samples in which it has the rank that it has with the weights as given.
        best_rank: Its best rank in any sample; None if it is not among the first 10 k in any.
        worst_rank: Its worst rank in any sample; None if it is not among the first 10 k in all.
        best_place, worst_place: The same for its places, which it shares with records that have its score.
        overtaken_by: The nearest of the records after it, up to the first 10 k, that is before it in any sample; None
            if none is.
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
        """Whether the record stays among the first k in nearly all samples."""
        return Verdict.ROBUST if self.share >= ROBUST_SHARE else Verdict.FRAGILE


def measure_stability(
    view: View, query: Query, weights: Mapping[str, float], options: StabilityOptions
) -> list[RecordStability]:
    """Measure how stable the places of the first k records that match a query are if the weights change a little.

    The records are ranked again by many samples: sets of weights that differ at random from the given ones. The result
    has one entry for each record, in the order of the ranking.
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
        is_known = ranks > 0  # the rank is 0 in samples in which the record is not among those looked at
        is_among_first = is_known & (ranks <= options.k)
        places = ranks - order_in_samples.count_ties_before(index)

        stability = RecordStability(
            position=int(first_records.positions[index]),
            rank=index + 1,
            place=int(first_records.places[index]),
            tied_with=int(first_records.tied_with[index]),
            score=float(first_records.scores[index]),
            share=float(is_among_first.mean()),
            same_rank_share=float((ranks == index + 1).mean()),
            best_rank=int(ranks[is_known].min()) if is_known.any() else None,
            worst_rank=int(ranks.max()) if is_known.all() else None,
            best_place=int(places[is_known].min()) if is_known.any() else None,
            worst_place=int(places.max()) if is_known.all() else None,
            overtaken_by=order_in_samples.find_overtaker(index),
        )
        stabilities.append(stability)
    return stabilities


def sample_weights(weights: Mapping[str, float], options: StabilityOptions) -> WeightSets:
    """Draw sets of weights that differ at random from the given ones: each weight by a factor of its own.

    With a spread of 0.2, a factor lies between 0.8 and 1.2. The factors are drawn set by set, and within a set for each
    criterion with a weight, in the order of CRITERIA, so that a seed always gives the same sets.
    """
    terms, _ = active_weights(weights)
    names = tuple(name for name, _ in terms)
    scale = power_of_two_scale(weights)
    scaled_weights = [weight / scale for _, weight in terms]  # only proportions matter

    generator = np.random.default_rng(options.seed)
    draws = generator.uniform(-options.spread, options.spread, size=(options.samples, len(terms)))
    sampled_weights = np.array(scaled_weights) * (1 + draws)
    return WeightSets.from_matrix(names, sampled_weights.T)


def _find_ranks(positions: Ints, rankings: Ints) -> Ints:
    """Return the rank of each of some records (row) in each of some rankings (column); 0 if it is not in a ranking.

    `positions` are those of the records. `rankings` has one row for each ranking: the positions of its first records.
    """
    # Rankings are longer than the list of records, so each of their entries is looked up in that list.
    order = np.argsort(positions)
    sorted_positions = positions[order]
    sorted_indices = np.searchsorted(sorted_positions, rankings).clip(max=len(positions) - 1)

    is_in_list = sorted_positions[sorted_indices] == rankings
    ranking_numbers, rank_indices = np.nonzero(is_in_list)
    record_numbers = order[sorted_indices[is_in_list]]

    ranks = np.zeros((len(positions), len(rankings)), np.int64)
    ranks[record_numbers, ranking_numbers] = rank_indices + 1
    return ranks


class _OrderInSamples:
    """The order that the first records of a ranking have in each sample."""

    def __init__(self, view: View, positions: Ints, samples: WeightSets) -> None:
        """Score the records at some positions, which are in the order of the ranking, in each sample."""
        self._positions = positions
        self._alphabetical_places = view.alphabetical_places(positions)
        criteria = {name: view.criterion(name, positions) for name in samples.names}
        self._scores = samples.score(criteria)  # one row for each sample, one column for each record

    def count_ties_before(self, index: int) -> Ints:
        """Return for each sample how many records have the score of the one at `index` and come before it."""
        is_earlier_in_alphabet = self._alphabetical_places < self._alphabetical_places[index]
        is_tied = self._scores == self._scores[:, index : index + 1]
        return np.asarray(np.count_nonzero(is_tied & is_earlier_in_alphabet, axis=1))

    def find_overtaker(self, index: int) -> Overtaker | None:
        """Return the nearest record after the one at `index` that is before it in any sample; None if none is."""
        first_later = index + 1
        score = self._scores[:, index : index + 1]
        later_scores = self._scores[:, first_later:]

        # Of records with equal scores, the first one in the alphabet comes first.
        is_earlier_in_alphabet = self._alphabetical_places[first_later:] < self._alphabetical_places[index]
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
