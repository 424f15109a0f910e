"""Numbers as French and English sentences write them."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Final

_MINUS: Final = "\N{MINUS SIGN}"
_FRENCH_THOUSANDS_MARK: Final = "\N{NARROW NO-BREAK SPACE}"
_DECIMALS: Final = 3
_MAX_DECIMALS: Final = 15  # two different numbers of the size of a score differ within these
_SIGNIFICANT_DIGITS: Final = 4
_EXACT_DIGITS: Final = 12  # further digits of a computed number are rounding errors
_SMALLEST_PLAIN: Final = Decimal("0.0001")  # smaller and larger numbers are written with an exponent
_LARGEST_PLAIN: Final = Decimal(1_000_000)


def format_count(count: int, locale: str) -> str:
    """Return a whole number with a mark between thousands, such as `1,234`."""
    return _localize(f"{count:,}", locale)


def format_decimal(number: float, locale: str, decimals: int = _DECIMALS) -> str:
    """Return a number with at most some decimals; zeros at its end are left out."""
    english = f"{number:z,.{decimals}f}"
    if "." in english:
        english = english.rstrip("0").rstrip(".")
    return _localize(english, locale)


def format_signed(number: float, locale: str) -> str:
    """Return a difference with its sign, such as `+0.12`."""
    sign = "+" if number > 0 else ""
    return sign + format_decimal(number, locale)


def format_distinct(first: float, second: float, locale: str) -> tuple[str, str]:
    """Return two numbers with as many decimals as it takes to tell them apart; equal numbers look the same."""
    for decimals in range(_DECIMALS, _MAX_DECIMALS + 1):
        texts = f"{first:z,.{decimals}f}", f"{second:z,.{decimals}f}"
        if first == second or texts[0] != texts[1]:
            break
    return _localize(texts[0], locale), _localize(texts[1], locale)


def format_bound(bound: float, locale: str, *, is_lower: bool) -> str:
    """Return a bound with four significant digits, rounded so that what is beyond the text is beyond the bound.

    A lower bound, which has to be exceeded, is rounded up, and an upper bound down.
    """
    return format_significant(bound, locale, ROUND_CEILING if is_lower else ROUND_FLOOR)


def format_significant(number: float, locale: str, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number with four significant digits, such as a weight, which may be of any size."""
    exact = Decimal(f"{number:.{_EXACT_DIGITS}g}")
    if exact == 0:
        return "0"

    last_digit = Decimal(1).scaleb(exact.adjusted() - _SIGNIFICANT_DIGITS + 1)
    rounded = exact.quantize(last_digit, rounding=rounding).normalize()
    is_plain = _SMALLEST_PLAIN <= abs(rounded) < _LARGEST_PLAIN
    return _localize(f"{rounded:,f}" if is_plain else f"{rounded:e}", locale)


def format_percentage(share: float, locale: str) -> str:
    """Return a share as a percentage with its sign, such as `20%`, and `20 %` in French."""
    sign = "\N{NO-BREAK SPACE}%" if locale == "fr" else "%"
    return format_decimal(100 * share, locale, 1) + sign


def _localize(english: str, locale: str) -> str:
    """Return a number that is written as in English with the marks of a language and a true minus sign."""
    text = english.replace("-", _MINUS)
    if locale == "fr":
        # For texts as short as numbers, replacing twice is faster than translating.
        return text.replace(",", _FRENCH_THOUSANDS_MARK).replace(".", ",")
    return text
