"""What is looked at on every page: its width at every size, and its accessibility in both themes."""

from importlib.resources import files
from itertools import product
from typing import Final, Literal

from playwright.sync_api import Page

from tests.conftest import missing

try:
    AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
except ModuleNotFoundError:
    AXE = ""
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
WIDTHS: Final = (1440, 768, 360)


def check_looks(page: Page, *, thorough: bool = True) -> None:
    """Nothing hangs over the edge at any width in either theme, and, when thorough, the checker finds nothing.

    The page is opened with the theme that follows the system, so that both are seen without opening it again.
    """
    for theme, width in product(THEMES, WIDTHS):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) <= 0, (page.url, theme, width)
        # Desk in one theme and phone in the other: the checker takes longer than all the rest.
        if thorough and (theme, width) in (("light", 1440), ("dark", 360)):
            assert violations(page) == [], (page.url, theme, width)


def violations(page: Page) -> list[str]:
    """What the accessibility checker finds wrong."""
    if not AXE:
        missing("axe-core (package axe-playwright-python)")
    page.evaluate(AXE)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def overflow(page: Page) -> int:
    """Pixels by which the page is wider than the window."""
    found: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found
