"""Split the passages of a document into sentences, each with its verbatim quote and its location."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from touchstone.metadata.documents import Section
from touchstone.metadata.extraction.passages import Passage, PassageKind, read_passages
from touchstone.metadata.extraction.uninformative_sentences import states_nothing
from touchstone.metadata.parsing import escape_pointer
from touchstone.metadata.placeholders import BRACKETED_PLACEHOLDER

# Longer "sentences" are cut into pieces, which bounds the work of every pattern.
MAX_SENTENCE_CHARACTERS: Final = 1_500
# Claims with longer quotes are refused.
MAX_QUOTE_LENGTH: Final = 4_000

# Matches the end of "It is old. The data" and of "(It is old.) The data", but not the full stop in "signs.example".
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]{0,3}(?= |$)|[。！？]")
# A full stop that belongs to an abbreviation ("et al.", "Dr.") or to initials ("J.", "U.S.") ends no sentence.
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|al|etc|cf|vs|viz|approx|ca|resp|no|nos|fig|figs|sec|eq|ed|eds|vol|pp|p|dr|mr|mrs|ms"
    r"|prof|st|jr|sr|inc|ltd|co|corp|dept|univ|incl|excl|min|max|avg)|\b[A-Za-z](?:\.[A-Za-z]){0,3})\.$",
    re.IGNORECASE,
)
# In how many characters before a full stop an abbreviation is looked for.
_MAX_ABBREVIATION_LENGTH: Final = 12
# Markup next to the first and the last word of a sentence, which belongs to its quote: the asterisks of
# "**All faces are blurred**", or the brackets and the address of a link.
_MARKUP_BEFORE: Final = "*_`["
_MARKUP_AFTER: Final = re.compile(r"[*_`]{0,4}(?:\]\([^()\r\n]{0,2000}\))?[*_`]{0,4}[.)]?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a document.

    Attributes:
        text: the sentence without markup, which the rules are applied to.
        quote: the sentence with markup, verbatim.
        section: the section that contains it.
        kind: the form of its passage.
        position: its index among the sentences of the document.
    """

    text: str
    quote: str
    section: Section
    kind: PassageKind
    position: int

    @property
    def heading(self) -> str:
        """The innermost heading, or the name of the field."""
        return self.section.path[-1] if self.section.path else ""

    @property
    def headings(self) -> str:
        """All headings from the outermost to the innermost, joined by " > "."""
        return " > ".join(self.section.path)

    @property
    def place(self) -> str:
        """The location of the sentence: its headings, or a JSON pointer to its field."""
        if not self.section.is_structured:
            return self.headings
        return "".join(f"/{escape_pointer(key)}" for key in self.section.path)


def joint_quote(first: Sentence, second: Sentence) -> str | None:
    """Return the verbatim text of two sentences.

    Returns:
        the text, or None if the second sentence does not directly follow the first one, or if the text is too long.
    """
    if first.section is not second.section:
        return None

    text = first.section.text
    start = text.find(first.quote)
    end = start + len(first.quote)
    second_start = text.find(second.quote, end)
    is_adjacent = start >= 0 and second_start >= 0 and not text[end:second_start].strip()
    quote = text[start : second_start + len(second.quote)]
    return quote if is_adjacent and len(quote) <= MAX_QUOTE_LENGTH else None


def read_sentences(sections: Iterable[Section]) -> list[Sentence]:
    """Return the informative sentences of a document in their order."""
    sentences: list[Sentence] = []
    for section in sections:
        for passage in read_passages(section.text):
            for start, end in _sentence_spans(passage.text):
                text = passage.text[start:end]
                if states_nothing(text):
                    continue
                quote = _quote(section.text, passage, start, end)
                sentences.append(Sentence(text, quote, section, passage.kind, position=len(sentences)))
    return sentences


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence in a passage, excluding placeholders."""
    start = 0
    for placeholder in BRACKETED_PLACEHOLDER.finditer(text):
        yield from _spans_between(text, start, placeholder.start())
        start = placeholder.end()
    yield from _spans_between(text, start, len(text))


def _spans_between(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence between two offsets.

    After an overlong sentence, every end mark counts, even one that could belong to an abbreviation.
    """
    for end_mark in _SENTENCE_END.finditer(text, start, end):
        sentence_end = end_mark.end()
        is_overlong = sentence_end - start > MAX_SENTENCE_CHARACTERS
        if _ends_sentence(text, sentence_end) or is_overlong:
            yield from _bounded_spans(text, start, sentence_end)
            start = sentence_end
    yield from _bounded_spans(text, start, end)


def _ends_sentence(text: str, position: int) -> bool:
    """Return whether a sentence ends at `position`, directly after a full stop or other end mark.

    It does not if the mark belongs to an abbreviation or if the next word begins with a small letter.
    """
    if _ABBREVIATION.search(text[max(0, position - _MAX_ABBREVIATION_LENGTH) : position]):
        return False
    following = text[position : position + 2].strip()
    return not following or not following[0].islower()


def _bounded_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of a sentence without surrounding spaces, split into pieces if it is too long."""
    while start < end and text[start] == " ":
        start += 1
    while end > start and text[end - 1] == " ":
        end -= 1
    for piece_start in range(start, end, MAX_SENTENCE_CHARACTERS):
        yield piece_start, min(end, piece_start + MAX_SENTENCE_CHARACTERS)


def _quote(source: str, passage: Passage, start: int, end: int) -> str:
    """Return a sentence verbatim from the source, including the markup around its first and last word."""
    quote_start = passage.offsets[start]
    while quote_start > 0 and source[quote_start - 1] in _MARKUP_BEFORE:
        quote_start -= 1

    quote_end = passage.offsets[end - 1] + 1
    markup_after = _MARKUP_AFTER.match(source, quote_end)
    if markup_after is not None:
        quote_end = markup_after.end()
    return source[quote_start:quote_end]
