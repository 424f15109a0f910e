"""Assurance in the ranking: facets, levels, explanations, and what a catalog without evidence costs."""

import math
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.ranking.by_hand import matching
from tests.ranking.catalogs import known_at, row
from tests.ranking.catalogs import query as random_query
from tests.ranking.catalogs import weights as random_weights
from tests.ranking.test_ranking_twin import LAYOUTS
from tests.ranking.test_ranking_view import catalog_row
from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, Assurance, AttributeEvidence, EvidenceLevel
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.evidence_columns import unpack_levels
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index
from touchstone.ranking.query.facets import Facets, FlagCounts
from touchstone.ranking.query.predicates import FlagEquals, Range
from touchstone.ranking.reasons.points_by_level import SupportedFacts, points_by_level

INDEXED = Layout(index_from=1, leaf_words=1)
TEN_TRUE = dict.fromkeys(ETHICAL, True)


def documented(*names: str) -> dict[str, AttributeEvidence]:
    """Return the evidence of a record with some flags that are documented as true."""
    return {name: AttributeEvidence(level=EvidenceLevel.DOCUMENTED, documented=True) for name in names}


def ranked_ids(view: View, weights: dict[str, float]) -> list[int]:
    """Return the ids of all records in the order of their scores."""
    window = view.rank((), weights, skip=0, limit=None)
    ids: list[int] = view.ids(window.positions).tolist()
    return ids


def check_facets(facets: Facets, rows: list[CatalogRow]) -> None:
    """Check that the counts of flags and the ranges of numbers are those of the rows."""
    assert facets.total_count == len(rows)
    for name in FLAGS:
        values = [getattr(record, name) for record in rows]
        assert facets.flags[name] == FlagCounts(values.count(True), values.count(False), values.count(None))
    for name in NUMBERS:
        known_values = [value for record in rows if (value := getattr(record, name)) is not None]
        expected = (min(known_values), max(known_values)) if known_values else None
        assert facets.ranges[name] == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_facets_count_what_is_known_at_each_assurance(layout: str) -> None:
    """A value below the assurance counts as unknown, in an index and beside it."""
    random = Random(11)
    rows = {id_: row(random, id_) for id_ in range(1, 300)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    changed_rows = [row(random, id_) for id_ in range(250, 330)]
    catalog.apply(upserts=changed_rows, deleted=[1, 2, 3])
    rows |= {record.id: record for record in changed_rows}
    for id_ in (1, 2, 3):
        del rows[id_]

    for assurance in Assurance:
        known_rows = [known_at(record, assurance) for record in rows.values()]
        for _ in range(8):
            query = random_query(random)
            check_facets(catalog.view.at(assurance).facets(query), matching(known_rows, query))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_levels_say_what_supports_each_value(layout: str) -> None:
    """The level of every attribute survives an index, changes beside it, and a new index."""
    random = Random(13)
    rows = {id_: row(random, id_) for id_ in range(1, 200)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    changed_rows = [row(random, id_) for id_ in range(150, 220)]
    catalog.apply(upserts=changed_rows, deleted=[5])
    rows |= {record.id: record for record in changed_rows}
    del rows[5]

    for is_rebuilt in (False, True):
        if is_rebuilt:
            catalog.rebuild_index()
        for assurance in Assurance:
            view = catalog.view.at(assurance)
            positions = view.sort((), "id", descending=False, skip=0, limit=None).positions
            strengths = unpack_levels(view.evidence_levels(positions))
            for name, strengths_of_attribute in zip(CLAIMED_ATTRIBUTES, strengths.tolist(), strict=True):
                evidence = [(rows[id_].evidence or {}).get(name) for id_ in sorted(rows)]
                expected = [entry.level_at(assurance).strength if entry else 0 for entry in evidence]
                assert strengths_of_attribute == expected


@pytest.mark.parametrize("layout", [Layout(), INDEXED], ids=["flat", "indexed"])
def test_unsupported_claims_lead_only_where_declarations_count(layout: Layout) -> None:
    """A record with ten unsupported true values is first at `declared`, and has no known values at `documented`."""
    unsupported_record = catalog_row(1, **TEN_TRUE, citations=9_999_999)
    documented_record = catalog_row(2, transparency=True, informed_consent=True, evidence=documented("transparency"))
    catalog = Catalog.build([unsupported_record, documented_record, catalog_row(3)], layout)
    weights = {"ethical_score": 0.8, "citations": 0.2}

    assert ranked_ids(catalog.view, weights) == [1, 2, 3]
    assert ranked_ids(catalog.view.at(Assurance.DOCUMENTED), weights) == [2, 1, 3]
    assert ranked_ids(catalog.view.at(Assurance.REVIEWED), weights) == [1, 2, 3]

    view = catalog.view.at(Assurance.DOCUMENTED)
    assert view.count((FlagEquals("informed_consent", True),)) == 0
    assert view.count((Range("citations", low=0),)) == 0
    positions = view.sort((), "id", descending=False, skip=0, limit=None).positions
    assert view.known_ethical_counts(positions).tolist() == [0, 1, 0]
    assert view.declared.known_ethical_counts(positions).tolist() == [10, 2, 0]


def test_a_view_at_an_assurance_leads_back_to_the_declared_one() -> None:
    """Each assurance can be reached from every other."""
    view = Catalog.build([catalog_row(1)]).view
    assert view.at(Assurance.DECLARED) is view
    reviewed_view = view.at(Assurance.REVIEWED)
    assert reviewed_view.declared is reviewed_view.at(Assurance.DECLARED) is view
    assert reviewed_view.at(Assurance.DOCUMENTED).assurance is Assurance.DOCUMENTED


def test_points_by_level_add_up_to_the_score() -> None:
    """The points of all levels are the score, at every assurance."""
    random = Random(17)
    catalog = Catalog.build(row(random, id_) for id_ in range(1, 200))
    for assurance in Assurance:
        view = catalog.view.at(assurance)
        weights = random_weights(random)
        window = view.rank((), weights, skip=0, limit=50)
        supported_facts = SupportedFacts.from_packed_levels(
            view.facts(window.positions), view.evidence_levels(window.positions)
        )
        points_by_record = points_by_level(supported_facts, view.criterion_scores(window.positions), weights)
        for level_points, score in zip(points_by_record, window.scores.tolist(), strict=True):
            assert list(level_points) == list(EvidenceLevel)
            assert math.fsum(level_points.values()) == pytest.approx(score, rel=3e-16, abs=1e-300)


def test_points_by_level_follow_the_evidence_of_each_fact() -> None:
    """Each attribute brings its points to its own level; documentation counts for the better supported flag."""
    facts = {
        "metadata_provided_with_dataset": True,
        "external_documentation_available": True,
        "is_split": True,
        "missing_values_percentage": 50.0,
        "transparency": True,
        "informed_consent": True,
        "instances_number": 100_000,
    }
    evidence = {
        **documented("external_documentation_available", "transparency"),
        "missing_values_percentage": AttributeEvidence(level=EvidenceLevel.MEASURED, documented=50.0, reviewed=50.0),
        "instances_number": AttributeEvidence(level=EvidenceLevel.REVIEWED, documented=100_000, reviewed=100_000),
    }
    view = Catalog.build([catalog_row(1, **facts, evidence=evidence)]).view
    positions = np.array([0])
    supported_facts = SupportedFacts.from_packed_levels(view.facts(positions), view.evidence_levels(positions))

    def level_points(**weights: float) -> dict[str, float]:
        [record_points] = points_by_level(supported_facts, view.criterion_scores(positions), weights)
        return {level: points for level, points in record_points.items() if points}

    assert level_points(documentation=1.0) == {"documented": 1.0}
    assert level_points(data_quality=2.0) == {"measured": 0.5}
    assert level_points(ethical_score=1.0) == pytest.approx({"declared": 0.1, "documented": 0.1})
    assert level_points(technical_score=1.0) == pytest.approx(
        {"declared": 0.35, "documented": 0.15, "measured": 0.1, "reviewed": 0.15}
    )


def test_a_catalog_without_evidence_stores_nothing_more() -> None:
    """Nothing is stored for assurances at which nothing is known, and what two assurances share is stored once."""
    declared_catalog = Catalog.build((catalog_row(id_, **TEN_TRUE) for id_ in range(1, 200)), INDEXED)
    assert declared_catalog.index is not None
    assert declared_catalog.index.columns.stricter == {}

    measurement = AttributeEvidence(level=EvidenceLevel.MEASURED, documented=7, reviewed=7)
    rows = (catalog_row(id_, instances_number=7, evidence={"instances_number": measurement}) for id_ in range(1, 200))
    measured_catalog = Catalog.build(rows, INDEXED)
    assert measured_catalog.index is not None
    stricter_columns = measured_catalog.index.columns.stricter
    assert stricter_columns[Assurance.DOCUMENTED] is stricter_columns[Assurance.REVIEWED]


def test_records_without_evidence_take_nothing_above_declared() -> None:
    """The columns of an assurance end with the last leaf about which something is known there."""
    measurement = AttributeEvidence(level=EvidenceLevel.MEASURED, documented=7, reviewed=7)
    rows = [
        catalog_row(id_, instances_number=7, evidence={"instances_number": measurement} if id_ % 10 == 0 else None)
        for id_ in range(1, 1000)
    ]
    index = Catalog.build(rows, INDEXED).index
    assert index is not None

    documented_columns = index.columns.stricter[Assurance.DOCUMENTED]
    assert len(documented_columns.codes["instances_number"]) <= 2 * 64
    assert documented_columns.criteria.grades.shape[1] <= 2 * 64
    assert documented_columns.criteria.upper.shape[1] == 2
    numbers = index.at(Assurance.DOCUMENTED).numbers("instances_number", np.arange(999))
    assert np.count_nonzero(numbers == 7) == 99
    assert np.isnan(numbers[2 * 64 :]).all()


def test_planes_of_texts_and_visibility_are_shared(tmp_path: Path) -> None:
    """The bitmaps of an index are one array for all assurances, in memory and in a snapshot."""
    random = Random(19)
    catalog = Catalog.build((row(random, id_) for id_ in range(1, 300)), INDEXED)
    assert catalog.index is not None
    save_index(tmp_path / "index", catalog.index, 1)
    mapped_index = map_snapshot(tmp_path / "index").index
    for index in (catalog.index, mapped_index):
        planes = index.columns.planes
        for assurance in (Assurance.DOCUMENTED, Assurance.REVIEWED):
            stricter_planes = index.at(assurance).columns.planes
            assert np.shares_memory(stricter_planes.bitmaps, planes.bitmaps)
            assert stricter_planes.rows["public"] == planes.rows["public"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_flag_may_have_an_assurance_of_its_own(layout: str) -> None:
    """Such a predicate sees what is known at its own assurance, all others what is known at that of the view."""
    random = Random(17)
    rows = {id_: row(random, id_) for id_ in range(1, 200)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    changed_rows = [row(random, id_) for id_ in range(180, 230)]
    catalog.apply(upserts=changed_rows, deleted=[7])
    rows |= {record.id: record for record in changed_rows}
    del rows[7]

    for assurance in Assurance:
        view = catalog.view.at(assurance)
        for flag_assurance in Assurance:
            flag, value = random.choice(FLAGS), random.random() < 0.5
            query = (
                Range("year", low=2000),
                FlagEquals(flag, value, flag_assurance),
                FlagEquals("is_public", value=True),
            )
            expected_ids = [
                record.id
                for record in sorted(rows.values(), key=lambda record: record.id)
                if getattr(known_at(record, flag_assurance), flag) is value
                and matching([known_at(record, assurance)], (query[0], query[2]))
            ]
            window = view.sort(query, "id", descending=False, skip=0, limit=None)
            assert view.ids(window.positions).tolist() == expected_ids
            assert view.count(query) == view.facets(query).total_count == len(expected_ids)
            ranked_window = view.rank(query, {"year": 1.0}, skip=0, limit=None)
            assert sorted(view.ids(ranked_window.positions).tolist()) == expected_ids
