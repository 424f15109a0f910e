"""The request body of a sign-in, which is a form (OAuth 2 password grant) or JSON."""

from collections import Counter
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl

from fastapi import Depends
from pydantic import ValidationError
from starlette.requests import Request

from touchstone.core.errors import BadRequest, FieldError, Invalid, UnknownName, UnsupportedMedia
from touchstone.http.error_responses import invalid_body
from touchstone.http.json_body import parse_json
from touchstone.services.gateway import device_cookies
from touchstone.services.gateway.oidc import account_links
from touchstone.services.gateway.schemas import Login, LoginForm

FORM_MEDIA_TYPE: Final = "application/x-www-form-urlencoded"
_COOKIES: Final = {
    device_cookies.COOKIE_NAME: "Identifies a device on which this account has signed in before.",
    account_links.COOKIE_NAME: "Links the account at an identity provider whose sign-in was refused.",
}
# OpenAPI description of the parameters and the body of a sign-in.
LOGIN_OPERATION: Final[dict[str, Any]] = {
    "parameters": [
        {"name": name, "in": "cookie", "required": False, "description": description, "schema": {"type": "string"}}
        for name, description in _COOKIES.items()
    ],
    "requestBody": {
        "required": True,
        "content": {
            FORM_MEDIA_TYPE: {"schema": LoginForm.model_json_schema()},
            "application/json": {"schema": Login.model_json_schema()},
        },
    },
}
_MAX_FORM_FIELDS: Final = 20


async def _read_login(request: Request) -> Login:
    """Parse the e-mail address and the password in a request to sign in.

    OAuth 2 clients send them as a form, other clients as JSON. A body without a media type is parsed as JSON, and so is
    a JSON object that is declared as a form, because curl declares every body as a form by default.

    Raises:
        NotJson, BadRequest: the body cannot be parsed.
        UnknownName: the form has an unknown field.
        Invalid: a field is missing, invalid, or occurs twice.
        UnsupportedMedia: the body is a multipart form.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type.startswith("multipart/"):
        raise UnsupportedMedia(expected=f"application/json, {FORM_MEDIA_TYPE}")

    body = await request.body()
    is_json_object = body.lstrip().startswith(b"{")
    is_form = media_type == FORM_MEDIA_TYPE and not is_json_object
    try:
        return LoginForm.model_validate(_parse_form(body)) if is_form else Login.model_validate(parse_json(body))
    except ValidationError as error:
        raise invalid_body(error) from None


# The parameter type of a handler that receives a sign-in.
LoginBody = Annotated[Login, Depends(_read_login)]


def _parse_form(body: bytes) -> dict[str, str]:
    """Parse the fields of a URL-encoded form.

    Raises:
        BadRequest: the form is malformed or has too many fields.
        UnknownName: a field is unknown.
        Invalid: a field occurs more than once, so its value is ambiguous.
    """
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FORM_FIELDS)
    except ValueError as error:
        raise BadRequest from error

    occurrences = Counter(name for name, _ in fields)
    # The error does not quote the unknown field, which may be the part of an unencoded password after a "&".
    if not occurrences.keys() <= LoginForm.model_fields.keys():
        raise UnknownName(FieldError(("body",), "unknown_form_field", {"known": ", ".join(Login.model_fields)}))

    for name, count in occurrences.items():
        if count > 1:
            raise Invalid(FieldError(("body", name), "given_twice", {"count": count}))

    return dict(fields)
