"""Each reference page is the one that the tables of the code would produce."""

import pytest

from tools.make_reference import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_equals_the_tables(name: str) -> None:
    """`python tools/make_reference.py` would change nothing."""
    assert (FOLDER / f"{name}.md").read_text() == PAGES[name]()
