"""The kernels as plain Python and as native code give the same answers, and the estimates never fall short."""

import importlib.util
from random import Random
from types import ModuleType

import numpy as np
import pytest

from tests.ranking.by_hand import score
from tests.ranking.catalogs import row
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.indexed_part import weighing_of
from touchstone.ranking.columns.bitmaps import leaf_counts, pack
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.arrays import Index
from touchstone.ranking.kernels import leaf_kernels, search_kernels
from touchstone.ranking.kernels.leaf_kernels import SLACK, Asked
from touchstone.ranking.kernels.search_kernels import Agenda, Best, Graded, Keyed, Repairs, Search
from touchstone.ranking.kernels.two_threads import LONG, taken
from touchstone.ranking.query.predicates import AnyWord, Contains, FlagEquals, Query, Range
from touchstone.ranking.query.sort_order import stable_order

SIZE = 700
WEIGHTS = {name: 0.05 * (number + 1) for number, name in enumerate(CRITERION_NAMES)}
QUERIES: tuple[Query, ...] = (
    (),
    (Range("year", 2000, 2012.5), Range("citations", high=100), Range("features_number", 1, 150)),
    (Range("instances_number", low=120), Range("missing_values_percentage", high=20), Contains("dataset_name", "ris")),
    (AnyWord("domain", ("health", "vision", "finance")), FlagEquals("is_split", value=False)),
    (AnyWord("domain", ("health", "vision")), Range("technical_score", 0.2, 0.6), Range("ethical_score", high=0.7)),
)


def _copy(module: ModuleType, known: ModuleType | None = None) -> ModuleType:
    """A module loaded once more, so that its functions are plain Python whatever was compiled before."""
    assert module.__spec__ is not None
    assert module.__spec__.origin is not None
    spec = importlib.util.spec_from_file_location(module.__name__, module.__spec__.origin)
    assert spec is not None
    assert spec.loader is not None
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    for name in set(vars(known or plain)) & set(vars(plain)):
        setattr(plain, name, vars(known or plain)[name])
    return plain


@pytest.fixture(scope="module")
def plain() -> tuple[ModuleType, ModuleType]:
    """Both modules of kernels, not compiled."""
    loops = _copy(leaf_kernels)
    return loops, _copy(search_kernels, loops)


@pytest.fixture(scope="module")
def index() -> Index:
    """An index over a few hundred records in leaves of 64, the kernels compiled."""
    catalog = Catalog.build((row(Random(id_), id_) for id_ in range(1, SIZE + 1)), Layout(index_from=1, leaf_words=1))
    assert catalog.index is not None
    return catalog.index


def _asked(index: Index, query: Query) -> Asked:
    alive = pack(np.ones(SIZE, np.bool_), index.meta.words)
    found = index.planner.asked(query, alive, leaf_counts(alive, 1))
    assert found is not None
    return found[0]


def _matched(module: ModuleType, index: Index, query: Query) -> tuple[int, list[int]]:
    words = np.zeros(index.meta.words, np.uint64)
    found = module.match(index.grid, _asked(index, query), np.empty(1, np.uint64), words)
    return int(found), words.tolist()


@pytest.mark.parametrize("query", QUERIES)
def test_plain_and_native_kernels_match_the_same_records(
    plain: tuple[ModuleType, ModuleType], index: Index, query: Query
) -> None:
    """Filters give the same bitmap and the same count."""
    assert _matched(plain[0], index, query) == _matched(leaf_kernels, index, query)


def _topped(loops: ModuleType, search: ModuleType, index: Index, query: Query) -> list[tuple[int, float]]:
    leaves, weighing = index.meta.leaves, weighing_of(WEIGHTS)
    agenda = Agenda(
        np.empty(leaves, np.int64),
        np.empty(leaves),
        np.empty(1, np.uint64),
        np.empty(64, np.float32),
        np.empty(65, np.int64),
        np.empty(64),
    )
    best = Best(np.empty(9, np.int64), np.empty(9))
    loops.bounds(index.grid, weighing, agenda.bound)
    loops.by_bound(agenda.bound, np.zeros(loops.BUCKETS + 1, np.int64), agenda.leaves)
    size, _ = search.top(Search(index.grid, _asked(index, query), weighing), agenda, best)
    return sorted(zip(best.positions[:size].tolist(), best.scores[:size].tolist(), strict=True))


@pytest.mark.parametrize("query", QUERIES)
def test_plain_and_native_kernels_find_the_same_best(
    plain: tuple[ModuleType, ModuleType], index: Index, query: Query
) -> None:
    """The nine best and their scores, to the last bit."""
    assert _topped(*plain, index, query) == _topped(leaf_kernels, search_kernels, index, query)


def _in_order(loops: ModuleType, search: ModuleType, index: Index) -> list[list[object]]:
    words = np.zeros(index.meta.words, np.uint64)
    leaf_kernels.match(index.grid, _asked(index, QUERIES[3]), np.empty(1, np.uint64), words)
    by_name = np.empty(SIZE + 1, np.uint32)
    by_name = by_name[: search.along(words, index.arrays["name.by"], by_name)]
    graded = Graded(np.zeros(64 * len(words)), np.zeros(64 * len(words), np.uint32))
    search.ranking_keys(index.grid, weighing_of(WEIGHTS), words[1:], 1, graded)
    scores, keys = graded.scores, graded.keys[by_name]
    source = Keyed(keys >> np.uint32(28), by_name)
    target = Keyed(np.empty_like(keys), np.empty_like(source.places))
    digits = np.zeros(loops.RADIX, np.int64)
    search.count_digits(0, source.keys, digits)
    search.deal_digits(0, source, target, np.cumsum(digits) - digits)
    size = len(keys) + 2
    room = Repairs(np.empty(size, np.int64), np.empty(size, np.uint32), np.empty(size))
    left = search.repair(target.keys, target.places, scores, room)
    taken = np.empty(len(by_name))
    search.take(graded.scores, by_name, taken)
    walked = np.empty(5, np.int64)
    search.walk(words, index.arrays["name.by"], 3, walked)
    counts = np.zeros(len(index.arrays["year.values"]), np.int64)
    search.tally(words, index.arrays["year.code"], counts)
    extremes = search.technical_extremes(index.grid, words, index.arrays["lower"][1])
    common = search.overlap(words, index.arrays["planes"][0])
    arrays = (
        by_name,
        graded.scores,
        graded.keys,
        target.places,
        room.left[: 2 * left],
        taken,
        walked,
        counts,
        extremes,
        [common],
        digits,
    )
    return [list(map(float, array)) for array in arrays]


def test_plain_and_native_kernels_order_and_count_the_same(plain: tuple[ModuleType, ModuleType], index: Index) -> None:
    """Permutations, radix passes, repairs, tallies and extremes agree."""
    assert _in_order(*plain, index) == _in_order(leaf_kernels, search_kernels, index)


@pytest.mark.parametrize("spread", [1, 50, 2**31])
def test_long_keys_are_sorted_in_halves_and_stay_in_order(index: Index, spread: int) -> None:
    """Two threads deal a pass, and equal keys keep the order that they had."""
    rng = np.random.default_rng(spread)
    keys, places = rng.integers(0, spread, 3 * LONG, np.uint32), rng.permutation(3 * LONG).astype(np.uint32)
    wanted = np.argsort(keys, kind="stable")
    found = stable_order(keys.copy(), places.copy())
    assert (found.keys == keys[wanted]).all()
    assert (found.places == places[wanted]).all()
    assert (taken(keys, found.places) == keys[found.places]).all()


def test_no_estimate_and_no_bound_is_below_a_score(plain: tuple[ModuleType, ModuleType], index: Index) -> None:
    """Pruning is exact only because a leaf's bound and a record's estimate are never too low."""
    rows = {id_: row(Random(id_), id_) for id_ in range(1, SIZE + 1)}
    weighing, ids = weighing_of(WEIGHTS), index.integers("id")
    bound = np.empty(index.meta.leaves)
    plain[0].bounds(index.grid, weighing, bound)
    for leaf in range(index.meta.leaves):
        estimates = np.empty(64, np.float32)
        plain[0].estimate(index.grid, weighing, leaf, estimates)
        for place, id_ in enumerate(ids[64 * leaf : 64 * leaf + 64].tolist()):
            exact = score(rows[id_], WEIGHTS)
            assert estimates[place] + SLACK >= exact
            assert bound[leaf] >= exact
