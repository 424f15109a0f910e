"""Ranking the same records by many sets of weights, as is needed to measure how stable a ranking is.

A few records are all scored by every set, except those that cannot be among the best by any of them. In an index, one
search finds the best records for all sets (`kernels.weighting_kernels`). Both begin with a *pool*: the best records by
the mean of all sets, a few times as many as are asked for. They are good by every set, and what they score shows how
good any other record has to be.

Only the order of the records is needed, so these rankings do not count ties.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.leaf_queue import allocate_leaf_queue
from touchstone.ranking.catalog.results import PartRanking
from touchstone.ranking.catalog.ties import count_none
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.kernels import weighting_kernels
from touchstone.ranking.kernels.inputs import KernelQuery, KernelWeightings, KernelWeights
from touchstone.ranking.kernels.weighting_kernels import BestByWeighting, SearchedLeaf, WeightingsSearch
from touchstone.ranking.query.sort_order import select_window
from touchstone.ranking.weighted_mean import WeightSets, weighted_mean

POOL_FACTOR: Final = 4
"""How many times as many records as are asked for are in the pool."""

_ROUNDING_TOLERANCE: Final = 1e-9


class MatchingRecords(NamedTuple):
    """All records of a part that match a query.

    Attributes:
        positions: Their positions.
        criteria: Their values of each weighted criterion, by its name.
        tie_keys: The arrays that decide between equal scores, the most significant first.
    """

    positions: Ints
    criteria: Mapping[str, Floats]
    tie_keys: tuple[NDArray[Any], ...]

    def take(self, indices: Ints) -> "MatchingRecords":
        """Return those of the records that are at some indices."""
        criteria = {name: values[indices] for name, values in self.criteria.items()}
        tie_keys = tuple(key[indices] for key in self.tie_keys)
        return MatchingRecords(self.positions[indices], criteria, tie_keys)


class PooledMatches(NamedTuple):
    """The records of an index that match a query: the positions of a pool, and a query that selects all others."""

    pool: Ints
    others: KernelQuery


def rank_gathered_by_sets(records: MatchingRecords, sets: WeightSets, end: int) -> list[PartRanking]:
    """Return the best `end` of a few records for each set of weights, by scoring all that may be among them."""
    contenders = records.take(_find_contenders(records, sets, end))

    rankings = []
    for index in range(sets.count):
        scores = weighted_mean(contenders.criteria, sets.at(index), len(contenders.positions))
        best = select_window((-scores, *contenders.tie_keys), skip=0, limit=end)
        rankings.append(PartRanking(contenders.positions[best], scores[best], "gather", count_none))
    return rankings


def _find_contenders(records: MatchingRecords, sets: WeightSets, end: int) -> Ints:
    """Return the indices of the records that can be among the best `end` records with at least one set of weights.

    All others are ruled out by an upper bound on their scores: the sum of their criteria, each multiplied by the
    largest share of the total weight that it has in any of the sets. No set gives a record a higher score.
    """
    record_count = len(records.positions)
    pool_size = POOL_FACTOR * end
    if record_count <= pool_size:
        return np.arange(record_count)

    mean_scores = weighted_mean(records.criteria, sets.mean(), record_count)
    pool = np.argpartition(-mean_scores, pool_size)[:pool_size]

    # With each set, `end` records of the pool have at least the score found here. A record whose upper bound is below
    # the smallest of these scores is therefore among the best records with none of the sets.
    pool_scores = sets.score(records.take(pool).criteria)
    scores_reached = np.partition(pool_scores, -end, axis=1)[:, -end]
    needed_score = scores_reached.min() - _ROUNDING_TOLERANCE

    upper_shares = (sets.weights / sets.totals).max(axis=1).tolist()
    highest_scores = np.zeros(record_count)
    for name, share in zip(sets.names, upper_shares, strict=True):
        highest_scores += share * records.criteria[name]
    return np.flatnonzero(highest_scores >= needed_score)


def rank_best_first_by_sets(
    index: CatalogIndex, matches: PooledMatches, sets: WeightSets, end: int
) -> list[PartRanking]:
    """Return the best `end` of many records for each set of weights, without scoring most of the records.

    The pool must hold at least `end` records.
    """
    alphabetical_ranks = index.columns.names.places

    # First fill the result, which has one row for each set, with the best records of the pool.
    pool_criteria = {name: index.criterion(name, matches.pool) for name in sets.names}
    pool_scores = sets.score(pool_criteria)
    pool_positions = np.broadcast_to(matches.pool, pool_scores.shape).astype(np.int64)
    pool = BestByWeighting(pool_positions, pool_scores)
    best = BestByWeighting(np.empty((sets.count, end), np.int64), np.empty((sets.count, end)))
    weighting_kernels.fill_best(alphabetical_ranks, pool, best)

    # Then replace them by those of the other records that have higher scores.
    search = WeightingsSearch(index.kernel_columns, matches.others, _kernel_weightings(sets))
    searched_leaf = _allocate_leaf(index.columns, search.weightings)
    weighting_kernels.find_best_by_weightings(search, searched_leaf, best)

    # The search leaves the best records of each row in no particular order.
    order = np.lexsort((alphabetical_ranks[best.positions], -best.scores), axis=-1)
    positions = np.take_along_axis(best.positions, order, axis=1)
    scores = np.take_along_axis(best.scores, order, axis=1)
    return [PartRanking(*ranking, "best first", count_none) for ranking in zip(positions, scores, strict=True)]


def _kernel_weightings(sets: WeightSets) -> KernelWeightings:
    """Return sets of weights in the form that kernels use."""
    criteria = np.array([CRITERION_NAMES.index(name) for name in sets.names], np.int64)
    weights = np.ascontiguousarray(sets.weights)
    return KernelWeightings(criteria, weights, sets.totals, shares=weights / sets.totals)


def _allocate_leaf(columns: IndexColumns, weightings: KernelWeightings) -> SearchedLeaf:
    """Allocate the arrays in which a search by several sets of weights notes what it finds in one leaf.

    A leaf is a block of records. Compiled kernels cannot allocate arrays themselves.
    """
    criterion_count, set_count = weightings.weights.shape
    upper_shares = KernelWeights(
        criteria=weightings.criteria,
        weights=np.zeros(criterion_count),
        total=1.0,
        float32_shares=np.zeros(criterion_count, np.float32),
    )
    return SearchedLeaf(
        is_promising=np.zeros(set_count, np.bool_),
        upper_shares=upper_shares,
        queue=allocate_leaf_queue(columns),
        scores=np.empty(set_count),
    )
