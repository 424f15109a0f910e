"""Each reference page is the one that the tables of the code would produce."""

import re

import pytest

from tools.make_reference import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_equals_the_tables(name: str) -> None:
    """`python tools/make_reference.py` would change nothing."""
    assert (FOLDER / f"{name}.md").read_text() == PAGES[name]()


@pytest.mark.parametrize("folder", ["how-to", "reference"])
def test_an_overview_links_every_page_of_its_folder(folder: str) -> None:
    """Readers find every page from the overview of its folder."""
    overview = FOLDER.parent / folder / "README.md"
    links = set(re.findall(r"\]\(([\w-]+\.md)\)", overview.read_text()))
    assert links == {file.name for file in overview.parent.glob("*.md")} - {overview.name}


def test_every_decision_has_a_number_of_its_own() -> None:
    """Pages, comments and other decisions refer to a decision by its number."""
    numbers = [file.name.partition("-")[0] for file in (FOLDER.parent / "decisions").glob("*.md")]
    assert len(numbers) == len(set(numbers)) > 50
