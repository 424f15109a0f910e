"""Each reference page is the one that the tables of the code would produce."""

import pytest

from tools.make_reference import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_equals_the_tables(name: str) -> None:
    """`python tools/make_reference.py` would change nothing."""
    assert (FOLDER / f"{name}.md").read_text() == PAGES[name]()


def test_every_decision_has_a_number_of_its_own() -> None:
    """Pages, comments and other decisions refer to a decision by its number."""
    numbers = [file.name.partition("-")[0] for file in (FOLDER.parent / "decisions").glob("*.md")]
    assert len(numbers) == len(set(numbers)) > 50
