"""Checks for every page: its width at several window sizes, and its accessibility in both themes."""

from importlib.resources import files
from itertools import product
from typing import Final, Literal

from playwright.sync_api import Page

from tests.machine import skip_or_fail

try:
    AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
except ModuleNotFoundError:
    AXE = ""
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
# The last one is that of a window of 1280 pixels whose content is enlarged to 400 %.
WIDTHS: Final = (1440, 768, 360, 320)


def check_looks(page: Page, *, thorough: bool = True) -> None:
    """Check that nothing overflows at any width in either theme and, if thorough, that the page is accessible.

    The page must have the theme that follows the system, so that both themes are checked without opening it again.
    """
    for theme, width in product(THEMES, WIDTHS):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) <= 0, (page.url, theme, width)
        # The accessibility check is slow: a desktop in one theme and a phone in the other are enough.
        if thorough and (theme, width) in (("light", 1440), ("dark", 360)):
            assert violations(page) == [], (page.url, theme, width)


def violations(page: Page) -> list[str]:
    """Return what the accessibility checker reports."""
    if not AXE:
        skip_or_fail("axe-core (package axe-playwright-python)")
    page.evaluate(AXE)
    report = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for violation in report["violations"]
        for node in violation["nodes"]
    ]


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    pixels: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return pixels
