"""Split passages into sentences with verbatim quotes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from touchstone.metadata.documents import Section
from touchstone.metadata.extraction.passages import Passage, PassageKind, read_passages
from touchstone.metadata.extraction.uninformative_sentences import states_nothing
from touchstone.metadata.placeholders import BRACKETED_PLACEHOLDER

# Longer "sentences" are cut into pieces, which bounds the work of every pattern.
MAX_SENTENCE_CHARACTERS: Final = 1_500

_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]{0,3}(?= |$)|[。！？]")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|al|etc|cf|vs|viz|approx|ca|resp|no|nos|fig|figs|sec|eq|ed|eds|vol|pp|p|dr|mr|mrs|ms"
    r"|prof|st|jr|sr|inc|ltd|co|corp|dept|univ|incl|excl|min|max|avg)|\b[A-Za-z](?:\.[A-Za-z]){0,3})\.$",
    re.IGNORECASE,
)
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
        escaped_keys = (key.replace("~", "~0").replace("/", "~1") for key in self.section.path)
        return "".join(f"/{key}" for key in escaped_keys)


def read_sentences(sections: Iterable[Section]) -> list[Sentence]:
    """Return the informative sentences of a document in their order."""
    sentences: list[Sentence] = []
    for section in sections:
        for passage in read_passages(section.text):
            for start, end in _sentence_spans(passage.text):
                text = passage.text[start:end]
                if not states_nothing(text):
                    quote = _quote(section.text, passage, start, end)
                    sentences.append(Sentence(text, quote, section, passage.kind, len(sentences)))
    return sentences


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence in a passage, excluding placeholders."""
    start = 0
    for placeholder in BRACKETED_PLACEHOLDER.finditer(text):
        yield from _spans_between(text, start, placeholder.start())
        start = placeholder.end()
    yield from _spans_between(text, start, len(text))


def _spans_between(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence between two offsets."""
    for sentence_end in _SENTENCE_END.finditer(text, start, end):
        if _ends_sentence(text, sentence_end.end()) or sentence_end.end() - start > MAX_SENTENCE_CHARACTERS:
            yield from _bounded_spans(text, start, sentence_end.end())
            start = sentence_end.end()
    yield from _bounded_spans(text, start, end)


def _ends_sentence(text: str, position: int) -> bool:
    """Return whether a sentence ends at `position`, directly after a full stop or other end mark."""
    if _ABBREVIATION.search(text[max(0, position - 12) : position]):
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
    first, last = passage.offsets[start], passage.offsets[end - 1] + 1
    while first > 0 and source[first - 1] in _MARKUP_BEFORE:
        first -= 1
    markup_after = _MARKUP_AFTER.match(source, last)
    return source[first : markup_after.end() if markup_after else last]
