"""The content of a report in one language, as sections of paragraphs, lists and tables, independent of any format.

The HTML and PDF templates render the same document, so that both formats have the same wording.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec


class Style(StrEnum):
    """The meaning of a line of text, which templates show by its style."""

    PLAIN = "plain"
    STRONG = "strong"
    MUTED = "muted"
    QUOTE = "quote"  # verbatim words of a person or a document, in any language
    GOOD = "good"
    BAD = "bad"
    UNKNOWN = "unknown"
    CODE = "code"  # a command to type


class Line(msgspec.Struct, frozen=True):
    """A line of text."""

    text: str
    style: Style = Style.PLAIN


class Bar(msgspec.Struct, frozen=True):
    """A bar for a value in 0-1, with a hatched extension up to the highest possible value."""

    value: float
    highest: float


class Cell(msgspec.Struct, frozen=True):
    """A cell of a table: lines of text, with an optional bar below them."""

    lines: Sequence[Line]
    bar: Bar | None = None


class Column(msgspec.Struct, frozen=True):
    """A column of a table.

    Attributes:
        title: the text in the header.
        is_number: whether the cells contain numbers, which are aligned to the right.
        width: the width in the PDF relative to other columns, or 0 if the column is as wide as its content.
    """

    title: str
    is_number: bool = False
    width: float = 0


class Row(msgspec.Struct, frozen=True):
    """A row of a table. Rows about the chosen dataset and rows with totals are emphasized."""

    cells: Sequence[Cell]
    is_emphasized: bool = False


class Paragraph(msgspec.Struct, frozen=True, tag="paragraph"):
    """A paragraph of text."""

    line: Line


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """A question with its answer."""

    question: str
    lines: Sequence[Line]


class Bullets(msgspec.Struct, frozen=True, tag="bullets"):
    """A bulleted list."""

    lines: Sequence[Line]


class Fact(msgspec.Struct, frozen=True):
    """A label with one or more lines of text."""

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
    """A section of a report, identified by its `key` within the document."""

    key: str
    title: str
    blocks: Sequence[Block]


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A report in one language, ready to be laid out.

    Attributes:
        language: the language of the document, `fr` or `en`.
        kind: the type of the document, such as "Report on a choice".
        title: the name of the project.
        description: the description of the document for its metadata.
        state: a sentence with the date of the latest fact.
        state_date: the same date as year, month and day.
        digest: the digest of the facts, with a `digest_label` and a `digest_hint` for readers.
        imprint: the versions of the software and of the formula of the scores.
        page_label: the word before page numbers.
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
