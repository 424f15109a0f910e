"""Gates in scores, recommendations and projects: passed, failed or unknown, and never part of the score."""

from typing import Any

import httpx2
import pytest

from tests.ranking.catalogs import known_at
from tests.selection.conftest import ADA, create_record
from tests.selection.seeded import random_rows, stored_row
from touchstone.core.attributes import FLAGS
from touchstone.core.evidence import Assurance
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.services.selection.gates import FILTERS_AS_GATES, GATE_PARAMETERS

ROWS = random_rows(41, 300)
GATES: dict[str, Any] = {
    "informed_consent": "documented",
    "transparency": "declared",
    "user_control": "reviewed",
    "license": ["CC-BY-*"],
    "language": ["french"],
    "trainable": True,
    "domain": "health",
    "year_min": 2001,
    "citations_max": 999,
}


def outcome_of_flag(row: CatalogRow, name: str, level: str) -> str:
    """Return what a gate for a flag says about a record."""
    value = getattr(known_at(row, Assurance(level)), name)
    return "unknown" if value is None else "passed" if value else "failed"


def outcome_of_words(row: CatalogRow, column: str, required_words: tuple[str, ...]) -> str:
    """Return what a gate for words says about a record."""
    words = {comparison_key(column, word) for word in getattr(row, column) or ()}
    if not words or words == {"unknown"}:
        return "unknown"
    return "passed" if words & set(required_words) else "failed"


def outcome_of_number(value: float | None, passes: bool) -> str:
    """Return what a gate for a number says about a record."""
    return "unknown" if value is None else "passed" if passes else "failed"


def expected_outcomes(row: CatalogRow, assurance: Assurance) -> dict[str, str]:
    """Return what GATES say about a record at an assurance."""
    known_row = known_at(row, assurance)
    return {
        **{
            name: outcome_of_flag(row, name, GATES[name])
            for name in ("informed_consent", "transparency", "user_control")
        },
        "license": outcome_of_words(row, "license", ("cc-by-4.0",)),
        "language": outcome_of_words(row, "language", ("fr",)),
        "trainable": outcome_of_words(row, "trainable", ("true",)),
        "domain": outcome_of_words(row, "domain", ("health",)),
        "year_min": outcome_of_number(known_row.year, (known_row.year or 0) >= 2001),
        "citations_max": outcome_of_number(known_row.citations, (known_row.citations or 0) <= 999),
    }


def visible_rows() -> dict[int, CatalogRow]:
    """Return the records that the caller sees, as they are stored, by id."""
    return {row.id: stored_row(row) for row in ROWS if row.visibility == "public" or row.owner == ADA}


@pytest.mark.parametrize("assurance", Assurance)
async def test_every_item_says_what_each_gate_says_of_it(
    seeded_client: httpx2.AsyncClient, assurance: Assurance
) -> None:
    """Gates for flags have a level of their own; numbers are judged at the assurance; scores stay as they are."""
    plain_items = (await seeded_client.post(f"/datasets/score?assurance={assurance}", json={})).json()
    gated_items = (await seeded_client.post(f"/datasets/score?assurance={assurance}", json={"gates": GATES})).json()
    assert not any("gates" in item for item in plain_items)
    assert [{key: value for key, value in item.items() if key != "gates"} for item in gated_items] == plain_items

    rows = visible_rows()
    for item in gated_items:
        assert item["gates"] == expected_outcomes(rows[item["id"]], assurance)
    all_outcomes = {(name, outcome) for item in gated_items for name, outcome in item["gates"].items()}
    assert {("license", "unknown"), ("license", "failed"), ("informed_consent", "unknown")} <= all_outcomes


@pytest.mark.parametrize("assurance", Assurance)
async def test_only_what_passes_every_gate_can_be_ranked(
    seeded_client: httpx2.AsyncClient, assurance: Assurance
) -> None:
    """With `gate=pass` the ranking, its count, and its places are those of the datasets that pass."""
    rows = visible_rows()
    for name, value in GATES.items():
        body = {"gates": {name: value, "transparency": "declared"}}
        answer = await seeded_client.post(f"/datasets/score?gate=pass&assurance={assurance}", json=body)
        passing_ids = {
            id_
            for id_, row in rows.items()
            if expected_outcomes(row, assurance)[name] == "passed" and row.transparency is True
        }
        items = answer.json()
        assert {item["id"] for item in items} == passing_ids
        assert answer.headers["X-Total-Count"] == str(len(passing_ids))
        assert [item["rank"] for item in items] == list(range(1, len(items) + 1))
        assert all(set(item["gates"].values()) == {"passed"} for item in items)


async def test_without_gates_all_datasets_pass(seeded_client: httpx2.AsyncClient) -> None:
    """`gate=pass` has nothing to leave out, and null, an empty object and no member are the same."""
    full_ranking = (await seeded_client.post("/datasets/score", json={})).json()
    bodies: tuple[dict[str, Any], ...] = ({}, {"gates": {}}, {"gates": None}, {"gates": {"license": []}})
    for body in bodies:
        assert (await seeded_client.post("/datasets/score?gate=pass", json=body)).json() == full_ranking


@pytest.mark.parametrize(
    ("gates", "location", "expected_name"),
    [
        ({"informed_consnt": "declared"}, "informed_consnt", "informed_consent"),
        ({"informed_consent": "documentd"}, "informed_consent", "documented"),
        ({"informed_consent": True}, "informed_consent", "documented"),
        ({"year_min": "new"}, "year_min", ""),
        ({"license": "CC-BX-*"}, "license", ""),
        ({"ethical_score_min": 50}, "ethical_score_min", ""),
        (["license"], None, ""),
    ],
)
async def test_wrong_gates_are_refused_by_name(
    ada: httpx2.AsyncClient, gates: object, location: str | None, expected_name: str
) -> None:
    """In a score and in a project alike, the error names the gate."""
    project = (await ada.post("/projects", json={"name": "p"})).json()
    answers = [
        await ada.post("/datasets/score", json={"gates": gates}, headers={"Accept-Language": "en"}),
        await ada.post("/projects", json={"name": "p", "gates": gates}, headers={"Accept-Language": "en"}),
        await ada.put(f"/projects/{project['id']}", json={"gates": gates}, headers={"Accept-Language": "en"}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert expected_name in answer.json()["detail"]
        assert answer.json()["errors"][0]["loc"] == ["body", "gates", *([location] if location else [])]
    assert (await ada.post("/datasets/score?gate=passed", json={})).status_code == 422


async def test_a_project_keeps_its_gates(ada: httpx2.AsyncClient) -> None:
    """Recommendations judge the gates of the project, leave out on request what does not pass, and null clears them."""
    licensed_record = await create_record(ada, name="Licensed", transparency=True, metadata={"licence": "MIT"})
    await create_record(ada, name="Unlicensed", informed_consent=True)
    gates = {"license": ["MIT"], "transparency": "declared"}
    project = (await ada.post("/projects", json={"name": "p", "gates": gates})).json()
    path = f"/projects/{project['id']}"
    assert project["gates"] == (await ada.get(path)).json()["gates"] == gates

    answer = (await ada.get(f"{path}/recommendations")).json()
    outcomes = {item["dataset_name"]: item["gates"] for item in answer["datasets"]}
    assert outcomes == {
        "Licensed": {"license": "passed", "transparency": "passed"},
        "Unlicensed": {"license": "unknown", "transparency": "unknown"},
    }
    assert (answer["project"]["gates"], answer["assurance"]) == (gates, "declared")
    passing_answer = (await ada.get(f"{path}/recommendations?gate=pass")).json()
    assert ([item["id"] for item in passing_answer["datasets"]], passing_answer["total_count"]) == (
        [licensed_record["id"]],
        1,
    )

    stricter_project = (await ada.put(path, json={"gates": {"transparency": "documented"}})).json()
    assert stricter_project["gates"] == {"transparency": "documented"}
    assert (await ada.get(f"{path}/recommendations?gate=pass")).json()["datasets"] == []
    unchanged_project = (await ada.put(path, json={"name": "q"})).json()
    assert unchanged_project["gates"] == {"transparency": "documented"}
    assert (await ada.put(path, json={"gates": None})).json()["gates"] == {}
    assert "gates" not in (await ada.get(f"{path}/recommendations")).json()["datasets"][0]


async def test_a_cached_answer_belongs_to_its_gates_and_language(ada: httpx2.AsyncClient) -> None:
    """The same request in another language has other sentences, however often it is asked."""
    for name in ("One", "Two"):
        await create_record(ada, name=name)
    body = {"weights": [{"criterion_name": "year", "weight": 1}]}
    for _ in range(2):
        sentences = {}
        for language in ("fr", "en"):
            headers = {"Accept-Language": language}
            answer = (await ada.post("/datasets/score?envelope=true", json=body, headers=headers)).json()
            [note] = answer["notes"]
            assert (note["code"], note["criterion_name"], note["value"]) == ("criterion_unknown", "year", None)
            sentences[language] = note["sentence"]
        assert "Nouveauté" in sentences["fr"]
        assert "Novelty" in sentences["en"]


async def test_equal_scores_are_told_apart_from_ranks(ada: httpx2.AsyncClient) -> None:
    """Each item says its place and how many others share it, also on a page that cuts the group."""
    for name, year in (("Zoe", 2024), ("Ann", 2012), ("Bob", 2012), ("Cyd", 2012), ("Dan", 2000)):
        await create_record(ada, name=name, year=year)
    body = {"weights": [{"criterion_name": "year", "weight": 1}]}
    expected_places = [("Zoe", 1, 1, 0), ("Ann", 2, 2, 2), ("Bob", 3, 2, 2), ("Cyd", 4, 2, 2), ("Dan", 5, 5, 0)]
    for skip, limit in ((0, 5), (0, 2), (2, 1), (3, 2)):
        items = (await ada.post(f"/datasets/score?skip={skip}&limit={limit}", json=body)).json()
        shown_places = [(item["dataset_name"], item["rank"], item["place"], item["tied_with"]) for item in items]
        assert shown_places == expected_places[skip : skip + limit]


def test_the_table_has_every_flag() -> None:
    """Every attribute that is true or false can be required, by the names of its filter."""
    assert set(GATE_PARAMETERS.by_name) >= {*FLAGS, *FILTERS_AS_GATES, "is_anonymized", "split", "instances_number_min"}


async def test_clients_can_build_a_form_of_the_gates(ada: httpx2.AsyncClient) -> None:
    """For each gate, the list says which form its value has, and which levels a flag may name."""
    gates_by_name = {gate["name"]: gate for gate in (await ada.get("/datasets/criteria")).json()["gates"]}
    assert set(gates_by_name) == {parameter.name for parameter in GATE_PARAMETERS.parameters}
    levels = ["declared", "documented", "reviewed"]
    assert gates_by_name["informed_consent"] == {"name": "informed_consent", "type": "choice", "choices": levels}
    assert gates_by_name["license"] == {"name": "license", "type": "words", "choices": None}
    assert gates_by_name["year_min"]["type"] == "integer"
