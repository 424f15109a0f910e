"""How robust the first places of a ranking are: the same records are ranked by weights that differ a little, at random.

Each weight is multiplied by 1 + U(-spread, spread), drawn by NumPy's default generator with a seed, so anybody can draw
the same samples again.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.catalog.view import View
from touchstone.ranking.column_types import Ints
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.weighted_mean import WeightSets, active_weights, power_of_two_of

ROBUST_SHARE: Final = 0.9
"""The share of the samples from which on a place among the first is robust."""
DEPTH_FACTOR: Final = 10
"""Ranks beyond the first `DEPTH_FACTOR * k` are not looked for."""


class Verdict(StrEnum):
    """Whether a place among the first records depends on the exact weights."""

    ROBUST = "robust"
    FRAGILE = "fragile"


class StabilityOptions(NamedTuple):
    """What a question about the stability of a ranking leaves open.

    Attributes:
        k: How many of the first records are looked at.
        samples: How many sets of weights are drawn.
        spread: By which share a weight rises or falls at most.
        seed: What the random generator starts from.
    """

    k: int = 10
    samples: int = 100
    spread: float = 0.2
    seed: int = 0


class Overtaker(NamedTuple):
    """A record that is after another one in a ranking, and before it in some of the samples.

    Attributes:
        position: Its position in the view.
        rank: Its rank with the weights as given.
        share: In which share of the samples it is before the other one.
    """

    position: int
    rank: int
    share: float


class RecordStability(NamedTuple):
    """How stable the place of one record among the first k is.

    Attributes:
        position: The position of the record in the view.
        rank, score: Its rank and score with the weights as given.
        share: The share of the samples in which it is among the first k.
        best_rank, worst_rank: Its best and its worst rank in any sample; None beyond the first 10 k.
        overtaken_by: Of the first 10 k records after it, the nearest one that is before it in any sample.
    """

    position: int
    rank: int
    score: float
    share: float
    best_rank: int | None
    worst_rank: int | None
    overtaken_by: Overtaker | None

    @property
    def verdict(self) -> Verdict:
        """Whether the record stays among the first k in nearly all samples."""
        return Verdict.ROBUST if self.share >= ROBUST_SHARE else Verdict.FRAGILE


def measure_stability(
    view: View, query: Query, weights: Mapping[str, float], options: StabilityOptions
) -> list[RecordStability]:
    """Return how stable the places of the first k records that match a query are when the weights change a little."""
    depth = DEPTH_FACTOR * options.k
    ranking = view.rank(query, weights, skip=0, limit=depth)
    if not len(ranking.positions):
        return []

    samples = sample_weights(weights, options)
    sampled_ranks = _find_sampled_ranks(view, query, samples, ranking.positions[: options.k], depth)
    order_in_samples = _OrderInSamples(view, ranking.positions, samples)

    stabilities = []
    first_records = zip(ranking.positions.tolist(), ranking.scores.tolist(), sampled_ranks, strict=False)
    for index, (position, score, ranks) in enumerate(first_records):
        known_ranks = ranks[ranks > 0]
        stability = RecordStability(
            position=position,
            rank=index + 1,
            score=score,
            share=float(np.mean((ranks > 0) & (ranks <= options.k))),
            best_rank=int(known_ranks.min()) if len(known_ranks) else None,
            worst_rank=int(ranks.max()) if len(known_ranks) == len(ranks) else None,
            overtaken_by=order_in_samples.find_overtaker(index),
        )
        stabilities.append(stability)
    return stabilities


def sample_weights(weights: Mapping[str, float], options: StabilityOptions) -> WeightSets:
    """Return sets of weights that differ at random from those given.

    The factors are drawn set by set, and within a set for each criterion with a weight, in the order of CRITERIA.
    """
    terms, _ = active_weights(weights)
    scale = power_of_two_of(weights)
    scaled_weights = [weight / scale for _, weight in terms]  # only proportions matter

    generator = np.random.default_rng(options.seed)
    draws = generator.uniform(-options.spread, options.spread, size=(options.samples, len(terms)))
    sampled_weights = np.array(scaled_weights) * (1 + draws)
    return WeightSets.from_matrix(tuple(name for name, _ in terms), sampled_weights.T)


def _find_sampled_ranks(view: View, query: Query, samples: WeightSets, positions: Ints, depth: int) -> Ints:
    """Return the ranks of some records (rows) in each of the samples (columns); 0 beyond the first `depth`."""
    rankings = np.stack(view.rank_by_sets(query, samples, limit=depth))
    order = np.argsort(positions)
    sorted_positions = positions[order]

    # Each ranked record is looked up among the few records whose ranks are asked for.
    indices = np.searchsorted(sorted_positions, rankings).clip(max=len(positions) - 1)
    sample_numbers, places = np.nonzero(sorted_positions[indices] == rankings)

    ranks = np.zeros((len(positions), samples.count), np.int64)
    ranks[order[indices[sample_numbers, places]], sample_numbers] = places + 1
    return ranks


class _OrderInSamples:
    """The order of the first records of a ranking in each of the samples."""

    def __init__(self, view: View, positions: Ints, samples: WeightSets) -> None:
        """Score the records at some positions, which are in the order of the ranking, in each of the samples."""
        self._positions = positions
        self._alphabetical_places = view.alphabetical_places(positions)
        self._scores = samples.score({name: view.criterion(name, positions) for name in samples.names})

    def find_overtaker(self, index: int) -> Overtaker | None:
        """Return the nearest record after the one at `index` that is before it in any sample; None if there is none."""
        score = self._scores[:, index : index + 1]
        later_scores = self._scores[:, index + 1 :]
        is_earlier_in_alphabet = self._alphabetical_places[index + 1 :] < self._alphabetical_places[index]
        overtakes = (later_scores > score) | ((later_scores == score) & is_earlier_in_alphabet)

        shares = overtakes.mean(axis=0)
        overtakers = np.flatnonzero(shares)
        if not len(overtakers):
            return None

        nearest = int(overtakers[0])
        overtaker_index = index + 1 + nearest
        return Overtaker(
            position=int(self._positions[overtaker_index]), rank=overtaker_index + 1, share=float(shares[nearest])
        )
