"""Reasons on the pages: why one dataset ranks above another, what would raise one, and how robust the ranks are."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks
from tests.web.test_ranking import (
    DEFINE_SUMMARY,
    SUMMARIZE_PAGE,
    SUMMARIZE_RESPONSE,
    move,
    navigate,
    new_ranking,
    parse_number,
    ranked_datasets,
    shown_ids,
)
from touchstone.client import CriterionDifference, Reversal
from touchstone.web.localizer import Localizer
from touchstone.web.views.pair_view import reversing_position

BALANCED = {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}
DOCUMENTATION = [{"criterion_name": "documentation", "weight": 1}]
VERDICTS = {"robust": "yes", "fragile": "no"}


def ask(api: httpx2.Client, path: str, **body: Any) -> dict[str, Any]:
    """Return the answer of the API to a question about the ranking that the pages show by default."""
    headers = {"Accept-Language": "en"}
    response = api.post(f"/api/v1/datasets/{path}", json={"assurance": "documented", **body}, headers=headers)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_the_first_ranks_say_how_robust_they_are(visit: Visit, api: httpx2.Client) -> None:
    """On request, each of the first ten rows has the API's verdict, and a sentence above counts the robust ones."""
    stability = ask(api, "stability")
    page = visit("/app/", language="en")
    assert page.locator(".robustness").count() == 0
    with new_ranking(page):
        page.locator("#show-robustness").click()

    robust_count = sum(dataset["verdict"] == "robust" for dataset in stability["datasets"])
    expect(page.locator("#robustness")).to_contain_text(f"{robust_count} of the first 10 ranks")
    for dataset in stability["datasets"]:
        badge = page.locator(f'[data-id="{dataset["id"]}"] .robustness')
        expect(badge).to_have_class(re.compile(VERDICTS[dataset["verdict"]]))
        expect(badge).to_contain_text(f"({dataset['share']:.0%})")
    assert page.locator(".robustness").count() == len(stability["datasets"])
    assert "robustness=yes" in page.url

    with new_ranking(page):
        page.locator("#show-robustness").click()
    expect(page.locator(".robustness")).to_have_count(0)


def test_the_summary_says_that_the_alphabet_decides_ties(visit: Visit, api: httpx2.Client) -> None:
    """With one yes/no criterion, most scores are equal, and the first ten are only the first ones by name."""
    first_dataset = api.post("/api/v1/datasets/score?limit=1", json={"weights": DOCUMENTATION}).json()[0]
    last_tied_rank = first_dataset["place"] + first_dataset["tied_with"]
    assert last_tied_rank > 10
    page = visit("/app/?w.documentation=100&robustness=yes&assurance=declared", language="en")
    expect(page.locator("#robustness")).to_contain_text(
        f"The scores from rank 1 to rank {last_tied_rank:,} are equal: only the alphabet decides"
    )


@pytest.mark.parametrize("view", ["heat", "table"])
def test_verdicts_follow_the_weights(visit: Visit, view: str) -> None:
    """Moving a slider updates them as the server would draw them."""
    page = visit(f"/app/?w.ethical_score=30&w.year=50&w.citations=40&robustness=yes&view={view}", language="en")
    page.evaluate(DEFINE_SUMMARY)
    for position in (51, 60, 90):
        with page.expect_response(re.compile("/app/parts/ranking")) as response_info:
            move(page, "year", position)
        page.wait_for_url(f"**{response_info.value.headers['x-address']}")
        ranking_url = re.sub("&layout=[^&]*", "", response_info.value.url)
        assert page.evaluate(SUMMARIZE_PAGE) == page.evaluate(SUMMARIZE_RESPONSE, f"{ranking_url}&panel=weights")


def test_robustness_is_that_of_the_datasets_shown(visit: Visit) -> None:
    """If the ranking hides what does not meet every requirement, the ranks are tested among the rest."""
    page = visit("/app/?gate.transparency=documented&gate=pass&robustness=yes")
    assert page.locator("#results [data-id]").count() > 10
    assert page.locator(".robustness").count() == 10
    first_rows = page.locator("#results [data-id]").all()[:10]
    assert all(row.locator(".robustness").count() == 1 for row in first_rows)


def test_robustness_is_shown_without_scripts(visit: Visit) -> None:
    """The button is a link, and submitting the form keeps what it shows."""
    page = visit("/app/", scripts=False)
    navigate(page, "#show-robustness")
    assert page.locator(".robustness").count() == 10
    navigate(page, "#profile-technical")
    assert page.locator(".robustness").count() == 10
    themed_page = visit("/app/?robustness=yes", theme="auto")
    check_looks(themed_page)


def test_each_pair_says_why_one_is_above_the_other(visit: Visit, api: httpx2.Client) -> None:
    """The differences in points are those of the API, add up to the lead, and come with the sentence to quote."""
    ids = [item["id"] for item in ranked_datasets(api, BALANCED)[:12:5]]
    comparison = ask(api, "compare", ids=ids)
    page = visit("/app/compare?" + "&".join(f"pin={dataset_id}" for dataset_id in ids), language="en")
    assert page.locator(".pair").count() == len(comparison["pairs"]) == 3
    for pair in comparison["pairs"]:
        section = page.locator(f"#pair-{pair['above']}-{pair['below']}")
        if section.get_attribute("open") is None:
            section.locator("summary").click()
        points = [parse_number(text.replace("−", "-").replace("+", "")) for text in column_texts(section, 4)]
        expected = [item["points"] for item in pair["differences"] if item["weight"] > 0]
        assert sorted(points) == pytest.approx(sorted(expected), abs=5.1e-4)
        assert sum(points) == pytest.approx(parse_number(section.locator("tfoot .score").inner_text()), abs=0.0021)
        if pair.get("sentence"):
            expect(section.locator(".sentence")).to_have_text(pair["sentence"])


def column_texts(section: Any, position: int) -> list[str]:
    """Return the texts of a column of the table in a section."""
    texts: list[str] = section.locator(f"tbody tr > :nth-child({position})").all_inner_texts()
    return texts


def test_the_reversed_ranking_is_one_click_away(visit: Visit, api: httpx2.Client) -> None:
    """With the one weight moved as the comparison says, the lower dataset has the higher score."""
    ids = [item["id"] for item in ranked_datasets(api, BALANCED)[:2]]
    page = visit(f"/app/compare?pin={ids[0]}&pin={ids[1]}", language="en")
    navigate(page, ".pair a.button")
    positions = {name: value for name, value in parse_qsl(urlsplit(page.url).query) if name.startswith("w.")}
    weights = {name.removeprefix("w."): float(value) / 100 for name, value in positions.items()}
    changed_criteria = [name for name in {*weights, *BALANCED} if weights.get(name, 0) != BALANCED.get(name, 0)]
    assert len(changed_criteria) == 1

    comparison = ask(api, "compare", ids=ids, weights=weight_list(weights))
    assert [dataset["id"] for dataset in comparison["datasets"]] == ids[::-1]


def test_a_tie_is_turned_in_the_right_direction(visit: Visit, api: httpx2.Client) -> None:
    """Between two tied datasets, the link moves the slider so that the second one comes first."""
    fields = {"description": "", "file_path": "", "file_type": "", "visibility": "private"}
    flags = ({"name": "Numbat A", "transparency": True}, {"name": "Numbat B", "informed_consent": True})
    ids = [api.post("/api/v1/datasets/", json=fields | flag).json()["id"] for flag in flags]
    query = f"w.transparency=50&w.informed_consent=50&assurance=declared&pin={ids[0]}&pin={ids[1]}"
    page = visit(f"/app/compare?{query}&dataset_name=numbat", language="en")
    expect(page.locator(".pair h3")).to_have_text("Numbat A above Numbat B")
    navigate(page, ".pair a.button")
    assert shown_ids(page) == ids[::-1]


def test_a_compared_dataset_outside_the_ranking_is_said_to_be(visit: Visit, api: httpx2.Client) -> None:
    """A dataset that the filters leave out may be compared, but does not rank above anything."""
    fields = {"description": "", "file_path": "", "file_type": "", "visibility": "private"}
    names = ("Bilby inside", "Quoll outside")
    ids = [api.post("/api/v1/datasets/", json=fields | {"name": name}).json()["id"] for name in names]
    pins = f"pin={ids[0]}&pin={ids[1]}"
    page = visit(f"/app/compare?dataset_name=bilby&{pins}", language="en")
    expect(page.locator(".unranked")).to_have_text(
        "“Quoll outside” does not pass the filters or requirements of the ranking; it has no rank there, and is "
        "compared by its score."
    )
    expect(visit(f"/app/compare?{pins}", language="en").locator(".unranked")).to_have_count(0)


@pytest.mark.parametrize(
    ("above", "below", "weight", "position"),
    [
        (0.2, 0.7, 0.29, 30),
        (0.2, 0.7, 1.0000000000000009 / 100, 2),
        (0.2, 0.7, 0.999, 100),
        (0.2, 0.7, 1.0, None),
        (0.7, 0.2, 0.29, 28),
        (0.7, 0.2, 0.295, 29),
        (0.7, 0.2, 0.0, 0),
        (0.7, 0.2, 0.004, 0),
    ],
)
def test_a_pair_is_reversed_at_the_next_position(
    above: float, below: float, weight: float, position: float | None
) -> None:
    """Rounding errors do not move it to the position where both scores are equal, and a weight of 0 is position 0."""
    reversal = Reversal(criterion_name="year", weight=weight, weight_before=0.5, change=weight - 0.5)
    difference = CriterionDifference(
        criterion_name="year", weight=0.5, above=above, below=below, points=0.1, reversing_weight=weight
    )
    assert reversing_position(reversal, difference) == position


def weight_list(weights: dict[str, float]) -> list[dict[str, Any]]:
    """Return weights as the API expects them."""
    return [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]


def test_a_dataset_says_what_would_raise_it(visit: Visit, api: httpx2.Client) -> None:
    """The page names the attributes with score and rank if they were established, and the smallest set for rank 10."""
    dataset_id = ranked_datasets(api, BALANCED)[-1]["id"]
    lifts = ask(api, f"{dataset_id}/lifts", rank=10)
    page = visit(f"/app/datasets/{dataset_id}", language="en")
    section = page.locator("section[aria-labelledby=lifts-title]")
    expect(section).to_contain_text(f"Rank {lifts['rank']:,} of {lifts['total_count']:,}.")
    expect(section).to_contain_text(f"between {lifts['unknown_ranks']['best']} and ")

    raising = [lift for lift in lifts["lifts"] if lift["gain"] > 0]
    assert raising
    assert [parse_number(text) for text in column_texts(section, 4)] == [round(lift["score"], 3) for lift in raising]
    assert [parse_number(text) for text in column_texts(section, 5)] == [lift["rank"] for lift in raising]
    assert section.locator(".in-set").count() == len(lifts["smallest_set"]["attributes"])


def test_a_dataset_outside_of_the_ranking_says_so(visit: Visit, api: httpx2.Client) -> None:
    """Where the filters of the ranking leave it out, the page says which rank it would have."""
    dataset_id = ranked_datasets(api, BALANCED)[0]["id"]
    page = visit(f"/app/datasets/{dataset_id}?dataset_name=zzzzzz", language="en")
    expect(page.locator("section[aria-labelledby=lifts-title]")).to_contain_text("does not pass the filters")
    expect(page.locator(".big")).to_be_visible()
    sentence = ask(api, f"{dataset_id}/lifts", rank=10, filters={"dataset_name": "zzzzzz"})["sentence"]
    assert (
        "does not pass the filters or requirements of the ranking; among the datasets that do, it would be" in sentence
    )


def test_reasons_are_about_the_ranking_without_what_fails_its_gates(visit: Visit, api: httpx2.Client) -> None:
    """Where the ranking hides what does not meet its requirements, the other pages give the ranks of that ranking."""
    gates = {"transparency": "declared"}
    question: dict[str, Any] = {"gates": gates, "assurance": "declared"}
    answer = api.post("/api/v1/datasets/score?gate=pass&envelope=true&limit=5", json=question).json()
    total_count, ids = answer["total_count"], [item["id"] for item in answer["datasets"][2:4]]
    assert total_count < api.post("/api/v1/datasets/score?envelope=true&limit=1", json=question).json()["total_count"]

    query = "gate.transparency=declared&gate=pass&assurance=declared"
    page = visit(f"/app/datasets/{ids[0]}?{query}", language="en")
    # Records of other tests may share the best score.
    item = answer["datasets"][2]
    localizer = Localizer("en")
    tie = f", {localizer.counted('tied_with', item['tied_with'])}" if item["tied_with"] else ""
    expect(page.locator("section[aria-labelledby=lifts-title]")).to_contain_text(
        f"Rank {localizer.number(item['place'])} of {total_count:,}{tie}."
    )
    expect(page.locator(".sentence").first).to_contain_text(f" of {total_count:,} with")
    page = visit(f"/app/datasets/{ids[0]}?{query}&gate.year_min=nonsense", language="en")
    expect(page.locator(".sentence").first).to_contain_text(f" of {total_count:,} with")
    assert visit(f"/app/compare?{query}&pin={ids[0]}&pin={ids[1]}", language="en").locator(".pair").count() == 1


def test_reasons_need_weights(visit: Visit, api: httpx2.Client) -> None:
    """Without any weight nothing ranks above anything else, and the pages show the rest."""
    ids = [item["id"] for item in ranked_datasets(api, BALANCED)[:2]]
    page = visit(f"/app/compare?profile=none&pin={ids[0]}&pin={ids[1]}")
    assert page.locator(".pair").count() == 0
    assert page.locator(".compare thead th").count() == 2
    assert visit(f"/app/datasets/{ids[0]}?profile=none").locator("#lifts-title").count() == 0
    assert visit("/app/?profile=none&robustness=yes").locator("#show-robustness").count() == 0
