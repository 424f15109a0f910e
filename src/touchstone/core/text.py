"""Folding text, so that comparing and sorting never depend on a database's own rules."""

import unicodedata


def fold(text: str) -> str:
    """The form in which texts are compared and sorted: NFKD, marks removed, casefolded.

    Casefolding can bring back decomposable characters, so it is applied between two normalisations
    (Unicode 15, section 3.13, compatibility caseless matching).
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))
