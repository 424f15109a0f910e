"""Recognition of text that states nothing, such as "[More Information Needed]" in the templates of dataset cards."""

import re
from collections.abc import Iterable
from typing import Final

# Words that state nothing on their own, as regular expressions. A longer expression precedes its own prefix.
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
# DataCite's codes for a value that is unavailable, not assigned, not applicable or unknown, or for names too many to
# list: "(:unav)" or ":unkn". Some of them are words without their colon. Others, such as "(:tba)", contain an empty
# answer.
_DATACITE_CODE: Final = r":(?:un(?:ac|al|ap|as|av|kn)|etal)\b"
# Requests for an answer. Without brackets, these words can be answers themselves.
_BRACKETED_REQUESTS: Final = (
    r"optional",
    r"insert [^\[\]]{0,60}",
    r"your [^\[\]]{0,60}",
    r"dataset name|name|email",
)
# A variable of a template: "{{ dataset_summary }}".
_VARIABLE: Final = r"\{\{[^{}]{0,200}\}\}"

# A placeholder that is recognizable by its brackets or braces even next to a real answer. Matches "[Optional]" and
# "[TBA]", but not "optional".
BRACKETED_PLACEHOLDER: Final = re.compile(
    rf"\[\s?(?:{'|'.join(_EMPTY_ANSWERS + _BRACKETED_REQUESTS)})\s?\]|{_VARIABLE}", re.IGNORECASE
)
_PLACEHOLDER: Final = re.compile(
    rf"{BRACKETED_PLACEHOLDER.pattern}|{_DATACITE_CODE}|\b(?:{'|'.join(_EMPTY_ANSWERS)})\b", re.IGNORECASE
)
_NO_WORDS: Final = re.compile(r"[\W_]*")

MAX_PLACEHOLDER_LENGTH: Final = 1000  # longer texts always state something, unless they are blank


def is_placeholder(text: str) -> bool:
    """Return whether a string has no words except for placeholders."""
    if len(text) > MAX_PLACEHOLDER_LENGTH:
        return not text.strip()

    remaining_text = _PLACEHOLDER.sub(" ", text)
    return _NO_WORDS.fullmatch(remaining_text) is not None


def first_meaningful_text(values: Iterable[object]) -> str | None:
    """Return the first of several values that is a string with more than placeholders, or None."""
    return next((value for value in values if isinstance(value, str) and not is_placeholder(value)), None)
