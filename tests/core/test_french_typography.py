"""French sentences have non-breaking spaces beside punctuation, so that no line begins with a colon."""

import re

import pytest

from touchstone.messages.ranking_notes import RANKING_NOTES
from touchstone.services.selection.report.language import ReportLanguage
from touchstone.services.selection.report.legal_points import LEGAL_POINTS

BREAKABLE_SPACE = re.compile(r"(?<=«) | (?=[»:;?!])")


@pytest.mark.parametrize("code", RANKING_NOTES)
def test_notes_on_rankings_have_non_breaking_spaces(code: str) -> None:
    """The API, the pages and the report show these sentences as they are."""
    french, _ = RANKING_NOTES[code]
    assert not BREAKABLE_SPACE.search(french)


@pytest.mark.parametrize("point", [point.key for point in LEGAL_POINTS])
def test_titles_in_reports_have_non_breaking_spaces(point: str) -> None:
    assert not BREAKABLE_SPACE.search(ReportLanguage("fr").legal_point(point))
