"""Parsing of numbers with decimal commas, thousands separators, currencies and units.

All numbers in a column have the same notation. It is inferred from the whole column, because the meaning of a comma is
ambiguous in a single number.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from touchstone.core.missing_values import MIN_AGREEMENT

CURRENCIES: Final = (
    *("US$", "CA$", "AU$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴", "Rs.", "Rs"),
    *("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "BRL", "SEK", "NOK", "DKK", "PLN", "CZK"),
)
_FOLDED_CURRENCIES: Final = frozenset(currency.casefold() for currency in CURRENCIES)
# The units of each quantity in their usual spellings, in lower case.
_UNITS_BY_QUANTITY: Final = (
    frozenset({"mg", "g", "kg", "t", "oz", "lb", "lbs"}),
    frozenset({"mm", "cm", "m", "km", "in", "ft", "yd", "mi"}),
    frozenset({"ml", "cl", "dl", "l", "hl"}),
    frozenset({"ms", "s", "sec", "min", "mn", "h", "hr", "hrs", "d"}),
    frozenset({"kb", "mb", "gb", "tb"}),
    frozenset({"m²", "m2", "ha", "km²", "km2"}),
    frozenset({"°c", "°f"}),
    frozenset({"%", "‰"}),
    _FOLDED_CURRENCIES,
)
_SAMPLE_SIZE: Final = 20
MIN_UNIT_SHARE: Final = 0.95  # the minimum share of numbers with the same unit
_MIN_DOTTED_NUMBERS: Final = 5  # With fewer, decimals may have three digits by chance.
_MIN_SHORT_NUMBERS: Final = 3  # One or two whole numbers among decimals may be codes for missing values.
_CURRENCY: Final = "|".join(re.escape(currency) for currency in CURRENCIES)
_NUMBER: Final = re.compile(
    rf"(?P<sign>[+-]?)\s?(?P<currency>{_CURRENCY})?\s?(?P<inner_sign>[+-]?)"
    r"(?P<digits>[.,]?[0-9](?:[0-9.,'’\s]*[0-9])?[.,]?)(?P<exponent>e[+-]?[0-9]+)?"
    # A unit is a short word or a sign such as %. Other signs, as in dates or ranges, are not units.
    r"\s?(?P<unit>(?:[^\W\d_]|[%‰°€$£¥₹₽₩₺₫₴])[^\s\d]{0,11}[23]?)?",
    re.IGNORECASE,
)
# A number and a letter without a space, such as 12A, which may also be a seat, a size or a class.
_NUMBER_WITH_LETTER: Final = re.compile(r".*\d[^\W\d_]", re.DOTALL)
# In accounting, negative amounts are in parentheses, with an optional currency or unit before or after them.
PARENTHESES: Final = r"^([^()0-9]*)\(([^()+-]*)\)([^()0-9]*)$"
_PARENTHESES: Final = re.compile(PARENTHESES)
# A whole number with leading zeros is a code, such as a postal code.
CODE_WITH_LEADING_ZERO: Final = r"0[0-9]+"
_CODE_WITH_LEADING_ZERO: Final = re.compile(CODE_WITH_LEADING_ZERO)
# The zeros of Arabic, Persian, Indian, Thai, Lao, Tibetan, Burmese, Khmer and full-width digits. In Unicode, each zero
# is followed by the other nine digits.
_ZERO_DIGITS: Final = (
    "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u0f20\u1040\u17e0\uff10"
)
ASCII_DIGITS: Final = {chr(ord(zero) + digit): str(digit) for zero in _ZERO_DIGITS for digit in range(10)}
_ASCII_CHARACTERS: Final = str.maketrans({**ASCII_DIGITS, "\N{MINUS SIGN}": "-"})
_INFINITY: Final = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
# Numbers in which dots may separate thousands, in the common syntax of Python and Arrow.
DOTTED_NUMBER: Final = r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?"
_DIGIT_GROUPS: Final = {
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?"),  # some groups have two digits in India
    ".": re.compile(DOTTED_NUMBER),
    " ": re.compile(r"[+-]?[1-9]\d{0,2}(\s\d{3})+([.,]\d*)?"),
    "'": re.compile(r"[+-]?[1-9]\d{0,2}(['’]\d{3})+([.,]\d*)?"),
}
_MARK_PATTERNS: Final = {",": re.compile(","), ".": re.compile(r"\."), " ": re.compile(r"\s"), "'": re.compile("['’]")}


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """The parts of a number as it is written.

    Attributes:
        digits: the sign and the digits, including decimal and thousands separators.
        exponent: the exponent, such as `e-3`, or an empty string.
        unit: the unit or currency, or an empty string.
    """

    digits: str
    exponent: str
    unit: str


@dataclass(frozen=True, slots=True)
class NumberNotation:
    """The notation of the numbers in a column, such as 1234.5 (plain), 1234,5, 1,234.5 or 1.234,5.

    Attributes:
        decimal_comma: whether the decimal separator is a comma.
        thousands: the thousands separator, where a space means any white space, or an empty string.
        unit: the unit or currency of the numbers, such as %, $ or kg, or an empty string.
        has_ambiguous_dots: whether the numbers do not prove what their dots mean.
    """

    decimal_comma: bool = False
    thousands: str = ""
    unit: str = ""
    has_ambiguous_dots: bool = False

    def parse(self, text: str) -> float:
        """Parse a number in this notation, with or without the unit.

        Raises:
            ValueError: the string is not a number in this notation.
        """
        number = split_number(text)
        if number is None:
            return _parse_infinity(text)

        has_other_unit = number.unit != "" and number.unit.casefold() != self.unit.casefold()
        if has_other_unit:
            raise ValueError(text)

        digits = number.digits
        if self.thousands and _DIGIT_GROUPS[self.thousands].fullmatch(digits):
            digits = _MARK_PATTERNS[self.thousands].sub("", digits)
        if self.decimal_comma:
            digits = digits.replace(",", ".")
        return float(digits + number.exponent)


PLAIN_NOTATION: Final = NumberNotation()


def split_number(text: str) -> WrittenNumber | None:
    """Split a string such as `-$1,234.5` into its parts, or return None if it is not a number.

    A currency is returned as the unit.
    """
    match = _NUMBER.fullmatch(_normalize_characters(text))
    if match is None:
        return None

    sign, currency, inner_sign, digits, exponent, unit = match.groups(default="")
    has_two_signs = sign != "" and inner_sign != ""
    has_two_units = currency != "" and unit != ""
    if has_two_signs or has_two_units:
        return None

    # The sign may be before or after the currency, as in -$5 or $-5.
    signed_digits = sign + inner_sign + digits
    return WrittenNumber(signed_digits, exponent, currency or unit)


def is_code(text: str) -> bool:
    """Return whether a string is a code, which is a whole number with leading zeros such as 01067."""
    return _CODE_WITH_LEADING_ZERO.fullmatch(_normalize_characters(text)) is not None


def _normalize_characters(text: str) -> str:
    """Replace other digits by ASCII digits, and parentheses around a number by a minus sign."""
    if not text.isascii():
        text = text.translate(_ASCII_CHARACTERS)
    return _PARENTHESES.sub(r"\1-\2\3", text) if "(" in text else text


def infer_notation(texts: Sequence[str], delimiter: str) -> NumberNotation | None:
    """Infer the notation of the numbers in a column, or return None if most strings are not numbers.

    Args:
        texts: the strings in the column. Strings that are not numbers are ignored.
        delimiter: the delimiter between the cells of the file.
    """
    numbers = [number for number in map(split_number, texts) if number is not None]
    if len(numbers) < len(texts) / 2:
        return None
    digits = [number.digits for number in numbers]
    unit = _common_unit(numbers)
    notation = replace(_infer_marks(digits, delimiter), unit=unit)
    if not _have_dotted_groups(number.digits + number.exponent for number in numbers):
        return notation

    with_thousands = NumberNotation(decimal_comma=True, thousands=".", unit=unit)
    if _prove_dots_between_thousands(digits):
        return with_thousands
    if delimiter != "," and _include_short_numbers(digits):
        return replace(with_thousands, has_ambiguous_dots=True)

    # In a file with commas as delimiters, dots are decimal marks. Only amounts of money rarely have three decimals.
    is_currency = unit.casefold() in _FOLDED_CURRENCIES
    is_ambiguous = notation.thousands == "" and (delimiter != "," or is_currency)
    return replace(notation, has_ambiguous_dots=is_ambiguous)


def may_have_dots_between_thousands(texts: Iterable[str], delimiter: str) -> bool:
    """Return whether dots may separate thousands in a column whose strings all look like plain numbers.

    Callers use this quick check to decide whether a notation must be inferred. In a file with commas as delimiters,
    dots in plain numbers are always decimal marks.
    """
    return delimiter != "," and _have_dotted_groups(texts)


def mixes_units(texts: Sequence[str]) -> bool:
    """Return whether strings are numbers with different units of the same quantity, such as grams and kilograms.

    Spellings of the same unit, such as h and hrs, count as different units, because such a column cannot be read as
    numbers either. The same goes for a unit that some numbers lack, as in 45% and 0.45.

    Single letters right after the digits, as in 12D and 14H, may be seats or sizes. So at least one unit must be longer
    than a letter, or separated from its number by a space.
    """
    # The first strings suffice to rule out most columns of words.
    first_texts = texts[:_SAMPLE_SIZE]
    if sum(split_number(text) is not None for text in first_texts) < len(first_texts) / 2:
        return False

    numbers = {text: number for text in texts if (number := split_number(text)) is not None}
    units = {number.unit.casefold() for number in numbers.values()}
    if len(numbers) < MIN_AGREEMENT * len(texts) or len(units) < 2:
        return False

    units.discard("")
    texts_with_unit = [text for text, number in numbers.items() if number.unit]
    if all(map(_NUMBER_WITH_LETTER.fullmatch, texts_with_unit)):
        return False
    return any(units <= units_of_quantity for units_of_quantity in _UNITS_BY_QUANTITY)


def _common_unit(numbers: Sequence[WrittenNumber]) -> str:
    """Return the unit of nearly all numbers in a column, in its first spelling, or an empty string.

    If the units differ, there is no common unit, because grams and kilograms are not comparable. A single number has no
    common unit either.
    """
    if len(numbers) < 2:
        return ""

    unit_counts = Counter(number.unit.casefold() for number in numbers)
    [(most_common_unit, count)] = unit_counts.most_common(1)
    is_common = count >= MIN_UNIT_SHARE * len(numbers)
    if not is_common:
        return ""

    return next(number.unit for number in numbers if number.unit.casefold() == most_common_unit)


def _infer_marks(texts: Sequence[str], delimiter: str) -> NumberNotation:
    """Infer the meaning of commas, dots, spaces and apostrophes in a column of numbers.

    - Spaces and apostrophes can only be thousands separators.
    - Commas are thousands separators if all of them separate groups of digits. In a file with semicolons, where decimal
      commas are more common, a number must also have several commas or a dot, or else all numbers must have a comma.
    - Otherwise, commas are decimal separators.
    """
    texts_with_comma = [text for text in texts if "," in text]

    for mark in (" ", "'"):
        texts_with_mark = [text for text in texts if _MARK_PATTERNS[mark].search(text)]
        if texts_with_mark and _have_digit_groups(texts_with_mark, mark=mark):
            return NumberNotation(decimal_comma=bool(texts_with_comma), thousands=mark)

    # If the delimiter is a comma, numbers with a comma are quoted. A column without any of them is plain.
    if delimiter == "," and not texts_with_comma:
        return PLAIN_NOTATION

    have_several_marks = any(text.count(",") + text.count(".") > 1 for text in texts_with_comma)
    texts_to_check = texts if delimiter == ";" and not have_several_marks else texts_with_comma
    if texts_to_check and _have_digit_groups(texts_to_check, mark=","):
        return NumberNotation(thousands=",")

    return NumberNotation(decimal_comma=True)


def _have_dotted_groups(texts: Iterable[str]) -> bool:
    """Return whether some numbers have dots, and all dots separate groups of three digits.

    This alone proves nothing, because a length in metres or the price of a share may have three decimals in every row.
    """
    texts_with_dot = [text for text in texts if "." in text]
    return bool(texts_with_dot) and _have_digit_groups(texts_with_dot, mark=".")


def _prove_dots_between_thousands(texts: Sequence[str]) -> bool:
    """Return whether a number has several dots, or some numbers have decimal commas."""
    texts_with_comma = [text for text in texts if "," in text]
    have_decimal_commas = bool(texts_with_comma) and not _have_digit_groups(texts_with_comma, mark=",")
    return have_decimal_commas or any(text.count(".") > 1 for text in texts)


def _include_short_numbers(texts: Sequence[str]) -> bool:
    """Return whether several numbers are whole, and none of these has more than three digits.

    If numbers with three decimals had lost their trailing zeros in this way, some of them would have one or two
    decimals left.
    """
    whole_numbers = [text for text in texts if "." not in text]
    are_short = all(len(text.lstrip("+-")) <= 3 for text in whole_numbers)
    dotted_count = len(texts) - len(whole_numbers)
    return are_short and dotted_count >= _MIN_DOTTED_NUMBERS and len(whole_numbers) >= _MIN_SHORT_NUMBERS


def _have_digit_groups(texts: Sequence[str], *, mark: str) -> bool:
    """Return whether `mark` separates groups of digits in all numbers."""
    return all(_DIGIT_GROUPS[mark].fullmatch(text) for text in texts)


def _parse_infinity(text: str) -> float:
    """Parse an infinite number, such as `-inf`.

    Raises:
        ValueError: the string is not an infinite number.
    """
    if _INFINITY.fullmatch(text) is None:
        raise ValueError(text)
    return float(text)
