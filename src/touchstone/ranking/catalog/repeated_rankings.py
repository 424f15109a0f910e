"""Ranks the same records with many sets of weights, for measuring the stability of a ranking.

If there are few records, they are scored with every set, except for records that cannot be among the best with any set.
In an index, a single search finds the best records for all sets (`kernels.weighting_kernels`).

Both methods begin with a *pool* of the best records with the mean weights, several times as many as requested. The
scores of the pool with each set are lower bounds for the scores of the best records, and rule out most other records.

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
"""The size of the pool, as a multiple of the requested number of records."""

_ROUNDING_TOLERANCE: Final = 1e-9


class MatchingRecords(NamedTuple):
    """All records of a part that match a query.

    Attributes:
        positions: their positions.
        criteria: their weighted criteria by name.
        tie_keys: the sort keys for records with equal scores, the most significant first.
    """

    positions: Ints
    criteria: Mapping[str, Floats]
    tie_keys: tuple[NDArray[Any], ...]

    def select(self, indices: Ints) -> "MatchingRecords":
        """Return the records at the given indices."""
        criteria = {name: values[indices] for name, values in self.criteria.items()}
        tie_keys = tuple(key[indices] for key in self.tie_keys)
        return MatchingRecords(self.positions[indices], criteria, tie_keys)


class PooledMatches(NamedTuple):
    """The matches of a query in an index: the positions of a pool, and a query that selects all other matches."""

    pool: Ints
    others: KernelQuery


def rank_gathered_by_sets(records: MatchingRecords, sets: WeightSets, end: int) -> list[PartRanking]:
    """Return the best `end` of a few records for each set of weights."""
    contenders = records.select(_find_contenders(records, sets, end))

    rankings = []
    for index in range(sets.count):
        scores = weighted_mean(contenders.criteria, sets.at(index), len(contenders.positions))
        best = select_window((-scores, *contenders.tie_keys), skip=0, limit=end)
        rankings.append(PartRanking(contenders.positions[best], scores[best], "gather", count_none))
    return rankings


def _find_contenders(records: MatchingRecords, sets: WeightSets, end: int) -> Ints:
    """Return the indices of the records that can be among the best `end` with at least one set of weights.

    Other records are ruled out by an upper bound of their scores with all sets: the sum of their criteria, each
    multiplied by the largest share that its weight has in any set.
    """
    record_count = len(records.positions)
    pool_size = POOL_FACTOR * end
    if record_count <= pool_size:
        return np.arange(record_count)

    mean_scores = weighted_mean(records.criteria, sets.mean(), record_count)
    pool = np.argpartition(-mean_scores, pool_size)[:pool_size]

    # The `end`-th best score in the pool is a lower bound for the scores of the best records with a set. A record with
    # an upper bound below all these lower bounds cannot be among the best records with any set.
    pool_scores = sets.score(records.select(pool).criteria)
    lower_bounds = np.partition(pool_scores, -end, axis=1)[:, -end]
    required_score = lower_bounds.min() - _ROUNDING_TOLERANCE

    largest_shares = (sets.weights / sets.totals).max(axis=1).tolist()
    upper_bounds = np.zeros(record_count)
    for name, share in zip(sets.names, largest_shares, strict=True):
        upper_bounds += share * records.criteria[name]
    return np.flatnonzero(upper_bounds >= required_score)


def rank_best_first_by_sets(
    index: CatalogIndex, matches: PooledMatches, sets: WeightSets, end: int
) -> list[PartRanking]:
    """Return the best `end` of many records for each set of weights without scoring most of the records.

    The pool must contain at least `end` records.
    """
    alphabetical_ranks = index.columns.names.places

    # Initially, fill the result, which has one row for each set, with the best records of the pool.
    pool_criteria = {name: index.criterion(name, matches.pool) for name in sets.names}
    pool_scores = sets.score(pool_criteria)
    pool_positions = np.broadcast_to(matches.pool, pool_scores.shape).astype(np.int64)
    pool = BestByWeighting(pool_positions, pool_scores)
    best = BestByWeighting(np.empty((sets.count, end), np.int64), np.empty((sets.count, end)))
    weighting_kernels.fill_best(alphabetical_ranks, pool, best)

    # Replace them with other records that have higher scores.
    search = WeightingsSearch(index.kernel_columns, matches.others, _kernel_weightings(sets))
    searched_leaf = _allocate_searched_leaf(index.columns, search.weightings)
    weighting_kernels.find_best_by_weightings(search, searched_leaf, best)

    # The best records of each row are not sorted yet.
    order = np.lexsort((alphabetical_ranks[best.positions], -best.scores), axis=-1)
    positions = np.take_along_axis(best.positions, order, axis=1)
    scores = np.take_along_axis(best.scores, order, axis=1)
    return [PartRanking(*ranking, "best first", count_none) for ranking in zip(positions, scores, strict=True)]


def _kernel_weightings(sets: WeightSets) -> KernelWeightings:
    """Convert sets of weights to the form that kernels use."""
    criteria = np.array([CRITERION_NAMES.index(name) for name in sets.names], np.int64)
    weights = np.ascontiguousarray(sets.weights)
    return KernelWeightings(criteria, weights, sets.totals, shares=weights / sets.totals)


def _allocate_searched_leaf(columns: IndexColumns, weightings: KernelWeightings) -> SearchedLeaf:
    """Allocate the scratch space for a leaf, because compiled kernels cannot allocate memory."""
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
