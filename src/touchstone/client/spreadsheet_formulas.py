"""Texts in CSV files that spreadsheets would execute as formulas.

Not only the beginning of a text can become a formula. Where numbers have a decimal comma, spreadsheets divide CSV files
at semicolons instead of commas, also within texts, because texts are only quoted for readers that divide at commas.
"""

import re
from typing import Final

# How a formula begins. Spreadsheets may ignore blanks and quotation marks before it. The last four characters are
# full-width forms of the others, which some spreadsheets read like them.
_FORMULA_START: Final = r"(?:[^\S\t\r\n]|\")*[=+\-@\uff1d\uff0b\uff0d\uff20]"
# The beginning of the text or the separator before a cell that begins with a formula.
_CELL_BOUNDARY_BEFORE_FORMULA: Final = re.compile(rf"(?:^|[;\t\r\n])(?={_FORMULA_START})")
_SEMICOLON_BEFORE_FORMULA: Final = re.compile(rf";(?={_FORMULA_START})")


def contains_formula(text: str) -> bool:
    """Return whether a spreadsheet could take the text, or what follows a separator in it, for a formula."""
    return _CELL_BOUNDARY_BEFORE_FORMULA.search(text) is not None


def escape_formulas(text: str) -> str:
    """Put an apostrophe before everything in a text that spreadsheets would execute as a formula."""
    return _CELL_BOUNDARY_BEFORE_FORMULA.sub(r"\g<0>'", text)


def escape_formulas_in_json(encoded_json: str) -> str:
    """Write semicolons before formulas as escape sequences, which JSON decoders read as semicolons.

    JSON needs no more, because it escapes other separators itself.
    """
    return _SEMICOLON_BEFORE_FORMULA.sub(r"\\u003b", encoded_json)
