"""The bodies of error responses: the only place where an error of `core/errors.py` becomes French or English text.

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
    UnknownName,
    UnusableDocuments,
)
from touchstone.messages import FRENCH_ONLY, document_rejection_text, job_error_text, text, validation_text

# Keys of the texts that name a part of the request, for errors that concern no single field.
_REQUEST_PART_TEXTS: Final = {"query": "whole_query", "path": "whole_path"}


def render_error(error: ServiceError, locale: str) -> dict[str, Any]:
    """Return the JSON body of an error response, with its sentences in the language `locale`.

    `detail` explains the error to a person, `code` identifies it for a program, and `errors` has one entry for each
    invalid field of the request, with the same keys as an error of pydantic.
    """
    return {
        "detail": render_detail(error, locale),
        "code": error.code,
        "errors": [_render_field_error(error, field_error, locale) for field_error in error.field_errors],
    }


def render_detail(error: ServiceError, locale: str) -> str:
    """Return the sentence that explains an error to a person, in the language `locale`.

    If fields of the request are invalid, the sentence is about the first of them. The API contract fixes the sentences
    of the errors in `FRENCH_ONLY`, so these are not translated.
    """
    if not isinstance(error, Invalid) or not error.field_errors:
        sentence_locale = "fr" if error.code in FRENCH_ONLY else locale
        return text(_text_key(error), sentence_locale, **error.facts)

    field_error = error.field_errors[0]
    explanation = _explain(error, field_error, locale)

    # The explanation of an unknown name is a complete sentence already.
    if isinstance(error, UnknownName):
        return explanation
    if isinstance(error, InvalidJobRequest):
        return text(error.code, locale, reason=explanation)

    location = _describe_location(field_error.loc, locale)
    return text(error.code, locale, where=location, why=explanation, **error.facts)


def _text_key(error: ServiceError) -> str:
    """Return the key of an error's sentence: its code, except while the number of records to load is not known."""
    if isinstance(error, CatalogLoading) and not error.facts["total_records"]:
        return "catalog_loading_begins"
    return error.code


def _render_field_error(error: ServiceError, field_error: FieldError, locale: str) -> dict[str, Any]:
    """Return the entry of one invalid field: where it is, why it is refused, and a stable key of the reason."""
    return {
        "loc": list(field_error.loc),
        "msg": _explain(error, field_error, locale),
        "type": field_error.kind,
    }


def _explain(error: ServiceError, field_error: FieldError, locale: str) -> str:
    """Return the sentence that says why the value of a field is not accepted."""
    if isinstance(error, InvalidJobRequest):
        return job_error_text(field_error.kind, field_error.facts, locale)
    if isinstance(error, UnusableDocuments):
        return document_rejection_text(field_error.kind, locale)
    return validation_text(field_error.kind, field_error.fallback, field_error.facts, locale)


def _describe_location(location: Location, locale: str) -> str:
    """Return the dotted path of a field, or the name of a part of the request if the error concerns no single field.

    A location begins with the part of the request (`body`, `query` or `path`), which the dotted path leaves out.
    """
    request_part, *field_path = location or ("body",)
    if field_path:
        return ".".join(map(str, field_path))

    text_key = _REQUEST_PART_TEXTS.get(str(request_part), "whole_body")
    return validation_text(text_key, fallback="", context=None, locale=locale)
