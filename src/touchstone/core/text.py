"""Texts of others: folded, so that comparing them depends on no database; made visible, so that they turn no line."""

import unicodedata
from typing import Final

# Embeddings, overrides and isolates (UAX #9): invisible, and able to turn the rest of a line around. The marks LRM, RLM
# and ALM, which right-to-left writing needs, turn nothing around and stay.
_TURNING: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS: Final = tuple(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r")
_VISIBLE: Final = str.maketrans(dict.fromkeys((*_TURNING, *_CONTROLS), "\N{REPLACEMENT CHARACTER}"))


def replace_control_characters(text: str) -> str:
    """Return the text for showing: each character that would turn a line around or control a device is made visible."""
    return text.translate(_VISIBLE)


def fold(text: str) -> str:
    """The form in which texts are compared and sorted: NFKD, marks removed, casefolded.

    Casefolding can bring back decomposable characters, so it is applied between two normalisations
    (Unicode 15, section 3.13, compatibility caseless matching).
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))
