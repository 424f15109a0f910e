"""Sentences which say that not everybody gets the data."""

import pytest

from touchstone.metadata.access_restrictions import find_access_restriction

RESTRICTION = "The data are available upon request only."


@pytest.mark.parametrize(
    "text",
    [
        RESTRICTION,
        f"A corpus of speech. {RESTRICTION}",
        f"A corpus of speech\n{RESTRICTION}",
        f"{RESTRICTION}\nIt is old.",
    ],
)
def test_the_whole_sentence_is_quoted(text: str) -> None:
    """The quote begins with the first character of the sentence, wherever it stands."""
    assert find_access_restriction(text) == RESTRICTION


def test_nothing_is_quoted_without_a_restriction() -> None:
    assert find_access_restriction("Everybody may download the data.") is None
