"""Text from users: folded for comparison, and with control characters replaced for display."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

# Embeddings, overrides and isolates (UAX #9) are invisible and can reverse the rest of a line. The marks LRM, RLM and
# ALM, which right-to-left writing needs, reverse nothing and are kept.
_BIDI_CONTROLS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS: Final = tuple(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r")
_REPLACEMENTS: Final = str.maketrans(dict.fromkeys((*_BIDI_CONTROLS, *_CONTROLS), "\N{REPLACEMENT CHARACTER}"))

_FORMAT_CATEGORY: Final = "Cf"  # of characters that are invisible themselves
_BEYOND_ASCII: Final = re.compile(r"([^\x00-\x7f])")


def replace_control_characters(text: str) -> str:
    """Return the text with a visible mark for each character that could reverse a line or control a device."""
    return text.translate(_REPLACEMENTS)


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing: it has only white space and invisible signs such as U+200B."""
    return all(character.isspace() or unicodedata.category(character) == _FORMAT_CATEGORY for character in text)


def fold(text: str) -> str:
    """Return a text without case and accents, for searching and sorting: `Élève` and `ELEVE` both become `eleve`.

    This follows the compatibility caseless matching of Unicode (section 3.13), and removes combining marks as well.
    """
    if text.isascii():
        return text.lower()

    # In most texts, few characters are beyond ASCII, and only these need the slow function. The pattern splits the
    # text into ASCII pieces at even positions and single other characters at odd ones.
    pieces = _BEYOND_ASCII.split(text)
    pieces[0::2] = map(str.lower, pieces[0::2])
    pieces[1::2] = map(_fold_character, pieces[1::2])
    return "".join(pieces)


@lru_cache(maxsize=20_000)
def _fold_character(character: str) -> str:
    """Return what a character beyond ASCII becomes without case and accents: several characters, or none for a mark."""
    # Casefolding can produce characters that have to be decomposed again, so the character is normalised twice.
    casefolded = unicodedata.normalize("NFKD", character).casefold()
    decomposed = unicodedata.normalize("NFKD", casefolded)
    return "".join(part for part in decomposed if not unicodedata.combining(part))
