"""No word in narrow columns of a report is wider than its column in the PDF."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Final, cast

import pytest
import typst

from touchstone.messages.locales import LOCALES
from touchstone.ranking.criteria import CRITERIA
from touchstone.services.selection.report.document import Column
from touchstone.services.selection.report.fact_types import ReportContent
from touchstone.services.selection.report.language import ReportLanguage
from touchstone.services.selection.report.sections.choice import _history_table
from touchstone.services.selection.report.sections.ranking import MAX_CRITERIA, _points_table

# The measures of `report.typ`, in points.
TABLE_WIDTH: Final = 170 / 25.4 * 72
INSETS: Final = 9.0
HEADER_FONT: Final = 'font: "Libertinus Serif", size: 8pt, weight: "bold"'
CELL_FONT: Final = 'font: "Libertinus Serif", size: 9pt'
# The columns of these tables depend on no fact.
NO_FACTS: Final = cast(
    ReportContent, SimpleNamespace(ranking=SimpleNamespace(items=()), choice=None, history=(), history_count=0)
)


@pytest.mark.parametrize("locale", LOCALES)
def test_names_of_criteria_fit_above_their_points(locale: str) -> None:
    """The columns of the points are as wide as the widest word of any criterion."""
    language = ReportLanguage(locale)
    names = [criterion.name for criterion in CRITERIA]
    columns = _points_table(NO_FACTS, names[:MAX_CRITERIA], language).columns

    width = column_width(columns, 2)
    assert all(widest_word(language.criterion(name), HEADER_FONT) <= width for name in names)


@pytest.mark.parametrize("locale", LOCALES)
def test_the_note_on_an_earlier_need_fits_below_the_rank(locale: str) -> None:
    """The column of the rank in the history of choices is as wide as the widest word of the note."""
    language = ReportLanguage(locale)
    columns = _history_table(NO_FACTS, language).columns
    rank_position = [column.title for column in columns].index(language.text("rank"))

    note = language.text("rank_by_other_need")
    assert widest_word(note, CELL_FONT) <= column_width(columns, rank_position)


def column_width(columns: Sequence[Column], position: int) -> float:
    """Return the width for text in a column. Columns without a width are as wide as their titles."""
    titles_width = sum(widest_word(column.title, HEADER_FONT) + INSETS for column in columns if not column.width)
    share = columns[position].width / sum(column.width for column in columns)
    return (TABLE_WIDTH - titles_width) * share - INSETS


def widest_word(text: str, font: str) -> float:
    """Return the width of the widest word of a text, in points."""
    words = json.dumps(text.split(" "), ensure_ascii=False).strip("[]")
    source = f"#set text({font})\n#context [#metadata(({words},).map(word => measure(word).width.pt())) <widths>]"
    widths = typst.query(source.encode(), "<widths>", field="value", one=True, ignore_system_fonts=True)
    return float(max(json.loads(widths)))
