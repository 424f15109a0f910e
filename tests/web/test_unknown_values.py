"""What the pages say beside a score: how high unknown values allow it to be, ties, and criteria that do not matter."""

import re

import httpx2
from playwright.sync_api import expect

from tests.web.conftest import Visit
from tests.web.test_ranking import parse_number, ranked_datasets
from touchstone.messages.numbers import limit_to_show

BALANCED = {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}


def test_every_view_says_how_high_a_score_may_be(visit: Visit, api: httpx2.Client) -> None:
    """The limit is the API's best case, rounded up as in the sentence about the rank.

    The heat map marks the unknown part of a value, and bars have a remainder.
    """
    expected = ranked_datasets(api, BALANCED)
    assert any(item["best_case"]["score"] > item["score"] + 0.01 for item in expected)
    for view in ("heat", "bars", "table"):
        page = visit(f"/app/?view={view}", language="en")
        for row, item in zip(page.locator("#results [data-id]").all(), expected, strict=True):
            limits = re.findall(r"\d\.\d{3}", row.locator(".limit").first.text_content() or "")
            highest_score = limit_to_show(item["score"], item["best_case"]["score"], 3)
            assert [parse_number(limit) for limit in limits] == ([] if highest_score is None else [highest_score])
        page.context.close()

    bars = visit("/app/?view=bars")
    for row, item in zip(bars.locator("#results [data-id]").all(), expected, strict=True):
        remainder = row.locator("rect.open")
        start, width = (float((remainder.get_attribute(name) or "").rstrip("%")) for name in ("x", "width"))
        assert abs(start - 100 * item["score"]) < 0.01
        assert abs(start + width - 100 * item["best_case"]["score"]) < 0.01

    heat = visit("/app/", language="en")
    for row, item in zip(heat.locator(".heat tbody tr").all(), expected, strict=True):
        css_classes = row.locator(".cell").first.get_attribute("class") or ""
        unknown_share = item["ethical_interval"][1] - item["ethical_interval"][0]
        assert (f"open{round(10 * unknown_share)}" in css_classes.split()) == (unknown_share > 0)


def test_a_dataset_of_which_nothing_is_known_has_a_dash_and_a_limit(visit: Visit, api: httpx2.Client) -> None:
    """A 0 would look like a judgement; the pages of the ranking and of the dataset say what is possible."""
    record = {"name": "Tabula rasa", "description": "", "file_path": "", "file_type": "", "visibility": "private"}
    dataset_id = api.post("/api/v1/datasets/", json=record).json()["id"]

    row = visit("/app/?dataset_name=tabula+rasa", language="en").locator(f'[data-id="{dataset_id}"]')
    expect(row.locator(".score")).to_have_text("–")
    expect(row.locator(".limit")).to_have_text("≤\u00a01.000")
    dataset_page = visit(f"/app/datasets/{dataset_id}", language="en")
    expect(dataset_page.locator(".big")).to_have_text("– at most 1.000")


def test_datasets_with_the_same_score_share_a_place(visit: Visit, api: httpx2.Client) -> None:
    """A tie is written "5 =", and screen readers hear with how many others it is shared."""
    page = visit("/app/?w.informed_consent=50&view=table&page=2", language="en")
    params: dict[str, str | int] = {"limit": 20, "skip": 20, "explain": True, "assurance": "documented"}
    body = {"weights": [{"criterion_name": "informed_consent", "weight": 1}]}
    expected = api.post("/api/v1/datasets/score", params=params, json=body).json()
    assert any(item["tied_with"] for item in expected)
    for row, item in zip(page.locator("#results [data-id]").all(), expected, strict=True):
        place = f"{item['place']:,}" + ("\u00a0=" if item["tied_with"] else "")
        expect(row.locator(".place b")).to_have_text(place)
        assert f"tied with {item['tied_with']:,} other" in (row.locator(".tie").text_content() or "")


def test_a_criterion_that_does_not_distinguish_is_noted(visit: Visit, api: httpx2.Client) -> None:
    """The notes of the API stand above the ranking, in the reader's language."""
    params: dict[str, str | int | bool] = {"limit": 20, "envelope": True, "assurance": "documented"}
    for language in ("fr", "en"):
        page = visit("/app/?profile=popularity", language=language)
        headers = {"Accept-Language": language}
        body = {"profile": "popularity"}
        ranking = api.post("/api/v1/datasets/score", params=params, json=body, headers=headers).json()
        assert ranking["notes"]
        expect(page.locator(".notes li")).to_have_text([note["sentence"] for note in ranking["notes"]])


def test_a_comparison_shows_what_is_unknown(visit: Visit, api: httpx2.Client) -> None:
    """Scores say how high they may be, and the meters have a hatched remainder."""
    first, second = ranked_datasets(api, BALANCED)[:2]
    page = visit(f"/app/compare?pin={first['id']}&pin={second['id']}", language="en")
    limits = page.locator(".compare tbody tr").first.locator(".limit")
    expect(limits).to_have_text([f"at most {item['best_case']['score']:.3f}" for item in (first, second)])
    assert page.locator(".compare rect.open").count() >= 2
