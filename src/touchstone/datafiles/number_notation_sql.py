"""SQL that reads numbers as people write them, such as `$1,234.00`, `45%` or `12,5 kg`.

Profiles and trainings infer the notation in the same way, so that they agree about the types of columns.
"""

import re
from collections.abc import Collection
from typing import Final

from touchstone.core.number_notation import (
    ASCII_DIGITS,
    CODE_WITH_LEADING_ZERO,
    PARENTHESES,
    NumberNotation,
    is_code,
)

_SPACE: Final = r"[\s\x{00A0}\x{2009}\x{202F}]"
_SIGN: Final = "[+-]?"
# The whole part of a number for each thousands separator, as in `core.number_notation`.
_GROUPED_DIGITS: Final = {
    ",": r"[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}",
    ".": r"[1-9]\d{0,2}(?:\.\d{3})+",
    " ": rf"[1-9]\d{{0,2}}(?:{_SPACE}\d{{3}})+",
    "'": r"[1-9]\d{0,2}(?:['’]\d{3})+",
}


def reads_all(notation: NumberNotation, texts: Collection[str]) -> bool:
    """Return whether all strings are numbers in a notation, and none of them is a code with leading zeros."""
    if any(map(is_code, texts)):
        return False

    try:
        for text in texts:
            notation.parse(text)
    except ValueError:
        return False
    return True


def conversion_template(notation: NumberNotation) -> str:
    """Return SQL that converts a string in a notation, such as `$1,234.00`, to a number.

    The result is NULL for a string in another notation.

    The SQL contains `{value}` as a placeholder for the string. The unit comes from the file, so it is quoted.
    """
    # The SQL removes the unit, white space and thousands separators step by step. The first two steps, for other digits
    # and for parentheses around negative numbers, are slow and therefore conditional.
    other_characters, ascii_characters = "−" + "".join(ASCII_DIGITS), "-" + "".join(ASCII_DIGITS.values())
    is_ascii = "strlen({value}) = length({value})"
    translated = f"translate({{value}}, '{other_characters}', '{ascii_characters}')"
    ascii_text = f"CASE WHEN {is_ascii} THEN {{value}} ELSE {translated} END"
    negated = f"regexp_replace({ascii_text}, {_literal(PARENTHESES)}, '\\1-\\2\\3')"
    with_sign = f"CASE WHEN contains({{value}}, '(') THEN {negated} ELSE {ascii_text} END"
    without_unit = with_sign
    if notation.unit:
        without_unit = f"regexp_replace({with_sign}, {_literal(_unit_pattern(notation))}, '')"

    digits = f"regexp_replace({without_unit}, {_literal(_SPACE)}, '', 'g')"
    if notation.thousands in (",", "."):
        digits = f"replace({digits}, '{notation.thousands}', '')"
    if notation.thousands == "'":
        digits = f"regexp_replace({digits}, '[''’]', '', 'g')"
    if notation.decimal_comma:
        digits = f"replace({digits}, ',', '.')"

    is_number = f"regexp_full_match({with_sign}, {_literal(_number_pattern(notation))})"
    has_leading_zero = f"regexp_full_match({with_sign}, '{CODE_WITH_LEADING_ZERO}')"
    return f"CASE WHEN {is_number} AND NOT {has_leading_zero} THEN TRY_CAST({digits} AS DOUBLE) END"


def _number_pattern(notation: NumberNotation) -> str:
    """Return a regular expression for numbers in a notation, in the syntax of DuckDB."""
    whole = r"\d+"
    if notation.thousands:
        whole = rf"(?:{_GROUPED_DIGITS[notation.thousands]}|\d+)"

    # If commas are decimal marks, dots are accepted as well, unless they separate thousands.
    decimal_mark = r"\."
    if notation.decimal_comma:
        decimal_mark = "," if notation.thousands == "." else "[.,]"
    digits = rf"(?:{whole}(?:{decimal_mark}\d*)?|{decimal_mark}\d+)(?:[eE]{_SIGN}\d+)?"
    if not notation.unit:
        return f"{_SIGN}{_SPACE}?{digits}"

    unit = f"(?:{_unit_pattern(notation)})?"
    return f"{_SIGN}{_SPACE}?{unit}{_SPACE}?{_SIGN}{digits}{_SPACE}?{unit}"


def _unit_pattern(notation: NumberNotation) -> str:
    """Return a regular expression for the unit of a notation that ignores case."""
    return f"(?i:{re.escape(notation.unit)})"


def _literal(text: str) -> str:
    """Return a string as an SQL literal for a template, with doubled braces."""
    return "'" + text.replace("'", "''").replace("{", "{{").replace("}", "}}") + "'"
