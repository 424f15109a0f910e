"""Short factual texts and comparison keys for the demo catalog."""

import html
import re

from touchstone.core.text import fold

LONGEST = 300
_EMPTY = re.compile(
    r"\[?(more|needs more) information needed\]?|none yet\. see our contributing guide.*", re.IGNORECASE
)
_MARKUP = (
    (re.compile(r"<!--.*?-->|<[^<>]{1,300}>", re.DOTALL), " "),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), " "),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]*)\]\(?"), r"\1"),
    (re.compile(r"^\s*\*\*(Author|Source|Please cite)\*\*.*$", re.MULTILINE), " "),
    (re.compile(r"(\*\*|__|`+|^#+\s.*$|^\s*[>|*]\s?)", re.MULTILINE), " "),
    (re.compile(r"\s+"), " "),
)
_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?])\s+")


def sentences(text: str | None) -> list[str]:
    """The text without markup and placeholders, cut at its full stops."""
    text = _EMPTY.sub(" ", html.unescape(text or ""))
    for pattern, by in _MARKUP:
        text = pattern.sub(by, text)
    return [part for part in _END.split(text.strip(" -:·*")) if part]


def short(parts: list[str]) -> str | None:
    """The first sentences, at most 300 characters in all; of a longer first sentence the first words."""
    text = ""
    for part in parts:
        longer = f"{text} {part}".strip()
        if len(longer) > LONGEST:
            text = text if len(text) > 40 else longer[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
            break
        text = longer
    return text if len(text) > 15 else None


def key_of(name: str) -> str:
    """What is left of a name to compare: letters and digits, without a leading catalog number or the word dataset."""
    bare = re.sub(r"^\d+_|\b(the|data ?set)\b", "", fold(name))
    return re.sub(r"[^a-z0-9]", "", bare)
