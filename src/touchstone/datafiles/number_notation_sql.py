"""Numbers as people write them, such as `$1,234.00`, `45%` or `12,5 kg`, read by SQL.

The notation is inferred as trainings infer it, so that a profile calls a column what a training takes it for.
"""

import re
from collections.abc import Sequence
from typing import Final

from touchstone.core.number_notation import (
    ASCII_DIGITS,
    CODE_WITH_LEADING_ZERO,
    PARENTHESES,
    NumberNotation,
    infer_notation,
    is_code,
)

_SPACE: Final = r"[\s\x{00A0}\x{2009}\x{202F}]"
_SIGN: Final = "[+-]?"
# The whole part of a number with each mark between its thousands, as in `core.number_notation`.
_GROUPED_DIGITS: Final = {
    ",": r"[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}",
    ".": r"[1-9]\d{0,2}(?:\.\d{3})+",
    " ": rf"[1-9]\d{{0,2}}(?:{_SPACE}\d{{3}})+",
    "'": r"[1-9]\d{0,2}(?:['’]\d{3})+",
}


def infer_notation_of_all(texts: Sequence[str], delimiter: str) -> NumberNotation | None:
    """Return the notation in which all texts are numbers, or None if there is none.

    `delimiter` is what separates the cells in the file.
    """
    notation = infer_notation(texts, delimiter) if texts else None
    if notation is None or any(map(is_code, texts)):
        return None

    try:
        for text in texts:
            notation.parse(text)
    except ValueError:
        return None
    return notation


def conversion_template(notation: NumberNotation) -> str:
    """Return SQL that converts a text such as `$1,234.00` into a number, or into NULL if it is not in this notation.

    The SQL contains `{value}` in the place of the text. The unit comes from the file, so it is quoted.
    """
    # Remove the unit, white space and the marks between thousands step by step, so that SQL can read the rest.
    # Both of the first steps are slow, and few values need them.
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
    """Return the regular expression, in the syntax of DuckDB, that numbers in a notation match."""
    whole = r"\d+"
    if notation.thousands:
        whole = rf"(?:{_GROUPED_DIGITS[notation.thousands]}|\d+)"

    # Where commas are decimal marks, dots may be, too, unless they separate thousands.
    decimal_mark = r"\."
    if notation.decimal_comma:
        decimal_mark = "," if notation.thousands == "." else "[.,]"
    digits = rf"(?:{whole}(?:{decimal_mark}\d*)?|{decimal_mark}\d+)(?:[eE]{_SIGN}\d+)?"
    if not notation.unit:
        return f"{_SIGN}{_SPACE}?{digits}"

    unit = f"(?:{_unit_pattern(notation)})?"
    return f"{_SIGN}{_SPACE}?{unit}{_SPACE}?{_SIGN}{digits}{_SPACE}?{unit}"


def _unit_pattern(notation: NumberNotation) -> str:
    """Return the regular expression of a unit, whether its letters are large or small."""
    return f"(?i:{re.escape(notation.unit)})"


def _literal(text: str) -> str:
    """Return a text as an SQL literal in a template, in which braces are doubled."""
    return "'" + text.replace("'", "''").replace("{", "{{").replace("}", "}}") + "'"
