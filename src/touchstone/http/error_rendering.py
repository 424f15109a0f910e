"""The texts of error responses: the only place where an error's code and facts become French or English sentences."""

from typing import Any, Final

from touchstone.core.errors import FieldError, Invalid, InvalidJobRequest, Location, ServiceError, UnknownName
from touchstone.messages import FRENCH_ONLY, job_error_text, text, validation_text

# Names of the parts of a request, for errors that concern no single field.
_REQUEST_PARTS: Final = {"query": "whole_query", "path": "whole_path"}


def render_error(error: ServiceError, locale: str) -> dict[str, Any]:
    """Return the JSON body of an error response: `detail`, `code` and `errors`."""
    return {
        "detail": render_detail(error, locale),
        "code": error.code,
        "errors": [
            {
                "loc": list(field_error.loc),
                "msg": _explain(error, field_error, locale),
                "type": field_error.kind,
            }
            for field_error in error.field_errors
        ],
    }


def render_detail(error: ServiceError, locale: str) -> str:
    """Return the sentence that describes an error; the contract fixes three of them in French."""
    if not isinstance(error, Invalid) or not error.field_errors:
        return text(error.code, "fr" if error.code in FRENCH_ONLY else locale, **error.facts)

    first = error.field_errors[0]
    explanation = _explain(error, first, locale)
    if isinstance(error, UnknownName):
        return explanation
    if isinstance(error, InvalidJobRequest):
        return text(error.code, locale, reason=explanation)
    return text(error.code, locale, where=_describe_location(first.loc, locale), why=explanation, **error.facts)


def _explain(error: ServiceError, field_error: FieldError, locale: str) -> str:
    """Return why a value is not accepted."""
    if isinstance(error, InvalidJobRequest):
        return job_error_text(field_error.kind, field_error.facts, locale)
    return validation_text(field_error.kind, field_error.fallback, field_error.facts, locale)


def _describe_location(loc: Location, locale: str) -> str:
    """Return the dotted path of a field, or the name of the part of the request if there is no field."""
    request_part, *path = loc or ("body",)
    if path:
        return ".".join(map(str, path))
    return validation_text(_REQUEST_PARTS.get(str(request_part), "whole_body"), "", None, locale)
