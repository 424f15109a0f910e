"""Forms that were submitted after the session had expired, and are restored after signing in.

The sign-in page carries the form in a hidden field. After signing in, `restored_form.html` posts it to its original
address with the additional field `RESTORED_FIELD`. The handler at this address then shows the form again instead of
executing it.
"""

from typing import Final

import msgspec
from starlette.datastructures import FormData
from starlette.requests import Request

from touchstone.core.json_decoding import decode_json
from touchstone.web.addresses import local_address, request_address

RESTORED_FIELD: Final = "returned"
# How the addresses of forms begin that their pages can show again.
_RESTORABLE_PREFIXES: Final = ("/app/projects/", "/app/datasets/", "/app/jobs/", "/app/account/profile")
# How the addresses of forms without input end, such as a button that deletes a record.
_SUFFIXES_WITHOUT_INPUT: Final = ("/delete", "/cancel")


class UnsentForm(msgspec.Struct, frozen=True):
    """The address and the fields of a form that could not be submitted."""

    action: str
    fields: list[tuple[str, str]]


def encode_unsent_form(request: Request, form: FormData) -> str:
    """Return a submitted form as JSON, for a hidden field of the sign-in page.

    Passwords are left out, because no page may contain them. A page cannot put a file into a form, so only the name of
    the file is included, and the page asks the reader to choose the file again.
    """
    fields = []
    for name, value in form.multi_items():
        text = value if isinstance(value, str) else value.filename
        if text is not None and not is_password_field(name) and name != RESTORED_FIELD:
            fields.append((name, text))

    unsent_form = UnsentForm(action=request_address(request), fields=fields)
    return msgspec.json.encode(unsent_form).decode()


def is_password_field(name: str) -> bool:
    """Return whether the form field with this name holds a password."""
    return "password" in name


def decode_unsent_form(text: str) -> UnsentForm | None:
    """Return the form in the hidden field of the sign-in page, or None if there is none or it cannot be restored.

    The field comes from the browser, so the address in it is accepted only if it leads to one of our own forms.
    """
    try:
        form = decode_json(text, UnsentForm)
    except msgspec.DecodeError:
        return None

    path = form.action.partition("?")[0]
    is_restorable = path.startswith(_RESTORABLE_PREFIXES) and not path.endswith(_SUFFIXES_WITHOUT_INPUT)
    is_local = form.action == local_address(form.action)
    return form if is_restorable and is_local else None
