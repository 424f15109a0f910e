"""The state of the ranking survives visits to other pages, and a chosen dataset is carried over into a project."""

import re
from typing import Final

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visit
from tests.web.test_ranking import move, new_ranking

RANKING: Final = "/app/?year_min=1990&w.ethical_score=30&w.year=60&view=bars&pin=1&pin=2"
OTHER_PAGES: Final = ("/app/projects", "/app/jobs", "/app/account", "/app/datasets/1", "/app/nowhere")


def ranking_state(page: Page) -> dict[str, list[str]]:
    """Return the state of the ranking in an address."""
    parameters: dict[str, list[str]] = {}
    for name, value in httpx2.URL(page.url).params.multi_items():
        parameters.setdefault(name, []).append(value)
    return parameters


@pytest.mark.parametrize("scripts", [True, False])
def test_the_navigation_leads_back_to_the_ranking_as_it_was(visit: Visit, scripts: bool) -> None:
    """Weights, filters, pins and view survive a visit to other pages, with scripts and without."""
    page = visit(RANKING, language="en", scripts=scripts)
    state_before = ranking_state(page)
    page.get_by_role("link", name="Projects", exact=True).click()
    page.locator(".me").click()
    page.locator("header nav a").first.click()
    expect(page.locator(".bars li")).to_have_count(20)
    assert ranking_state(page) == state_before


def test_a_move_a_moment_ago_survives_the_navigation(visit: Visit) -> None:
    """Leaving the page before the ranking is updated loses nothing, and two tabs keep separate rankings."""
    page = visit(RANKING, language="en")
    expect(page.locator("html")).to_have_attribute("data-ready", "")
    move(page, "citations", 44)
    page.get_by_role("link", name="Projects", exact=True).click()
    expect(page).to_have_url(re.compile("/app/projects"))
    second_tab = page.context.new_page()
    second_tab.goto("/app/?w.year=5&view=table")
    page.reload()
    page.locator("header nav a").first.click()
    expect(page.locator("#w-citations")).to_have_value("44")
    state = ranking_state(page)
    assert (state["w.year"], sorted(state["pin"]), state["view"]) == (["60"], ["1", "2"], ["bars"])


@pytest.mark.parametrize("path", OTHER_PAGES)
def test_every_page_knows_the_way_back(server: str, session_cookies: dict[str, str], path: str) -> None:
    """The link in the header leads back to the ranking, until the user signs out."""
    with httpx2.Client(base_url=server, cookies=session_cookies, headers={"Origin": server}, timeout=60) as client:
        client.get(RANKING)
        assert "w.year=60" in client.get(path).text
        client.post("/app/sign-out")
        assert "w.year=60" not in client.get("/app/sign-in").text


def test_a_foreign_cookie_leads_nowhere_else(server: str, session_cookies: dict[str, str]) -> None:
    """A cookie that does not contain the query of a ranking is never written into a link."""
    with httpx2.Client(
        base_url=server, cookies=session_cookies | {"touchstone_ranking": "../evil?x=1"}, timeout=60
    ) as client:
        assert "evil" not in client.get("/app/projects").text


@pytest.mark.parametrize("scripts", [True, False])
def test_a_row_is_kept_in_a_new_project(visit: Visit, api: httpx2.Client, scripts: bool) -> None:
    """The button of a row leads to a form that contains the dataset, a reason, the weights and the filters."""
    page = visit("/app/?year_min=1990&w.year=60&w.citations=20", language="en", scripts=scripts)
    name = page.locator("#results tbody th a").nth(2).inner_text()
    page.get_by_role("link", name=f"Keep {name} in a project").first.click()
    expect(page.locator(".kept")).to_contain_text(name)
    form = page.locator("main form").first
    form.locator("[name=name]").fill(f"Row {scripts}")
    form.locator("[name=reason]").fill("It fits.")
    form.locator("button").click()
    expect(page.locator(".kept blockquote")).to_have_text("It fits.")
    project = next(project for project in api.get("/api/v1/projects").json() if project["name"] == f"Row {scripts}")
    assert project["criteria"] == {"year_min": 1990}
    assert {weight["criterion_name"]: weight["weight"] for weight in project["weights"]} == {
        "year": 0.6,
        "citations": 0.2,
    }


def test_a_compared_dataset_is_kept_in_an_existing_project_by_keyboard(visit: Visit, api: httpx2.Client) -> None:
    """The comparison offers this for each dataset; if the reason is missing, the form is shown again."""
    project_id = api.post("/api/v1/projects", json={"name": "There already"}).json()["id"]
    page = visit("/app/compare?pin=1&pin=2&w.year=60&w.citations=20", language="en")
    page.locator(".compare thead th a[aria-label]").nth(1).focus()
    page.keyboard.press("Enter")
    form = page.locator("main form").nth(1)
    form.locator("[name=project]").focus()
    page.keyboard.type("There")
    page.keyboard.press("Tab")
    page.keyboard.type("Better documented.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".kept blockquote")).to_have_text("Better documented.")
    project = api.get(f"/api/v1/projects/{project_id}").json()
    assert (project["chosen_dataset_id"], len(project["weights"])) == (2, 2)


def test_the_links_of_the_rows_follow_the_weights(visit: Visit) -> None:
    """After a move that changes only numbers, a row's button still refers to that row, with the new weights."""
    page = visit("/app/?w.year=60&w.citations=20", language="en")
    with new_ranking(page):
        move(page, "year", 61)
    expect(page).to_have_url(re.compile("w.year=61"))
    row = page.locator("#results tbody tr").nth(4)
    expected = {"w.year": "61", "w.citations": "20"}
    expect(row.locator(".keep")).to_have_attribute("href", re.compile("w.year=61"))
    target = httpx2.URL(row.locator(".keep").get_attribute("href") or "")
    assert target.path == "/app/projects/new"
    assert dict(target.params) == {**expected, "choose": row.get_attribute("data-id")}
    assert dict(httpx2.URL(page.locator("#keep-ranking").get_attribute("href") or "").params) == expected
