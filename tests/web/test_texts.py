"""Texts, palette and templates held against one another."""

import re
from pathlib import Path

import pytest

import touchstone.web
from touchstone.core.messages import MESSAGES
from touchstone.core.messages.pages import PAGES
from touchstone.core.messages.pages_account import ACCOUNT_PAGES
from touchstone.core.messages.pages_data import DATA_PAGES
from touchstone.core.messages.pages_jobs import JOB_PAGES
from touchstone.web.views.shades import DARK, LIGHT, shade

ROOT = Path(touchstone.web.__file__).parent
CATALOGS = (PAGES, ACCOUNT_PAGES, DATA_PAGES, JOB_PAGES)
SOURCES = [path for path in ROOT.rglob("*") if path.suffix in (".html", ".svg", ".py")]


def test_every_text_asked_for_exists() -> None:
    """A page never fails for want of a sentence."""
    asked = {
        key
        for path in SOURCES
        for key in re.findall(r"""\b(?:t|text|counted)\(\s*["']([\w-]+)["'](?!\s*~)""", path.read_text())
    }
    assert sorted(key for key in asked if key not in MESSAGES) == []


def test_no_key_stands_in_two_catalogs() -> None:
    """Two texts under one key would hide one another."""
    keys = [key for catalog in CATALOGS for key in catalog]
    assert len(keys) == len(set(keys))


def test_every_text_has_both_languages_with_the_same_facts() -> None:
    """A sentence says the same in French and in English."""
    for catalog in CATALOGS:
        for key, (french, english) in catalog.items():
            assert french, key
            assert english, key
            assert set(re.findall(r"{\w+}", french)) == set(re.findall(r"{\w+}", english)), key


def test_french_quotation_marks_never_stand_alone_at_the_end_of_a_line() -> None:
    """The space inside them does not break, in the texts of the pages as in those written from numbers."""
    for module in ("messages/reasons.py", "messages/pages.py", "messages/refusals.py", "narratives.py"):
        source = (ROOT.parent / "core" / module).read_text()
        assert not re.search("«[^\u00a0]|[^\u00a0]»", source), module


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_numbers_are_readable_on_every_shade(palette: tuple[tuple[str, str], ...]) -> None:
    """Each shade's ink has a contrast of 4.5 or more, and lightness never turns back along the palette."""
    for fill, ink in palette:
        low, high = sorted((luminance(fill), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, fill
    lights = [luminance(fill) for fill, _ in palette]
    assert lights in (sorted(lights), sorted(lights, reverse=True))


def test_the_style_sheet_has_the_same_palette() -> None:
    """The picture that is exported has the colours of the page."""
    tokens = (ROOT / "static/tokens.css").read_text()
    for step, (light, dark) in enumerate(zip(LIGHT, DARK, strict=True)):
        assert f"--q{step}: light-dark({light[0]}, {dark[0]});" in tokens
        assert f"--q{step}-ink: light-dark({light[1]}, {dark[1]});" in tokens


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (0.04, 0), (0.5, 5), (1, 10), (1.2, 10), (-1, 0)])
def test_values_find_their_shade(value: float, expected: int) -> None:
    """The lowest value has the first shade, the highest the last."""
    assert shade(value) == expected


def test_templates_hold_no_inline_script_or_style() -> None:
    """The policy would block it, and the page would look broken."""
    for path in ROOT.rglob("templates/**/*.html"):
        text = path.read_text()
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=)", text), path.name
