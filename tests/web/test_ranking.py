"""The ranking page in a real browser: weights can be moved freely, and the page shows what the API returns."""

import csv
import html
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.web.conftest import Visit

BALANCED = {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}


# Forty moves of two sliders within half a second, as dragging makes them.
BURST = """async () => {
  for (let value = 1; value <= 40; value++) {
    for (const [id, position] of [["w-year", value], ["w-citations", 2 * value]]) {
      const slider = document.getElementById(id);
      slider.value = position;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await new Promise((resolve) => setTimeout(resolve, 12));
  }
}"""


# Lists what is wrong with the heat map and the labels above its columns.
MISPLACED_LABELS = """() => {
  const card = document.querySelector(".results > .wide");
  const problems = card.scrollWidth > card.clientWidth ? ["the heat map scrolls"] : [];
  const cardBox = card.getBoundingClientRect();
  for (const label of card.querySelectorAll("th.criterion span")) {
    const box = label.getBoundingClientRect();
    const isInside = box.left >= cardBox.left && box.right <= cardBox.right && box.top >= cardBox.top;
    const isUncut = label.scrollWidth <= label.clientWidth || getComputedStyle(label).display === "inline";
    const isReadable = getComputedStyle(label).writingMode === "horizontal-tb";
    if (!(isInside && isUncut && isReadable)) problems.push(label.textContent);
  }
  return problems;
}"""
# Defines `summarize`, which lists the elements, texts and attributes of a part of a page. The summaries of two links
# are equal if the links have the same parameters, in whatever order.
DEFINE_SUMMARY = """() => {
  globalThis.summarize = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.data.trim() ? [node.data.trim()] : [];
    const attributes = {};
    for (const { name, value } of node.attributes) {
      if (name === "href") attributes[name] = [...new URL(value, location).searchParams].map(String).sort().join(" & ");
      else if (name !== "checked" && value !== "") attributes[name] = value;
    }
    if (node.type === "checkbox") attributes.checked = node.checked;
    if (node.type === "range") attributes.value = node.value;
    const attributeText = Object.entries(attributes).sort().map(([name, value]) => `${name}=${value}`).join(" ");
    return [`${node.tagName} ${attributeText}`, ...[...node.childNodes].flatMap(summarize)];
  };
}"""
# Summarizes what the server draws for the address of a ranking.
SUMMARIZE_RESPONSE = """async (url) => {
  const template = document.createElement("template");
  template.innerHTML = await (await fetch(url)).text();
  return ["results", "weights"].flatMap((id) => summarize(template.content.getElementById(id)));
}"""
# Summarizes what the page shows.
SUMMARIZE_PAGE = """() => ["results", "weights"].flatMap((id) => summarize(document.getElementById(id)))"""


def is_ranking_request(request: Request) -> bool:
    return "/app/parts/ranking" in request.url


def move(page: Page, criterion: str, value: int) -> None:
    """Move a slider as a user does: change its value, and dispatch the events for it."""
    page.locator(f"#w-{criterion}").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', {bubbles: true})) }", value
    )


@contextmanager
def new_ranking(page: Page) -> Iterator[None]:
    """Wait at the end of the block until the ranking that was requested in it is shown, with its address and links."""
    with page.expect_response(re.compile("/app/parts/ranking")) as response_info:
        yield
    address = response_info.value.headers["x-address"]
    page.wait_for_url(lambda url: url.endswith(address))


def move_and_wait(page: Page, criterion: str, value: int) -> None:
    """Move a slider, and wait for the new ranking."""
    with new_ranking(page):
        move(page, criterion, value)


def ranked_datasets(api: httpx2.Client, weights: dict[str, float], **filters: object) -> list[dict[str, Any]]:
    body = {"filters": filters, "weights": [{"criterion_name": n, "weight": w} for n, w in weights.items()]}
    params: dict[str, str | int] = {"limit": 20, "explain": True, "assurance": "documented"}
    answer = api.post("/api/v1/datasets/score", params=params, json=body)
    datasets: list[dict[str, object]] = answer.json()
    return datasets


def shown_ids(page: Page) -> list[int]:
    return [int(row.get_attribute("data-id") or 0) for row in page.locator("#results [data-id]").all()]


def parse_number(text: str) -> float:
    return float(text.replace(",", ".").strip())


def test_the_heat_map_shows_what_the_api_answers(visit: Visit, api: httpx2.Client) -> None:
    """Order, scores and cells equal those of the API; unknown values are hatched, and never shown as numbers."""
    page = visit("/app/?w.ethical_score=40&w.data_quality=30&w.citations=30")
    expected = ranked_datasets(api, {"ethical_score": 0.4, "data_quality": 0.3, "citations": 0.3})
    rows = page.locator(".heat tbody tr")
    assert shown_ids(page) == [dataset["id"] for dataset in expected]
    for row, dataset in zip(rows.all(), expected, strict=True):
        assert parse_number(row.locator(".score").inner_text()) == pytest.approx(dataset["score"], abs=5.1e-4)
        cells = row.locator(".cell").all()
        for cell, name in zip(cells, ("ethical_score", "data_quality", "citations"), strict=True):
            unknown = name in dataset["unknown"]
            assert ("hatched" in (cell.get_attribute("class") or "")) == unknown
            text = cell.inner_text()
            if unknown:
                assert text == "?"
            else:
                assert parse_number(text) == pytest.approx(dataset["criterion_scores"][name], abs=5.1e-3)
    assert any(dataset["unknown"] for dataset in expected), "the demo catalog has unknowns to show"


def test_columns_are_as_wide_as_their_weight(visit: Visit) -> None:
    """A criterion with twice the weight has a column of twice the width."""
    page = visit("/app/?w.ethical_score=50&w.technical_score=25&w.year=25")
    widths = [column.bounding_box()["width"] for column in page.locator(".heat th.criterion").all()]  # type: ignore[index]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.03)
    assert widths[1] / widths[2] == pytest.approx(1, rel=0.03)


@pytest.mark.parametrize("width", [768, 1024, 1280, 1440])
@pytest.mark.parametrize("criteria", [3, 6])
def test_the_heat_map_fits_its_card(visit: Visit, width: int, criteria: int) -> None:
    """Nothing scrolls sideways, and no label above a column is vertical, cut off or outside of the heat map."""
    names = ("ethical_score", "data_quality", "instances_count", "informed_consent", "citations", "year")[:criteria]
    query = "&".join(f"w.{name}=50" for name in names)
    for language in ("fr", "en"):
        page = visit(f"/app/?{query}", width=width, language=language)
        assert page.locator("th.criterion span").count() == criteria
        assert page.evaluate(MISPLACED_LABELS) == []
        page.context.close()


@pytest.mark.parametrize("view", ["heat", "bars", "table"])
def test_never_more_than_twenty(visit: Visit, view: str) -> None:
    """No view shows more than twenty datasets, however many match."""
    page = visit(f"/app/?view={view}")
    assert len(shown_ids(page)) == 20


def test_points_in_the_bars_add_up(visit: Visit) -> None:
    """The points written under a bar add up to the score beside it, to the digits shown."""
    page = visit("/app/?view=bars&w.ethical_score=40&w.technical_score=35&w.year=25", language="en")
    for row in page.locator(".bars li").all():
        parts, total = (row.locator(".sum").text_content() or "").split("=")
        points = [float(text) for text in re.findall(r"\d\.\d{3}", parts)]
        assert sum(points) == pytest.approx(float(total), abs=0.0016)


def test_a_burst_of_moves_is_one_request(visit: Visit) -> None:
    """Moving several sliders quickly causes one request, 300 ms after the last move, with the last values."""
    page = visit("/app/")
    ranking_urls: list[str] = []
    page.on("request", lambda request: ranking_urls.append(request.url) if is_ranking_request(request) else None)
    with new_ranking(page):
        page.evaluate(BURST)
    page.wait_for_timeout(600)
    assert len(ranking_urls) == 1
    query = dict(parse_qsl(urlsplit(ranking_urls[0]).query))
    assert (query["w.year"], query["w.citations"]) == ("40", "80")


def test_a_move_brings_the_picture_alone(visit: Visit) -> None:
    """Filters and sliders are neither sent nor rendered again; the shares, their sum and the ranking are updated."""
    page = visit("/app/", language="en")
    with page.expect_response(re.compile("/app/parts/ranking")) as response_info:
        move(page, "year", 100)
    expect(page.locator("#share-year")).to_have_text("50%")
    fragment = response_info.value.text()
    assert 'id="results"' in fragment
    assert 'id="filters"' not in fragment
    assert 'id="weights"' not in fragment
    expect(page.locator("#w-year")).to_have_attribute("aria-valuetext", "100, 50% of the score")
    expect(page.locator("#profile-balanced")).to_have_attribute("aria-pressed", "false")
    assert page.locator('#shares rect:not([width="0.000%"])').count() == 4


@pytest.mark.parametrize(("view", "language"), [("heat", "fr"), ("heat", "en"), ("bars", "fr"), ("table", "en")])
def test_a_picture_filled_in_place_is_the_one_that_the_server_draws(
    visit: Visit, api: httpx2.Client, view: str, language: str
) -> None:
    """If the layout stays the same, only values are sent; the patched page equals the one that the server renders."""
    weights = {"ethical_score": 30, "data_quality": 40, "citations": 55, "year": 30, "documentation": 9}
    query = "&".join(f"w.{name}={weight}" for name, weight in weights.items())
    page = visit(f"/app/?{query}&data_task=classification&view={view}", language=language)
    # A dataset that also is on the page at the end, because a pin elsewhere is another layout.
    last_weights = {**weights, "citations": 50, "data_quality": 50, "year": 90}
    last_ranking = ranked_datasets(api, {name: weight / 100 for name, weight in last_weights.items()})
    last_ids = [dataset["id"] for dataset in last_ranking]
    pin = next(dataset_id for dataset_id in shown_ids(page) if dataset_id in last_ids)
    page.locator(f"#pin-{pin}").check()
    expect(page.locator(".tray")).to_be_visible()
    page.evaluate(DEFINE_SUMMARY)
    content_types = []
    for criterion, position in (("year", 31), ("citations", 50), ("data_quality", 50), ("year", 32), ("year", 90)):
        with page.expect_response(re.compile("/app/parts/ranking")) as response_info:
            move(page, criterion, position)
        ranking_url = re.sub("&layout=[^&]*", "", response_info.value.url)
        content_types.append(response_info.value.headers["content-type"].split(";")[0])
        # The links and the address are written after the frame.
        page.wait_for_url(f"**{response_info.value.headers['x-address']}")
        assert page.evaluate(SUMMARIZE_PAGE) == page.evaluate(SUMMARIZE_RESPONSE, f"{ranking_url}&panel=weights")
    assert content_types.count("application/json") >= 3
    # A column that becomes too narrow for its label is another layout.
    assert ("text/html" in content_types) == (view == "heat")


def test_shares_and_columns_follow_before_any_answer(visit: Visit) -> None:
    """What depends on the sliders alone is updated while they move; a column without weight has no width."""
    page = visit("/app/?w.ethical_score=50&w.year=50&w.citations=50", language="en")
    page.route(re.compile("/app/parts/ranking"), lambda route: None)
    move(page, "citations", 0)
    assert [col.get_attribute("width") for col in page.locator("col.criterion").all()] == ["25.000%", "0", "25.000%"]
    assert page.locator("#shares .stack").get_attribute("aria-label") == (
        "Share of each criterion in the score: Ethical 50%, Novelty 50%"
    )
    move(page, "documentation", 100)
    assert [col.get_attribute("width") for col in page.locator("col.criterion").all()] == ["25.000%", "0", "25.000%"]
    expect(page.locator("#share-documentation")).to_have_text("50%")
    for criterion in ("documentation", "ethical_score", "year"):
        move(page, criterion, 0)
    expect(page.locator("#shares .notice")).to_be_visible()


@pytest.mark.parametrize(("language", "percentage"), [("en", "<1%"), ("fr", "<\u00a01\u00a0%")])
def test_the_share_of_a_small_weight_is_not_shown_as_none(visit: Visit, language: str, percentage: str) -> None:
    """A slider at its first step has a share, which the page writes as the server does."""
    page = visit("/app/?w.ethical_score=100&w.technical_score=100&w.documentation=100&w.year=1", language=language)
    expect(page.locator("#share-year")).to_have_text(percentage)
    page.route(re.compile("/app/parts/ranking"), lambda route: None)
    move(page, "citations", 1)
    expect(page.locator("#share-citations")).to_have_text(percentage)
    expect(page.locator("#share-informed_consent")).to_have_text("0%" if language == "en" else "0\u00a0%")


def test_a_weight_between_two_steps_stays_until_a_hand_moves_it(visit: Visit) -> None:
    """A stored third is shown and requested as it is; a slider that is moved snaps to whole steps."""
    page = visit("/app/?w.ethical_score=66.667&w.year=33.333")
    slider = page.locator("#w-year")
    assert slider.get_attribute("aria-valuetext") == "33,333, 33\xa0% du score"
    move_and_wait(page, "ethical_score", 60)
    expect(page).to_have_url(re.compile("w.year=33.333"))
    assert slider.get_attribute("aria-valuetext") == "33,333, 36\xa0% du score"
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("w.year=34$"))


def test_a_renamed_dataset_has_its_new_name_in_the_next_picture(visit: Visit, api: httpx2.Client) -> None:
    """The new name appears even if the dataset stays in the same row."""
    record = {"name": "Quokka one", "description": "", "file_path": "/q.csv", "file_type": "csv", "year": 2020}
    dataset_id = api.post("/api/v1/datasets/", json=record | {"visibility": "private"}).json()["id"]
    page = visit("/app/?dataset_name=quokka&w.year=50&w.ethical_score=50")
    assert api.patch(f"/api/v1/datasets/{dataset_id}", json={"name": "Quokka two"}).status_code == 200
    move_and_wait(page, "year", 60)
    expect(page.locator("#results tbody th a").first).to_have_text("Quokka two")
    expect(page.locator(".pin")).to_have_attribute("aria-label", "Épingler Quokka two")


def test_a_picture_is_never_in_two_languages(server: str, session_cookies: dict[str, str]) -> None:
    """A patch is only sent to a page in the same language."""
    with httpx2.Client(base_url=server, cookies=session_cookies | {"touchstone_language": "fr"}, timeout=60) as client:
        (layout,) = re.findall('data-layout="([^"]+)"', client.get("/app/").text)
        params = {"layout": layout, "w.ethical_score": 41, "w.technical_score": 40, "w.popularity_score": 20}
        assert client.get("/app/parts/ranking", params=params).headers["content-type"] == "application/json"
        client.cookies.set("touchstone_language", "en")
        assert "text/html" in client.get("/app/parts/ranking", params=params).headers["content-type"]
        answer = client.get("/app/parts/ranking", params=params | {"layout": "<b>", "panel": "../../layout"})
        assert answer.status_code == 200
        assert "text/html" in answer.headers["content-type"]


def test_focus_goes_with_the_dataset(visit: Visit) -> None:
    """Enter opens the dataset that was announced, even if it has another rank in the new ranking."""
    page = visit("/app/?w.year=50&w.citations=50&w.ethical_score=50")
    link = page.locator("#results tbody th a").nth(8)
    name, link_id = link.inner_text(), link.get_attribute("id")
    link.focus()
    move_and_wait(page, "year", 70)
    expect(page.locator(f"#{link_id}")).to_be_focused()
    assert page.evaluate("document.activeElement.textContent") == name


def test_the_skip_link_takes_no_move_back(visit: Visit) -> None:
    """Jumping to a place within the page does not undo anything."""
    page = visit("/app/")
    page.route(re.compile("/app/parts/ranking"), lambda route: None)
    move(page, "year", 88)
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#main")
    expect(page.locator("#w-year")).to_have_value("88")


def test_the_new_picture_leaves_the_reader_where_they_were(visit: Visit) -> None:
    """An open menu stays open, and a dataset that was pinned with the keyboard keeps the focus."""
    page = visit("/app/")
    page.locator("#export summary").click()
    move_and_wait(page, "year", 50)
    expect(page.locator("#export")).to_have_attribute("open", "")
    last_id = shown_ids(page)[-1]
    page.locator(f"#pin-{last_id}").focus()
    with new_ranking(page):
        page.keyboard.press("Space")
    expect(page.locator(f'[data-id="{last_id}"].pinned')).to_be_visible()
    expect(page.locator(f"#pin-{last_id}")).to_be_focused()


def test_an_old_answer_never_overwrites_a_new_one(visit: Visit, api: httpx2.Client) -> None:
    """If the first response arrives after the second, the page keeps the second."""
    page = visit("/app/")
    held_routes: list[Route] = []

    def hold(route: Route) -> None:
        if held_routes:
            route.continue_()
        else:
            held_routes.append(route)

    page.route(re.compile("/app/parts/ranking"), hold)
    with page.expect_request(re.compile("/app/parts/ranking")):
        move(page, "year", 100)
    move_and_wait(page, "citations", 100)
    held_routes[0].continue_()
    page.wait_for_timeout(400)
    weights = {**BALANCED, "citations": 1.0, "year": 1.0}
    assert shown_ids(page) == [dataset["id"] for dataset in ranked_datasets(api, weights)]


def test_a_late_answer_undoes_nothing(visit: Visit, api: httpx2.Client) -> None:
    """Boxes ticked while a response is on its way stay ticked, and the counts include all of them."""
    page = visit("/app/")
    held_routes: list[Route] = []
    page.route(
        re.compile("/app/parts/ranking"), lambda route: route.continue_() if held_routes else held_routes.append(route)
    )
    boxes = page.locator('input[name="domain"]')
    words = [boxes.nth(index).get_attribute("value") or "" for index in range(2)]
    with page.expect_request(re.compile("/app/parts/ranking")):
        page.locator(f'input[name="domain"][value="{words[0]}"]').check()
    page.locator(f'input[name="domain"][value="{words[1]}"]').check()
    with page.expect_response(re.compile("w.year=50")):
        move(page, "year", 50)
        held_routes[0].continue_()
    facets = api.get("/api/v1/datasets/facets", params={"domain": words}).json()
    count_with_spaces = r"\s?".join(str(facets["total_count"]))
    expect(page.locator(".found strong")).to_have_text(re.compile(f"^{count_with_spaces}$"))
    for word in words:
        expect(page.locator(f'input[name="domain"][value="{word}"]')).to_be_checked()
    counts = {row["value"]: row["count"] for row in facets["values"]["task"]}
    checkbox = page.locator('input[name="task"]').first
    count_text = checkbox.locator("xpath=..").locator(".count").inner_text()
    assert int(count_text) == counts[checkbox.get_attribute("value")]


def test_what_is_asked_quickly_is_all_done(visit: Visit) -> None:
    """A profile, a move, a tick and two removed filters, all before the first response, take effect together."""
    page = visit("/app/?domain=health&year_min=1990&dataset_name=a")
    held_routes: list[Route] = []
    page.route(
        re.compile("/app/parts/ranking"), lambda route: route.continue_() if held_routes else held_routes.append(route)
    )
    with page.expect_request(re.compile("/app/parts/ranking")):
        page.locator("#profile-ethical").click()
    move(page, "year", 33)
    page.locator('input[name="task"]').first.check()
    for name in ("year_min", "dataset_name"):
        page.locator(f'[data-live="{name}"]').click()
    held_routes[0].continue_()
    expect(page).to_have_url(re.compile(r"\?domain=health&task=[^&]+&w.ethical_score=70&.*w.year=33$"))
    expect(page.locator("#here")).to_have_value(f"/app/?{urlsplit(page.url).query}")
    expect(page.locator('input[name="task"]:checked')).to_have_count(1)
    expect(page.locator("#w-year")).to_have_value("33")


def test_what_was_done_a_moment_ago_goes_along(visit: Visit) -> None:
    """A view, an export or another language includes the last change, even before the ranking is updated."""
    page = visit("/app/")
    move(page, "year", 70)
    with page.expect_response(re.compile("view=table")):
        page.locator("a[data-view=table]").click()
    expect(page).to_have_url(re.compile("w.year=70.*view=table"))
    second_page = visit("/app/?view=table&page=2")
    pin = shown_ids(second_page)[3]
    with new_ranking(second_page):
        second_page.locator(f"#pin-{pin}").check()
    expect(second_page).to_have_url(re.compile(f"page=2&pin={pin}"))
    navigate(second_page, "button[name=language]")
    expect(second_page).to_have_url(re.compile(f"page=2&pin={pin}"))
    move(second_page, "year", 60)
    second_page.locator(f'tr[data-id="{pin}"] th a').click()
    expect(second_page).to_have_url(re.compile(rf"/app/datasets/{pin}\?.*w.year=60.*view=table.*pin={pin}"))
    second_page.locator(".crumbs a").click()
    expect(second_page.locator("#w-year")).to_have_value("60")


def test_a_move_before_the_script_has_loaded_is_not_lost(visit: Visit, api: httpx2.Client) -> None:
    """Changes to the form before the script has loaded are requested as soon as it has."""
    page = visit("/app/account")
    held_routes: list[Route] = []

    def hold(route: Route) -> None:
        held_routes.append(route)

    page.route(re.compile("/static/rank.js"), hold)
    page.goto("/app/", wait_until="commit")
    page.locator("#w-year").wait_for()
    move(page, "year", 100)
    page.locator('input[name="task"]').first.check()
    task = page.locator('input[name="task"]').first.get_attribute("value")
    assert page.locator("html").get_attribute("data-ready") is None
    held_routes[0].continue_()
    expect(page).to_have_url(re.compile("task=.*w.year=100"))
    expect(page.locator("#share-year")).to_have_text("50\xa0%")
    assert shown_ids(page) == [
        dataset["id"] for dataset in ranked_datasets(api, {**BALANCED, "year": 1.0}, task=[task])
    ]


def test_a_page_that_loads_asks_for_nothing_more(visit: Visit) -> None:
    """A stored weight between two steps, and filters that are set, do not count as changes."""
    page = visit("/app/account")
    ranking_urls: list[str] = []
    page.on("request", lambda request: ranking_urls.append(request.url) if is_ranking_request(request) else None)
    page.goto(
        "/app/?domain=health&dataset_name=a&is_split=false&year_min=1990&w.ethical_score=66.667&w.year=33.333&pin=1"
    )
    page.wait_for_timeout(600)
    assert ranking_urls == []


def test_back_empties_the_field_that_has_the_focus(visit: Visit) -> None:
    """The form shows the state of the ranking, wherever the cursor is."""
    page = visit("/app/")
    with new_ranking(page):
        page.locator("#f-dataset_name").fill("data")
    expect(page).to_have_url(re.compile("dataset_name=data"))
    page.locator("#f-dataset_name").focus()
    page.go_back()
    expect(page.locator(".chip.set")).to_have_count(0)
    expect(page.locator("#f-dataset_name")).to_have_value("")


def test_a_service_that_is_away_leaves_the_picture(
    browser: Browser, server: str, session_cookies: dict[str, str]
) -> None:
    """If a request fails, a notice appears above the previous ranking, and the request can be repeated."""
    context = browser.new_context(base_url=server)
    context.add_cookies([{"name": n, "value": v, "url": f"{server}/app/"} for n, v in session_cookies.items()])
    page = context.new_page()
    page.goto("/app/")
    ids_before = shown_ids(page)
    page.route(re.compile("/app/parts/ranking"), lambda route: route.abort())
    move(page, "year", 80)
    expect(page.locator("#away")).to_be_visible()
    assert shown_ids(page) == ids_before
    page.unroute(re.compile("/app/parts/ranking"))
    page.locator("#away button").press("Enter")
    expect(page).to_have_url(re.compile("w.year=80"))
    expect(page.locator("#away")).to_be_hidden()
    expect(page.locator("#main")).to_be_focused()
    context.close()


def test_a_sixth_pin_is_refused_aloud(visit: Visit) -> None:
    """At most five datasets can be pinned, and the page says so."""
    page = visit("/app/")
    ids = shown_ids(page)[:6]
    for pin in ids:
        page.locator(f"#pin-{pin}").click()
    expect(page.locator("#pins-full")).to_be_visible()
    expect(page.locator(f"#pin-{ids[5]}")).not_to_be_checked()
    expect(page).to_have_url(re.compile(f"pin={ids[4]}"))


def test_the_address_holds_everything(visit: Visit) -> None:
    """Reloading the page shows the same ranking, and going back shows the previous one."""
    page = visit("/app/")
    first_ids = shown_ids(page)
    move_and_wait(page, "year", 90)
    with new_ranking(page):
        page.locator("#f-dataset_name").fill("a")
    expect(page).to_have_url(re.compile("dataset_name=a"))
    second_ids = shown_ids(page)
    address = page.url
    page.reload()
    assert shown_ids(page) == second_ids
    assert page.url == address
    assert page.locator("#w-year").input_value() == "90"
    page.go_back()
    expect(page.locator("#f-dataset_name")).to_have_value("")
    page.go_back()
    expect(page.locator("#w-year")).to_have_value("0")
    expect(page.locator("#results [data-id]").first).to_have_attribute("data-id", str(first_ids[0]))
    assert shown_ids(page) == first_ids


def test_changes_of_rank_are_shown(visit: Visit) -> None:
    """After a move, each dataset shows by how many ranks it has moved, or that it is new."""
    page = visit("/app/")
    ids_before = shown_ids(page)
    move_and_wait(page, "year", 30)
    ids_after = shown_ids(page)
    for index, dataset_id in enumerate(ids_after):
        badge = page.locator(f'#results [data-id="{dataset_id}"] .moved')
        if dataset_id not in ids_before:
            expect(badge).to_have_class(re.compile("new"))
        elif ids_before.index(dataset_id) != index:
            assert int(re.findall(r"\d+", badge.inner_text())[0]) == abs(ids_before.index(dataset_id) - index)


def test_filters_count_live(visit: Visit, api: httpx2.Client) -> None:
    """Ticking a value narrows the ranking, and the counts of the other values are updated."""
    page = visit("/app/")
    domain_checkbox = page.locator('input[name="domain"]').first
    word = domain_checkbox.get_attribute("value")
    with new_ranking(page):
        domain_checkbox.check()
    facets = api.get("/api/v1/datasets/facets", params={"domain": word}).json()
    expect(page.locator(".found strong")).to_have_text(str(facets["total_count"]))
    expect(page.locator(".chip.set")).to_contain_text(word or "")
    counts = {row["value"]: row["count"] for row in facets["values"]["task"]}
    for task_checkbox in page.locator('input[name="task"]').all()[:3]:
        count_text = task_checkbox.locator("xpath=..").locator(".count").inner_text()
        assert int(count_text) == counts[task_checkbox.get_attribute("value")]


def test_a_shared_place_fits_its_column_on_a_phone(visit: Visit) -> None:
    """The column of names stays beside that of the places, and must not cover the equals sign."""
    page = visit("/app/?page=6&w.ethical_score=50&w.documentation=50&previous_ids=1", width=360)
    places = page.locator("#results tbody .place :is(b, .moved)", has_text=re.compile("=|nouveau"))
    assert places.count() > 20
    overlaps = places.evaluate_all(
        """places => places.map((place) => {
            const name = place.closest("tr").querySelector("th");
            const text = document.createRange();
            text.selectNodeContents(place);
            return text.getBoundingClientRect().right - name.getBoundingClientRect().left;
        })"""
    )
    assert max(overlaps) <= 0


def test_a_misspelt_filter_is_named_beside_the_ranking(visit: Visit) -> None:
    """The address keeps it until the next ranking, which no longer has the notice."""
    page = visit("/app/?langauge=fr&colour=red&utm_source=news&domain=health", language="en")
    notice = page.locator("#ignored-parameters p")
    expect(notice).to_have_text(
        [
            "In the address, “langauge” is unknown and has no effect. Did you mean language?",
            "In the address, “colour” is unknown and has no effect.",
        ]
    )
    expect(page.locator(".chip.set")).to_have_count(1)
    move_and_wait(page, "year", 30)
    expect(notice).to_have_count(0)
    assert "langauge" not in page.url


@pytest.mark.parametrize(
    ("address", "note"),
    [
        ("/app/projects?pgae=2", "“pgae” is unknown and has no effect. Did you mean page?"),
        ("/app/review?position=first", "“first” is not a value of “position” and has no effect."),
        ("/app/datasets/1?langauge=fr&w.year=30", "“langauge” is unknown and has no effect. Did you mean language?"),
        ("/app/compare?pin=1&pin=2&w.year=high", "“high” is not a weight for “w.year” and was replaced."),
        ("/app/projects/new?choose=1&colour=red", "“colour” is unknown and has no effect."),
        ("/app/values/domain?values_search=a&profile=bogus", "“bogus” is not a value of “profile” and was replaced."),
        ("/app/datasets/1?license=NOSUCH-*", "A filter is not valid: Licence: “NOSUCH-*” is neither"),
        (f"/app/datasets/1?dataset_name={'x' * 2000}", "A filter is not valid: Name: at most 1000 characters"),
        (f"/app/compare?pin=1&pin=2&dataset_name={'x' * 2000}", "A filter is not valid: Name: at most 1000 characters"),
    ],
)
def test_other_pages_name_what_they_ignore_in_the_address(client: httpx2.Client, address: str, note: str) -> None:
    """They are shown all the same, also if the API refuses a filter; what is known leads to no note."""
    answer = client.get(address)
    assert answer.status_code == 200
    [notes] = re.findall(r'id="address-notes".*?</div>', answer.text, re.DOTALL)
    assert note in html.unescape(notes)
    assert notes.count("<p>") == 1


@pytest.mark.parametrize(
    "address", ["/app/projects?page=2&done=created", "/app/datasets/1?w.year=30&domain=health&utm_source=news"]
)
def test_known_parameters_lead_to_no_note(client: httpx2.Client, address: str) -> None:
    assert "address-notes" not in client.get(address).text


def test_a_file_never_leaves_out_a_misspelt_filter(client: httpx2.Client) -> None:
    """A file could not say that a filter was ignored, so there is none."""
    assert client.get("/app/ranking.csv?language=fr").status_code == 200
    answer = client.get("/app/ranking.csv?langauge=fr")
    assert (answer.status_code, "Did you mean language?" in answer.text) == (422, True)


def test_replaced_settings_are_named_beside_the_ranking_and_refused_in_files(
    visit: Visit, client: httpx2.Client
) -> None:
    """The page says which values it has not used, and how many more; a file could not say it."""
    page = visit("/app/?profile=ethcial&w.year=500&page=first", language="en")
    expect(page.locator("#ignored-parameters p")).to_have_text(
        [
            re.compile("^In the address, “ethcial” is not a value of “profile” and was replaced. Accepted values: eth"),
            "In the address, “500” is not a weight for “w.year” and was replaced. A number from 0 to 100 is expected.",
            "In the address, “first” is not a value of “page” and has no effect. A whole number is expected.",
        ]
    )
    page = visit("/app/?" + "&".join(f"unknown{number}=1" for number in range(7)), language="fr")
    expect(page.locator("#ignored-parameters p")).to_have_count(6)
    expect(page.locator("#ignored-parameters")).to_contain_text("2 autres paramètres sont inconnus ou non valables.")
    for query in ("profile=ethcial", "assurance=bogus", "gate=bogus", "w.year=abc", "w.year=500"):
        assert client.get(f"/app/ranking.csv?{query}").status_code == 422, query


def test_a_filter_may_list_its_values_with_commas(client: httpx2.Client) -> None:
    """Addresses in the form of the API lead to the canonical one, and files have the same datasets."""
    answer = client.get("/app/?domain=health,finance")
    assert answer.headers["location"] == "/app/?domain=health&domain=finance"
    lines = client.get("/app/ranking.csv?domain=health,finance").text.splitlines()
    assert lines == client.get("/app/ranking.csv?domain=health&domain=finance").text.splitlines()
    assert len(lines) > 2


def test_a_text_that_is_too_long_is_refused(client: httpx2.Client) -> None:
    """It is not shortened without a word."""
    long_text = "x" * 1001
    assert client.get(f"/app/ranking.csv?dataset_name={long_text}").status_code == 422
    assert "1000" in client.get(f"/app/?dataset_name={long_text}").text


def test_an_address_may_have_the_names_of_the_api(client: httpx2.Client) -> None:
    """Each filter has one name in the form, but the API knows some by several names."""
    answer = client.get("/app/?instances_min=1000&gate.split=declared")
    assert answer.headers["location"] == "/app/?instances_number_min=1000&gate.is_split=declared"


def test_profiles_move_the_sliders(visit: Visit, api: httpx2.Client) -> None:
    """The button of a profile sets its weights, and the ranking is that of the API for this profile."""
    page = visit("/app/")
    with new_ranking(page):
        page.locator("#profile-ethical").click()
    expect(page.locator("#w-ethical_score")).to_have_value("70")
    expect(page.locator("#profile-ethical")).to_have_attribute("aria-pressed", "true")
    params: dict[str, str | int] = {"limit": 20, "assurance": "documented"}
    answer = api.post("/api/v1/datasets/score", params=params, json={"profile": "ethical"}).json()
    assert shown_ids(page) == [dataset["id"] for dataset in answer]


def test_pins_lead_to_a_comparison(visit: Visit) -> None:
    """Two pinned datasets appear side by side, with the same weights."""
    page = visit("/app/", language="en")
    first_id, second_id = shown_ids(page)[:2]
    for dataset_id in (first_id, second_id):
        with new_ranking(page):
            page.locator(f"#pin-{dataset_id}").check()
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare")
    assert page.locator(".compare thead th").count() == 2


def test_without_scripts_the_same_ranking_comes_by_form(visit: Visit, api: httpx2.Client) -> None:
    """Sliders, filters, profiles, views and pins work when the form is submitted."""
    page = visit("/app/", scripts=False)
    page.locator("#f-dataset_name").fill("data")
    navigate(page, "#weights .actions button")
    assert dict(parse_qsl(urlsplit(page.url).query))["dataset_name"] == "data"
    assert shown_ids(page) == [dataset["id"] for dataset in ranked_datasets(api, BALANCED, dataset_name="data")]
    navigate(page, "#profile-popularity")
    assert "profile=popularity" in page.url
    assert page.locator(".moved").count() > 0
    navigate(page, "a[data-view=bars]")
    assert page.locator(".bars li").count() > 0
    pins = shown_ids(page)[:2]
    for pin in pins:
        page.locator(f"#pin-{pin}").check()
    navigate(page, "#weights .actions button")
    navigate(page, ".tray a.button")
    assert page.locator(".compare thead th").count() == 2


def navigate(page: Page, selector: str) -> None:
    """Activate what leads to another page, and wait for that page."""
    with page.expect_navigation():
        page.locator(selector).click()


def test_the_keyboard_alone_is_enough(visit: Visit, api: httpx2.Client) -> None:
    """Arrow keys move a focused slider, the focus stays where it is, and the ranking is updated."""
    page = visit("/app/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    slider = page.locator("#w-year")
    slider.focus()
    with new_ranking(page):
        page.keyboard.press("End")
    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
    expect(slider).to_be_focused()
    assert shown_ids(page) == [dataset["id"] for dataset in ranked_datasets(api, {**BALANCED, "year": 1.0})]
    checkbox = page.locator('input[name="task"]').first
    value = checkbox.get_attribute("value")
    checkbox.focus()
    with new_ranking(page):
        page.keyboard.press("Space")
    focused_value = page.evaluate("document.activeElement.value")
    assert focused_value == value


def test_a_wrong_bound_is_said_beside_the_form(visit: Visit) -> None:
    """A value that is not a number is reported, and nothing is lost."""
    page = visit("/app/?year_min=abc", language="en")
    expect(page.get_by_role("alert")).to_contain_text("Year: enter a number")
    assert page.locator("#f-year_min").input_value() == "abc"


def test_what_does_not_fit_is_answered_in_our_own_words(server: str, session_cookies: dict[str, str]) -> None:
    """Invalid values in an address never break a page, and no export pretends that nothing was found."""
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60, headers={"Origin": server}) as client:
        unfiltered_page = client.get("/app/").text
        for query in ("visibility=zzz", "is_public=maybe", "year_min=abc", "year_min=1.5"):
            answer = client.get(f"/app/?{query}")
            assert answer.status_code == 200
            assert 'class="notice bad" role="alert"' in answer.text
            assert answer.text.count('class="choice"') == unfiltered_page.count('class="choice"')
            for kind in ("csv", "svg", "png"):
                assert client.get(f"/app/ranking.{kind}?{query}").status_code == 422
        assert client.post("/app/projects/new?year_min=abc", data={"name": "A"}).status_code == 422
        assert client.post("/app/account/bogus").status_code == 404


def test_beyond_the_last_page_is_the_last_page(visit: Visit, api: httpx2.Client) -> None:
    """A page number that is too large shows the last page, with the ranks on it."""
    total = api.get("/api/v1/datasets/facets").json()["total_count"]
    last_page = -(-total // 20)
    page = visit("/app/?page=50000", language="en")
    assert page.url.endswith(f"?page={last_page}")
    expect(page.locator("#results")).to_contain_text(f"to {total:,} are shown")


def test_the_table_never_shows_the_unknown_as_zero(visit: Visit, api: httpx2.Client) -> None:
    """A composite score without any known value is shown as unknown in the table, too."""
    page = visit("/app/?view=table&profile=popularity&page=50000", language="en")
    skip = 20 * (int(dict(parse_qsl(urlsplit(page.url).query))["page"]) - 1)
    params: dict[str, str | int] = {"limit": 20, "skip": skip, "explain": True, "assurance": "documented"}
    expected = api.post("/api/v1/datasets/score", params=params, json={"profile": "popularity"}).json()
    assert any("popularity_score" in dataset["unknown"] for dataset in expected)
    for row, dataset in zip(page.locator("tbody tr").all(), expected, strict=True):
        cell_text = row.locator("td.num").nth(3).inner_text()
        assert (cell_text == "?") == ("popularity_score" in dataset["unknown"])


def test_a_dataset_with_a_common_name_has_its_score(visit: Visit, api: httpx2.Client) -> None:
    """The page of a record shows its score, however many names contain its own name."""
    body = {"name": "a", "description": "Short", "visibility": "private", "file_path": "", "file_type": "csv"}
    answer = api.post("/api/v1/datasets/", json=body)
    assert answer.status_code == 201, answer.text
    page = visit(f"/app/datasets/{answer.json()['id']}", language="en")
    assert page.locator(".big").count() == 1


def test_no_match_says_what_to_do(visit: Visit) -> None:
    """An empty ranking offers to remove the filters."""
    page = visit("/app/?dataset_name=zzzzzzzz", language="en")
    expect(page.locator(".empty h2")).to_have_text("No dataset matches these filters")
    expect(page.get_by_text("Tick two to five datasets")).to_have_count(0)
    page.locator(".empty a").first.click()
    expect(page.locator("#results [data-id]").first).to_be_visible()
    assert page.locator("#f-dataset_name").input_value() == ""


def test_all_sliders_at_zero_is_explained(visit: Visit) -> None:
    """Without any weight there is no ranking, and the page offers a way back."""
    page = visit("/app/?profile=none", language="en")
    expect(page.locator(".empty h2")).to_have_text("No criterion has any weight")
    expect(page.locator(".found")).to_have_text("At least one criterion needs a weight")
    expect(page.get_by_text("Tick two to five datasets")).to_have_count(0)


def test_the_language_changes_in_place(visit: Visit) -> None:
    """Switching the language keeps filters, weights and view."""
    page = visit("/app/?year_min=1990&view=table&w.year=30&w.ethical_score=30")
    address = page.url
    page.locator("button[name=language]").click()
    assert page.url == address
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("heading", name="Weights")).to_be_visible()


def test_the_theme_is_kept(visit: Visit) -> None:
    """The switch cycles through system, dark and light, and its state is kept."""
    page = visit("/app/", theme="auto")
    page.locator("button[name=theme]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_exports_hold_the_ranking(server: str, session_cookies: dict[str, str], api: httpx2.Client) -> None:
    """The CSV file has all ranks, with unknown values left empty; the heat map is available as SVG and PNG."""
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        answer = client.get("/app/ranking.csv", params={"domain": "health"})
        rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
        body = {"filters": {"domain": ["health"]}}
        params: dict[str, str | int] = {"explain": True, "assurance": "documented"}
        expected = api.post("/api/v1/datasets/score", params=params, json=body).json()
        assert [int(row["id"]) for row in rows] == [dataset["id"] for dataset in expected]
        assert [float(row["score"]) for row in rows] == [dataset["score"] for dataset in expected]
        for row, dataset in zip(rows, expected, strict=True):
            assert (row["ethical_score"] == "") == ("ethical_score" in dataset["unknown"])
        assert client.get("/app/ranking.svg").text.startswith("<svg")
        assert client.get("/app/ranking.png").content.startswith(b"\x89PNG")
        assert client.get("/app/ranking.exe").status_code == 404


def test_an_exported_ranking_has_no_formulas(server: str, session_cookies: dict[str, str], api: httpx2.Client) -> None:
    """Spreadsheets execute no name, also if they divide the file at semicolons, and other names are unchanged."""
    names = ["Sumfixture;=1+1;", 'Sumfixture; "=1+1', "\uff1d1+1 Sumfixture", "Sumfixture; 2-1 = 1"]
    for name in names:
        record = {"name": name, "description": "", "file_path": "", "file_type": "", "visibility": "private"}
        assert api.post("/api/v1/datasets/", json=record).status_code == 201
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        text = client.get("/app/ranking.csv", params={"dataset_name": "Sumfixture"}).text.lstrip("\ufeff")

    exported_names = {row["dataset_name"] for row in csv.DictReader(io.StringIO(text))}
    assert exported_names == {"Sumfixture;'=1+1;", "Sumfixture;' \"=1+1", "'\uff1d1+1 Sumfixture", names[-1]}
    for row in csv.reader(io.StringIO(text), delimiter=";"):
        assert not [cell for cell in row if cell.strip().startswith(("=", "\uff1d"))]


def test_an_exported_ranking_says_how_it_came_about(server: str, session_cookies: dict[str, str]) -> None:
    """Every line has the level of evidence and the weights, which add up to 1 and from which the points follow."""
    query: dict[str, str | int] = {"w.year": 30, "w.ethical_score": 10, "assurance": "reviewed"}
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        rows = list(csv.DictReader(io.StringIO(client.get("/app/ranking.csv", params=query).text.lstrip("\ufeff"))))
    assert rows
    for row in rows:
        weights = {name: float(row[f"weight_{name}"]) for name in ("year", "ethical_score")}
        assert row["assurance"] == "reviewed"
        assert weights == pytest.approx({"year": 0.75, "ethical_score": 0.25})
        for name, weight in weights.items():
            assert float(row[f"points_{name}"]) == pytest.approx(float(row[name] or 0) * weight)


def test_the_picture_of_the_ranking_explains_itself(server: str, session_cookies: dict[str, str]) -> None:
    """The picture says what is hatched and which evidence counts, and is valid SVG even with a tiny weight."""
    with httpx2.Client(base_url=server, cookies=session_cookies | {"touchstone_language": "en"}, timeout=60) as client:
        picture = client.get("/app/ranking.svg", params={"w.year": 100, "w.ethical_score": 0.02}).text
    drawing = ElementTree.fromstring(picture)
    assert all(float(element.get("width", "0").removesuffix("%")) >= 0 for element in drawing.iter())

    *_, evidence, legend = ["".join(element.itertext()) for element in drawing.iter() if element.tag.endswith("text")]
    assert evidence.endswith("Everything else is “unknown”.")
    assert legend == "unknown"

    # Slanted labels do not overlap, however narrow the columns are.
    labels = [element for element in drawing.iter() if element.get("transform", "").startswith("rotate(45 ")]
    assert ["".join(label.itertext()) for label in labels] == ["Ethical <1%", "Novelty 100%"]


def test_words_are_searched_in_any_order_and_completed(visit: Visit, api: httpx2.Client) -> None:
    """The search field finds words in any order, suggests names while somebody types, and is a filter to remove."""
    fields = {"name": "Quokka census of Rottnest", "description": "", "file_path": "", "file_type": ""}
    dataset_id = api.post("/api/v1/datasets/", json={**fields, "visibility": "private"}).json()["id"]
    page = visit("/app/", language="en")
    field = page.locator("#f-q")
    field.press_sequentially("quokk")
    expect(page).to_have_url(re.compile(r"\?q=quokk$"))
    expect(page.locator("#results [data-id]")).to_have_count(1)
    # The suggestions are still there when the ranking of the same letters has been drawn.
    expect(page.locator("#suggestions option").first).to_have_attribute("value", "Quokka census of Rottnest")
    expect(field).to_be_focused()

    with new_ranking(page):
        field.fill("rottnest quokka")
    expect(page).to_have_url(re.compile(r"\?q=rottnest\+quokka$"))
    assert shown_ids(page) == [dataset_id]

    with new_ranking(page):
        page.locator('[data-live="q"]').click()
    expect(page.locator("#results [data-id]")).to_have_count(20)
    expect(field).to_have_value("")
