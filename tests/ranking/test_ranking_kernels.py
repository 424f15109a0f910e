"""The kernels give the same results as plain Python and as compiled code, and bounds are never too low."""

import importlib.util
from collections.abc import Callable
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.ranking.by_hand import score
from tests.ranking.catalogs import row
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.leaf_queue import kernel_weights
from touchstone.ranking.columns.bitmaps import count_bits_by_leaf, pack_bits
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.compilation import KERNEL_MODULES, kernels_of
from touchstone.ranking.kernels.constants import FLOAT32_TOLERANCE, TECHNICAL_SCORE
from touchstone.ranking.kernels.count_kernels import SelectedRecords
from touchstone.ranking.kernels.inputs import KernelQuery, LeafRange
from touchstone.ranking.kernels.order_kernels import RADIX, KeyedPositions, RunScratch, ScoreKeys
from touchstone.ranking.kernels.radix_sort import sort_by_key
from touchstone.ranking.kernels.text_kernels import BYTES_PER_PASS, CandidateMarks, EncodedTexts
from touchstone.ranking.kernels.top_kernels import BUCKETS, GradedCriteria, LeafQueue, ScoredRecords, TopSearch
from touchstone.ranking.kernels.two_threads import MIN_ITEMS_FOR_TWO_THREADS, take_values
from touchstone.ranking.query.predicates import AnyWord, Contains, FlagEquals, Query, Range

SIZE = 700
LEAF_WORDS = 2
WEIGHTS = {name: 0.05 * (number + 1) for number, name in enumerate(CRITERION_NAMES)}
QUERIES: tuple[Query, ...] = (
    (),
    (Range("year", 2000, 2012.5), Range("citations", high=100), Range("features_number", 1, 150)),
    (Range("instances_number", low=120), Range("missing_values_percentage", high=20), Contains("dataset_name", "ris")),
    (AnyWord("domain", ("health", "vision", "finance")), FlagEquals("is_split", value=False)),
    (AnyWord("domain", ("health", "vision")), Range("technical_score", 0.2, 0.6), Range("ethical_score", high=0.7)),
)


def _plain_copy(module: ModuleType, plain_kernels: dict[str, Callable[..., Any]]) -> ModuleType:
    """Load a module once more, and return the copy, which calls plain functions even if others were compiled."""
    assert module.__spec__ is not None
    assert module.__spec__.origin is not None
    spec = importlib.util.spec_from_file_location(module.__name__, module.__spec__.origin)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    for name in set(plain_kernels) & set(vars(copy)):
        setattr(copy, name, plain_kernels[name])
    return copy


@pytest.fixture(scope="module")
def plain_kernels() -> SimpleNamespace:
    """Return all kernels by name, not compiled."""
    kernels: dict[str, Callable[..., Any]] = {}
    for module in KERNEL_MODULES:
        copy = _plain_copy(module, kernels)
        kernels |= {function.__name__: function for function in kernels_of(copy)}
    return SimpleNamespace(**kernels)


@pytest.fixture(scope="module")
def native_kernels(index: CatalogIndex, plain_kernels: SimpleNamespace) -> SimpleNamespace:
    """Return all kernels by name, as compiled for the index."""
    return SimpleNamespace(
        **{
            name: getattr(module, name)
            for module in KERNEL_MODULES
            for name in vars(plain_kernels)
            if hasattr(module, name)
        }
    )


@pytest.fixture(scope="module")
def index() -> CatalogIndex:
    """Return an index of a few hundred records in leaves of two blocks, with compiled kernels."""
    layout = Layout(index_from=1, leaf_words=LEAF_WORDS)
    catalog = Catalog.build((row(Random(id_), id_) for id_ in range(1, SIZE + 1)), layout)
    assert catalog.index is not None
    return catalog.index


def _translate(index: CatalogIndex, query: Query) -> KernelQuery:
    alive = pack_bits(np.ones(SIZE, np.bool_), index.columns.word_count)
    translated_query = index.translator.translate(query, alive, count_bits_by_leaf(alive, LEAF_WORDS))
    assert translated_query is not None
    return translated_query.kernel_query


def _select_and_count(kernels: SimpleNamespace, index: CatalogIndex, query: Query) -> tuple[int, list[int]]:
    words = np.zeros(index.columns.word_count, np.uint64)
    return _select_all(kernels, index, query, words), words.tolist()


def _select_all(kernels: SimpleNamespace, index: CatalogIndex, query: Query, words: Words) -> int:
    leaf_mask = np.empty(LEAF_WORDS, np.uint64)
    leaves = LeafRange(0, index.columns.leaf_count)
    return int(kernels.select_records(index.kernel_columns, _translate(index, query), leaves, leaf_mask, words))


def test_kernels_are_compiled(native_kernels: SimpleNamespace, plain_kernels: SimpleNamespace) -> None:
    """The other tests really compare two different forms of the same functions."""
    assert vars(native_kernels).keys() == vars(plain_kernels).keys()
    assert all(hasattr(kernel, "py_func") for kernel in vars(native_kernels).values())
    assert not any(hasattr(kernel, "py_func") for kernel in vars(plain_kernels).values())


@pytest.mark.parametrize("query", QUERIES)
def test_plain_and_native_kernels_match_the_same_records(
    plain_kernels: SimpleNamespace, native_kernels: SimpleNamespace, index: CatalogIndex, query: Query
) -> None:
    """Filters give the same bitmap and the same count."""
    assert _select_and_count(plain_kernels, index, query) == _select_and_count(native_kernels, index, query)


def _find_top(kernels: SimpleNamespace, index: CatalogIndex, query: Query) -> list[tuple[int, float]]:
    leaves, weights = index.columns.leaf_count, kernel_weights(WEIGHTS)
    queue = LeafQueue(
        leaves=np.empty(leaves, np.int64),
        leaf_bounds=np.empty(leaves),
        leaf_mask=np.empty(LEAF_WORDS, np.uint64),
        block_bounds=np.empty(LEAF_WORDS, np.float32),
        score_estimates=np.empty(64, np.float32),
        candidates=np.empty(64 * LEAF_WORDS + 1, np.int64),
        candidate_scores=np.empty(64 * LEAF_WORDS),
    )
    kernels.fill_leaf_bounds(index.kernel_columns, weights, queue.leaf_bounds)
    kernels.queue_leaves(queue.leaf_bounds, np.zeros(BUCKETS + 1, np.int64), queue.leaves)

    heap = ScoredRecords(np.empty(9, np.int64), np.empty(9))
    size = kernels.find_top(TopSearch(index.kernel_columns, _translate(index, query), weights), queue, heap)
    return sorted(zip(heap.positions[:size].tolist(), heap.scores[:size].tolist(), strict=True))


@pytest.mark.parametrize("query", QUERIES)
def test_plain_and_native_kernels_find_the_same_best(
    plain_kernels: SimpleNamespace, native_kernels: SimpleNamespace, index: CatalogIndex, query: Query
) -> None:
    """Both find the same nine best records, with scores that agree to the last bit."""
    assert _find_top(plain_kernels, index, query) == _find_top(native_kernels, index, query)


def _order_and_count(kernels: SimpleNamespace, index: CatalogIndex) -> list[list[object]]:
    columns = index.columns
    words = np.zeros(columns.word_count, np.uint64)
    _select_all(kernels, index, QUERIES[3], words)
    by_name = np.empty(SIZE + 1, np.uint32)
    by_name = by_name[: kernels.filter_permutation(words, columns.names.permutation, by_name)]

    score_keys = ScoreKeys(np.zeros(64 * len(words)), np.zeros(64 * len(words), np.uint32))
    kernels.fill_score_keys(index.kernel_columns, kernel_weights(WEIGHTS), words[1:], 1, score_keys)
    scores, keys = score_keys.scores, score_keys.keys[by_name]
    source = KeyedPositions(keys >> np.uint32(28), by_name)
    target = KeyedPositions(np.empty_like(keys), np.empty_like(source.positions))
    digits = np.zeros(RADIX, np.int64)
    kernels.count_digits(0, source.keys, digits)
    kernels.scatter_by_digit(0, source, target, np.cumsum(digits) - digits)

    size = len(keys) + 2
    scratch = RunScratch(np.empty(size, np.int64), np.empty(size, np.uint32), np.empty(size))
    unsorted_run_count = kernels.sort_runs(target.keys, target.positions, scores, scratch)
    taken_scores = np.empty(len(by_name))
    kernels.take(score_keys.scores, by_name, taken_scores)
    window_positions = np.empty(5, np.int64)
    kernels.fill_window(words, columns.names.permutation, 3, window_positions)

    year = columns.numbers["year"]
    counts = np.zeros(len(year.values), np.int64)
    kernels.count_codes(words, year.codes, counts)
    extremes = kernels.technical_score_range(index.kernel_columns, words, columns.criteria.lower[TECHNICAL_SCORE])
    selected = SelectedRecords(words, count_bits_by_leaf(words, LEAF_WORDS))
    plane_counts = np.zeros(len(columns.planes.bitmaps), np.int64)
    leaves = LeafRange(1, columns.leaf_count)
    kernels.count_in_planes(index.kernel_columns, selected, np.arange(len(plane_counts)), leaves, plane_counts)
    known_codes = kernels.known_code_range(year.codes, words, LEAF_WORDS, *index.statistics.leaf_codes("year"))

    names, marks = columns.names.pool, np.zeros(BYTES_PER_PASS, np.bool_)
    containing = np.zeros(columns.word_count, np.uint64)
    texts, substring = EncodedTexts(names.data, names.offsets), np.frombuffer(bytearray(b"ris"), np.uint8)
    kernels.select_texts(texts, substring, CandidateMarks(marks, marks.view(np.uint64)), containing)
    arrays = (
        by_name,
        score_keys.scores,
        score_keys.keys,
        target.positions,
        scratch.unsorted_runs[: 2 * unsorted_run_count],
        taken_scores,
        window_positions,
        counts,
        extremes,
        plane_counts,
        known_codes,
        containing,
        digits,
    )
    return [list(map(float, array)) for array in arrays]


def test_plain_and_native_kernels_order_and_count_the_same(
    plain_kernels: SimpleNamespace, native_kernels: SimpleNamespace, index: CatalogIndex
) -> None:
    """Permutations, radix passes, sorted runs, tallies and extremes agree."""
    assert _order_and_count(plain_kernels, index) == _order_and_count(native_kernels, index)


@pytest.mark.parametrize("spread", [1, 50, 2**31])
def test_long_keys_are_sorted_in_halves_and_stay_in_order(index: CatalogIndex, spread: int) -> None:
    """Two threads sort by each digit, and equal keys keep the order that they had."""
    rng = np.random.default_rng(spread)
    size = 3 * MIN_ITEMS_FOR_TWO_THREADS
    keys, positions = rng.integers(0, spread, size, np.uint32), rng.permutation(size).astype(np.uint32)
    expected = np.argsort(keys, kind="stable")
    result = sort_by_key(keys.copy(), positions.copy())
    assert (result.keys == keys[expected]).all()
    assert (result.positions == positions[expected]).all()
    assert (take_values(keys, result.positions) == keys[result.positions]).all()


def test_no_estimate_and_no_bound_is_below_a_score(plain_kernels: SimpleNamespace, index: CatalogIndex) -> None:
    """Pruning is exact only because the bounds of leaves and blocks and the estimates of records are never too low."""
    rows = {id_: row(Random(id_), id_) for id_ in range(1, SIZE + 1)}
    weights, ids = kernel_weights(WEIGHTS), index.integers("id", slice(None))
    columns = index.kernel_columns
    leaf_bounds = np.empty(index.columns.leaf_count)
    plain_kernels.fill_leaf_bounds(columns, weights, leaf_bounds)
    block_bounds = np.empty(index.columns.word_count, np.float32)
    block_criteria = GradedCriteria(columns.block_grades, columns.block_flag_bytes)
    plain_kernels.fill_score_estimates(block_criteria, weights, 0, block_bounds)
    estimates = np.empty(SIZE, np.float32)
    plain_kernels.fill_score_estimates(GradedCriteria(columns.grades, columns.flag_bytes), weights, 0, estimates)

    for position, id_ in enumerate(ids.tolist()):
        exact_score = score(rows[id_], WEIGHTS)
        assert estimates[position] + FLOAT32_TOLERANCE >= exact_score
        assert block_bounds[position // 64] >= estimates[position]
        assert leaf_bounds[position // (64 * LEAF_WORDS)] >= exact_score
