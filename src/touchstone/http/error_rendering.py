"""The bodies of error responses, in French or English.

`error_responses.py` sends them.
"""

from typing import Any, Final

from touchstone.core.errors import (
    CatalogLoading,
    FieldError,
    Invalid,
    InvalidJobRequest,
    Location,
    ServiceError,
    UnusableDocuments,
)
from touchstone.messages import FRENCH_ONLY, document_rejection_text, job_error_text, text, validation_text

# Message keys of the parts of a request, for errors that do not concern a single field.
_REQUEST_PART_MESSAGES: Final = {"query": "whole_query", "path": "whole_path"}


def render_error(error: ServiceError, locale: str) -> dict[str, Any]:
    """Return the JSON body of an error response, with messages in the language `locale`.

    `detail` explains the error to people, `code` identifies it for programs, and `errors` has one entry for each
    invalid field of the request, with the same keys as in Pydantic's errors.
    """
    return {
        "detail": render_detail(error, locale),
        "code": error.code,
        "errors": [_render_field_error(error, field_error, locale) for field_error in error.field_errors],
    }


def render_detail(error: ServiceError, locale: str, *, body_message: str = "whole_body") -> str:
    """Return the sentence that explains an error to people, in the language `locale`.

    If fields of the request are invalid, the sentence is about the first one. Errors in `FRENCH_ONLY` are not
    translated, because the API contract specifies their exact wording.

    Args:
        error: the error.
        locale: the language.
        body_message: the key of the words for the whole body, if no field of it is invalid.
    """
    if not isinstance(error, Invalid) or not error.field_errors:
        sentence_locale = "fr" if error.code in FRENCH_ONLY else locale
        return text(_message_key(error), sentence_locale, **error.facts)

    field_error = error.field_errors[0]
    explanation = _explain(error, field_error, locale)
    if isinstance(error, InvalidJobRequest):
        return text(error.code, locale, reason=explanation)

    location = _describe_location(field_error.loc, locale, body_message)
    return text(error.code, locale, where=location, why=explanation, **error.facts)


def _message_key(error: ServiceError) -> str:
    """Return the message key of an error, which is usually its code."""
    # At first, the number of records to load is unknown.
    if isinstance(error, CatalogLoading) and not error.facts["total_records"]:
        return "catalog_loading_begins"
    return error.code


def _render_field_error(error: ServiceError, field_error: FieldError, locale: str) -> dict[str, Any]:
    """Return the location of an invalid field, and the reason with its stable key."""
    return {
        "loc": list(field_error.loc),
        "msg": _explain(error, field_error, locale),
        "type": field_error.kind,
    }


def _explain(error: ServiceError, field_error: FieldError, locale: str) -> str:
    """Return a sentence that explains why a field is invalid."""
    if isinstance(error, InvalidJobRequest):
        return job_error_text(field_error.kind, field_error.facts, locale)
    if isinstance(error, UnusableDocuments):
        return document_rejection_text(field_error.kind, field_error.facts, locale)
    return validation_text(field_error.kind, field_error.fallback, field_error.facts, locale)


def _describe_location(location: Location, locale: str, body_message: str) -> str:
    """Return the dotted path of a field, or the name of the request part if there is no field.

    A location begins with the part of the request (`body`, `query` or `path`), which the dotted path omits. The name of
    the body is the message with the key `body_message`.
    """
    request_part, *field_path = location or ("body",)
    if field_path:
        return ".".join(map(str, field_path))

    message_key = _REQUEST_PART_MESSAGES.get(str(request_part), body_message)
    return validation_text(message_key, fallback="", context=None, locale=locale)
