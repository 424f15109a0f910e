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


@pytest.mark.parametrize(
    "text",
    [
        "You do not need to request access: the files are on the web.",
        "There is no need to sign a data use agreement.",
        "Without requesting access, anybody can download the data.",
        "Requesting access is not necessary.",
        "The paper is available on request.",
        "The code is available upon request.",
        "The annotation guidelines are available upon request.",
        "The guidelines of the dataset are available upon request.",
    ],
)
def test_negated_conditions_and_other_things_on_request_are_no_restriction(text: str) -> None:
    assert find_access_restriction(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The data cannot be downloaded without requesting access.",
        "You do not need an account, but have to sign a licence agreement.",
        "The code and data are available upon request.",
        "The data from the survey can be made available on request.",
        "Available upon request.",
    ],
)
def test_conditions_beside_a_negation_or_another_subject(text: str) -> None:
    assert find_access_restriction(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Voices of Speech is available upon request.",
        "The voices-of-speech and their labels are available on request.",
        "VOICES_OF_SPEECH and its recordings are available on request.",
    ],
)
def test_the_name_of_the_dataset_is_a_subject(text: str) -> None:
    """It may be written with spaces, hyphens or underscores, in any case."""
    assert find_access_restriction(text, ["Voices of Speech"]) == text
    assert find_access_restriction(text, ["Speech"]) is None
    assert find_access_restriction("The Voices paper is available upon request.", ["Voices", "**"]) is None


@pytest.mark.parametrize(("before", "after"), [(600, 0), (600, 600), (0, 600), (20, 1000)])
def test_the_quote_of_a_long_line_contains_the_condition(before: int, after: int) -> None:
    """A line without full stops is cut at both ends, between words."""
    condition = "the data are available on request"
    text = f"{'before; ' * (before // 8)}{condition}{'; after' * (after // 7)}"
    quote = find_access_restriction(text)
    assert quote is not None
    assert condition in quote
    assert quote in text
    assert 400 < len(quote) <= 500
    assert set(quote.replace(condition, "").replace(";", "").split()) <= {"before", "after"}


def test_a_later_condition_counts_if_an_earlier_one_does_not() -> None:
    text = "The code is available on request. The data are available on request."
    assert find_access_restriction(text) == "The data are available on request."


def test_nothing_is_quoted_without_a_restriction() -> None:
    assert find_access_restriction("Everybody may download the data.") is None
