"""The layout of a report in one language: sections of paragraphs, lists and tables, without any format.

The templates of HTML and PDF show the same document, so both state the same in the same words.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec


class Style(StrEnum):
    """How a line of text is meant."""

    PLAIN = "plain"
    STRONG = "strong"
    MUTED = "muted"
    QUOTE = "quote"  # the words of somebody else, in their own language
    GOOD = "good"
    BAD = "bad"
    UNKNOWN = "unknown"
    CODE = "code"  # a command to type


class Line(msgspec.Struct, frozen=True):
    """A line of text."""

    text: str
    style: Style = Style.PLAIN


class Bar(msgspec.Struct, frozen=True):
    """A bar for a value in 0-1, with a hatched remainder up to the value that is possible."""

    value: float
    highest: float


class Cell(msgspec.Struct, frozen=True):
    """A cell of a table: some lines, with a bar below them if it shows a value."""

    lines: Sequence[Line]
    bar: Bar | None = None


class Column(msgspec.Struct, frozen=True):
    """A column of a table. `width` is its relative width, and columns of width 0 are as wide as their content."""

    title: str
    is_number: bool = False
    width: float = 0


class Row(msgspec.Struct, frozen=True):
    """A row of a table. Rows about the chosen dataset and rows with sums are emphasised."""

    cells: Sequence[Cell]
    is_emphasised: bool = False


class Paragraph(msgspec.Struct, frozen=True, tag="paragraph"):
    """A paragraph of text."""

    line: Line


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """A question with the lines that answer it."""

    question: str
    lines: Sequence[Line]


class Bullets(msgspec.Struct, frozen=True, tag="bullets"):
    """A list of sentences."""

    lines: Sequence[Line]


class Fact(msgspec.Struct, frozen=True):
    """A label with the lines that belong to it."""

    label: str
    lines: Sequence[Line]


class FactList(msgspec.Struct, frozen=True, tag="facts"):
    """A list of labelled facts."""

    facts: Sequence[Fact]


class Heading(msgspec.Struct, frozen=True, tag="heading"):
    """A heading within a section."""

    text: str


class Table(msgspec.Struct, frozen=True, tag="table"):
    """A table with a caption above it."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]


Block: TypeAlias = Paragraph | Answer | Bullets | FactList | Heading | Table


class Section(msgspec.Struct, frozen=True):
    """A section of a report. `key` identifies it within the document."""

    key: str
    title: str
    blocks: Sequence[Block]


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A report in one language, ready to be laid out.

    Attributes:
        language: the language of all texts, `fr` or `en`.
        kind: what the document is; `title` is the name of the project.
        state: the sentence that says up to when the facts reach, and `state_date` the day (year, month, day).
        digest: the digest of what the report states, with a `digest_label` and a `digest_hint` for readers.
        imprint: the version of the software and of the formula of the scores.
    """

    language: str
    kind: str
    title: str
    description: str
    state: str
    state_date: tuple[int, int, int]
    sections: Sequence[Section]
    digest: str
    digest_label: str
    digest_hint: str
    imprint: str
    page_label: str


def text_cell(text: str, style: Style = Style.PLAIN) -> Cell:
    """Return a cell with one line."""
    return Cell([Line(text, style)])


def paragraph(text: str, style: Style = Style.PLAIN) -> Paragraph:
    """Return a paragraph with one line."""
    return Paragraph(Line(text, style))
