"""Colours and labels have one meaning on all pages, and nothing is cut off, reversed or lost."""

import re
import time
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks
from touchstone.core.colours import LOWERS, RAISES

BIDI_NAME = "safe \u202egpj.exe\u202c name"
VISIBLE_NAME = BIDI_NAME.replace("\u202e", "\ufffd").replace("\u202c", "\ufffd")
JOB_SECONDS = 180  # seconds that a small job may take on a busy machine
# Lists the numbers that stand on more than one line, except in the upright labels of narrow columns.
BROKEN_NUMBERS = r"""() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (getComputedStyle(parentElement).writingMode !== "horizontal-tb" || parentElement.closest("a, code")) continue;
    for (const match of data.matchAll(/\d[\d.,\u202f\u00a0]*\d/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, match.index);
      range.setEnd(walker.currentNode, match.index + match[0].length);
      const lines = new Set([...range.getClientRects()].filter((box) => box.width).map((box) => Math.round(box.top)));
      if (lines.size > 1) broken.push(match[0]);
    }
  }
  return broken;
}"""


def run_job(api: httpx2.Client, path: str, request: dict[str, Any]) -> str:
    """Start a job, wait until it has succeeded, and return its id."""
    answer = api.post(f"/api/v1/{path}", json=request)
    assert answer.status_code == 202, answer.text
    address = f"/api/v1/{path.partition('/')[0]}/jobs/{answer.json()['id']}"
    deadline = time.monotonic() + JOB_SECONDS
    while (job := api.get(address).json())["status"] not in ("succeeded", "failed"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert job["status"] == "succeeded", job
    return str(job["id"])


def train_quickly(api: httpx2.Client, name: str, **request: Any) -> str:
    """Train a linear model on a table of the demo catalog that has this name, and return the id of the job."""
    datasets = api.get("/api/v1/datasets/", params={"dataset_name": name, "trainable": "true"}).json()
    quick = {"dataset_id": datasets[0]["id"], "algorithms": ["linear"], "budget": {"max_trials": 1}}
    return run_job(api, "ml/train", quick | request)


@pytest.fixture
def penguins(api: httpx2.Client) -> tuple[str, str]:
    """Return the pages of a training on the penguins of the demo catalog, and of an explanation of two rows."""
    training = train_quickly(api, "penguins", target="species", sensitive_features=["sex"])
    explanation = run_job(api, "xai/explain", {"job_id": training, "instances": {"rows": [3, 200]}})
    return f"/app/jobs/train/{training}", f"/app/jobs/explain/{explanation}"


def draw_all_charts(page: Page) -> None:
    for figure in page.locator("figure.chart").all():
        figure.scroll_into_view_if_needed()
        expect(figure.locator("canvas")).to_be_visible(timeout=60_000)


def check_chart_widths(visit: Visit, path: str) -> None:
    """Check that the charts of a page fill their cards, on a wide and on a narrow screen."""
    for width in (1440, 360):
        page = visit(path, width=width)
        draw_all_charts(page)
        shares = page.evaluate(
            """[...document.querySelectorAll("figure.chart")].map((figure) =>
                 figure.querySelector("canvas").getBoundingClientRect().width /
                 figure.querySelector(".drawing").getBoundingClientRect().width)"""
        )
        assert all(0.9 < share < 1.02 for share in shares), (path, width, shares)
        page.context.close()


def test_charts_of_groups_with_long_names_fit_their_cards(visit: Visit, api: httpx2.Client) -> None:
    """Panels for which there is no room side by side are below one another."""
    training = train_quickly(
        api, "South German Credit", target="credit_risk", sensitive_features=["personal_status_sex", "age"]
    )
    check_chart_widths(visit, f"/app/jobs/train/{training}")


def test_results_read_the_same_in_tables_and_charts(visit: Visit, penguins: tuple[str, str]) -> None:
    """Charts fill their cards at every width, bars in tables have the colours of the charts, and a gap has one name."""
    training, explanation = penguins
    for path in penguins:
        check_chart_widths(visit, path)

    page = visit(f"{explanation}?row=1")
    fills = page.evaluate(
        """Object.fromEntries(["rise", "drop"].map((look) =>
             [look, getComputedStyle(document.querySelector(`.fall rect.${look}`)).fill]))"""
    )
    assert fills == {"rise": rgb(RAISES.light), "drop": rgb(LOWERS.light)}

    texts = visit(explanation).locator("main").inner_text() + visit(training).locator("main").inner_text()
    assert "(manquant)" in texts
    assert not re.search(r"\(absent\)|\bNone\b|\? \(\d", texts)


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[start : start + 2], 16)) for start in (1, 3, 5))})"


def test_what_if_refuses_what_the_model_never_saw_and_shows_the_difference(
    visit: Visit, penguins: tuple[str, str]
) -> None:
    """An unknown island is an error at its field; a known one shows both predictions and the difference."""
    page = visit(f"{penguins[1]}?row=1", language="en", theme="auto")
    island = page.locator('[name="v.island"]')
    island.fill("Mars")
    page.get_by_role("button", name="Ask the model").click()
    expect(island).to_have_attribute("aria-invalid", "true")
    expect(island).to_have_value("Mars")
    error = page.locator(f"#{island.get_attribute('aria-describedby')}")
    expect(error).to_contain_text("“Mars” is not a value known to the model. Known values: Biscoe, Dream, Torgersen.")
    expect(page.locator(".answers")).to_have_count(0)
    check_looks(page)

    island.fill("Torgersen")
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator(".answers tbody tr")).to_have_count(3)
    expect(page.locator(".what-if li")).to_have_text("island: Biscoe → Torgersen")
    for row in page.locator(".answers tbody tr").all():
        before, after, difference = (
            float(cell.inner_text().replace("−", "-").replace("+", "")) for cell in row.locator("td").all()
        )
        assert difference == pytest.approx(after - before, abs=0.0011)
    check_looks(page)

    mass = page.locator('[name="v.body_mass_g"]')
    mass.fill("99999")
    page.get_by_role("button", name="Ask the model").click()
    expect(mass).to_have_attribute("aria-invalid", "true")
    error = page.locator(f"#{mass.get_attribute('aria-describedby')}")
    expect(error).to_contain_text("“body_mass_g” = 99999 is outside of what the model has seen")
    expect(page.locator(".answers")).to_have_count(0)


def test_what_is_all_unknown_has_no_score(visit: Visit, api: httpx2.Client) -> None:
    """If all weighted criteria of a record are unknown, the pages show a dash instead of 0.000."""
    body = {"name": "nothing known", "description": "", "file_path": "", "file_type": "", "visibility": "private"}
    dataset_id = api.post("/api/v1/datasets/", json=body).json()["id"]
    weights = "w.citations=50&w.year=20"
    score = visit(f"/app/compare?pin={dataset_id}&pin=1718&{weights}").locator(".compare .score").first
    expect(score).to_have_text("–")
    expect(visit(f"/app/datasets/{dataset_id}?{weights}").locator(".big")).to_have_text("– au plus 1,000")
    for view in ("heat", "bars", "table"):
        page = visit(f"/app/?dataset_name=nothing+known&view={view}&{weights}")
        expect(page.locator(f'[data-id="{dataset_id}"] .score')).to_have_text("–")


def test_no_name_turns_a_line_around(visit: Visit, api: httpx2.Client) -> None:
    """A right-to-left override is made visible on every page, and a form sends it back unchanged."""
    body = {"name": BIDI_NAME, "description": BIDI_NAME, "file_path": "", "file_type": "", "objective": BIDI_NAME}
    dataset = api.post("/api/v1/datasets/", json=body | {"domain": ["\u202eycnanif"], "visibility": "private"}).json()
    project = {
        "name": BIDI_NAME,
        "description": BIDI_NAME,
        "chosen_dataset_id": dataset["id"],
        "choice_reason": BIDI_NAME,
    }
    project_id = api.post("/api/v1/projects", json=project).json()["id"]
    for path in (
        "/app/?dataset_name=gpj.exe",
        "/app/?dataset_name=gpj.exe&view=table",
        f"/app/datasets/{dataset['id']}",
        f"/app/compare?pin={dataset['id']}&pin=1",
        "/app/projects",
        f"/app/projects/{project_id}",
    ):
        page = visit(path)
        text = page.locator("body").inner_text() + page.title()
        assert VISIBLE_NAME in text, path
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", text), path
        page.context.close()

    page = visit(f"/app/datasets/{dataset['id']}/edit")
    expect(page.locator("[name=name]")).to_have_value(BIDI_NAME)


def test_a_printed_ranking_keeps_its_legend(visit: Visit) -> None:
    """On paper, where browsers omit backgrounds, the scale and the swatches of the criteria keep their colours."""
    page = visit("/app/")
    page.emulate_media(media="print")
    for legend, count in ((".scale i", 12), (".slider:not(.off) .swatch", 3)):
        marks = page.locator(legend)
        expect(marks).to_have_count(count)
        keep_colours = """marks => marks.every((mark) =>
            mark.checkVisibility() && getComputedStyle(mark).printColorAdjust === 'exact')"""
        assert marks.evaluate_all(keep_colours), legend


def test_nothing_to_press_is_printed(visit: Visit) -> None:
    """Buttons and the search are left out on paper, where they would only take up space."""
    for path in ("/app/?view=bars", "/app/datasets/1"):
        page = visit(path)
        page.emulate_media(media="print")
        buttons = page.locator("button, .button, .search")
        assert buttons.count() > 0
        assert not any(button.is_visible() for button in buttons.all()), path


def test_a_printed_page_of_a_report_says_how_to_print_the_report(visit: Visit, api: httpx2.Client) -> None:
    """The frame, of which only a part would be printed, gives way to a sentence."""
    project_id = api.post("/api/v1/projects", json={"name": "On paper"}).json()["id"]
    page = visit(f"/app/projects/{project_id}/report", language="en")
    hint = page.get_by_text("To print the report, open its PDF or HTML file.")
    expect(page.locator("iframe.report")).to_be_visible()
    expect(hint).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator("iframe.report")).to_be_hidden()
    expect(hint).to_be_visible()


@pytest.mark.parametrize("path", ["/app/", "/app/?view=bars", "/app/compare?pin=1&pin=2&pin=3", "/app/datasets/1718"])
def test_numbers_are_never_broken_over_two_lines(visit: Visit, path: str) -> None:
    """A number is never wrapped, however narrow its column."""
    page = visit(path)
    page.locator("details").evaluate_all("elements => elements.forEach((element) => (element.open = true))")
    page.locator(".choice .count").evaluate_all("counts => counts.forEach((count) => (count.textContent = '17 345'))")
    for width in (360, 768, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BROKEN_NUMBERS) == [], width
