"""What the row-by-row reference does not cover: views, facets, items, compaction, and the table of attributes."""

import gc
import weakref
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from tests.ranking.catalogs import position_of, row
from tests.ranking.catalogs import query as random_query
from touchstone.core.attributes import ATTRIBUTES, FLAGS
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog import catalog as catalog_module
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.kernels import two_threads
from touchstone.ranking.query.facets import ValueRange
from touchstone.ranking.query.predicates import FlagEquals, Range, Visible
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES


def catalog_row(id_: int, **facts: Any) -> CatalogRow:
    """Return a record with these known values only."""
    return CatalogRow(id=id_, dataset_id=UUID(int=id_), **({"dataset_name": f"n{id_}"} | facts))


def test_a_row_has_every_attribute() -> None:
    """An attribute that is added to the table also has to be added to the row."""
    assert {attribute.name for attribute in ATTRIBUTES} <= set(CatalogRow.__struct_fields__)


def test_profiles_weigh_known_criteria_and_sum_to_one() -> None:
    """The score of a profile is the plain weighted sum of the interface."""
    assert DEFAULT_PROFILE in PROFILES
    for profile in PROFILES.values():
        assert set(profile.weights) <= set(CRITERION_NAMES)
        assert abs(sum(profile.weights.values()) - 1) < 1e-12


def test_a_view_does_not_change_when_the_catalog_does() -> None:
    """A view gives the same results after later writes, including compaction."""
    random = Random(1)
    catalog = Catalog.build(row(random, id_) for id_ in range(1, 3001))
    earlier_view = catalog.view
    ids = earlier_view.ids(earlier_view.sort((), "id", descending=False, skip=0, limit=None).positions).tolist()
    catalog.apply(upserts=[row(random, 4000)], deleted=range(1, 2900))
    catalog.apply(upserts=[row(random, id_) for id_ in range(2950, 3100)], deleted=())
    assert earlier_view.ids(earlier_view.sort((), "id", descending=False, skip=0, limit=None).positions).tolist() == ids
    assert catalog.view.size == 3001 - 2899 + 99
    assert position_of(earlier_view, 1) is not None
    assert position_of(catalog.view, 1) is None


def test_an_outdated_view_is_freed_at_once() -> None:
    """It does not wait for a garbage collection, until which the arrays of a large catalog would fill the memory."""
    random = Random(1)
    catalog = Catalog.build(row(random, id_) for id_ in range(1, 10))
    outdated_tail = weakref.ref(catalog.view._tail)

    gc.disable()
    try:
        catalog.apply(upserts=[row(random, 10)], deleted=[2])
        assert outdated_tail() is None
    finally:
        gc.enable()


def test_the_last_of_several_rows_with_one_id_counts_and_deleting_wins() -> None:
    """A batch of changes may contain the same id more than once."""
    catalog = Catalog.build([catalog_row(1), catalog_row(2)])
    catalog.apply(
        upserts=[catalog_row(1, year=2001), catalog_row(1, year=2002), catalog_row(2), catalog_row(3)], deleted=[2]
    )
    assert catalog.view.size == 2
    assert catalog.view.count((Range("year", 2002, 2002),)) == 1
    assert position_of(catalog.view, 2) is None


def test_percent_floors_are_met_by_the_tenths_they_name() -> None:
    """Seven of ten attributes reach 70 %, and 0.15 + 0.2 reaches 35 %, in spite of rounding."""
    seven_true = dict.fromkeys([attribute.name for attribute in ATTRIBUTES if attribute.ethical][:7], True)
    catalog = Catalog.build([catalog_row(1, metadata_provided_with_dataset=True, is_split=True, **seven_true)])
    assert catalog.view.count((Range("ethical_score", low=70 / 100), Range("technical_score", low=35 / 100))) == 1
    assert catalog.view.count((Range("ethical_score", low=71 / 100),)) == 0


def test_facets_put_spellings_together_and_keep_three_values_apart() -> None:
    """A value counts once per record, under its most frequent spelling; unknown is not counted as false."""
    catalog = Catalog.build(
        [
            catalog_row(1, domain=("Santé", "sante"), year=2020, is_split=True, file_type="csv"),
            catalog_row(2, domain=("Santé",), year=2021, is_split=False),
            catalog_row(3, domain=("SANTE", "Finance"), year=2020, features_number=5),
            catalog_row(4, year=1900, visibility="private"),
        ]
    )
    facets = catalog.view.facets((Range("year", low=2000),))
    assert facets.total_count == 3
    assert facets.values["domain"] == (("Santé", 3), ("Finance", 1))
    assert facets.values["year"] == ((2021, 1), (2020, 2))
    assert facets.values["file_type"] == (("csv", 1),)
    assert facets.flags["is_split"] == (1, 1, 1)
    assert set(facets.flags) == {*FLAGS, "trainable"}
    assert facets.ranges["features_number"] == ValueRange(5, 5)
    assert [facets.ranges[name] for name in ("citations", "ethical_score")] == [None, (0, 0)]
    assert catalog.view.facets((FlagEquals("is_split", True), FlagEquals("is_split", False))).total_count == 0


@pytest.mark.parametrize("seed", range(12))
def test_facets_of_an_index_equal_those_of_plain_columns(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index counts by planes, codes and leaves, most matches by what does not match, and deletions count at once."""
    monkeypatch.setattr(two_threads, "MIN_ITEMS_FOR_TWO_THREADS", 1)
    random = Random(seed)
    rows = [row(random, id_) for id_ in range(1, random.choice((2, 130, 700)))]
    indexed_catalog = Catalog.build(rows, Layout(index_from=1, leaf_words=1))
    plain_catalog = Catalog.build(rows, Layout(index_from=10**9))

    for deleted in ((), random.sample(range(1, len(rows) + 1), len(rows) // 4)):
        indexed_catalog.apply(upserts=(), deleted=deleted)
        plain_catalog.apply(upserts=(), deleted=deleted)
        for query in ((), (Visible(None),), *(random_query(random) for _ in range(12))):
            for assurance in Assurance:
                expected = plain_catalog.view.at(assurance).facets(query)
                assert indexed_catalog.view.at(assurance).facets(query) == expected
                assert indexed_catalog.view.at(assurance).facets(query) == expected  # they are cached now


def test_items_carry_the_fields_of_a_scored_dataset() -> None:
    """Unknown values remain None, and numbers are integers."""
    catalog = Catalog.build([catalog_row(9, instances_number=2**53 - 1, objective="classer", citations=10)])
    items = catalog.view.items(np.array([0]))
    assert items.id == [9]
    assert items.dataset_id == [str(UUID(int=9))]
    assert (items.dataset_name, items.objective) == (["n9"], ["classer"])
    assert (items.instances_number, items.features_number) == ([2**53 - 1], [None])
    assert items.popularity_score == [1 / 3]


def test_a_ranking_may_be_divided_into_chunks() -> None:
    """The chunks together are the complete ranking."""
    catalog = Catalog.build(row(Random(id_), id_) for id_ in range(1, 100))
    window = catalog.view.rank((), PROFILES[DEFAULT_PROFILE].weights, skip=0, limit=None)
    chunks = list(window.chunks(10))
    assert len(chunks) == 10
    assert np.concatenate([chunk.positions for chunk in chunks]).tolist() == window.positions.tolist()
    assert np.concatenate([chunk.scores for chunk in chunks]).tolist() == window.scores.tolist()
    assert [rank for chunk in chunks for rank in chunk.ranks] == list(range(1, 100))

    records = window.records()
    assert np.concatenate([chunk.places for chunk in chunks]).tolist() == records.places.tolist()
    assert np.concatenate([chunk.tied_with for chunk in chunks]).tolist() == records.tied_with.tolist()


def test_weights_too_large_to_add_up_still_rank() -> None:
    """The sum of two of the largest floats overflows, but the score does not."""
    catalog = Catalog.build([catalog_row(1, transparency=True), catalog_row(2)])
    window = catalog.view.rank((), {"transparency": 1.7e308, "year": 1.7e308}, skip=0, limit=None)
    assert window.scores.tolist() == [0.5, 0.0]


def test_a_growing_catalog_is_indexed_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """While many records are about to be added, a new index pays only once half as many are beside the old one."""
    monkeypatch.setattr(catalog_module, "_TOLERATED_STALE_ROWS", 0)
    random = Random(3)
    rows = [row(random, id_) for id_ in range(1, 80)]
    catalog = Catalog.build(rows[:40], Layout(index_from=10, leaf_words=1, compiled=False))
    assert (catalog.is_rebuild_due, catalog.is_rebuild_overdue) == (False, False)

    catalog.apply(upserts=rows[40:50], deleted=())
    assert (catalog.is_rebuild_due, catalog.is_rebuild_overdue) == (True, False)

    catalog.apply(upserts=rows[50:61], deleted=())
    assert catalog.is_rebuild_overdue
    catalog.rebuild_index()
    assert (catalog.is_rebuild_due, catalog.is_rebuild_overdue, catalog.view.unindexed_size) == (False, False, 0)


def test_records_that_are_appended_rank_like_inserted_ones() -> None:
    """A batch of new records is found at once, also while an index is being built, and is kept beside that index."""
    random = Random(5)
    rows = [row(random, id_) for id_ in range(1, 60)]
    weights = PROFILES[DEFAULT_PROFILE].weights
    expected_scores = Catalog.build(rows).view.rank((), weights, skip=0, limit=None).scores.tolist()

    catalog = Catalog.build(rows[:40], Layout(index_from=10, leaf_words=1, compiled=False))
    rebuild = catalog.begin_rebuild()
    catalog.append(to_record_batch(rows[40:]))
    assert catalog.view.rank((), weights, skip=0, limit=None).scores.tolist() == expected_scores

    rebuild.run()
    catalog.adopt_rebuild(rebuild)
    assert catalog.view.rank((), weights, skip=0, limit=None).scores.tolist() == expected_scores

    catalog.apply(upserts=(), deleted=[50])
    assert catalog.view.size == 58


def test_many_records_that_are_added_during_a_rebuild_are_copied_into_a_small_tail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The records that the new index has taken in do not stay in memory beside those that came meanwhile."""
    monkeypatch.setattr(catalog_module, "_MAX_COPIED_ROWS", 2)
    monkeypatch.setattr(catalog_module, "_TOLERATED_DEAD_ROWS", 3)
    catalog = Catalog.build([catalog_row(1)], Layout(index_from=1, leaf_words=1, compiled=False))
    catalog.apply(upserts=[catalog_row(id_) for id_ in range(2, 12)], deleted=())
    rebuild = catalog.begin_rebuild()
    catalog.apply(upserts=[catalog_row(id_) for id_ in range(12, 16)], deleted=())
    rebuild.run()
    catalog.adopt_rebuild(rebuild)
    assert catalog.has_dead_tail

    compaction = catalog.begin_compaction()
    catalog.apply(upserts=[catalog_row(12, year=2001), catalog_row(16)], deleted=[13])
    compaction.run()
    catalog.adopt_compaction(compaction)
    assert catalog.view.unindexed_size == 6  # with the two that were removed during the compaction
    sorted_window = catalog.view.sort((), "id", descending=False, skip=0, limit=None)
    assert catalog.view.ids(sorted_window.positions).tolist() == [*range(1, 13), 14, 15, 16]
    ranked_window = catalog.view.rank((), {"year": 1.0}, skip=0, limit=1)
    assert catalog.view.ids(ranked_window.positions).tolist() == [12]

    catalog.apply(upserts=(), deleted=[12, 16])
    assert catalog.view.size == 13


def test_a_record_that_changes_twice_during_a_rebuild_hides_no_other_one() -> None:
    """The new index counts its live records leaf by leaf, and a leaf without any is not searched."""
    catalog = Catalog.build([catalog_row(1), catalog_row(2)], Layout(index_from=1, leaf_words=1, compiled=False))
    rebuild = catalog.begin_rebuild()
    rebuild.run()
    for year in (2001, 2002):
        catalog.apply(upserts=[catalog_row(1, year=year)], deleted=())
    catalog.adopt_rebuild(rebuild)

    assert catalog.view.size == 2
    window = catalog.view.rank((), {"year": 1.0}, skip=0, limit=10)
    assert catalog.view.ids(window.positions).tolist() == [1, 2]
