"""Numbers as people write them: with decimal commas, marks between thousands, currencies and units.

One notation applies to a whole column: what a comma means shows in the column, hardly ever in a single number.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

CURRENCIES: Final = (
    *("US$", "CA$", "AU$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴", "Rs.", "Rs"),
    *("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "BRL", "SEK", "NOK", "DKK", "PLN", "CZK"),
)
UNIT_AGREEMENT: Final = 0.95  # The share of the numbers that must have the unit of their column.
_CURRENCY: Final = "|".join(re.escape(currency) for currency in CURRENCIES)
_NUMBER: Final = re.compile(
    rf"(?P<sign>[+-]?)\s?(?P<currency>{_CURRENCY})?\s?(?P<inner_sign>[+-]?)"
    r"(?P<digits>[.,]?[0-9](?:[0-9.,'’\s]*[0-9])?[.,]?)(?P<exponent>e[+-]?[0-9]+)?"
    # A unit is a word of few characters, or a sign such as %; other signs, as in dates or ranges, make no unit.
    r"\s?(?P<unit>(?:[^\W\d_]|[%‰°€$£¥₹₽₩₺₫₴])[^\s\d]{0,11}[23]?)?",
    re.IGNORECASE,
)
# In accounts, negative amounts are in parentheses, beside which a currency or a unit may stand.
PARENTHESES: Final = r"^([^()0-9]*)\(([^()+-]*)\)([^()0-9]*)$"
_PARENTHESES: Final = re.compile(PARENTHESES)
# A whole number with zeros before it is a code, such as a postal code.
CODE_WITH_LEADING_ZERO: Final = r"0[0-9]+"
_CODE_WITH_LEADING_ZERO: Final = re.compile(CODE_WITH_LEADING_ZERO)
# Arabic, Persian, Indian, Thai, Lao, Tibetan, Burmese, Khmer and full-width digits; the others of each follow its zero.
_ZEROS: Final = "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u0f20\u1040\u17e0\uff10"
ASCII_DIGITS: Final = {chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)}
_ASCII_CHARACTERS: Final = str.maketrans({**ASCII_DIGITS, "\N{MINUS SIGN}": "-"})
_INFINITY: Final = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_DIGIT_GROUPS: Final = {
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?"),  # In India, some groups have two digits.
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?"),
    " ": re.compile(r"[+-]?[1-9]\d{0,2}(\s\d{3})+([.,]\d*)?"),
    "'": re.compile(r"[+-]?[1-9]\d{0,2}(['’]\d{3})+([.,]\d*)?"),
}
_MARKS: Final = {",": re.compile(","), ".": re.compile(r"\."), " ": re.compile(r"\s"), "'": re.compile("['’]")}


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as it is written: its sign and digits with all marks, and the unit or currency beside it."""

    digits: str
    exponent: str
    unit: str


@dataclass(frozen=True, slots=True)
class NumberNotation:
    """How the numbers of a column are written: 1234.5 (plain), 1234,5, 1,234.5 or 1.234,5, and in which unit."""

    decimal_comma: bool = False
    thousands: str = ""  # The mark between groups of digits; a space stands for any white space.
    unit: str = ""  # The unit or currency that is written beside the numbers, such as %, $ or kg.

    def parse(self, text: str) -> float:
        """Return the number that is written in this notation; the unit may be left out.

        Raises ValueError for any other text.
        """
        number = split_number(text)
        if number is None:
            return _parse_infinity(text)

        has_other_unit = number.unit != "" and number.unit.casefold() != self.unit.casefold()
        if has_other_unit:
            raise ValueError(text)

        digits = number.digits
        if self.thousands and _DIGIT_GROUPS[self.thousands].fullmatch(digits):
            digits = _MARKS[self.thousands].sub("", digits)
        if self.decimal_comma:
            digits = digits.replace(",", ".")
        return float(digits + number.exponent)


PLAIN_NOTATION: Final = NumberNotation()


def split_number(text: str) -> WrittenNumber | None:
    """Split a text such as `-$1,234.5` into digits, exponent and unit, or return None if it is not a number.

    The sign stays with the digits, whose marks may separate thousands or decimals. A currency counts as the unit.
    """
    match = _NUMBER.fullmatch(_simplify(text))
    if match is None:
        return None

    sign, currency, inner_sign, digits, exponent, unit = match.groups(default="")
    has_two_signs = sign != "" and inner_sign != ""
    has_two_units = currency != "" and unit != ""
    if has_two_signs or has_two_units:
        return None

    # In amounts, the sign may stand before or after the currency: -$5 or $-5.
    signed_digits = sign + inner_sign + digits
    return WrittenNumber(signed_digits, exponent, currency or unit)


def is_code(text: str) -> bool:
    """Return whether a text is a code such as 01067: a whole number that begins with zeros, which mean something."""
    return _CODE_WITH_LEADING_ZERO.fullmatch(_simplify(text)) is not None


def _simplify(text: str) -> str:
    """Return a text with ASCII digits, and with a minus sign instead of parentheses."""
    if not text.isascii():
        text = text.translate(_ASCII_CHARACTERS)
    return _PARENTHESES.sub(r"\1-\2\3", text) if "(" in text else text


def infer_notation(texts: Sequence[str], delimiter: str) -> NumberNotation | None:
    """Infer how the numbers of a column are written, without regard to a few texts that are no numbers.

    Returns None if most texts are no numbers. `delimiter` is what separates the cells in the file.
    """
    numbers = [number for number in map(split_number, texts) if number is not None]
    if len(numbers) < len(texts) / 2:
        return None
    digits = [number.digits for number in numbers]
    return replace(_infer_marks(digits, delimiter), unit=_common_unit(numbers))


def _common_unit(numbers: Sequence[WrittenNumber]) -> str:
    """Return the unit that nearly all numbers of a column share, as it is first written, or an empty text.

    A column in which units differ has no common unit, because grams cannot be compared with kilograms. Neither has a
    column with a single number.
    """
    if len(numbers) < 2:
        return ""

    unit_counts = Counter(number.unit.casefold() for number in numbers)
    [(most_common_unit, count)] = unit_counts.most_common(1)
    has_common_unit = count >= UNIT_AGREEMENT * len(numbers)
    if not has_common_unit:
        return ""

    return next(number.unit for number in numbers if number.unit.casefold() == most_common_unit)


def _infer_marks(texts: Sequence[str], delimiter: str) -> NumberNotation:
    """Infer what commas, dots, spaces and apostrophes mean in a column of numbers.

    - Spaces and apostrophes can only separate thousands.
    - Commas are thousands marks if all of them separate groups of digits. In a file with semicolons, where decimal
      commas are more common, every number must also have one.
    - Otherwise commas are decimal marks. Dots are then thousands marks if all of them separate groups of three digits
      and a decimal comma follows one of them.
    """
    texts_with_comma = [text for text in texts if "," in text]

    for mark in (" ", "'"):
        texts_with_mark = [text for text in texts if _MARKS[mark].search(text)]
        if texts_with_mark and _have_digit_groups(texts_with_mark, mark=mark):
            return NumberNotation(decimal_comma=bool(texts_with_comma), thousands=mark)

    # Between commas, a number with a comma is in quotes, so that a column without any is plain.
    if delimiter == "," and not texts_with_comma:
        return PLAIN_NOTATION

    texts_to_check = texts if delimiter == ";" else texts_with_comma
    if texts_to_check and _have_digit_groups(texts_to_check, mark=","):
        return NumberNotation(thousands=",")

    texts_with_dot = [text for text in texts if "." in text]
    some_have_both_marks = any("," in text for text in texts_with_dot)
    if some_have_both_marks and _have_digit_groups(texts_with_dot, mark="."):
        return NumberNotation(decimal_comma=True, thousands=".")
    return NumberNotation(decimal_comma=True)


def _have_digit_groups(texts: Sequence[str], *, mark: str) -> bool:
    """Return whether all texts are numbers in which this mark separates groups of digits."""
    return all(_DIGIT_GROUPS[mark].fullmatch(text) for text in texts)


def _parse_infinity(text: str) -> float:
    """Return an infinite number. Raises ValueError if a text is none."""
    if _INFINITY.fullmatch(text) is None:
        raise ValueError(text)
    return float(text)
