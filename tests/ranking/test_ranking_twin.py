"""The evaluator against the row-by-row reference on random catalogs, with writes in between.

`RANKING_CASES` in the environment sets the number of cases; a thorough run takes 50 000.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.ranking.by_hand import CRITERIA, matching, ordered, rank
from tests.ranking.catalogs import known_at, position_of, row, sort_key
from tests.ranking.catalogs import query as random_query
from tests.ranking.catalogs import weights as random_weights
from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog import sorted_pages
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.indexed_part import PlanThresholds
from touchstone.ranking.catalog.result_merging import ListWindow
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.kernels import two_threads
from touchstone.ranking.query.predicates import Query

CASES = int(os.environ.get("RANKING_CASES", "150"))
LAYOUTS = {
    "flat": Layout(index_from=10**9),
    "leaves of 64": Layout(index_from=1, leaf_words=1),
    "leaves of 1024": Layout(index_from=40),
    # The plans of large catalogs, at every size: best leaf first, the full order, walks along an order.
    "best first": Layout(index_from=1, leaf_words=1, plans=PlanThresholds(gather_up_to=0)),
    "best first, shallow": Layout(index_from=1, leaf_words=2, plans=PlanThresholds(gather_up_to=3, best_first_up_to=4)),
    "best first, in blocks": Layout(index_from=1, leaf_words=4, plans=PlanThresholds(gather_up_to=0)),
    "full order": Layout(index_from=1, leaf_words=1, plans=PlanThresholds(gather_up_to=0, best_first_up_to=0)),
}
SMALL_SIZES = (st.integers(0, 12), st.integers(0, 60), st.integers(0, 60), st.integers(0, 400))
SIZES = st.one_of(*SMALL_SIZES * 5, st.integers(400, 5_000))
random_cases = settings(max_examples=CASES, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module", autouse=True)
def halve_work() -> Iterator[None]:
    """Halve work, and store beginnings of orders, from a few records on, as otherwise only in large catalogs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_threads, "MIN_ITEMS_FOR_TWO_THREADS", 1)
        patch.setattr(sorted_pages, "MIN_BEGINNING", 5)
        yield


def check_answers(catalog: Catalog, rows: dict[int, CatalogRow], random: Random) -> None:
    """Check one random query of each kind at every assurance."""
    for assurance in Assurance:
        known_rows = {id_: known_at(record, assurance) for id_, record in rows.items()}
        check_view(catalog.view.at(assurance), known_rows, random)


def check_view(view: View, rows: dict[int, CatalogRow], random: Random) -> None:
    """Check that one random query of each kind has the ids, order and float64 scores of the reference, bit for bit."""
    query = random_query(random)
    skip, limit = random.choice(((0, None), (0, 3), (0, 20), (2, 5), (7, None), (1000, 1)))
    end = None if limit is None else skip + limit
    weights = random_weights(random)
    expected_ranking = rank(rows.values(), query, weights)
    window = view.rank(query, weights, skip=skip, limit=limit)
    ranking = list(zip(view.ids(window.positions).tolist(), window.scores.tolist(), strict=True))
    assert ranking == expected_ranking[skip:end]
    assert window.total_count == view.count(query) == len(expected_ranking)
    check_ties(
        window, [score for _, score in expected_ranking][skip:end], Counter(score for _, score in expected_ranking)
    )
    check_list(view, rows, query, random)


def check_list(view: View, rows: dict[int, CatalogRow], query: Query, random: Random) -> None:
    """Check a random window of a list, and the window that follows the place of a random record."""
    skip, limit = random.choice(((0, None), (0, 3), (2, 5), (7, None), (40, 20), (1000, 1)))
    key, descending = sort_key(random), random.random() < 0.5
    expected_ids = ordered(rows.values(), query, key, descending)
    window = view.sort(query, key, descending=descending, skip=skip, limit=limit)
    assert view.ids(window.positions).tolist() == expected_ids[skip : None if limit is None else skip + limit]
    assert window.total_count == len(expected_ids)

    if rows:
        id_ = random.choice(sorted(rows))
        position = position_of(view, id_)
        assert position is not None
        list_window = ListWindow(skip, limit, after=view.place(key, position))
        following_window = view.sort_window(query, key, list_window, descending=descending)
        all_ids = ordered(rows.values(), (), key, descending)
        expected_following_ids = [
            other_id for other_id in all_ids[all_ids.index(id_) + 1 :] if other_id in set(expected_ids)
        ]
        assert view.ids(following_window.positions).tolist() == expected_following_ids[skip:][:limit]
        assert following_window.total_count == len(expected_ids)


def check_ties(window: RankedWindow, scores: list[float], counts: Counter[float]) -> None:
    """Check the places and ties of a page with some scores, given how many records of the ranking have each score."""
    records = window.records()
    higher_counts = [sum(count for score, count in counts.items() if score > page_score) for page_score in scores]
    assert records.places.tolist() == [higher_count + 1 for higher_count in higher_counts]
    assert records.tied_with.tolist() == [counts[score] - 1 for score in scores]


def check_records(catalog: Catalog, rows: dict[int, CatalogRow], random: Random) -> None:
    """Check that live records are found by id, with their UUIDs and criteria, and that other ids are not found."""
    assurance, query = random.choice(tuple(Assurance)), random_query(random)
    view = catalog.view.at(assurance)
    rows = {id_: known_at(record, assurance) for id_, record in rows.items()}
    assert view.size == len(rows)
    expected_ids = {record.id for record in matching(rows.values(), query)}
    matching_ids = set(view.ids(view.sort(query, "id", descending=False, skip=0, limit=None).positions).tolist())
    for record in random.sample(list(rows.values()), min(5, len(rows))):
        position = position_of(view, record.id)
        assert position is not None
        items = view.items(np.array([position]))
        assert items.dataset_id == [str(record.dataset_id)]
        assert items.known == [sum(getattr(record, name) is not None for name in ETHICAL)]
        assert (record.id in matching_ids) == (record.id in expected_ids)
        [scores] = view.criterion_scores(np.array([position])).tolist()
        assert scores == [criterion(record) for criterion in CRITERIA.values()]
    assert position_of(view, 10**9) is None


def apply_as_batch(catalog: Catalog, changed_rows: Sequence[CatalogRow], deleted: Sequence[int]) -> None:
    """Do the same as `Catalog.apply`, with the changed rows as columns."""
    rows_by_id = {row.id: row for row in changed_rows if row.id not in deleted}
    catalog.apply(upserts=(), deleted=deleted)
    catalog.replace(to_record_batch(list(rows_by_id.values())))


@random_cases
@given(seed=st.integers(0, 2**32), size=SIZES, steps=st.integers(0, 3), layout=st.sampled_from(sorted(LAYOUTS)))
def test_every_result_equals_the_row_by_row_reference(seed: int, size: int, steps: int, layout: str) -> None:
    """After any changes, rebuilds and compactions, every result is what the formulas give row by row."""
    random = Random(seed)
    rows = {id_: row(random, id_) for id_ in random.sample(range(1, 2 * size + 2), size)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    check_answers(catalog, rows, random)
    for _ in range(steps):
        changed_rows = [row(random, random.randrange(1, 2 * size + 4)) for _ in range(random.randrange(4))]
        deleted = random.sample(sorted(rows), min(len(rows), random.randrange(3)))
        rows |= {record.id: record for record in changed_rows}
        for id_ in deleted:
            rows.pop(id_, None)
        rebuild = catalog.begin_rebuild() if rows and random.random() < 0.3 else None
        compaction = catalog.begin_compaction() if rebuild is None and random.random() < 0.3 else None
        is_batch = random.random() < 0.5
        for _ in range(random.randrange(1, 3)):  # the same record may change several times meanwhile
            if is_batch:
                apply_as_batch(catalog, changed_rows, deleted)
            else:
                catalog.apply(upserts=changed_rows, deleted=deleted)
        if rebuild and layout != "flat":
            check_answers(catalog, rows, random)
            rebuild.run()
            catalog.adopt_rebuild(rebuild)
        if compaction:
            compaction.run()
            catalog.adopt_compaction(compaction)
        check_answers(catalog, rows, random)
    check_records(catalog, rows, random)
