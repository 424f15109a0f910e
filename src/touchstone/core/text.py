"""Text from users: folded for comparison, and with control characters replaced for display."""

import unicodedata
from typing import Final

# Embeddings, overrides and isolates (UAX #9) are invisible and can reverse the rest of a line. The marks LRM, RLM and
# ALM, which right-to-left writing needs, reverse nothing and are kept.
_BIDI_CONTROLS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS: Final = tuple(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r")
_REPLACEMENTS: Final = str.maketrans(dict.fromkeys((*_BIDI_CONTROLS, *_CONTROLS), "\N{REPLACEMENT CHARACTER}"))


def replace_control_characters(text: str) -> str:
    """Return the text with a visible mark for each character that could reverse a line or control a device."""
    return text.translate(_REPLACEMENTS)


def fold(text: str) -> str:
    """Return the form of a text in which it is compared and sorted, so that case and accents make no difference.

    The result is casefolded, decomposed (NFKD) and without combining marks: `Élève` and `ELEVE` both become
    `eleve`. Casefolding can produce decomposable characters again, so it is applied between two normalisations
    (Unicode 15, section 3.13, compatibility caseless matching).
    """
    if text.isascii():
        return text.lower()

    casefolded = unicodedata.normalize("NFKD", text).casefold()
    decomposed = unicodedata.normalize("NFKD", casefolded)
    return "".join(character for character in decomposed if not unicodedata.combining(character))
