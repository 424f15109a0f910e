"""Parse the strings, lists, numbers and files in form fields, as people enter them."""

import math
import re
from collections.abc import Iterable
from typing import Final

from starlette.datastructures import FormData, UploadFile

from touchstone.client import TouchstoneError
from touchstone.core.errors import BadRequest, Invalid

PAGE_ERROR: Final = "page_error"  # the type of errors whose messages are already worded for readers of the page
_MAX_INTEGER_DIGITS: Final = 15
_MAX_ID_DIGITS: Final = 9
_LARGEST_EXACT_INTEGER: Final = 2**53  # floats represent all integers up to this one exactly
_COMMAS_BETWEEN_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?!\d)")


def text_field(form: FormData, name: str) -> str:
    """Return the value of a field without surrounding blanks, or an empty string if it is missing."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def header_value_field(form: FormData, name: str) -> str | None:
    """Return the value of a hidden field that is sent to the API in a header, or None if it is empty.

    Raises:
        BadRequest: the value cannot be sent in a header, so it is not the one that the page has put into the form.
    """
    value = text_field(form, name)
    if not (value.isascii() and value.isprintable()):
        raise BadRequest
    return value or None


def password_field(form: FormData, name: str) -> str:
    """Return the value of a password field exactly as typed, or an empty string if it is missing."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def list_field(form: FormData, name: str) -> list[str]:
    """Return all non-empty values of a field that may occur more than once."""
    return [value for value in form.getlist(name) if isinstance(value, str) and value]


def integer_field(form: FormData, name: str, message: str) -> int | None:
    """Return the non-negative integer in a field, or None if the field is empty.

    The number may have blanks or commas between thousands.

    Raises:
        TouchstoneError: the field holds anything else. The error shows `message` beside the field.
    """
    text = remove_thousands_commas(text_field(form, name))
    digits = "".join(text.split())
    if not digits:
        return None

    if not is_integer(digits, max_digits=_MAX_INTEGER_DIGITS):
        raise invalid_field(message, name)
    return int(digits)


def file_field(form: FormData, name: str) -> UploadFile | None:
    """Return the uploaded file of a field, or None if no file was chosen."""
    value = form.get(name)
    if isinstance(value, UploadFile) and value.filename:
        return value
    return None


def has_chosen_file(form: FormData, name: str) -> bool:
    """Return whether the reader had chosen a file in a field.

    A page that shows the form again cannot put the file into it. A form that was restored after signing in contains
    only the name of the file.
    """
    values = form.getlist(name)
    return any(value.filename if isinstance(value, UploadFile) else value for value in values)


def is_integer(text: str, *, max_digits: int = _MAX_ID_DIGITS) -> bool:
    """Return whether a string consists of at most `max_digits` ASCII digits."""
    return text.isascii() and text.isdigit() and len(text) <= max_digits


def parse_integers(texts: Iterable[str], message: str, field: str | None = None) -> list[int]:
    """Convert strings to integers of at most nine digits.

    Raises:
        TouchstoneError: a string is not such an integer. The error shows `message` beside the field.
    """
    integers = []
    for text in texts:
        if not is_integer(text):
            raise invalid_field(message, field)
        integers.append(int(text))
    return integers


def id_field(form: FormData, name: str, message: str) -> int:
    """Return the id in a field, such as the id of the chosen dataset.

    Raises:
        TouchstoneError: the field does not hold an id. The error shows `message` beside the field.
    """
    text = text_field(form, name)
    if not is_integer(text):
        raise invalid_field(message, name)
    return int(text)


def remove_thousands_commas(text: str) -> str:
    """Remove the commas between thousands, as in `12,500`, if there are any.

    Call this function only where such a comma cannot be a decimal comma. A comma that is not followed by exactly three
    digits remains.
    """
    return _COMMAS_BETWEEN_THOUSANDS.sub(lambda match: match[0].replace(",", ""), text, count=1)


def parse_number(text: str, *, commas_may_separate_thousands: bool = False) -> int | float:
    """Convert a number as readers write it.

    It may have blanks between thousands, a decimal comma as in French, and a typographic minus sign.

    Args:
        text: the number that the reader has entered.
        commas_may_separate_thousands: whether `12,500` is a whole number, as in English, and not twelve and a half.

    Raises:
        ValueError: the string is not a finite number.
    """
    without_blanks = "".join(text.split())
    if commas_may_separate_thousands:
        without_blanks = remove_thousands_commas(without_blanks)
    python_text = without_blanks.replace(",", ".").replace("\N{MINUS SIGN}", "-")
    number = float(python_text)
    if not math.isfinite(number):
        raise ValueError(text)

    is_exact_integer = number.is_integer() and abs(number) < _LARGEST_EXACT_INTEGER
    return int(number) if is_exact_integer else number


def invalid_field(message: str, field: str | None = None) -> TouchstoneError:
    """Return an error for a form that the page refuses without asking the API.

    It has the format of API errors, so that forms show both in the same way. With `field`, the message is shown beside
    that field.
    """
    errors = []
    if field:
        errors.append({"loc": [field], "msg": message, "type": PAGE_ERROR})
    return TouchstoneError(Invalid.status, Invalid.code, message, errors)
