"""Reading of Markdown (CommonMark): its YAML front matter, and its sections, which are the prose below each heading."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from touchstone.metadata.comments import find_comments, remove_comments
from touchstone.metadata.documents import RejectedPart, Section
from touchstone.metadata.parsing import MAX_MARKDOWN_LENGTH, check_length
from touchstone.metadata.placeholders import is_placeholder

# Blank lines may precede it, which the hub of Hugging Face allows, too.
_FRONT_MATTER: Final = re.compile(r"\A\s*^---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
# The line ends that the Markdown parser counts. `str.splitlines` also splits at other characters, such as form feeds.
_LINE_ENDS: Final = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
# Only blocks matter here. The markup of bold text and links is left unchanged.
_PARSER: Final = MarkdownIt("commonmark").disable("inline", ignoreInvalid=False)


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """A Markdown document.

    Attributes:
        front_matter: the YAML between two lines of dashes at its beginning, or None.
        body: everything else, exactly as in the document.
        title: its first heading, or None if it has no headings.
        sections: the prose below each heading.
        rejected: the comments and placeholders that were left out of the sections.
    """

    front_matter: str | None
    body: str
    title: str | None
    sections: tuple[Section, ...]
    rejected: tuple[RejectedPart, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a Markdown document.

    Attributes:
        level: 1 for the outermost headings to 6 for the innermost ones.
        title: its text.
        first_line: the index of its first line. A heading that is underlined has two.
        next_line: the index of the line after it.
    """

    level: int
    title: str
    first_line: int
    next_line: int


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Split a document into the YAML between two lines of dashes at its start, or None, and the rest."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return None, text
    return match["yaml"], text[match.end() :]


def read_markdown(text: str) -> MarkdownDocument:
    """Split a Markdown document into its front matter and its sections.

    Comments and the placeholders of a template are left out of the sections, and listed as rejected.
    """
    check_length(text, MAX_MARKDOWN_LENGTH)
    front_matter, body = split_front_matter(text)
    sections: list[Section] = []
    rejected_parts: list[RejectedPart] = []
    title: str | None = None

    for path, raw_text in split_headings(body):
        if title is None and path:
            title = path[0]

        is_table_of_contents = bool(path) and path[-1].casefold() == "table of contents"
        if is_table_of_contents:
            continue  # its lines are headings, not prose

        location = " > ".join(path)
        visible_text = remove_comments(raw_text).strip()
        has_comments = visible_text != raw_text.strip()
        if has_comments:
            comments = " ".join(find_comments(raw_text))
            rejected_parts.append(RejectedPart(location, "html_comment", {"text": comments[:500]}))

        if not visible_text:
            continue
        if is_placeholder(visible_text):
            rejected_parts.append(RejectedPart(location, "placeholder", {"text": visible_text[:200]}))
        else:
            sections.append(Section(path, visible_text))

    return MarkdownDocument(front_matter, body, title, tuple(sections), tuple(rejected_parts))


def split_headings(body: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path of headings and the text below each heading.

    Text before the first heading has an empty path. A Markdown parser finds the headings, so a `#` in a code block or
    in a comment is not mistaken for one.
    """
    lines = _LINE_ENDS.split(body)
    open_headings: list[Heading] = []
    text_start = 0
    for heading in find_headings(body):
        yield _path(open_headings), "".join(lines[text_start : heading.first_line])

        # A heading ends all sections of its own level and of deeper levels.
        open_headings = [open_heading for open_heading in open_headings if open_heading.level < heading.level]
        open_headings.append(heading)
        text_start = heading.next_line

    yield _path(open_headings), "".join(lines[text_start:])


def _path(headings: list[Heading]) -> tuple[str, ...]:
    """Return the titles of headings from the outermost to the innermost one."""
    return tuple(heading.title for heading in headings)


def find_headings(body: str) -> Iterator[Heading]:
    """Yield the headings outside lists and quotations."""
    tokens: list[Token] = _PARSER.parse(body)
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            level = int(token.tag.removeprefix("h"))
            title = tokens[index + 1].content.strip()
            first_line, next_line = token.map
            yield Heading(level, title, first_line, next_line)
