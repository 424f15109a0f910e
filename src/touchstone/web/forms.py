"""Reading forms: texts, lists and numbers as people write them."""

import math
from collections.abc import Iterable
from typing import Final

import msgspec
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from touchstone.client import TouchstoneError
from touchstone.core.errors import Invalid
from touchstone.web.cookies import local

RETURNED: Final = "returned"  # the field that marks a form as come back after signing in
# The forms that have a page of their own to be shown on again.
_SHOWN_AGAIN: Final = ("/app/projects/", "/app/datasets/", "/app/jobs/", "/app/account/profile")
_DONE_AT_ONCE: Final = ("/delete", "/cancel")  # forms that hold nothing written
MISFIT: Final = "misfit"  # the kind of error whose message is a whole sentence


class UnsentForm(msgspec.Struct, frozen=True):
    """A form that was sent after the end of the session: where to, and its fields."""

    action: str
    fields: list[tuple[str, str]]


def written(form: FormData, name: str) -> str:
    """The text of one field, without the blanks around it; empty when it was not sent."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def secret(form: FormData, name: str) -> str:
    """The text of a password field, as it was typed."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def listed(form: FormData, name: str) -> list[str]:
    """The values of a field that may be sent more than once, empty ones left out."""
    return [value for value in form.getlist(name) if isinstance(value, str) and value]


def parted(text: str) -> list[str]:
    """The parts of a text that commas divide, without the blanks around them."""
    return [part.strip() for part in text.split(",") if part.strip()]


def whole(form: FormData, name: str, label: str) -> int | None:
    """A whole number, however its thousands are set apart; None when the field is empty.

    Raises:
        TouchstoneError: it is not one.
    """
    text = "".join(written(form, name).split())
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise misfit(label, name)
    return int(text)


def number(text: str) -> int | float:
    """A number as people write it: with blanks between its thousands and, in French, a decimal comma.

    Raises:
        ValueError: it is not a finite one.
    """
    found = float("".join(text.split()).replace(",", ".").replace("\N{MINUS SIGN}", "-"))
    if not math.isfinite(found):
        raise ValueError(text)
    return int(found) if found.is_integer() and abs(found) < 2**53 else found


def wholes(texts: Iterable[str], label: str, field: str | None = None) -> list[int]:
    """Whole numbers.

    Raises:
        TouchstoneError: one of them is not one.
    """
    found = list(texts)
    if not all(text.isascii() and text.isdigit() and len(text) < 10 for text in found):
        raise misfit(label, field)
    return [int(text) for text in found]


def sent_file(form: FormData, name: str) -> UploadFile | None:
    """The file that was sent, if one was chosen."""
    found = form.get(name)
    return found if isinstance(found, UploadFile) and found.filename else None


def misfit(sentence: str, field: str | None = None) -> TouchstoneError:
    """Return the refusal of something that a form holds, in the words of the page, about one of its fields."""
    errors = [{"loc": [field], "msg": sentence, "type": MISFIT}] if field else []
    return TouchstoneError(Invalid.status, Invalid.code, sentence, errors)


def unsent_form(request: Request, form: FormData) -> str:
    """Return what was written into a form, to be carried through signing in; without passwords and files."""
    fields = [
        (name, value)
        for name, value in form.multi_items()
        if isinstance(value, str) and "password" not in name and name != RETURNED
    ]
    url = request.url
    unsent = UnsentForm(f"{url.path}?{url.query}" if url.query else url.path, fields)
    return msgspec.json.encode(unsent).decode()


def returned_form(text: str) -> UnsentForm | None:
    """Return the form that was carried through signing in; None when there is none to show again."""
    try:
        unsent = msgspec.json.decode(text, type=UnsentForm)
    except msgspec.DecodeError:
        return None
    path = unsent.action.partition("?")[0]
    shown = path.startswith(_SHOWN_AGAIN) and not path.endswith(_DONE_AT_ONCE)
    return unsent if shown and unsent.action == local(unsent.action) else None
