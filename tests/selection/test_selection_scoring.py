"""Scores equal the row-by-row formulas, in the exact order, in every form of the response."""

import math
from random import Random
from typing import Any

import httpx2
import pytest

from tests.ranking import by_hand, catalogs
from tests.selection.conftest import ADA, create_record
from tests.selection.seeded import random_rows, stored_row
from touchstone.ranking.query.predicates import Visible
from touchstone.ranking.weight_profiles import PROFILES

ROWS = random_rows(21, 2500)


def as_list(weights: dict[str, float]) -> list[dict[str, Any]]:
    return [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]


async def test_scores_equal_the_formulas_in_the_exact_order(seeded_client: httpx2.AsyncClient) -> None:
    """Complete, streamed rankings have the ids of the reference and exactly the same float64 scores."""
    random = Random(4)
    rows = [stored_row(row) for row in ROWS]
    for weights in (
        {},
        *(dict(profile.weights) for profile in PROFILES.values()),
        *(catalogs.weights(random) for _ in range(12)),
    ):
        answer = await seeded_client.post("/datasets/score", json={"weights": as_list(weights)})
        expected_ranking = by_hand.rank(rows, (Visible(ADA),), weights or dict(PROFILES["balanced"].weights))
        assert [(item["id"], item["score"]) for item in answer.json()] == expected_ranking
        assert [item["rank"] for item in answer.json()] == list(range(1, len(expected_ranking) + 1))
        assert answer.headers["X-Total-Count"] == str(len(expected_ranking))


async def test_windows_are_parts_of_the_whole(seeded_client: httpx2.AsyncClient) -> None:
    """`skip` and `limit` select a part of the ranking, and do not change ranks and count."""
    ranking = (await seeded_client.post("/datasets/score", json={})).json()
    for skip, limit in ((0, 1), (0, 20), (7, 20), (len(ranking) - 1, 5), (10**9, 5), (3, 10**15), (0, 1200)):
        answer = await seeded_client.post(f"/datasets/score?skip={skip}&limit={limit}", json={})
        assert answer.json() == ranking[skip : skip + limit]
        assert answer.headers["X-Total-Count"] == str(len(ranking))
    assert (await seeded_client.post(f"/datasets/score?skip={len(ranking) - 2}", json={})).json() == ranking[-2:]


async def test_explained_points_add_up(seeded_client: httpx2.AsyncClient) -> None:
    """With `explain`, each item has its twelve criteria, and points that add up to its score."""
    rows = {row.id: stored_row(row) for row in ROWS}
    body = {"weights": as_list({"year": 0.5, "data_quality": 0.25, "ethical_score": 1.5})}
    answer = await seeded_client.post("/datasets/score?explain=true&limit=200&envelope=1", json=body)
    for item in answer.json()["datasets"]:
        assert item["criterion_scores"] == {
            name: formula(rows[item["id"]]) for name, formula in by_hand.CRITERIA.items()
        }
        assert math.isclose(math.fsum(item["points"].values()), item["score"], rel_tol=1e-15, abs_tol=1e-15)
        assert set(item["points"]) == {"year", "data_quality", "ethical_score"}
    shares = {item["criterion_name"]: item["weight"] for item in answer.json()["effective_weights"]}
    assert shares == {"ethical_score": 1.5 / 2.25, "data_quality": 0.25 / 2.25, "year": 0.5 / 2.25}
    assert answer.json()["plan"] == answer.headers["X-Ranking-Plan"]


async def test_explained_items_come_with_a_sentence_in_the_language_of_the_request(ada: httpx2.AsyncClient) -> None:
    """The sentence names the points, ties, and what is unknown among the weighted criteria only."""
    await create_record(ada, name="First", anonymization_applied=True, instances_number=100)
    for name in ("Second", "Third"):
        await create_record(ada, name=name, anonymization_applied=False)
    body = {"weights": as_list({"anonymization": 3, "instances_count": 1})}

    async def sentences(language: str) -> list[str]:
        answer = await ada.post("/datasets/score?explain=true", json=body, headers={"Accept-Language": language})
        return [item["sentence"].replace("\u00a0", " ").replace("\u202f", " ") for item in answer.json()]

    assert await sentences("en") == [
        "“First” ranks 1st of 3 with a score of 0.85: “Anonymization” adds 0.75 and “Number of instances” 0.1.",
        "“Second” shares 2nd place of 3 with 1 other and a score of 0: none of the weighted criteria adds any points; "
        "nothing is known about “Number of instances”; what is unknown could raise its score to 0.25 at most.",
        "“Third” shares 2nd place of 3 with 1 other and a score of 0: none of the weighted criteria adds any points; "
        "nothing is known about “Number of instances”; what is unknown could raise its score to 0.25 at most.",
    ]
    french = await sentences("fr")
    assert french[0] == (
        "« First » est en 1re position sur 3 avec un score de 0,85 : « Anonymisation » apporte 0,75 et "
        "« Nombre d’instances » 0,1."
    )
    assert await sentences("en") != french == await sentences("fr")

    plain_items = (await ada.post("/datasets/score", json=body)).json()
    assert all("sentence" not in item for item in plain_items)

    await create_record(ada, name="Nothing")
    headers = {"Accept-Language": "en"}
    answer = await ada.post("/datasets/score?explain=true", json={"profile": "ethical"}, headers=headers)
    sentence_by_name = {item["dataset_name"]: item["sentence"] for item in answer.json()}
    assert "; 9 of its 10 ethical criteria are unknown; " in sentence_by_name["First"]
    assert "about “Ethical”, " not in sentence_by_name["First"]
    assert "nothing is known about “Ethical”, “Anonymization” and “Informed" in sentence_by_name["Nothing"]
    assert "of its 10" not in sentence_by_name["Nothing"]
    project = (await ada.post("/projects", json={"name": "p", **body})).json()
    recommendations = await ada.get(f"/projects/{project['id']}/recommendations", headers={"Accept-Language": "en"})
    assert recommendations.json()["datasets"][0]["sentence"] == (await sentences("en"))[0]


async def test_items_carry_the_fields_of_the_interface(ada: httpx2.AsyncClient) -> None:
    """A scored item has the fields of the interface, the integer id and its rank."""
    record = await create_record(ada, name="Zoë", objective="o", instances_number=100, features_number=5, citations=10)
    answer = await ada.post("/datasets/score", json={"profile": "popularity"})
    assert answer.json() == [
        {
            "dataset_id": record["dataset_id"],
            "dataset_name": "Zoë",
            "score": (0.8 * (1 / 3) + 0.2 * (1 / 3)) / 1.0,
            "ethical_score": 0.0,
            "technical_score": record["technical_score"],
            "popularity_score": 1 / 3,
            "instances_number": 100,
            "features_number": 5,
            "objective": "o",
            "id": record["id"],
            "rank": 1,
            "place": 1,
            "tied_with": 0,
            "known": 0,
            "ethical_interval": [0.0, 1.0],
        }
    ]


@pytest.mark.parametrize("path", ["/datasets/score", "/datasets/score/", "/datasets/score?envelope=true"])
async def test_nothing_that_matches_is_an_empty_answer(reader: httpx2.AsyncClient, path: str) -> None:
    """If nothing matches the filters, the ranking is empty in either form."""
    answer = await reader.post(path, json={"filters": {"year_min": 3000}})
    assert answer.status_code == 200
    assert answer.headers["X-Total-Count"] == "0"
    ranking = answer.json()
    assert ranking == [] or (ranking["datasets"], ranking["total_count"], ranking["profile"]) == ([], 0, "balanced")


@pytest.mark.parametrize(
    ("weights", "code", "expected_name"),
    [
        ([{"criterion_name": "ethic", "weight": 1}], "unknown_name", "ethical_score"),
        ([{"criterion_name": 5, "weight": 1}], "unknown_name", "ethical_score"),
        ([{"criterion_name": "year", "weight": -0.1}], "invalid_weights", "year"),
        ([{"criterion_name": "year", "weight": True}], "invalid_weights", "year"),
        ([{"criterion_name": "year", "weight": "1"}], "invalid_weights", "year"),
        ([{"criterion_name": "year", "weight": None}], "invalid_weights", "year"),
        ([{"criterion_name": "year", "weight": 10**400}], "invalid_weights", "year"),
        ([{"criterion_name": "year", "weight": 0}], "invalid_weights", "year"),
        ([{"criterion_name": "year", "weight": 1}] * 2, "invalid_weights", "year"),
        ([{"criterion_name": "year"}], "validation_error", "weight"),
        ([{"weight": 1}], "validation_error", "criterion_name"),
        ([{"criterion_name": "year", "weight": 1, "wieght": 2}], "unknown_name", "weight"),
        (["year"], "validation_error", "criterion_name"),
        ({"year": 1}, "validation_error", "weights"),
    ],
)
async def test_weights_that_cannot_be_used_are_refused(
    reader: httpx2.AsyncClient, weights: Any, code: str, expected_name: str
) -> None:
    """A negative, non-finite, non-numeric, unknown or repeated weight, or only zeros, is a 422 with its name."""
    for path, body in (("/datasets/score", {"weights": weights}), ("/projects", {"name": "p", "weights": weights})):
        refusal = await reader.post(path, json=body)
        assert (refusal.status_code, refusal.json()["code"]) == (422, code), refusal.text
        assert expected_name in refusal.json()["detail"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
async def test_a_weight_that_is_not_finite_is_named(reader: httpx2.AsyncClient, number: str) -> None:
    """NaN and infinities as some clients write them are refused with the name of the criterion or filter."""
    for path, body_start in (("/datasets/score", "{"), ("/projects", '{"name": "NaN \\" -Infinity", ')):
        weight_refusal = await reader.post(
            path, content=f'{body_start}"weights": [{{"criterion_name": "year", "weight": {number}}}]}}'
        )
        assert (weight_refusal.status_code, weight_refusal.json()["code"]) == (422, "invalid_weights"), (
            weight_refusal.text
        )
        assert "year" in weight_refusal.json()["detail"]
        filter_refusal = await reader.post(path, content=f'{body_start}"criteria": {{"ethical_score_min": {number}}}}}')
        assert (filter_refusal.status_code, filter_refusal.json()["code"]) == (422, "invalid_value"), (
            filter_refusal.text
        )
        assert "ethical_score_min" in filter_refusal.json()["detail"]
        assert (await reader.post(path, content=f"{body_start}{number}: 1}}")).status_code == 400


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("limit=0", {}),
        ("limit=-1", {}),
        ("skip=-1", {}),
        ("limit=1&limit=1", {}),
        ("envelope=yes", {}),
        ("explian=true", {}),
        ("", {"filter": {}}),
        ("", {"weights": [], "limit": 5}),
        ("", {"profile": "fastest"}),
        ("", {"profile": 5}),
        ("", {"profile": "ethical", "weights": [{"criterion_name": "year", "weight": 1}]}),
    ],
)
async def test_what_does_not_fit_a_scoring_request_is_refused(
    reader: httpx2.AsyncClient, query: str, body: dict[str, Any]
) -> None:
    """Unknown keys and profiles, contradictions and values out of bounds are refused with 422."""
    refusal = await reader.post(f"/datasets/score?{query}", json=body)
    assert refusal.status_code == 422, refusal.text


async def test_any_finite_weights_rank(ada: httpx2.AsyncClient) -> None:
    """Huge and tiny weights give scores between 0 and 1, like all others."""
    await create_record(ada, year=2024, informed_consent=True)
    for weight in (1e308, 5e-324, 10**300, 3):
        body = {"weights": as_list({"year": weight, "informed_consent": weight, "ethical_score": 0})}
        answer = await ada.post("/datasets/score", json=body)
        assert answer.json()[0]["score"] == 1.0
    envelope = await ada.post("/datasets/score?envelope=true", json={"weights": None})
    assert envelope.json()["effective_weights"] == as_list(
        {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}
    )
