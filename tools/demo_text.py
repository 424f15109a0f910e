"""Short factual texts and comparison keys for the demo catalog."""

import html
import re

from touchstone.core.text import fold

MAX_TEXT_LENGTH = 300
# A text, or a first sentence, that is shorter than this says too little to stand alone.
MIN_TEXT_LENGTH = 15
MIN_FIRST_SENTENCE_LENGTH = 40

_PLACEHOLDER = re.compile(
    r"\[?(more|needs more) information needed\]?|none yet\. see our contributing guide.*", re.IGNORECASE
)
_MARKUP_REPLACEMENTS = (
    (re.compile(r"<!--.*?-->|<[^<>]{1,300}>", re.DOTALL), " "),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), " "),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]*)\]\(?"), r"\1"),
    (re.compile(r"^\s*\*\*(Author|Source|Please cite)\*\*.*$", re.MULTILINE), " "),
    (re.compile(r"(\*\*|__|`+|^#+\s.*$|^\s*[>|*]\s?)", re.MULTILINE), " "),
    (re.compile(r"\s+"), " "),
)
_SENTENCE_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?])\s+")
_INSIGNIFICANT_WORDS = re.compile(r"^\d+_|\b(the|data ?set)\b")


def split_sentences(text: str | None) -> list[str]:
    """Return the sentences of a Markdown or HTML text, without markup and placeholders for missing information."""
    plain_text = _PLACEHOLDER.sub(" ", html.unescape(text or ""))
    for pattern, replacement in _MARKUP_REPLACEMENTS:
        plain_text = pattern.sub(replacement, plain_text)

    sentences = _SENTENCE_END.split(plain_text.strip(" -:·*"))
    return [sentence for sentence in sentences if sentence]


def shorten(sentences: list[str]) -> str | None:
    """Return as many of the first sentences as fit into 300 characters, or None if they say too little.

    If the first sentence alone is too long, its first words are returned with an ellipsis.
    """
    text = ""
    for sentence in sentences:
        longer_text = f"{text} {sentence}".strip()
        if len(longer_text) > MAX_TEXT_LENGTH:
            if len(text) <= MIN_FIRST_SENTENCE_LENGTH:
                whole_words = longer_text[: MAX_TEXT_LENGTH - 1].rsplit(" ", maxsplit=1)[0]
                text = f"{whole_words}…"
            break
        text = longer_text

    return text if len(text) > MIN_TEXT_LENGTH else None


def comparison_key(name: str) -> str:
    """Return what two spellings of the name of one dataset have in common: its letters and digits in lower case.

    A leading catalog number and words such as "dataset" are left out.
    """
    significant_words = _INSIGNIFICANT_WORDS.sub("", fold(name))
    return re.sub(r"[^a-z0-9]", "", significant_words)
