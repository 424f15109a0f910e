"""Format numbers for sentences in French, such as `1 234,5`, and in English, such as `1,234.5`.

Every function formats a number in English, and `_localize` then replaces its symbols for other languages.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Final

_MINUS: Final = "\N{MINUS SIGN}"
_FRENCH_THOUSANDS_MARK: Final = "\N{NARROW NO-BREAK SPACE}"
_ENGLISH_ORDINAL_SUFFIXES: Final = {1: "st", 2: "nd", 3: "rd"}
_ENGLISH_TEENS: Final = (11, 12, 13)  # numbers that end like this have the suffix "th"
_DECIMALS: Final = 3
_MAX_DECIMALS: Final = 15  # the precision of a float with the size of a score
_SIGNIFICANT_DIGITS: Final = 4
_BOUND_DIGITS: Final = 3
_EXACT_DIGITS: Final = 12  # further digits of a computed number are rounding errors
_SMALLEST_PLAIN: Final = Decimal("0.0001")  # smaller and larger numbers have an exponent
_LARGEST_PLAIN: Final = Decimal(1_000_000)


def format_count(count: int, locale: str) -> str:
    """Format an integer with separators between thousands, such as `1,234`."""
    return _localize(f"{count:,}", locale)


def format_ordinal(position: int, locale: str) -> str:
    """Format an ordinal number, such as `1st` and `11th` in English, or `1re` and `2e` in French."""
    number = format_count(position, locale)
    if locale == "fr":
        return number + ("re" if position == 1 else "e")

    if position % 100 in _ENGLISH_TEENS:
        return number + "th"
    return number + _ENGLISH_ORDINAL_SUFFIXES.get(position % 10, "th")


def format_decimal(number: float, locale: str, decimals: int = _DECIMALS) -> str:
    """Round a number to a maximum number of decimals, without trailing zeros: 0.50 becomes `0.5`."""
    english = _fixed_point(number, decimals)
    if "." in english:
        english = english.rstrip("0").rstrip(".")
    return _localize(english, locale)


def format_points(points: float, locale: str) -> str:
    """Format points with at most three decimals, but with three digits if they would round to zero."""
    return _format_nonzero(points, locale, _DECIMALS)


def _format_nonzero(number: float, locale: str, decimals: int) -> str:
    """Format a number with at most `decimals` decimals, but never as zero unless it is zero.

    Smaller numbers have three significant digits.
    """
    if number != 0 and float(f"{number:.{decimals}f}") == 0:
        return format_significant(number, locale, _BOUND_DIGITS)
    return format_decimal(number, locale, decimals)


def format_signed(number: float, locale: str) -> str:
    """Format a difference in points with its sign, such as `+0.12`."""
    sign = "+" if number > 0 else ""
    return sign + format_points(number, locale)


def format_with_limit(number: float, limit: float, locale: str) -> tuple[str, str]:
    """Format a number and an upper limit with enough decimals to distinguish them, but at least three.

    The limit is rounded up, so that it is never too low. It is an empty string if it exceeds the number by no more than
    a rounding error.
    """
    for decimals in range(_DECIMALS, _MAX_DECIMALS + 1):
        rounded_limit = limit_to_show(number, limit, decimals)
        if rounded_limit is not None:
            return _format_nonzero(number, locale, decimals), format_decimal(rounded_limit, locale, decimals)
    return format_points(number, locale), ""


def limit_to_show(number: float, limit: float, decimals: int) -> float | None:
    """Return an upper limit to show beside a number with the given number of decimals, such as a highest score.

    It is rounded up, so that it is never too low. It is None if it looks like the number, or if it exceeds the number
    by no more than a rounding error.
    """
    rounded_limit = float(_exact(limit).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_CEILING))
    looks_like_number = rounded_limit <= round(number, decimals)
    return None if looks_like_number or _exact(limit) <= _exact(number) else rounded_limit


def format_distinguishably(first: float, second: float, locale: str) -> tuple[str, str]:
    """Format two numbers with enough decimals to distinguish them, but at least three.

    For example, 0.50001 and 0.50002 become `0.50001` and `0.50002` in English. Both have the same number of decimals.
    Equal numbers, and numbers that differ only beyond the fifteenth decimal, look the same.
    """
    decimals = _DECIMALS
    if first != second:
        while decimals < _MAX_DECIMALS and _fixed_point(first, decimals) == _fixed_point(second, decimals):
            decimals += 1

    first_text = _localize(_fixed_point(first, decimals), locale)
    second_text = _localize(_fixed_point(second, decimals), locale)
    return first_text, second_text


def format_lower_bound(bound: float, locale: str) -> str:
    """Format a bound that a number has to exceed, with three significant digits.

    It is rounded up, so that every number above the formatted bound also exceeds the exact bound.
    """
    return format_significant(bound, locale, _BOUND_DIGITS, rounding=ROUND_CEILING)


def format_upper_bound(bound: float, locale: str) -> str:
    """Format a bound that a number has to be below, with three significant digits.

    It is rounded down, so that every number below the formatted bound is also below the exact bound.
    """
    return format_significant(bound, locale, _BOUND_DIGITS, rounding=ROUND_FLOOR)


def format_significant(
    number: float, locale: str, digits: int = _SIGNIFICANT_DIGITS, rounding: str = ROUND_HALF_EVEN
) -> str:
    """Format a number of any size, such as a weight, with at most `digits` significant digits.

    For example, 1234.56 becomes `1,235` in English. Very small and very large numbers have an exponent, such as
    `1.235e+300`. `rounding` is one of the rounding modes of the module `decimal`.
    """
    exact = _exact(number)
    if exact == 0:
        return "0"

    # `adjusted` returns the power of ten of the first digit, and each further digit lowers the power by one.
    last_digit_exponent = exact.adjusted() - (digits - 1)
    rounded = exact.quantize(Decimal(1).scaleb(last_digit_exponent), rounding=rounding).normalize()

    is_plain = _SMALLEST_PLAIN <= abs(rounded) < _LARGEST_PLAIN
    english = f"{rounded:,f}" if is_plain else f"{rounded:e}"
    return _localize(english, locale)


def format_percentage(share: float, locale: str) -> str:
    """Format a share in 0-1 as a percentage, such as `20%` in English and `20 %` in French."""
    sign = "\N{NO-BREAK SPACE}%" if locale == "fr" else "%"
    return format_decimal(100 * share, locale, decimals=1) + sign


def bound_of_tiny_share(share: float, decimals: int) -> float | None:
    """Return an upper bound to show in place of a share whose percentage would be rounded to zero, or None.

    The bound is the smallest share whose percentage is not zero, such as 0.001 with one decimal. A share of zero needs
    no bound.
    """
    rounded_percentage = _exact(100 * share).quantize(Decimal(1).scaleb(-decimals))
    return 10.0 ** -(decimals + 2) if share > 0 and rounded_percentage == 0 else None


def less_than(number: str, locale: str) -> str:
    """Put the sign for "less than" before a formatted number, as in `<0.1%` in English and `< 0,1 %` in French."""
    sign = "<\N{NO-BREAK SPACE}" if locale == "fr" else "<"
    return sign + number


def _exact(number: float) -> Decimal:
    """Return a number without rounding errors: a computed 0.30000000000000004 means 0.3.

    Otherwise, it would become 0.301 by rounding up.
    """
    return Decimal(f"{number:.{_EXACT_DIGITS}g}")


def _fixed_point(number: float, decimals: int) -> str:
    """Format a number in English with the given number of decimals, and never as a negative zero."""
    return f"{number:z,.{decimals}f}"


def _localize(english: str, locale: str) -> str:
    """Replace the symbols of a number in English by the symbols of the given language."""
    text = english.replace("-", _MINUS)
    if locale == "fr":
        # For short strings, replacing twice is faster than translating.
        return text.replace(",", _FRENCH_THOUSANDS_MARK).replace(".", ",")
    return text
