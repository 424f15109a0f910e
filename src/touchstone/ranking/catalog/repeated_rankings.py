"""Ranking the same records by many sets of weights, as a question about the stability of a ranking does.

Only the order is asked for, so these rankings do not count how many records have the same score.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.catalog.leaf_queue import allocate_leaf_queue
from touchstone.ranking.catalog.results import PartRanking
from touchstone.ranking.catalog.ties import count_none
from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.kernels import weighting_kernels
from touchstone.ranking.kernels.inputs import KernelQuery, KernelWeightings
from touchstone.ranking.kernels.weighting_kernels import Heaps, WeightingsScratch, WeightingsSearch
from touchstone.ranking.query.sort_order import select_window
from touchstone.ranking.weighted_mean import WeightSets, weighted_mean

_ROUNDING_TOLERANCE: Final = 1e-9
POOL_FACTOR: Final = 4
"""How many times as many good records as are asked for begin a search by many sets of weights."""


def rank_gathered_by_sets(
    positions: Ints, criteria: Mapping[str, Floats], tie_keys: tuple[NDArray[Any], ...], sets: WeightSets, end: int
) -> list[PartRanking]:
    """Rank a few records by each of several sets of weights: score all of them that may be among the best `end`.

    `criteria` has the values of the weighted criteria for the records at `positions`, and `tie_keys` the arrays that
    decide between equal scores, the most significant first.
    """
    contenders = _find_contenders(criteria, sets, len(positions), end)
    positions = positions[contenders]
    criteria = {name: values[contenders] for name, values in criteria.items()}
    tie_keys = tuple(key[contenders] for key in tie_keys)

    rankings = []
    for index in range(sets.count):
        scores = weighted_mean(criteria, sets.at(index), len(positions))
        best = select_window((-scores, *tie_keys), skip=0, limit=end)
        rankings.append(PartRanking(positions[best], scores[best], "gather", count_none))
    return rankings


def _find_contenders(criteria: Mapping[str, Floats], sets: WeightSets, record_count: int, end: int) -> Ints:
    """Return the indices of the records that may be among the best `end` by any of several sets of weights.

    By each set, `end` records of a pool of good ones reach some score. A contender has to reach the lowest of these
    with an envelope of the sets, which has for each criterion its largest share in any of them.
    """
    pool_size = POOL_FACTOR * end
    if record_count <= pool_size:
        return np.arange(record_count)

    mean_scores = weighted_mean(criteria, sets.mean(), record_count)
    pool = np.argpartition(-mean_scores, pool_size)[:pool_size]
    pool_scores = sets.score({name: values[pool] for name, values in criteria.items()})
    scores_reached = np.partition(pool_scores, -end, axis=1)[:, -end]

    envelope = (sets.weights / sets.totals).max(axis=1).tolist()
    highest_scores = np.zeros(record_count)
    for name, share in zip(sets.names, envelope, strict=True):
        highest_scores += share * criteria[name]
    return np.flatnonzero(highest_scores >= scores_reached.min() - _ROUNDING_TOLERANCE)


def rank_best_first_by_sets(
    index: CatalogIndex, kernel_query: KernelQuery, sets: WeightSets, pool: Ints, end: int
) -> list[PartRanking]:
    """Rank the best `end` of many records in an index by each of several sets of weights, without scoring most of them.

    `pool` holds the positions of at least `end` good records that match, and `kernel_query` selects the others.
    """
    alphabetical_ranks = index.columns.names.places
    pool_scores = sets.score({name: index.criterion(name, pool) for name in sets.names})
    pool_records = Heaps(np.broadcast_to(pool, pool_scores.shape).astype(np.int64), pool_scores)

    heaps = Heaps(np.empty((sets.count, end), np.int64), np.empty((sets.count, end)))
    scratch = _allocate_scratch(index.columns, sets)
    weighting_kernels.fill_heaps(alphabetical_ranks, pool_records, heaps, scratch)
    search = WeightingsSearch(index.kernel_columns, kernel_query, _kernel_weightings(sets))
    weighting_kernels.find_top_by_weightings(search, scratch, heaps)

    # The heaps are not sorted.
    order = np.lexsort((alphabetical_ranks[heaps.positions], -heaps.scores), axis=-1)
    positions = np.take_along_axis(heaps.positions, order, axis=1)
    scores = np.take_along_axis(heaps.scores, order, axis=1)
    return [PartRanking(*ranking, "best first", count_none) for ranking in zip(positions, scores, strict=True)]


def _kernel_weightings(sets: WeightSets) -> KernelWeightings:
    """Return sets of weights in the form that kernels use."""
    criteria = np.array([CRITERION_NAMES.index(name) for name in sets.names], np.int64)
    weights = np.ascontiguousarray(sets.weights)
    return KernelWeightings(criteria, weights, sets.totals, shares=weights / sets.totals)


def _allocate_scratch(columns: IndexColumns, sets: WeightSets) -> WeightingsScratch:
    """Return scratch space for a search by several sets of weights."""
    return WeightingsScratch(
        queue=allocate_leaf_queue(columns),
        is_active=np.empty(sets.count, np.bool_),
        envelope=np.empty(len(sets.names)),
        float32_envelope=np.empty(len(sets.names), np.float32),
        scores=np.empty(sets.count),
        worst_scores=np.empty(sets.count),
        worst_ranks=np.empty(sets.count, np.uint32),
    )
