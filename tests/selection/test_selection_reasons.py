"""Comparisons, lifts and stability by HTTP, against rankings of the same catalog."""

import math
from typing import Any

import httpx2
import pytest

from tests.selection.conftest import client_of, create_record
from tests.selection.seeded import random_rows
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.services.selection.app import Selection

ROWS = random_rows(11, 150)
WEIGHTS = [{"criterion_name": "ethical_score", "weight": 0.5}, {"criterion_name": "year", "weight": 0.3}]


async def ranking(client: httpx2.AsyncClient, query: str = "", **body: Any) -> list[dict[str, Any]]:
    """Return the explained ranking of all datasets that match."""
    answer = await client.post(f"/datasets/score?explain=true{query}", json=body)
    assert answer.status_code == 200
    items: list[dict[str, Any]] = answer.json()
    return items


async def ask(client: httpx2.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


@pytest.mark.parametrize("assurance", ["declared", "documented"])
async def test_a_comparison_agrees_with_the_ranking(seeded_client: httpx2.AsyncClient, assurance: str) -> None:
    """Datasets come in the order of the ranking with its scores and points, and every two of them are compared."""
    items = {item["id"]: item for item in await ranking(seeded_client, weights=WEIGHTS, assurance=assurance)}
    ids = [list(items)[place] for place in (40, 3, 90, 12)]
    comparison = await ask(seeded_client, "/datasets/compare", ids=ids, weights=WEIGHTS, assurance=assurance)

    compared_ids = [dataset["id"] for dataset in comparison["datasets"]]
    assert compared_ids == [list(items)[place] for place in (3, 12, 40, 90)]
    assert comparison["total_count"] == len(items)
    assert comparison["assurance"] == assurance
    for dataset in comparison["datasets"]:
        assert dataset == {name: items[dataset["id"]][name] for name in dataset}

    assert [(pair["above"], pair["below"]) for pair in comparison["pairs"]] == [
        (above, below) for index, above in enumerate(compared_ids) for below in compared_ids[index + 1 :]
    ]
    for pair in comparison["pairs"]:
        above, below = items[pair["above"]], items[pair["below"]]
        assert pair["lead"] == above["score"] - below["score"]
        assert [difference["criterion_name"] for difference in pair["differences"]] == list(CRITERION_NAMES)
        assert math.isclose(math.fsum(difference["points"] for difference in pair["differences"]), pair["lead"])
        for difference in pair["differences"]:
            assert difference["above"] == above["criterion_scores"][difference["criterion_name"]]
            assert difference["below"] == below["criterion_scores"][difference["criterion_name"]]


async def test_a_dataset_named_by_id_and_by_uuid_is_named_twice(seeded_client: httpx2.AsyncClient) -> None:
    """A dataset is not compared with itself, whichever of its ids name it."""
    first_item, second_item = await ranking(seeded_client, "&limit=2")
    for ids in (
        [first_item["id"], first_item["dataset_id"]],
        [second_item["id"], first_item["dataset_id"].upper(), first_item["dataset_id"]],
    ):
        answer = await seeded_client.post("/datasets/compare", json={"ids": ids})
        assert answer.status_code == 422
        [error] = answer.json()["errors"]
        assert (error["loc"], error["type"]) == (["body", "ids", len(ids) - 1], "dataset_repeated")


async def test_reasons_have_the_places_of_the_ranking(seeded_client: httpx2.AsyncClient) -> None:
    """Stability and lifts say which place a dataset shares, as the ranking does, and what is unknown about it."""
    weights = [{"criterion_name": "informed_consent", "weight": 1}]
    items = {item["id"]: item for item in await ranking(seeded_client, weights=weights)}
    stability = await ask(seeded_client, "/datasets/stability", weights=weights, k=100)
    for dataset in stability["datasets"]:
        item = items[dataset["id"]]
        assert (dataset["place"], dataset["tied_with"]) == (item["place"], item["tied_with"])
        assert (dataset["best_place"], dataset["worst_place"]) == (item["place"], item["place"])
    assert any(dataset["tied_with"] and dataset["rank"] > dataset["place"] for dataset in stability["datasets"])

    for item in list(items.values())[::40]:
        lifts = await ask(seeded_client, f"/datasets/{item['id']}/lifts", weights=weights)
        for name in ("rank", "place", "tied_with", "unknown", "best_case"):
            assert lifts[name] == item[name]

    [*_, last_id] = items
    unmatched_lifts = await ask(
        seeded_client, f"/datasets/{last_id}/lifts", weights=weights, filters={"year_min": 2100}
    )
    assert (
        unmatched_lifts["matches_filters"],
        unmatched_lifts["rank"],
        unmatched_lifts["place"],
        unmatched_lifts["tied_with"],
    ) == (False, 1, 1, 0)


async def test_the_reversing_weight_reverses_the_ranking(seeded_client: httpx2.AsyncClient) -> None:
    """With the weight moved a little further than the answer says, the lower dataset ranks above the upper one."""
    upper_item, *_, lower_item = await ranking(seeded_client, "&limit=10", weights=WEIGHTS)
    comparison = await ask(
        seeded_client, "/datasets/compare", ids=[lower_item["id"], upper_item["id"]], weights=WEIGHTS
    )
    [pair] = comparison["pairs"]
    reversal = pair["reversal"]
    assert (pair["above"], pair["below"]) == (upper_item["id"], lower_item["id"])
    assert reversal["change"] == reversal["weight"] - reversal["weight_before"]

    for share, is_reversed in ((0.999, False), (1.001, True)):
        weights = {"ethical_score": 0.5, "year": 0.3}
        weights[reversal["criterion_name"]] = reversal["weight_before"] + share * reversal["change"]
        moved_weights = [{"criterion_name": name, "weight": max(0.0, weight)} for name, weight in weights.items()]
        ranks = {item["id"]: item["rank"] for item in await ranking(seeded_client, weights=moved_weights)}
        assert (ranks[lower_item["id"]] < ranks[upper_item["id"]]) == is_reversed


async def test_questions_may_be_about_what_passes_every_gate(seeded_client: httpx2.AsyncClient) -> None:
    """With `gate=pass`, ranks and counts are those of the datasets that pass; without it, gates change nothing."""
    gates = {"transparency": "declared", "year_min": 2005}
    body: dict[str, Any] = {"weights": WEIGHTS, "gates": gates}
    passing_items = await ranking(seeded_client, "&gate=pass", **body)
    all_items = await ranking(seeded_client, weights=WEIGHTS)
    first_item, second_item = passing_items[:2]
    passing_ids = {item["id"] for item in passing_items}
    failing_item = next(item for item in all_items if item["id"] not in passing_ids)

    stability = await ask(seeded_client, "/datasets/stability?gate=pass", k=2, **body)
    assert stability["total_count"] == len(passing_items) < len(all_items)
    assert [dataset["id"] for dataset in stability["datasets"]] == [first_item["id"], second_item["id"]]
    unrestricted_stability = await ask(seeded_client, "/datasets/stability", k=2, **body)
    assert unrestricted_stability == await ask(seeded_client, "/datasets/stability", k=2, weights=WEIGHTS)

    comparison = await ask(
        seeded_client, "/datasets/compare?gate=pass", ids=[failing_item["id"], second_item["id"]], **body
    )
    ranks = {dataset["id"]: dataset["rank"] for dataset in comparison["datasets"]}
    assert ranks == {second_item["id"]: 2, failing_item["id"]: None}

    lifts = await ask(seeded_client, f"/datasets/{second_item['id']}/lifts?gate=pass", **body)
    assert (lifts["rank"], lifts["total_count"]) == (2, len(passing_items))


async def test_a_dataset_outside_the_filters_has_no_rank(seeded_client: httpx2.AsyncClient) -> None:
    """Filters decide about ranks, and not about what may be compared."""
    items = await ranking(seeded_client)
    matching_items = await ranking(seeded_client, filters={"year_min": 2012})
    outside_id = next(
        item["id"] for item in items if item["id"] not in {matching_item["id"] for matching_item in matching_items}
    )
    comparison = await ask(
        seeded_client, "/datasets/compare", ids=[matching_items[0]["id"], outside_id], filters={"year_min": 2012}
    )
    ranks = {dataset["id"]: dataset["rank"] for dataset in comparison["datasets"]}
    assert ranks == {matching_items[0]["id"]: 1, outside_id: None}
    assert comparison["total_count"] == len(matching_items)


async def test_datasets_may_be_named_by_uuid(seeded_client: httpx2.AsyncClient) -> None:
    """Both ids of a dataset name it."""
    first_item, second_item, *_ = await ranking(seeded_client)
    comparison_by_uuid = await ask(
        seeded_client, "/datasets/compare", ids=[second_item["dataset_id"], first_item["id"]]
    )
    assert comparison_by_uuid == await ask(
        seeded_client, "/datasets/compare", ids=[first_item["id"], second_item["id"]]
    )


@pytest.mark.parametrize(
    ("ids", "location"),
    [
        (None, ["body", "ids"]),
        ([1], ["body", "ids"]),
        ([1, 2, 3, 4, 5, 6], ["body", "ids"]),
        ("1,2", ["body", "ids"]),
        ([1, True], ["body", "ids", 1]),
        ([1, "x"], ["body", "ids", 1]),
        ([1, 0], ["body", "ids", 1]),
        ([7, 7], ["body", "ids", 1]),
    ],
)
async def test_only_two_to_five_different_ids_are_compared(
    seeded_client: httpx2.AsyncClient, ids: Any, location: list[Any]
) -> None:
    """Anything else is a 422 that names the place."""
    answer = await seeded_client.post("/datasets/compare", json={"ids": ids})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == location


async def test_a_dataset_that_the_caller_does_not_see_is_not_compared_or_counted(
    selection: Selection, ada: httpx2.AsyncClient
) -> None:
    """A private dataset of somebody else is as missing as one that does not exist, and has no place in any rank."""
    own_record = await create_record(ada, name="Mine", year=2010)
    private_record = await create_record(ada, name="Private", year=2024, visibility="private")
    async with client_of(selection, None) as stranger:
        for other_id in (private_record["id"], 10**6):
            answer = await stranger.post("/datasets/compare", json={"ids": [own_record["id"], other_id]})
            assert (answer.status_code, answer.json()["code"]) == (404, "dataset_not_found")
            answer = await stranger.post(f"/datasets/{other_id}/lifts", json={})
            assert (answer.status_code, answer.json()["code"]) == (404, "dataset_not_found")

        lifts = await ask(stranger, f"/datasets/{own_record['id']}/lifts", weights=WEIGHTS)
        assert (lifts["rank"], lifts["total_count"]) == (1, 1)
        stability = await ask(stranger, "/datasets/stability", weights=WEIGHTS)
        assert [dataset["id"] for dataset in stability["datasets"]] == [own_record["id"]]
    assert (await ask(ada, f"/datasets/{own_record['id']}/lifts", weights=WEIGHTS))["rank"] == 2


async def test_a_lift_is_what_the_ranking_says_after_the_change(ada: httpx2.AsyncClient) -> None:
    """If the attribute is then declared, the dataset has the score and the rank that the lift predicted."""
    await create_record(ada, name="First", transparency=True, informed_consent=True, user_control=True)
    subject = await create_record(ada, name="Subject", informed_consent=False)
    weights = [{"criterion_name": "ethical_score", "weight": 1}, {"criterion_name": "transparency", "weight": 1}]
    lifts = await ask(ada, f"/datasets/{subject['id']}/lifts", weights=weights, rank=1)

    assert (lifts["score"], lifts["rank"], lifts["known"], lifts["ethical_interval"]) == (0.0, 2, 1, [0.0, 0.9])
    assert lifts["unknown_ranks"] == {"best": 1, "worst": 2}
    best_lift = lifts["lifts"][0]
    assert (best_lift["attribute"], best_lift["value"], best_lift["current"], best_lift["declared"]) == (
        "transparency",
        True,
        None,
        None,
    )
    assert best_lift["criteria"] == ["ethical_score", "transparency"]
    assert best_lift["gain"] == best_lift["score"]
    [consent] = [lift for lift in lifts["lifts"] if lift["attribute"] == "informed_consent"]
    assert (consent["current"], consent["declared"]) == (False, False)
    assert lifts["target_rank"] == 1

    smallest_set = lifts["smallest_set"]
    assert len(smallest_set["attributes"]) == 4  # one tenth more than the other dataset, or a tie that the name decides
    changes = dict.fromkeys(smallest_set["attributes"], True)
    assert (await ada.patch(f"/datasets/{subject['id']}", json=changes)).status_code == 200
    [item] = [item for item in await ranking(ada, weights=weights) if item["id"] == subject["id"]]
    assert (item["score"], item["rank"]) == (smallest_set["score"], smallest_set["rank"])


async def test_a_rank_that_no_attribute_reaches_has_no_smallest_set(ada: httpx2.AsyncClient) -> None:
    """Flags do not raise a ranking by citations."""
    await create_record(ada, name="Cited", citations=1000)
    subject = await create_record(ada, name="Subject")
    lifts = await ask(ada, f"/datasets/{subject['id']}/lifts", profile="popularity", rank=1)
    assert lifts["smallest_set"] is None
    assert lifts["all_established"] == {"score": 0.0, "rank": 2}
    assert {lift["gain"] for lift in lifts["lifts"]} == {0.0}


async def test_stability_agrees_with_the_ranking_and_repeats(seeded_client: httpx2.AsyncClient) -> None:
    """The first k datasets of the ranking; the same seed gives the same answer, another one another."""
    items = await ranking(seeded_client, weights=WEIGHTS)
    body: dict[str, Any] = {"weights": WEIGHTS, "k": 4, "samples": 50, "spread": 0.5, "seed": 3}
    stability = await ask(seeded_client, "/datasets/stability", **body)
    for name in ("k", "samples", "spread", "seed"):
        assert stability[name] == body[name]
    assert [(dataset["id"], dataset["rank"], dataset["score"]) for dataset in stability["datasets"]] == [
        (item["id"], item["rank"], item["score"]) for item in items[:4]
    ]
    assert all(dataset["unknown_ranks"] is None for dataset in stability["datasets"])
    assert all(dataset["verdict"] in ("robust", "fragile") for dataset in stability["datasets"])
    assert stability == await ask(seeded_client, "/datasets/stability", **body)
    assert stability != await ask(seeded_client, "/datasets/stability", **body | {"seed": 4})

    unmoved_stability = await ask(seeded_client, "/datasets/stability", weights=WEIGHTS, spread=0, unknown_ranks=True)
    negative_zero = await ask(seeded_client, "/datasets/stability", weights=WEIGHTS, spread=-0.0, unknown_ranks=True)
    assert negative_zero == unmoved_stability
    assert (unmoved_stability["k"], unmoved_stability["samples"], len(unmoved_stability["datasets"])) == (10, 100, 10)
    for dataset in unmoved_stability["datasets"]:
        assert dataset["best_rank"] == dataset["worst_rank"] == dataset["rank"]
        assert dataset["share"] == 1.0
        assert dataset["unknown_ranks"]["best"] <= dataset["rank"] <= dataset["unknown_ranks"]["worst"]


async def test_ranks_that_only_the_alphabet_keeps_are_not_simply_robust(seeded_client: httpx2.AsyncClient) -> None:
    """With one criterion, equal scores stay equal in all samples, and the sentence says what decides then."""
    weights = [{"criterion_name": "informed_consent", "weight": 1}]
    tied_items = [item for item in await ranking(seeded_client, weights=weights) if item["place"] == 1]
    k = len(tied_items)
    assert k > 1

    cut_stability = await ask(seeded_client, "/datasets/stability", weights=weights, k=k - 1)
    for dataset in cut_stability["datasets"]:
        assert dataset["share"] == 1
        assert "à score égal, l’ordre alphabétique décide" in dataset["sentence"]
    whole_stability = await ask(seeded_client, "/datasets/stability", weights=weights, k=k)
    assert not any("alphabétique" in dataset["sentence"] for dataset in whole_stability["datasets"])


@pytest.mark.parametrize(
    ("body", "location"),
    [
        ({"k": 0}, ["body", "k"]),
        ({"k": 101}, ["body", "k"]),
        ({"samples": 501}, ["body", "samples"]),
        ({"samples": 1.5}, ["body", "samples"]),
        ({"spread": -0.1}, ["body", "spread"]),
        ({"spread": 1.1}, ["body", "spread"]),
        ({"spread": "x"}, ["body", "spread"]),
        ({"seed": -1}, ["body", "seed"]),
        ({"sed": 1}, ["body", "sed"]),
        ({"gates": {"x": 1}}, ["body", "gates", "x"]),
        ({"weights": [{"criterion_name": "year", "weight": -1}]}, ["body", "weights", 0]),
        ({"profile": "x"}, ["body", "profile"]),
        ([], ["body"]),
    ],
)
async def test_values_out_of_range_are_refused_by_name(
    seeded_client: httpx2.AsyncClient, body: Any, location: list[Any]
) -> None:
    """Each is a 422 that names the key."""
    answer = await seeded_client.post("/datasets/stability", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == location


async def test_the_assurance_may_be_in_the_query_string_but_not_contradict_the_body(
    seeded_client: httpx2.AsyncClient,
) -> None:
    """As in a request for a ranking."""
    path = "/datasets/stability?assurance=reviewed"
    assert (await ask(seeded_client, path))["assurance"] == "reviewed"
    assert await ask(seeded_client, path) == await ask(seeded_client, "/datasets/stability", assurance="reviewed")
    answer = await seeded_client.post(path, json={"assurance": "declared"})
    assert answer.status_code == 422


async def test_every_reason_comes_with_a_sentence_in_the_language_of_the_request(ada: httpx2.AsyncClient) -> None:
    """The sentences name the datasets, the criteria and the weights that the answers contain."""
    alpha = await create_record(ada, name="Alpha", transparency=True, year=2000)
    beta = await create_record(ada, name="Beta", year=2012)
    weights = {"transparency": 3, "year": 1}
    body = {"weights": [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]}

    async def answers(language: str) -> list[str]:
        headers = {"Accept-Language": language}
        comparison = await ada.post(
            "/datasets/compare", json={"ids": [beta["id"], alpha["id"]], **body}, headers=headers
        )
        lifts = await ada.post(f"/datasets/{beta['id']}/lifts", json={"rank": 1, **body}, headers=headers)
        stability = await ada.post("/datasets/stability", json={"k": 1, **body}, headers=headers)
        sentences = [
            comparison.json()["pairs"][0]["sentence"],
            lifts.json()["sentence"],
            stability.json()["datasets"][0]["sentence"],
        ]
        return [sentence.replace("\u00a0", " ").replace("\u202f", " ") for sentence in sentences]

    assert await answers("en") == [
        "“Alpha” (0.750) ranks above “Beta” (0.125) because of “Transparency” (+0.75), although “Beta” is better in "
        "“Novelty” (−0.125); the order would be reversed if the weight of “Transparency” fell from 3 to below 0.5.",
        "“Beta” would rise from rank 2 to rank 1 if “Transparency” (yes) were established.",
        "The place of “Alpha” is robust: if the weights vary by up to ±20%, it ranks first of 2 in 100 of 100 "
        "samples, always at rank 1.",
    ]
    assert await answers("fr") == [
        "« Alpha » (0,750) est devant « Beta » (0,125) grâce à « Transparence » (+0,75), bien que « Beta » soit "
        "meilleur pour « Nouveauté » (−0,125) ; l’ordre s’inverserait si le poids de « Transparence » passait de 3 à "
        "moins de 0,5.",
        "« Beta » passerait du rang 2 au rang 1 si l’on établissait « Transparence » (oui).",
        "La place de « Alpha » est solide : si l’on varie les poids jusqu’à ±20 %, il est premier sur 2 dans 100 des "
        "100 tirages, toujours au rang 1.",
    ]
    without_target = await ask(ada, f"/datasets/{beta['id']}/lifts", **body)
    assert without_target["sentence"] is None
