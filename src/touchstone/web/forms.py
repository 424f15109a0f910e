"""Reading form fields: texts, lists, numbers and files as people enter them."""

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
    """Return the text of a field without surrounding blanks; empty if it was not sent."""
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
    """Return the integer in a field, which may have blanks between its thousands; None if the field is empty.

    Raises:
        TouchstoneError: The field holds something else; `message` says so.
    """
    digits = "".join(text_field(form, name).split())
    if not digits:
        return None
    if not is_integer(digits, max_digits=_MAX_INTEGER_DIGITS):
        raise invalid_field(message, name)
    return int(digits)


def file_field(form: FormData, name: str) -> UploadFile | None:
    """Return the uploaded file of a field; None if no file was chosen."""
    value = form.get(name)
    return value if isinstance(value, UploadFile) and value.filename else None


def split_at_commas(text: str) -> list[str]:
    """Return the parts of a text between its commas, without blanks and empty parts."""
    return [part.strip() for part in text.split(",") if part.strip()]


def is_integer(text: str, *, max_digits: int = _MAX_ID_DIGITS) -> bool:
    """Return whether a text consists of at most `max_digits` ASCII digits."""
    return text.isascii() and text.isdigit() and len(text) <= max_digits


def parse_integers(texts: Iterable[str], message: str, field: str | None = None) -> list[int]:
    """Return the texts as integers.

    Raises:
        TouchstoneError: One of them is not an integer; `message` says so.
    """
    digits = list(texts)
    if not all(is_integer(text) for text in digits):
        raise invalid_field(message, field)
    return [int(text) for text in digits]


def parse_number(text: str) -> int | float:
    """Return a number as people write it, with blanks between thousands and, in French, a decimal comma.

    Raises:
        ValueError: The text is not a finite number.
    """
    value = float("".join(text.split()).replace(",", ".").replace("\N{MINUS SIGN}", "-"))
    if not math.isfinite(value):
        raise ValueError(text)
    return int(value) if value.is_integer() and abs(value) < _LARGEST_EXACT_INTEGER else value


def invalid_field(message: str, field: str | None = None) -> TouchstoneError:
    """Return the error for a form that the page itself refuses, about one of its fields if `field` names it."""
    errors = [{"loc": [field], "msg": message, "type": PAGE_ERROR}] if field else []
    return TouchstoneError(Invalid.status, Invalid.code, message, errors)
