"""Split Markdown (CommonMark with tables) into passages of plain text with the source offset of each character.

The rules of the extractor need text without markup, but quotes must be verbatim. The offsets lead from one to the
other.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from touchstone.metadata.comments import blank_comments

# The rest of a longer section is ignored to bound the work. Real cards, datasheets and fields are much shorter.
MAX_SECTION_CHARACTERS: Final = 400_000

_LINE_BREAK: Final = re.compile(r"\r\n?|\n")
# Every repetition is bounded or excludes its own first character, so that the patterns take linear time.
_MARKUP: Final = re.compile(
    r"!\[[^\[\]]{0,500}\]\([^()]{0,2000}\)"  # an image, dropped
    r"|\[(?P<label>[^\[\]]{0,500})\]\([^()]{0,2000}\)"  # a link, only its label is kept
    r"|<(?P<address>[^<>\s]{0,500}[@.][^<>\s]{0,500})>"  # an address in angle brackets
    r"|(?P<gap></?(?:br|td|th)(?=[\s/>])[^<>]{0,500}>)"  # a tag between words
    r"|</?[A-Za-z][^<>]{0,500}>"  # any other tag
    r"|(?P<break>\\?(?:\r\n?|\n)[ \t>]{0,100})"  # the end of a line, and the markers of a quotation on the next one
    r"|\*{1,6}|_{2,6}|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)|`{1,6}"  # emphasis and code
    r"|\\(?=[^\w\s])"  # an escape
    r"|\|"  # the border of a table cell
    r"|[ \t\f\v\u00a0]+",
    re.IGNORECASE,
)
# A tag of HTML that begins or ends a paragraph, an item or a row. Portals write whole descriptions without line breaks.
_BLOCK_TAG: Final = re.compile(
    r"</?(?:address|article|blockquote|dd|details|div|dl|dt|figure|figcaption|h[1-6]|hr|li|ol|p|pre|section|summary"
    r"|table|tbody|tfoot|thead|tr|ul)(?=[\s/>])[^<>]{0,500}>",
    re.IGNORECASE,
)
# Spaces, and the border of a table cell.
_WORD_SEPARATORS: Final = " \t\f\v\u00a0|"
# The beginning of an abstract in a BibTeX entry: `abstract = {We collect …}` or `abstract="We collect …"`.
_ABSTRACT: Final = re.compile(r"\babstract\s{0,20}=\s{0,20}(?P<open>[{\"])", re.IGNORECASE)
_BRACE: Final = re.compile(r"[{}]")
# The line below the head of a table: `|:---|---:|`.
_TABLE_RULE: Final = re.compile(r"^[\s|:+=-]*$")
# What precedes the words of a passage: "> ", "- " or "12. ".
_PREFIX: Final = re.compile(r"[\s>]*(?:[-+*•]\s+|\d{1,3}[.)]\s+)?\s*")


class PassageKind(StrEnum):
    """The form of a passage in its document."""

    PROSE = "prose"
    LIST_ITEM = "list item"
    TABLE_ROW = "table row"
    ABSTRACT = "abstract"


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph, list item, table row or abstract without its markup.

    Attributes:
        kind: the form of the passage in the document.
        text: the words, with single spaces between them.
        offsets: the offset in the source of each character of `text`.
    """

    kind: PassageKind
    text: str
    offsets: Sequence[int]


def read_passages(source: str) -> list[Passage]:
    """Return the passages of Markdown or plain text, without comments, code and markup.

    Code is skipped because examples do not describe the dataset. The one exception is an abstract inside a citation,
    where authors describe their own data.
    """
    visible_text = blank_comments(source[:MAX_SECTION_CHARACTERS])
    line_starts = [0, *(line_break.end() for line_break in _LINE_BREAK.finditer(visible_text))]

    def offset_of_line(line: int) -> int:
        """Return the offset where a line starts. The line after the last one starts at the end of the text."""
        return line_starts[line] if line < len(line_starts) else len(visible_text)

    passages: list[Passage] = []
    for kind, first_line, end_line in _blocks(visible_text):
        start = offset_of_line(first_line)
        end = offset_of_line(end_line)
        if kind is PassageKind.ABSTRACT:
            abstract_span = _abstract_span(visible_text, start, end)
            spans = [] if abstract_span is None else [abstract_span]
        else:
            spans = list(_spans_between_tags(visible_text, start, end))
        passages.extend(_plain_passage(kind, visible_text, *span) for span in spans)

    return [passage for passage in passages if passage.text]


def _blocks(visible_text: str) -> Iterator[tuple[PassageKind, int, int]]:
    """Yield the kind, first line and end line (exclusive) of each block of text."""
    tokens = _block_parser().parse(visible_text)
    list_depth = 0
    for token in tokens:
        if token.type == "list_item_open":
            list_depth += 1
        elif token.type == "list_item_close":
            list_depth -= 1
        elif token.map is not None:
            kind = _passage_kind(token, in_list=list_depth > 0)
            if kind is not None:
                first_line, end_line = token.map
                yield kind, first_line, end_line


def _passage_kind(token: Token, *, in_list: bool) -> PassageKind | None:
    """Return the kind of the passage that starts with a token, or None if the token starts no passage."""
    if token.type in ("fence", "code_block"):
        return PassageKind.ABSTRACT  # The caller skips all code except citations with an abstract.
    if token.type == "tr_open":
        return PassageKind.TABLE_ROW
    if token.type in ("paragraph_open", "html_block"):
        return PassageKind.LIST_ITEM if in_list else PassageKind.PROSE
    return None


def _block_parser() -> MarkdownIt:
    """Return a parser for block structure only, because the inline parser does not report offsets.

    Definitions of links (`[1]: https://…`) and underlined headings are read as paragraphs, so that no text is lost.
    """
    parser = MarkdownIt("commonmark").enable("table").disable(["reference", "lheading"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _spans_between_tags(visible_text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part of a block, which the tags of paragraphs, items and rows separate."""
    for tag in _BLOCK_TAG.finditer(visible_text, start, end):
        yield start, tag.start()
        start = tag.end()
    yield start, end


def _abstract_span(visible_text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the start and end of the abstract in a BibTeX entry, or None if the block has no abstract.

    An abstract whose closing quotation mark or brace is missing ends with the block.
    """
    opening = _ABSTRACT.search(visible_text, start, end)
    if opening is None:
        return None
    abstract_start = opening.end()

    if opening["open"] == '"':
        closing = visible_text.find('"', abstract_start, end)
        return abstract_start, closing if closing >= 0 else end

    # An abstract in braces may contain further pairs of braces: `{We collect {TURN} data}`.
    depth = 1
    for brace in _BRACE.finditer(visible_text, abstract_start, end):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return abstract_start, brace.start()
    return abstract_start, end


def _plain_passage(kind: PassageKind, visible_text: str, start: int, end: int) -> Passage:
    """Remove the markup between two offsets, and record the offset of each remaining character."""
    if kind is PassageKind.TABLE_ROW and _TABLE_RULE.match(visible_text[start:end]):
        return Passage(kind, "", array("I"))

    characters: list[str] = []
    offsets = array("I")

    def append_source(first: int, last: int) -> None:
        """Append the characters between two offsets as they are."""
        characters.extend(visible_text[first:last])
        offsets.extend(range(first, last))

    position = start
    for markup in _MARKUP.finditer(visible_text, start, end):
        append_source(position, markup.start())
        position = markup.end()
        is_break = markup["break"] is not None or markup["gap"] is not None
        separates_words = is_break or markup.group()[0] in _WORD_SEPARATORS
        if separates_words and characters and characters[-1] != " ":
            characters.append(" ")
            offsets.append(markup.start())

        # The label of a link and an address in angle brackets are text inside markup.
        for group in ("label", "address"):
            if markup[group] is not None:
                append_source(*markup.span(group))
    append_source(position, end)

    return _trimmed(Passage(kind, "".join(characters), offsets))


def _trimmed(passage: Passage) -> Passage:
    """Strip the surrounding spaces from a passage, and the bullet, number or quotation marker at its beginning."""
    prefix = _PREFIX.match(passage.text)
    start = prefix.end() if prefix else 0
    end = len(passage.text.rstrip())
    return Passage(passage.kind, passage.text[start:end], passage.offsets[start:end])
