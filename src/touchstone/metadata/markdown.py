"""Markdown documents as sections: front matter, headings with the prose below them, and comments."""

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

_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
# The line ends that the Markdown parser counts, unlike `str.splitlines`, which knows further ones.
_LINE_ENDS: Final = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
# Only blocks matter here. The markup of bold text and links is left unchanged.
_PARSER: Final = MarkdownIt("commonmark").disable("inline", ignoreInvalid=False)


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """A Markdown document: its front matter, its sections, and the comments and placeholders that were left out."""

    front_matter: str | None
    body: str
    title: str | None
    sections: tuple[Section, ...]
    rejected: tuple[RejectedPart, ...]


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Split a document into the YAML between two lines of dashes at its start, or None, and the rest."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return None, text
    return match.group(1), text[match.end() :]


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
            continue

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
    path: list[tuple[int, str]] = []
    start = 0
    for level, title, first_line, next_line in find_headings(body):
        yield tuple(name for _level, name in path), "".join(lines[start:first_line])

        # A heading ends all sections of its own level and of deeper levels.
        path = [(other_level, name) for other_level, name in path if other_level < level]
        path.append((level, title))
        start = next_line

    yield tuple(name for _level, name in path), "".join(lines[start:])


def find_headings(body: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield the level, title, first line and next line of each heading outside lists and quotations."""
    tokens: list[Token] = _PARSER.parse(body)
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            title = tokens[index + 1].content.strip()
            yield int(token.tag[1:]), title, token.map[0], token.map[1]
