"""The exception handlers of all applications, and the choice of the response language.

The errors are defined in `core/errors.py`, and `error_rendering.py` renders their bodies.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from touchstone.core.errors import (
    BadRequest,
    FieldError,
    InternalError,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ServiceError,
    UnknownName,
)
from touchstone.http.error_rendering import render_error
from touchstone.http.responses import JsonResponse
from touchstone.messages.accept_language import preferred_locale


class Problem(BaseModel):
    """The body of every error response."""

    detail: str = Field(description="One sentence, French by default, English with `Accept-Language: en`.")
    code: str = Field(description="Stable code of the error.")
    errors: list[dict[str, Any]] = Field(
        description="The place (`loc`), the reason (`msg`) and the code (`type`) of each error."
    )


_WWW_AUTHENTICATE: Final = {"WWW-Authenticate": {"description": "`Bearer`, if 401.", "schema": {"type": "string"}}}
_RETRY_AFTER: Final = {
    "Retry-After": {"description": "Seconds to wait, if 429 or 503.", "schema": {"type": "integer", "minimum": 0}}
}
# Added to the OpenAPI description of every operation.
ERROR_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {
        "model": Problem,
        "description": "The request is refused, for the reason in `detail`.",
        "headers": _WWW_AUTHENTICATE | _RETRY_AFTER,
    },
    "5XX": {"model": Problem, "description": "The request cannot be answered now.", "headers": _RETRY_AFTER},
}


def request_locale(scope: Scope) -> str:
    """Return the preferred language, `fr` or `en`, according to the `Accept-Language` header.

    Several lines of the header are one list (RFC 9110, section 5.3).
    """
    lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-language"]
    return preferred_locale(",".join(lines) if lines else None)


def error_response(error: ServiceError, scope: Scope) -> Response:
    """Return the response that reports an error in the language of the request."""
    body = render_error(error, request_locale(scope))
    return JsonResponse(body, status_code=error.status, headers=error.headers)


async def _handle_service_error(request: Request, error: Exception) -> Response:
    """Report one of our own errors."""
    assert isinstance(error, ServiceError)
    return error_response(error, request.scope)


async def _handle_validation_error(request: Request, error: Exception) -> Response:
    """Report a request that Pydantic found invalid, with an entry for each invalid field."""
    assert isinstance(error, RequestValidationError)
    return error_response(_combine_errors(error.errors()), request.scope)


def invalid_body(error: ValidationError) -> Invalid:
    """Convert a Pydantic error about a request body to an error of our own.

    The response is the same as for a body that FastAPI validates itself.
    """
    details = [{**detail, "loc": ("body", *detail["loc"])} for detail in error.errors(include_input=False)]
    return _combine_errors(details)


def _combine_errors(pydantic_errors: Sequence[Mapping[str, Any]]) -> Invalid:
    """Combine the errors reported by Pydantic into one error of our own."""
    field_errors = [_convert_pydantic_error(pydantic_error) for pydantic_error in pydantic_errors]
    error_class = UnknownName if field_errors[0].kind == "unknown_name" else Invalid
    return error_class(*field_errors)


def _convert_pydantic_error(pydantic_error: Mapping[str, Any]) -> FieldError:
    """Convert a Pydantic error to a field error, without the invalid input, which may be a password.

    For an unknown name, Pydantic reports the location of the object, so the name is added.
    """
    location = tuple(pydantic_error["loc"])
    facts = pydantic_error.get("ctx") or {}
    if pydantic_error["type"] == "unknown_name":
        location = (*location, facts["name"])

    return FieldError(
        loc=location,
        kind=pydantic_error["type"],
        facts=facts,
        fallback=pydantic_error["msg"],
    )


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    """Report an exception raised by Starlette or FastAPI, such as a missing route."""
    assert isinstance(error, HTTPException)
    headers = error.headers or {}

    if error.status_code == NotFound.status:
        return error_response(NotFound(), request.scope)

    if error.status_code == MethodNotAllowed.status:
        allowed_methods = headers.get("Allow", "").split(", ")
        return error_response(MethodNotAllowed(allowed=allowed_methods), request.scope)

    return error_response(BadRequest(headers=headers), request.scope)


async def handle_defect(request: Request, error: Exception) -> Response:
    """Respond to an unexpected exception, without revealing anything about it.

    Starlette raises the exception again after the response, so that the log gets the traceback.
    """
    return error_response(InternalError(), request.scope)


EXCEPTION_HANDLERS: Final[Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]] = {
    ServiceError: _handle_service_error,
    RequestValidationError: _handle_validation_error,
    HTTPException: _handle_http_exception,
}


async def handle_exception(request: Request, error: Exception) -> Response:
    """Return the error response for an exception that was raised by a handler called without FastAPI.

    Exceptions without a registered exception handler are raised again.
    """
    for error_class, handler in EXCEPTION_HANDLERS.items():
        if isinstance(error, error_class):
            return await handler(request, error)
    raise error
