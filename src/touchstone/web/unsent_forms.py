"""Forms that were submitted after the session had ended: carried through signing in, and then shown again.

The sign-in page holds the form in a hidden field. After signing in, `returned_form.html` posts it to its address with
the field `RETURNED`, which makes the page show the form again instead of executing it.
"""

from typing import Final

import msgspec
from starlette.datastructures import FormData
from starlette.requests import Request

from touchstone.web.addresses import local_address

RETURNED: Final = "returned"
# Forms with a page of their own on which they can be shown again.
_RESTORABLE: Final = ("/app/projects/", "/app/datasets/", "/app/jobs/", "/app/account/profile")
# Forms without any input.
_WITHOUT_INPUT: Final = ("/delete", "/cancel")


class UnsentForm(msgspec.Struct, frozen=True):
    """The address and the fields of a form that could not be submitted."""

    action: str
    fields: list[tuple[str, str]]


def encode_unsent_form(request: Request, form: FormData) -> str:
    """Return a submitted form as JSON for a hidden field of the sign-in page, which shows it again after signing in.

    Passwords are left out because no page may contain them. No page can fill a form with a file, so only the name of a
    file is kept: the page then says that the file has to be chosen again.
    """
    fields = []
    for name, value in form.multi_items():
        text = value if isinstance(value, str) else value.filename
        if text is not None and not is_password_field(name) and name != RETURNED:
            fields.append((name, text))

    url = request.url
    action = f"{url.path}?{url.query}" if url.query else url.path
    return msgspec.json.encode(UnsentForm(action, fields)).decode()


def is_password_field(name: str) -> bool:
    """Return whether a field of a form takes a password, given its name."""
    return "password" in name


def decode_unsent_form(text: str) -> UnsentForm | None:
    """Return the form that the hidden field of the sign-in page holds; None if it holds none that can be shown again.

    The field comes from the browser, so its address is accepted only if it leads to one of our own forms.
    """
    try:
        form = msgspec.json.decode(text, type=UnsentForm)
    except msgspec.DecodeError:
        return None

    path = form.action.partition("?")[0]
    is_restorable = path.startswith(_RESTORABLE) and not path.endswith(_WITHOUT_INPUT)
    is_local = form.action == local_address(form.action)
    if is_restorable and is_local:
        return form
    return None
