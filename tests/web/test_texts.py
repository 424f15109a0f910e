"""The texts, the palette and the templates of the pages are consistent with one another."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import touchstone.web
from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.colours import CLASSES, ROLES
from touchstone.core.colours import CRITERIA as CRITERION_COLOURS
from touchstone.learning.localized_text import localize
from touchstone.messages import (
    FRENCH_ONLY,
    MESSAGES,
    charts,
    codebook,
    comparisons,
    document_rejections,
    labels,
    model_card,
    narratives,
    progress,
    reason_phrases,
    text,
    training_warnings,
)
from touchstone.messages.pages_account import ACCOUNT_PAGES
from touchstone.messages.pages_common import COMMON_PAGES
from touchstone.messages.pages_dataset_comparison import DATASET_COMPARISON_PAGES
from touchstone.messages.pages_datasets import DATASET_PAGES
from touchstone.messages.pages_evidence import EVIDENCE_PAGES
from touchstone.messages.pages_jobs import JOB_PAGES
from touchstone.messages.pages_projects import PROJECT_PAGES
from touchstone.messages.pages_ranking import RANKING_PAGES
from touchstone.messages.pages_training import TRAINING_PAGES
from touchstone.messages.validation import VALIDATION
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.weight_profiles import PROFILES
from touchstone.web.views.color_scale import DARK, LIGHT, shade

ROOT = Path(touchstone.web.__file__).parent
CATALOGS = (
    COMMON_PAGES,
    RANKING_PAGES,
    DATASET_COMPARISON_PAGES,
    ACCOUNT_PAGES,
    DATASET_PAGES,
    EVIDENCE_PAGES,
    JOB_PAGES,
    PROJECT_PAGES,
    TRAINING_PAGES,
)
BILINGUAL_TABLES = (*CATALOGS, reason_phrases.REASON_PHRASES, comparisons.COMPARISON_TEXTS)
SOURCES = [path for path in ROOT.rglob("*") if path.suffix in (".html", ".svg", ".py")]


def test_every_text_asked_for_exists() -> None:
    """No page fails because a sentence is missing."""
    used_keys = {
        key
        for path in SOURCES
        for key in re.findall(r"""\b(?:t|text|counted)\(\s*["']([\w-]+)["'](?!\s*~)""", path.read_text())
    }
    assert sorted(key for key in used_keys if key not in MESSAGES) == []


def test_no_key_stands_in_two_catalogs() -> None:
    """Two texts with the same key would hide one another."""
    keys = [key for catalog in CATALOGS for key in catalog]
    assert len(keys) == len(set(keys))


def test_every_text_has_both_languages_with_the_same_facts() -> None:
    """The French and the English version of a sentence have the same placeholders."""
    for catalog in BILINGUAL_TABLES:
        for key, (french, english) in catalog.items():
            assert french, key
            assert english, key
            assert set(re.findall(r"{\w+}", french)) == set(re.findall(r"{\w+}", english)), key


def french_texts() -> list[tuple[str, str]]:
    """Return every French text that a user may read, with the place where it is written."""
    tables: dict[str, Mapping[str, tuple[str, str]]] = {"messages": MESSAGES, "validation": VALIDATION}
    sentence_modules = (
        comparisons,
        training_warnings,
        narratives,
        reason_phrases,
        charts,
        model_card,
        document_rejections,
    )
    for module in (labels, progress, *sentence_modules):
        tables |= {name: rows for name, rows in vars(module).items() if name.isupper() and isinstance(rows, dict)}
    texts = [(f"{name}: {key}", french) for name, rows in tables.items() for key, (french, _) in rows.items()]
    for name, rows in vars(codebook).items():
        if name.isupper() and isinstance(rows, dict):
            texts += [(f"{name}: {key}", french) for key, (french, _) in rows.items()]
    texts += [(f"attribute {attribute.name}", attribute.label_fr) for attribute in ATTRIBUTES]
    texts += [(f"profile {profile.name}", profile.label_fr) for profile in PROFILES.values()]
    return texts + [
        (f"criterion {criterion.name}", french)
        for criterion in CRITERIA
        for french in (criterion.label_fr, criterion.formula_fr)
    ]


def test_french_texts_are_typeset_as_french() -> None:
    """Apostrophes are curved, and spaces before tall punctuation and inside quotation marks do not break."""
    texts = french_texts()
    assert len(texts) > 500
    for location, french in texts:
        sentence = re.sub(r"{[^{}|]*}", "{}", french)
        assert "'" not in sentence, location
        assert not re.search(r"[ \w}»)](?:[;!?»]| [:%])|\w:(?=\s)|«(?!\u00a0)", sentence), (location, french)


def test_the_fixed_texts_of_the_interface_stay_byte_for_byte() -> None:
    """Typography never changes the three sentences that callers compare."""
    fixed = {key: MESSAGES[key] for key in FRENCH_ONLY}
    assert fixed == {
        "unauthorized": ("Non autorisé",) * 2,
        "invalid_user_id": ("ID utilisateur invalide",) * 2,
        "project_not_found": ("Projet non trouvé",) * 2,
    }


def test_a_task_is_what_a_model_learns_and_never_a_job() -> None:
    """French also has a different word for each of the two, except where the contract of the API fixes a text."""
    locations = {location for location, french in french_texts() if "tâche" in french.casefold()}
    assert locations == {
        "messages: task",
        "messages: metric_default",
        "messages: metric_task_mismatch",
        "messages: job_not_found",
        "COMPARISON_TEXTS: different_metrics",
        "attribute task",
        "messages: suggestion_task",
        "NOT_EVIDENCE: purpose_limitation_respected",
        "DOCUMENT_REJECTIONS: too_many_terms",
    }


@pytest.mark.parametrize(
    ("count", "french", "english"),
    [
        (0, "0 place gagnée", "0 places up"),
        (1, "1 place gagnée", "1 place up"),
        (2, "2 places gagnées", "2 places up"),
    ],
)
def test_words_agree_with_the_number_beside_them(count: int, french: str, english: str) -> None:
    """French uses the singular for zero and one, English only for one."""
    assert (text("moved_up", "fr", count=count), text("moved_up", "en", count=count)) == (french, english)


def test_a_single_column_is_spoken_of_in_the_singular() -> None:
    """Sentences about results agree in number with their lists and counts."""
    warning = training_warnings.WARNINGS["columns_left_out"]
    assert localize(warning, names=["id"]) == {
        "fr": "Colonne inutilisable pour l’apprentissage, laissée de côté\u00a0: id.",
        "en": "Column with nothing to learn from, left out: id.",
    }
    assert localize(warning, names=["id", "code"])["fr"].startswith(
        "Colonnes inutilisables pour l’apprentissage, laissées"
    )
    assert (
        localize(training_warnings.WARNINGS["few_rows"], rows=1)["en"] == "Only 1 row: the figures are very uncertain."
    )


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_numbers_are_readable_on_every_shade(palette: tuple[tuple[str, str], ...]) -> None:
    """The text on each shade has a contrast of at least 4.5, and lightness is monotone along the palette."""
    for fill, ink in palette:
        low, high = sorted((luminance(fill), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, fill
    luminances = [luminance(fill) for fill, _ in palette]
    assert luminances in (sorted(luminances), sorted(luminances, reverse=True))


def test_the_style_sheet_has_the_same_palette() -> None:
    """The exported heat map has the colours of the page."""
    tokens = (ROOT / "static/tokens.css").read_text()
    for step, (light, dark) in enumerate(zip(LIGHT, DARK, strict=True)):
        assert f"--q{step}: light-dark({light[0]}, {dark[0]});" in tokens
        assert f"--q{step}-ink: light-dark({light[1]}, {dark[1]});" in tokens


def on_dark(colour: str) -> tuple[float, ...]:
    """Return a colour as the style sheet's filter for dark charts shows it: inverted by 0.92, with its hue."""
    red, green, blue = (0.92 - 0.84 * int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    rotated_channels = (
        -0.574 * red + 1.430 * green + 0.144 * blue,
        0.426 * red + 0.430 * green + 0.144 * blue,
        0.426 * red + 1.430 * green - 0.856 * blue,
    )
    return tuple(min(1, max(0, channel)) for channel in rotated_channels)


def test_each_colour_means_one_thing_in_both_themes() -> None:
    """The style sheet has the colours of the table, no two meanings share one, and dark charts agree with tables."""
    tokens = (ROOT / "static/tokens.css").read_text()
    for name, colour in ROLES.items():
        assert f"--{name}: light-dark({colour.light}, {colour.dark});" in tokens, name
    for number, colour in enumerate(CRITERION_COLOURS):
        assert f"--c{number}: light-dark({colour.light}, {colour.dark});" in tokens, number

    all_colours = [*ROLES.values(), *CLASSES, *CRITERION_COLOURS]
    for theme in ("light", "dark"):
        theme_colours = [getattr(colour, theme) for colour in all_colours]
        assert len(set(theme_colours)) == len(theme_colours), theme

    for colour in (*ROLES.values(), *CLASSES):
        dark = [int(colour.dark[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        assert dark == pytest.approx(on_dark(colour.light), abs=0.01), colour


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (0.04, 0), (0.5, 5), (1, 10), (1.2, 10), (-1, 0)])
def test_values_find_their_shade(value: float, expected: int) -> None:
    """The lowest value has the first shade, and the highest value the last."""
    assert shade(value) == expected


def test_templates_hold_no_inline_script_or_style() -> None:
    """The content security policy would block it, and the page would look broken."""
    for path in ROOT.rglob("templates/**/*.html"):
        template = path.read_text()
        assert not re.search(
            r"\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=|\stype=\"application/ld\+json\")", template
        ), path.name
