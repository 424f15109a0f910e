"""Requirements on the ranking page: a form of their own, badges in each row, and the choice to hide what fails."""

import re
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks
from tests.web.test_ranking import (
    DEFINE_SUMMARY,
    SUMMARIZE_PAGE,
    SUMMARIZE_RESPONSE,
    move,
    navigate,
    new_ranking,
    shown_ids,
)

GATES = {"transparency": "documented", "license": ["CC-BY-*", "MIT"], "instances_min": 100_000}
QUERY = "gate.transparency=documented&gate.license=CC-BY-*%2C+MIT&gate.instances_min=100+000"
STATES = {"passed": "yes", "failed": "no", "unknown": "unknown"}


def gated_ranking(api: httpx2.Client, **params: str | int) -> dict[str, Any]:
    """Return the ranking of the API with the gates, at the level of evidence that pages require."""
    options: dict[str, str | int] = {"limit": 20, "explain": True, "envelope": True, "assurance": "documented"}
    answer = api.post("/api/v1/datasets/score", params=options | params, json={"gates": GATES})
    assert answer.status_code == 200, answer.text
    ranking: dict[str, Any] = answer.json()
    return ranking


def shown_outcomes(page: Page) -> list[list[str]]:
    """Return the state of each badge of each row."""
    rows = []
    for row in page.locator("#results [data-id]").all():
        classes = [badge.get_attribute("class") or "" for badge in row.locator(".gate").all()]
        rows.append([css_classes.split()[-1] for css_classes in classes])
    return rows


@pytest.mark.parametrize("view", ["heat", "bars", "table"])
def test_every_row_says_what_the_gates_say_of_it(visit: Visit, api: httpx2.Client, view: str) -> None:
    """Nothing disappears and no rank changes; each row has a badge for each requirement, with the API's outcome."""
    ranking = gated_ranking(api)
    page = visit(f"/app/?view={view}&{QUERY}", language="en")
    assert shown_ids(page) == [item["id"] for item in ranking["datasets"]]
    assert shown_outcomes(page) == [[STATES[item["gates"][name]] for name in GATES] for item in ranking["datasets"]]
    assert len({state for row in shown_outcomes(page) for state in row}) == 3, "the demo catalog has every outcome"
    expect(page.locator(".gate").first).to_contain_text("Transparency")


def test_only_what_passes_can_be_shown(visit: Visit, api: httpx2.Client) -> None:
    """The button above the ranking hides what fails or is unknown, and shows it again."""
    page = visit(f"/app/?{QUERY}", language="en")
    passing_ranking = gated_ranking(api, gate="pass")
    with new_ranking(page):
        page.get_by_role("link", name="Show only what meets all of them").click()
    expect(page.locator(".found strong")).to_have_text(str(passing_ranking["total_count"]))
    assert shown_ids(page) == [item["id"] for item in passing_ranking["datasets"]]
    expect(page.locator('input[name="gate"]')).to_be_checked()
    assert "gate=pass" in page.url
    with new_ranking(page):
        page.get_by_role("link", name="Show only what meets all of them").click()
    expect(page.locator(".found strong")).not_to_have_text(str(passing_ranking["total_count"]))


def test_a_gate_is_set_in_its_own_form_and_removed_above_the_ranking(visit: Visit) -> None:
    """Setting a requirement changes no filter and no weight; its chip removes it, also from the form."""
    page = visit("/app/", language="en")
    page.locator("#gates-title").click()
    page.locator("#gates-ethics > summary").click()
    with new_ranking(page):
        page.locator('select[name="gate.informed_consent"]').select_option("reviewed")
    expect(page).to_have_url(re.compile(r"\?gate.informed_consent=reviewed$"))
    expect(page.locator("#gate-chips .set")).to_contain_text("Informed consent reviewed")
    expect(page.locator('select[name="gate.informed_consent"]')).to_be_visible()
    with new_ranking(page):
        page.locator("#gate-chips .set").click()
    expect(page.locator("#gate-chips")).to_have_count(0)
    expect(page.locator('select[name="gate.informed_consent"]')).to_have_value("")


def test_gates_work_without_scripts(visit: Visit) -> None:
    """The form of the gates is submitted with the rest of the page."""
    page = visit("/app/?w.year=70&year_min=1990", scripts=False)
    page.locator("#gates-title").click()
    page.locator("#gates-size > summary").click()
    page.locator('[id="f-gate.instances_min"]').fill("5 000")
    navigate(page, "#gates .actions button")
    assert "year_min=1990" in page.url
    assert "gate.instances_min=5+000" in page.url
    assert page.locator("#w-year").input_value() == "70"
    assert page.locator(".gate").count() == 20
    navigate(page, "#gate-chips .set")
    assert "gate" not in page.url


def test_a_patched_ranking_has_the_badges_of_a_new_one(visit: Visit) -> None:
    """Moving a slider updates the badges, limits and places of the rows as the server would draw them."""
    page = visit(f"/app/?w.ethical_score=30&w.year=50&w.citations=40&view=bars&{QUERY}", language="en")
    page.evaluate(DEFINE_SUMMARY)
    content_types = []
    for criterion, position in (("year", 52), ("citations", 60), ("year", 90)):
        with page.expect_response(re.compile("/app/parts/ranking")) as response_info:
            move(page, criterion, position)
        content_types.append(response_info.value.headers["content-type"].split(";")[0])
        page.wait_for_url(f"**{response_info.value.headers['x-address']}")
        ranking_url = re.sub("&layout=[^&]*", "", response_info.value.url)
        assert page.evaluate(SUMMARIZE_PAGE) == page.evaluate(SUMMARIZE_RESPONSE, f"{ranking_url}&panel=weights")
    assert "application/json" in content_types


def test_a_wrong_value_is_reported_at_its_field(visit: Visit) -> None:
    """A bound in words is reported above the ranking and at the field; an unknown level, too."""
    page = visit("/app/?gate.instances_min=many", language="en")
    expect(page.get_by_role("alert")).to_contain_text("Instances: enter a number")
    assert page.locator('[name="gate.instances_min"]').get_attribute("aria-invalid") == "true"
    expect(visit("/app/?gate.transparency=hearsay").get_by_role("alert")).to_contain_text("Transparence")


def test_nobody_passing_is_explained(visit: Visit) -> None:
    """An empty ranking says that requirements are the reason, and leads back to all datasets."""
    page = visit("/app/?gate.user_control=reviewed&gate=pass", language="en")
    expect(page.locator(".empty h2")).to_have_text("No dataset meets all requirements")
    page.get_by_role("link", name="Show all", exact=True).click()
    expect(page.locator("#results [data-id]")).to_have_count(20)


def test_badges_are_accessible_and_fit(visit: Visit) -> None:
    """Signs carry the outcomes, not colours alone, and nothing overflows at any width in either theme."""
    page = visit(f"/app/?{QUERY}", theme="auto")
    page.locator("#gates-title").click()
    check_looks(page)


def test_the_csv_file_has_places_limits_and_outcomes(server: str, session_cookies: dict[str, str]) -> None:
    """Exports say what the page says."""
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        header, first_line, *_ = client.get(f"/app/ranking.csv?{QUERY}").text.splitlines()
    assert header.lstrip("\ufeff").startswith("rank,place,id,dataset_id,dataset_name,score,highest_score,")
    assert header.endswith("gate_transparency,gate_license,gate_instances_min")
    assert first_line.rsplit(",", 1)[1] in STATES
