"""The placeholders that templates leave where an answer belongs, for readers and for the extractor alike."""

import re
from typing import Final

# Words that state nothing when they stand alone, as regular expressions. Where one begins another, the longer comes
# first.
_EMPTY_ANSWERS: Final = (
    r"more info(?:rmation)? needed",
    r"needs? more information",
    r"information needed",
    r"none yet\.? see our contributing guide[^.\n]{0,200}",
    r"none|null|nil|n/?a|unknown",
    r"tba|tbd|to ?do|wip|coming soon|fill in",
    r"to be (?:added|announced|completed|decided|done|filled|updated)(?: (?:in|soon|later))?",
    r"not (?:applicable|available|specified|provided|given|stated|known)",
    r"no information(?: (?:available|provided))?",
    r"(?:see|same as|as) above",
)
# Words that ask for an answer and would be one without the brackets around them.
_BRACKETED_REQUESTS: Final = (
    r"optional",
    r"insert [^\[\]]{0,60}",
    r"your [^\[\]]{0,60}",
    r"dataset name|name|email",
)
_VARIABLE: Final = r"\{\{[^{}]{0,200}\}\}"

# A placeholder beside a real answer, which can be told from the answer by its brackets or braces.
BRACKETED_PLACEHOLDER: Final = re.compile(
    rf"\[\s?(?:{'|'.join(_EMPTY_ANSWERS + _BRACKETED_REQUESTS)})\s?\]|{_VARIABLE}", re.IGNORECASE
)
_PLACEHOLDER: Final = re.compile(rf"{BRACKETED_PLACEHOLDER.pattern}|\b(?:{'|'.join(_EMPTY_ANSWERS)})\b", re.IGNORECASE)
_NO_WORDS: Final = re.compile(r"[\W_]*")

MAX_PLACEHOLDER_LENGTH: Final = 1000  # longer texts always state something, unless they are blank


def is_placeholder(text: str) -> bool:
    """Return whether a text has no words, or none but those of placeholders."""
    if len(text) > MAX_PLACEHOLDER_LENGTH:
        return not text.strip()

    remaining_text = _PLACEHOLDER.sub(" ", text)
    return _NO_WORDS.fullmatch(remaining_text) is not None
