"""Plain text from prose with markup: names, summaries, and years of citations."""

import html
import re
from typing import Final

from touchstone.metadata.comments import remove_comments
from touchstone.metadata.placeholders import is_placeholder

MAX_NAME_LENGTH: Final = 200
MAX_SUMMARY_LENGTH: Final = 400
MIN_SUMMARY_LENGTH: Final = 15
# Summaries, years and conditions for access are only looked for in this many characters of a description.
MAX_SEARCHED_LENGTH: Final = 20_000

# An address in plain text, in parentheses or in angle brackets: "- **Homepage:** [Signs](https://signs.example/home)".
MARKDOWN_ADDRESS: Final = re.compile(r"https?://[^\s)\]>]+")
# Markup and its replacements, in the order in which they are applied. Tags include addresses in angle brackets.
_MARKUP: Final = (
    (re.compile(r"```.*?(?:```|\Z)", re.DOTALL), " "),  # code
    (re.compile(r"<[^<>]{1,300}>"), " "),  # tags
    (re.compile(r"!\[[^\]]{0,300}\]\([^)]{0,1000}\)"), " "),  # images
    (re.compile(r"\[(?P<label>[^\]]{1,500})\]\([^)]{0,1000}\)"), r"\g<label>"),  # links, whose label is kept
    # OpenML descriptions begin with lines that name the author, the source and a citation.
    (re.compile(r"^[ \t]*\*\*(?:Author|Source|Please cite)\*\*.*$", re.MULTILINE | re.IGNORECASE), " "),
    (re.compile(r"^[ \t]*(?:#{1,6} .*|[-=*_]{3,}[ \t]*)$", re.MULTILINE), " "),  # headings and lines
    (re.compile(r"^[ \t]*[>|*+-][ \t]+", re.MULTILINE), " "),  # quotations, tables and lists
    (re.compile(r"\*\*|__|`+"), ""),  # emphasis
)
# The space after the full stop of "It is old. The data", but not that after "e.g." or "et al.".
_SENTENCE_END: Final = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bet al\.)(?<=[.!?])\s+")
# Matches `year = {2021}`, `year="2021"` and `year=2021`.
_BIBTEX_YEAR: Final = re.compile(r"\byear\s*=\s*[{\"]?\s*(?P<year>(?:19|20)\d{2})\b", re.IGNORECASE)


def on_one_line(text: str) -> str:
    """Return a text with single spaces between its words, in place of line breaks and other white space."""
    return " ".join(text.split())


def tidy_name(name: str) -> str:
    """Return a name on one line, without HTML entities, and cut to at most 200 characters."""
    return on_one_line(html.unescape(name))[:MAX_NAME_LENGTH].rstrip()


def plain_text(text: str) -> str:
    """Remove Markdown, HTML and comments from prose, and put it on one line."""
    result = remove_comments(html.unescape(text[:MAX_SEARCHED_LENGTH]))
    for pattern, replacement in _MARKUP:
        result = pattern.sub(replacement, result)
    return on_one_line(result)


def shorten(text: str, length: int) -> str:
    """Shorten a string that exceeds `length` characters to its first words without markup, and add an ellipsis."""
    if len(text) <= length:
        return text
    return _first_words(plain_text(text), length)


def _first_words(text: str, length: int) -> str:
    """Return the complete words in the first `length` characters, with an ellipsis."""
    words = text[:length].rsplit(" ", 1)[0]
    return f"{words}…"


def summarize(text: str) -> str | None:
    """Return the first sentences of a description, at most 400 characters, or None if they are too short."""
    plain = plain_text(text)
    if plain.startswith("Dataset Card for"):
        # The hub copies whole cards into Croissant descriptions, with headings that have lost their markup.
        plain = plain.rpartition("Dataset Summary")[2].strip()

    sentences = [sentence for sentence in _SENTENCE_END.split(plain) if not is_placeholder(sentence)]
    summary = ""
    for sentence in sentences:
        longer_summary = f"{summary} {sentence}".strip()
        if len(longer_summary) > MAX_SUMMARY_LENGTH:
            break
        summary = longer_summary

    is_first_sentence_too_long = not summary and bool(sentences)
    if is_first_sentence_too_long:
        summary = _first_words(sentences[0], MAX_SUMMARY_LENGTH)
    return summary if len(summary) >= MIN_SUMMARY_LENGTH else None


def find_citation_year(bibtex: str) -> tuple[int, str] | None:
    """Return the first year in BibTeX entries and the words that state it, such as `year = {2021`, or None."""
    match = _BIBTEX_YEAR.search(bibtex[:MAX_SEARCHED_LENGTH])
    if match is None:
        return None
    return int(match["year"]), match.group(0)
