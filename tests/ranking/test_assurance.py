"""Assurance in the ranking: facets, levels, explanations, and what a catalog without evidence costs."""

import math
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.ranking.by_hand import matching
from tests.ranking.catalogs import known_at, query, row, weights
from tests.ranking.test_ranking_twin import LAYOUTS
from tests.ranking.test_ranking_view import made
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
    """Return the evidence of a record of which some flags are documented as true."""
    return {name: AttributeEvidence(level=EvidenceLevel.DOCUMENTED, documented=True) for name in names}


def ranked_ids(view: View, weighting: dict[str, float]) -> list[int]:
    """Return the ids of all records in the order of their scores."""
    ranking = view.rank((), weighting, skip=0, limit=None)
    ids: list[int] = view.ids(ranking.positions).tolist()
    return ids


def check_facets(facets: Facets, rows: list[CatalogRow]) -> None:
    """The counts of flags and years, and the ranges of numbers, are those of the rows."""
    assert facets.total_count == len(rows)
    for name in FLAGS:
        values = [getattr(record, name) for record in rows]
        assert facets.flags[name] == FlagCounts(values.count(True), values.count(False), values.count(None))
    for name in NUMBERS:
        known = [value for record in rows if (value := getattr(record, name)) is not None]
        expected = (min(known), max(known)) if known else None
        assert facets.ranges[name] == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_facets_count_what_is_known_at_each_assurance(layout: str) -> None:
    """A value below the assurance counts as unknown, in an index and beside it."""
    random = Random(11)
    rows = {id_: row(random, id_) for id_ in range(1, 300)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    changed = [row(random, id_) for id_ in range(250, 330)]
    catalog.apply(upserts=changed, deleted=[1, 2, 3])
    rows |= {record.id: record for record in changed}
    for id_ in (1, 2, 3):
        del rows[id_]

    for assurance in Assurance:
        known_rows = [known_at(record, assurance) for record in rows.values()]
        for _ in range(8):
            asked = query(random)
            check_facets(catalog.view.at(assurance).facets(asked), matching(known_rows, asked))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_levels_say_what_supports_each_value(layout: str) -> None:
    """The level of every attribute survives an index, changes beside it, and a new index."""
    random = Random(13)
    rows = {id_: row(random, id_) for id_ in range(1, 200)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    changed = [row(random, id_) for id_ in range(150, 220)]
    catalog.apply(upserts=changed, deleted=[5])
    rows |= {record.id: record for record in changed}
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
    """A record with ten unsupported true values is first at `declared`, and knows nothing at `documented`."""
    boaster = made(1, **TEN_TRUE, citations=9_999_999)
    modest = made(2, transparency=True, informed_consent=True, evidence=documented("transparency"))
    catalog = Catalog.build([boaster, modest, made(3)], layout)
    weighting = {"ethical_score": 0.8, "citations": 0.2}

    assert ranked_ids(catalog.view, weighting) == [1, 2, 3]
    assert ranked_ids(catalog.view.at(Assurance.DOCUMENTED), weighting) == [2, 1, 3]
    assert ranked_ids(catalog.view.at(Assurance.REVIEWED), weighting) == [1, 2, 3]

    view = catalog.view.at(Assurance.DOCUMENTED)
    assert view.count((FlagEquals("informed_consent", True),)) == 0
    assert view.count((Range("citations", low=0),)) == 0
    positions = view.sort((), "id", descending=False, skip=0, limit=None).positions
    assert view.known_ethical(positions) == [0, 1, 0]
    assert view.declared.known_ethical(positions) == [10, 2, 0]


def test_a_view_at_an_assurance_leads_back_to_the_declared_one() -> None:
    """Each assurance can be asked from every other."""
    view = Catalog.build([made(1)]).view
    assert view.at(Assurance.DECLARED) is view
    stricter = view.at(Assurance.REVIEWED)
    assert stricter.declared is stricter.at(Assurance.DECLARED) is view
    assert stricter.at(Assurance.DOCUMENTED).assurance is Assurance.DOCUMENTED


def test_points_by_level_add_up_to_the_score() -> None:
    """At every assurance; above `declared` no point is merely declared."""
    random = Random(17)
    catalog = Catalog.build(row(random, id_) for id_ in range(1, 200))
    for assurance in Assurance:
        view = catalog.view.at(assurance)
        weighting = weights(random)
        ranking = view.rank((), weighting, skip=0, limit=50)
        supported = SupportedFacts.of_packed(view.facts(ranking.positions), view.evidence_levels(ranking.positions))
        parts = points_by_level(supported, view.criterion_scores(ranking.positions), weighting)
        for part, score in zip(parts, ranking.scores.tolist(), strict=True):
            assert list(part) == list(EvidenceLevel)
            assert math.fsum(part.values()) == pytest.approx(score, rel=3e-16, abs=1e-300)


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
    view = Catalog.build([made(1, **facts, evidence=evidence)]).view
    positions = np.array([0])
    supported = SupportedFacts.of_packed(view.facts(positions), view.evidence_levels(positions))

    def parts(**weighting: float) -> dict[str, float]:
        [part] = points_by_level(supported, view.criterion_scores(positions), weighting)
        return {level: points for level, points in part.items() if points}

    assert parts(documentation=1.0) == {"documented": 1.0}
    assert parts(data_quality=2.0) == {"measured": 0.5}
    assert parts(ethical_score=1.0) == pytest.approx({"declared": 0.1, "documented": 0.1})
    assert parts(technical_score=1.0) == pytest.approx(
        {"declared": 0.35, "documented": 0.15, "measured": 0.1, "reviewed": 0.15}
    )


def test_a_catalog_without_evidence_stores_nothing_more() -> None:
    """Where nothing is known above `declared`, and where two assurances agree, nothing is stored twice."""
    declared = Catalog.build((made(id_, **TEN_TRUE) for id_ in range(1, 200)), INDEXED)
    assert declared.index is not None
    assert declared.index.columns.stricter == {}

    measured = AttributeEvidence(level=EvidenceLevel.MEASURED, documented=7, reviewed=7)
    rows = (made(id_, instances_number=7, evidence={"instances_number": measured}) for id_ in range(1, 200))
    agreed = Catalog.build(rows, INDEXED)
    assert agreed.index is not None
    stricter = agreed.index.columns.stricter
    assert stricter[Assurance.DOCUMENTED] is stricter[Assurance.REVIEWED]


def test_records_without_evidence_take_nothing_above_declared() -> None:
    """The columns of an assurance end with the last leaf about which something is known there."""
    measured = AttributeEvidence(level=EvidenceLevel.MEASURED, documented=7, reviewed=7)
    rows = [
        made(id_, instances_number=7, evidence={"instances_number": measured} if id_ % 10 == 0 else None)
        for id_ in range(1, 1000)
    ]
    index = Catalog.build(rows, INDEXED).index
    assert index is not None

    stricter = index.columns.stricter[Assurance.DOCUMENTED]
    assert len(stricter.codes["instances_number"]) <= 2 * 64
    assert stricter.criteria.grades.shape[1] <= 2 * 64
    assert stricter.criteria.upper.shape[1] == 2
    numbers = index.at(Assurance.DOCUMENTED).numbers("instances_number", np.arange(999))
    assert np.count_nonzero(numbers == 7) == 99
    assert np.isnan(numbers[2 * 64 :]).all()


def test_planes_of_texts_and_visibility_are_shared(tmp_path: Path) -> None:
    """The bitmaps of an index are one array for all assurances, in memory and in a snapshot."""
    random = Random(19)
    catalog = Catalog.build((row(random, id_) for id_ in range(1, 300)), INDEXED)
    assert catalog.index is not None
    save_index(tmp_path / "index", catalog.index, 1)
    loaded = map_snapshot(tmp_path / "index").index
    for index in (catalog.index, loaded):
        planes = index.columns.planes
        for assurance in (Assurance.DOCUMENTED, Assurance.REVIEWED):
            stricter = index.at(assurance).columns.planes
            assert np.shares_memory(stricter.bitmaps, planes.bitmaps)
            assert stricter.rows["public"] == planes.rows["public"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_flag_is_asked_for_at_an_assurance_of_its_own(layout: str) -> None:
    """Such a predicate sees what is known at its own level, all others what is known at the level of the view."""
    random = Random(17)
    rows = {id_: row(random, id_) for id_ in range(1, 200)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    changed = [row(random, id_) for id_ in range(180, 230)]
    catalog.apply(upserts=changed, deleted=[7])
    rows |= {record.id: record for record in changed}
    del rows[7]

    for assurance in Assurance:
        view = catalog.view.at(assurance)
        for own_assurance in Assurance:
            flag, value = random.choice(FLAGS), random.random() < 0.5
            asked = (
                Range("year", low=2000),
                FlagEquals(flag, value, own_assurance),
                FlagEquals("is_public", value=True),
            )
            expected = [
                record.id
                for record in sorted(rows.values(), key=lambda record: record.id)
                if getattr(known_at(record, own_assurance), flag) is value
                and matching([known_at(record, assurance)], (asked[0], asked[2]))
            ]
            window = view.sort(asked, "id", descending=False, skip=0, limit=None)
            assert view.ids(window.positions).tolist() == expected
            assert view.count(asked) == view.facets(asked).total_count == len(expected)
            ranked = view.rank(asked, {"year": 1.0}, skip=0, limit=None)
            assert sorted(view.ids(ranked.positions).tolist()) == expected
