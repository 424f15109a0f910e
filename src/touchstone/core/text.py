"""Text from users: folding for comparisons, and replacement of control characters for display."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

# Embeddings, overrides and isolates (UAX #9) are invisible and can reverse the rest of a line. The marks LRM, RLM and
# ALM are needed in right-to-left text and are harmless.
_BIDI_CONTROLS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS: Final = tuple(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r")
_REPLACEMENTS: Final = str.maketrans(dict.fromkeys((*_BIDI_CONTROLS, *_CONTROLS), "\N{REPLACEMENT CHARACTER}"))

_FORMAT_CATEGORY: Final = "Cf"  # of characters that are invisible themselves
# Characters of other categories that are invisible (Default_Ignorable_Code_Point in Unicode, which Python does not
# provide), and the Braille pattern without dots.
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_NON_ASCII: Final = re.compile(r"([^\x00-\x7f])")


def replace_control_characters(text: str) -> str:
    """Replace characters that could reverse a line or control a terminal by a visible mark."""
    return text.translate(_REPLACEMENTS)


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing: it has only white space and invisible signs such as U+200B."""
    remaining_text = _INVISIBLE.sub("", text)
    return all(
        character.isspace() or unicodedata.category(character) == _FORMAT_CATEGORY for character in remaining_text
    )


def fold(text: str) -> str:
    """Return the string in lower case without accents, for searching and sorting.

    For example, `Élève` and `ELEVE` both become `eleve`. This is the compatibility caseless matching of Unicode
    (section 3.13), which also removes combining marks.
    """
    if text.isascii():
        return text.lower()

    # Most characters are ASCII, so only the others take the slow path. The pattern splits the string into ASCII
    # segments at even positions and single other characters at odd positions.
    segments = _NON_ASCII.split(text)
    segments[0::2] = map(str.lower, segments[0::2])
    segments[1::2] = map(_fold_character, segments[1::2])
    return "".join(segments)


@lru_cache(maxsize=20_000)
def _fold_character(character: str) -> str:
    """Fold a non-ASCII character. The result may have several characters, or none for a combining mark."""
    # Casefolding can produce characters that have to be decomposed again, so normalization is applied twice.
    casefolded = unicodedata.normalize("NFKD", character).casefold()
    decomposed = unicodedata.normalize("NFKD", casefolded)
    return "".join(char for char in decomposed if not unicodedata.combining(char))
