"""Assurance on every route that reads the catalog: the answers are those of the rows as they are known at its level."""

from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from tests.ranking import by_hand
from tests.ranking.catalogs import known_at, weights
from tests.selection.conftest import ADA, create_record
from tests.selection.seeded import draft_of, random_rows, seed, stored_row
from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import Assurance, AttributeEvidence, EvidenceLevel
from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Layout
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.query.predicates import FlagEquals, Query, Range, Visible
from touchstone.ranking.weight_profiles import PROFILES
from touchstone.services.selection.catalog.live_catalog import LiveCatalog

ROWS = random_rows(31, 400)
BALANCED = dict(PROFILES["balanced"].weights)
LEVELS = [level.value for level in EvidenceLevel]


def rows_at(assurance: Assurance) -> dict[int, CatalogRow]:
    """Return the stored records as they are known at an assurance, by id."""
    return {row.id: known_at(stored_row(row), assurance) for row in ROWS}


def matching_ids(assurance: Assurance, *predicates: Any) -> list[int]:
    """Return the ids of the records that match at an assurance, in ascending order."""
    query: Query = (Visible(ADA), *predicates)
    return sorted(row.id for row in by_hand.matching(rows_at(assurance).values(), query))


@pytest.mark.parametrize("assurance", Assurance)
async def test_lists_and_searches_find_what_is_known(seeded_client: httpx2.AsyncClient, assurance: Assurance) -> None:
    """Filters, counts and order see nothing below the assurance; the records themselves are shown as ever."""
    path = f"/datasets?assurance={assurance}&limit=1000"
    expected_ids = matching_ids(assurance, FlagEquals("transparency", value=True))
    answer = await seeded_client.get(f"{path}&transparency=true")
    assert [record["id"] for record in answer.json()] == expected_ids
    assert answer.headers["X-Total-Count"] == str(len(expected_ids))

    all_records = (await seeded_client.get("/datasets?limit=1000")).json()
    assert answer.json() == [record for record in all_records if record["id"] in expected_ids]

    count_response = await seeded_client.get(f"/datasets?assurance={assurance}&page_size=1&citations_min=3")
    assert count_response.json()["total_count"] == len(matching_ids(assurance, Range("citations", low=3)))

    sorted_answer = await seeded_client.get(f"{path}&sort_by=ethical_score&sort_order=desc")
    expected_order = by_hand.ordered(rows_at(assurance).values(), (Visible(ADA),), "ethical_score", True)
    assert [record["id"] for record in sorted_answer.json()] == expected_order

    search = await seeded_client.post(f"/datasets/search?assurance={assurance}", json={"min_rows": 150})
    assert [record["id"] for record in search.json()] == matching_ids(assurance, Range("instances_number", low=150))

    facets = (await seeded_client.get(f"/datasets/facets?assurance={assurance}")).json()
    assert facets["flags"]["transparency"]["true"] == len(expected_ids)


@pytest.mark.parametrize("assurance", Assurance)
async def test_scores_count_what_is_known(seeded_client: httpx2.AsyncClient, assurance: Assurance) -> None:
    """The ranking, the known attributes and the interval of every item are those of the rows at the assurance."""
    random = Random(9)
    rows = rows_at(assurance)
    for weighting in (BALANCED, weights(random), weights(random)):
        weight_list = [{"criterion_name": name, "weight": weight} for name, weight in weighting.items()]
        body = {"weights": weight_list, "assurance": assurance.value}
        items = (await seeded_client.post("/datasets/score", json=body)).json()
        assert [(item["id"], item["score"]) for item in items] == by_hand.rank(
            rows.values(), (Visible(ADA),), weighting
        )
        for item in items:
            flags = [getattr(rows[item["id"]], name) for name in ETHICAL]
            assert item["known"] == 10 - flags.count(None)
            assert item["ethical_interval"] == [flags.count(True) / 10, (10 - flags.count(False)) / 10]

        query_response = await seeded_client.post(
            f"/datasets/score?assurance={assurance}", json={"weights": weight_list}
        )
        assert query_response.json() == items


@pytest.mark.parametrize("assurance", Assurance)
async def test_explanations_say_what_supports_a_score(seeded_client: httpx2.AsyncClient, assurance: Assurance) -> None:
    """Points by level add up to the score, and each item says what it is worth where declarations count."""
    declared_items = {item["id"]: item for item in (await seeded_client.post("/datasets/score", json={})).json()}
    answer = await seeded_client.post(f"/datasets/score?assurance={assurance}&explain=true&envelope=true", json={})
    assert answer.json()["assurance"] == assurance
    for item in answer.json()["datasets"]:
        assert list(item["points_by_level"]) == LEVELS
        assert sum(item["points_by_level"].values()) == pytest.approx(item["score"])
        declared_item = declared_items[item["id"]]
        assert item["declared"] == {"score": declared_item["score"], "known": declared_item["known"]}
        assert item["score"] <= item["best_case"]["score"] <= 1
        assert item["best_case"]["criterion_scores"]["ethical_score"] == item["ethical_interval"][1]


async def test_answers_at_different_assurances_are_cached_apart(ada: httpx2.AsyncClient) -> None:
    """The same request at another assurance is another answer, however often it is asked."""
    await create_record(ada, name="Boaster", **dict.fromkeys(ETHICAL, True))
    for _ in range(2):
        scores = {}
        for assurance in Assurance:
            [item] = (await ada.post(f"/datasets/score?assurance={assurance}", json={})).json()
            [same_item] = (await ada.post("/datasets/score", json={"assurance": assurance})).json()
            assert item == same_item
            scores[assurance.value] = (item["ethical_score"], item["known"], item["ethical_interval"])
        assert scores == {
            "declared": (1.0, 10, [1.0, 1.0]),
            "documented": (0.0, 0, [0.0, 1.0]),
            "reviewed": (0.0, 0, [0.0, 1.0]),
        }


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", "/datasets?assurance=documentd", None, "unknown_name"),
        ("GET", "/datasets/facets?assurance=measured", None, "unknown_name"),
        ("GET", "/datasets?assurance=declared&assurance=declared", None, "invalid_value"),
        ("POST", "/datasets/search?assurence=documented", {}, "unknown_name"),
        ("POST", "/datasets/score?assurance=none", {}, "unknown_name"),
        ("POST", "/datasets/score", {"assurance": 3}, "invalid_value"),
        ("POST", "/datasets/score?assurance=reviewed", {"assurance": "documented"}, "conflicting_values"),
        ("POST", "/projects", {"name": "p", "assurance": "proven"}, "validation_error"),
    ],
)
async def test_an_assurance_that_does_not_fit_is_refused(
    reader: httpx2.AsyncClient, method: str, path: str, body: Any, code: str
) -> None:
    """A misspelt level or name, and two levels that differ, are a 422."""
    refusal = await reader.request(method, path, json=body)
    assert (refusal.status_code, refusal.json()["code"]) == (422, code), refusal.text


async def test_an_assurance_given_twice_alike_or_empty_is_accepted(ada: httpx2.AsyncClient) -> None:
    """Null and an empty text count as not given."""
    for path, body in (
        ("/datasets/score?assurance=documented", {"assurance": "documented"}),
        ("/datasets/score?assurance=", {"assurance": None}),
    ):
        assert (await ada.post(path, json=body)).status_code == 200
    assert (await ada.get("/datasets?assurance=")).status_code == 200


async def test_a_project_stores_the_assurance_of_its_recommendations(ada: httpx2.AsyncClient) -> None:
    """Recommendations follow the project unless the request says otherwise; null means `declared`."""
    await create_record(ada, transparency=True)
    project = (await ada.post("/projects", json={"name": "p", "assurance": "documented"})).json()
    assert project["assurance"] == "documented"
    path = f"/projects/{project['id']}"

    async def count_known(query: str = "") -> int:
        answer = (await ada.get(f"{path}/recommendations{query}")).json()
        [item] = answer["datasets"]
        known_count: int = item["known"]
        return known_count

    assert await count_known() == 0
    assert await count_known("?assurance=declared") == 1
    renamed_project = (await ada.put(path, json={"name": "q"})).json()
    assert renamed_project["assurance"] == "documented"
    cleared_project = (await ada.put(path, json={"assurance": None})).json()
    assert cleared_project["assurance"] == "declared"
    assert await count_known() == 1
    assert (await ada.post("/projects", json={"name": "r"})).json()["assurance"] == "declared"


async def test_evidence_reaches_other_processes_and_survives_a_restart(database: Database, tmp_path: Path) -> None:
    """What a claim amounts to is followed like any other write, beside an index and after a start from its snapshot."""
    layout, snapshot = Layout(index_from=1, compiled=False), tmp_path / "catalog.index"
    await seed(database, ROWS)
    our_catalog, their_catalog = LiveCatalog(database, layout, snapshot), LiveCatalog(database, layout)
    await our_catalog.load()
    await their_catalog.load()
    evidence = {"citations": AttributeEvidence(level=EvidenceLevel.DOCUMENTED, documented=123_456)}
    async with our_catalog.writing() as writer:
        await writer.update(7, replace(draft_of(ROWS[6]), attribute_evidence=evidence))
    await their_catalog.refresh()
    restarted_catalog = LiveCatalog(database, layout, snapshot)
    await restarted_catalog.load()

    rows = {row.id: stored_row(row) for row in ROWS} | {7: replace(stored_row(ROWS[6]), evidence=evidence)}
    for catalog in (our_catalog, their_catalog, restarted_catalog):
        assert catalog.view.is_indexed
        for assurance in Assurance:
            known_rows = [known_at(row, assurance) for row in rows.values()]
            view = catalog.view.at(assurance)
            ranking = view.rank((), BALANCED, skip=0, limit=None)
            ids = view.ids(ranking.positions).tolist()
            assert list(zip(ids, ranking.scores.tolist(), strict=True)) == by_hand.rank(known_rows, (), BALANCED)
        assert catalog.view.at(Assurance.DOCUMENTED).count((Range("citations", low=123_456, high=123_456),)) == 1
        assert catalog.view.at(Assurance.REVIEWED).count((Range("citations", low=123_456, high=123_456),)) == 0
