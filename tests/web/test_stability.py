"""Pages do not shift while they load: what is being read or about to be clicked stays in its place."""

from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visit
from tests.web.slow_arrival import pages_in_pieces
from tests.web.test_everywhere import PAGES, path_ids

__all__ = ["path_ids"]

WIDTHS: Final = (360, 768, 1024, 1440)
MAX_SHIFT: Final = 0.02
# Adds up the layout shifts that the browser itself has reported since the first paint (Cumulative Layout Shift).
TOTAL_LAYOUT_SHIFT: Final = """async () => {
  const shifts = [];
  const recordShifts = (list) => shifts.push(...list.getEntries());
  const observer = new PerformanceObserver(recordShifts);
  observer.observe({ type: "layout-shift", buffered: true });
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)));
  recordShifts({ getEntries: () => observer.takeRecords() });
  return shifts.filter((shift) => !shift.hadRecentInput).reduce((sum, shift) => sum + shift.value, 0);
}"""


@pytest.fixture(scope="module")
def slow_server(server: str) -> Iterator[str]:
    """Serve the product over a slow connection, and return its address."""
    with pages_in_pieces(server) as address:
        yield address


@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_while_a_page_loads(visit: Visit, slow_server: str, path_ids: dict[str, Any], name: str) -> None:
    """The cumulative layout shift is at most 0.02 on a phone, a tablet, a small and a large screen."""
    path = PAGES[name].format(**path_ids)
    pages = {width: visit(path, width=width, address=slow_server, wait_until="commit") for width in WIDTHS}
    for width, page in pages.items():
        page.wait_for_load_state("networkidle")
        assert page.evaluate(TOTAL_LAYOUT_SHIFT) <= MAX_SHIFT, width


def test_the_panels_wait_closed_where_they_stand_above_the_ranking(visit: Visit) -> None:
    """On a phone, the ranking comes first and the panels are closed; on a large screen, both panels are open."""
    for width, expected in ((360, [False, False]), (768, [False, True]), (1440, [True, True])):
        page = visit("/app/", width=width)
        expect(page.locator("html")).to_have_attribute("data-ready", "")
        panels = [page.locator(panel) for panel in ("#filters", "#weights")]
        assert [panel.get_attribute("open") is not None for panel in panels] == expected
        page.context.close()


def test_the_panels_show_without_scripts_where_there_is_room(visit: Visit) -> None:
    """A large screen shows filters and weights at once; on a phone, their headings open them."""
    wide_page = visit("/app/", scripts=False)
    assert wide_page.locator("#w-year").is_visible()
    assert wide_page.locator("#f-dataset_name").is_visible()
    narrow_page = visit("/app/", scripts=False, width=360)
    assert not narrow_page.locator("#w-year").is_visible()
    narrow_page.locator("#weights-title").click()
    assert narrow_page.locator("#w-year").is_visible()


def test_a_change_of_the_ranking_is_announced(visit: Visit, api: httpx2.Client) -> None:
    """Each new ranking writes one short sentence into a polite live region outside of what is redrawn."""
    page = visit("/app/", language="en")
    region = page.locator("#announcement")
    assert region.get_attribute("role") == "status"
    assert region.text_content() == ""
    page.locator("#w-year").focus()
    for key in ("End", "Home"):
        with page.expect_response(lambda answer: "/app/parts/ranking" in answer.url) as response_info:
            page.keyboard.press(key)
        assert response_info.value.ok
        expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
        first_name = page.locator("#results [data-id] th a").first.inner_text()
        total = page.locator(".found strong").inner_text()
        score = page.locator("#results tbody .score").first.inner_text()
        # What cannot be seen has no inner text.
        assert region.text_content() == f"{total} datasets. First: {first_name}, score {score}."


def test_links_skip_to_the_ranking_and_to_the_weights(visit: Visit) -> None:
    """The first Tab stops skip the header of the page, to the ranking and to both panels."""
    page = visit("/app/", language="en")
    for steps, target in ((2, "results"), (3, "weights-title"), (4, "filters-title")):
        page.goto("/app/")
        for _ in range(steps):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == target
