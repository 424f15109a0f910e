"""Conversion of language names and codes in documents (`en-US`, `English`, `eng`) to ISO 639 codes."""

import re
from collections.abc import Iterable
from typing import Final

from babel.core import Locale

_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_][A-Za-z0-9]{2,8})*")
# Language names in documents that are missing in the Common Locale Data Repository.
_OTHER_NAMES: Final = {
    "mandarin": "zh",
    "mandarin chinese": "zh",
    "chinese (simplified)": "zh",
    "chinese (traditional)": "zh",
    "simplified chinese": "zh",
    "traditional chinese": "zh",
    "cantonese": "yue",
    "castilian": "es",
    "farsi": "fa",
    "flemish": "nl",
    "modern greek": "el",
    "panjabi": "pa",
    "filipino": "fil",
    "kinyarwanda": "rw",
    "odia": "or",
    "oriya": "or",
    "burmese": "my",
    "isixhosa": "xh",
    "isizulu": "zu",
    "standard arabic": "ar",
    "modern standard arabic": "ar",
    "norwegian bokmal": "nb",
    "scots gaelic": "gd",
}


def _language_names() -> dict[str, str]:
    """Return the language codes by English names in lower case."""
    names = {str(name).casefold(): str(code) for code, name in Locale("en").languages.items() if "_" not in code}
    return names | _OTHER_NAMES


_NAMES: Final = _language_names()
_CODES: Final = frozenset(_NAMES.values())
# Three-letter codes of languages with a two-letter code.
_LONG_CODES: Final = {
    "eng": "en", "fra": "fr", "fre": "fr", "deu": "de", "ger": "de", "spa": "es", "ita": "it", "por": "pt", "rus": "ru",
    "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "kor": "ko", "ara": "ar", "hin": "hi", "ben": "bn", "tur": "tr",
    "nld": "nl", "pol": "pl", "swe": "sv", "vie": "vi", "tha": "th", "fas": "fa", "ell": "el", "ces": "cs", "ron": "ro",
}  # fmt: skip


def language_codes(texts: Iterable[str]) -> list[str]:
    """Return the distinct codes of the languages in a list, without values that are not languages."""
    codes = (language_code(text) for text in texts)
    return list(dict.fromkeys(code for code in codes if code is not None))


def language_code(text: str) -> str | None:
    """Return the code of a language, or None for other values, such as `code` or `unknown`."""
    folded_text = text.strip().casefold()
    if folded_text in _NAMES:
        return _NAMES[folded_text]

    match = _CODE.fullmatch(folded_text)
    if match is None:
        return None
    code = _LONG_CODES.get(match.group(1), match.group(1))
    return code if code in _CODES else None
