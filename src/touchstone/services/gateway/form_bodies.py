"""Bodies that are not plain JSON: the form of a sign-in, and a picture."""

from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from touchstone.core.errors import BadRequest, FieldError, Invalid, TooLarge, UnsupportedMedia
from touchstone.http.json_body import parse_json
from touchstone.services.gateway.schemas import Login, LoginForm, validated

FORM: Final = "application/x-www-form-urlencoded"
_MAX_FIELDS: Final = 20
LOGIN_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            FORM: {"schema": LoginForm.model_json_schema()},
            "application/json": {"schema": Login.model_json_schema()},
        },
    }
}


async def login_of(request: Request) -> Login:
    """The sign-in in the body, a form or JSON as its media type says; JSON when it says nothing.

    Raises:
        NotJson, BadRequest: the body is not what it should be.
        Invalid: a field is given twice.
        UnsupportedMedia: a multipart form.
        RequestValidationError: fields are missing, unknown or out of bounds.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == FORM:
        return validated(LoginForm, _fields(await request.body()))
    if kind.startswith("multipart/"):
        raise UnsupportedMedia(expected=f"application/json, {FORM}")
    return validated(Login, parse_json(await request.body()))


async def limited_body(request: Request, limit: int) -> bytes:
    """The body, of at most `limit` bytes.

    Raises:
        TooLarge: it has more; reading stops there.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge(limit=limit)
    return body


def _fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as problem:
        raise BadRequest from problem
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        raise Invalid(
            FieldError(("body", twice[:80]), "given_twice", {"count": len([1 for name, _ in pairs if name == twice])})
        )
    return fields
