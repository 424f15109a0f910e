"""Parse form fields: strings, lists, numbers and files as people enter them."""

import math
from collections.abc import Iterable
from typing import Final

from starlette.datastructures import FormData, UploadFile

from touchstone.client import TouchstoneError
from touchstone.core.errors import Invalid

PAGE_ERROR: Final = "page_error"  # the type of an error whose message is already worded for the page
_MAX_INTEGER_DIGITS: Final = 15
_MAX_ID_DIGITS: Final = 9
_LARGEST_EXACT_INTEGER: Final = 2**53


def text_field(form: FormData, name: str) -> str:
    """Return the value of a field without surrounding blanks, or an empty string if it was not sent."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def password_field(form: FormData, name: str) -> str:
    """Return the text of a password field exactly as it was typed."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def list_field(form: FormData, name: str) -> list[str]:
    """Return all values of a field that may be sent more than once, without empty ones."""
    return [value for value in form.getlist(name) if isinstance(value, str) and value]


def integer_field(form: FormData, name: str, message: str) -> int | None:
    """Return the integer in a field, or None if the field is empty.

    Readers may write blanks between thousands.

    Raises:
        TouchstoneError: The field holds something else. The error shows `message` beside the field.
    """
    text = text_field(form, name)
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


def names_file(form: FormData, name: str) -> bool:
    """Return whether a file had been chosen in a field, which no page can fill in again.

    A form that has returned after signing in holds only the name of the file.
    """
    values = form.getlist(name)
    return any(value.filename if isinstance(value, UploadFile) else value for value in values)


def is_integer(text: str, *, max_digits: int = _MAX_ID_DIGITS) -> bool:
    """Return whether a string consists of at most `max_digits` ASCII digits."""
    return text.isascii() and text.isdigit() and len(text) <= max_digits


def parse_integers(texts: Iterable[str], message: str, field: str | None = None) -> list[int]:
    """Convert the strings to integers of at most nine digits.

    Raises:
        TouchstoneError: One of them is not such an integer. The error shows `message` beside the field.
    """
    integers = []
    for text in texts:
        if not is_integer(text):
            raise invalid_field(message, field)
        integers.append(int(text))
    return integers


def id_field(form: FormData, name: str, message: str) -> int:
    """Return the id in a field, such as the id of the dataset that the reader has chosen.

    Raises:
        TouchstoneError: The field is empty or holds something else. The error shows `message` beside the field.
    """
    text = text_field(form, name)
    if not is_integer(text):
        raise invalid_field(message, name)
    return int(text)


def parse_number(text: str) -> int | float:
    """Return the number that a reader has entered.

    The text may have blanks between thousands, a decimal comma as in French, and a typographic minus sign.

    Raises:
        ValueError: The text is not a finite number.
    """
    without_blanks = "".join(text.split())
    python_text = without_blanks.replace(",", ".").replace("\N{MINUS SIGN}", "-")
    number = float(python_text)
    if not math.isfinite(number):
        raise ValueError(text)

    is_exact_integer = number.is_integer() and abs(number) < _LARGEST_EXACT_INTEGER
    return int(number) if is_exact_integer else number


def invalid_field(message: str, field: str | None = None) -> TouchstoneError:
    """Return the error for a form that the page itself refuses, before it asks the API.

    It has the format of the API's own errors, so that every form shows both in the same way. With `field`, the message
    is shown beside that field.
    """
    errors = []
    if field:
        errors.append({"loc": [field], "msg": message, "type": PAGE_ERROR})
    return TouchstoneError(Invalid.status, Invalid.code, message, errors)
