"""Checks of query strings that FastAPI parses."""

from starlette.requests import Request

from touchstone.core.errors import FieldError, InvalidValue


def require_single_values(request: Request) -> None:
    """Check that no query parameter is repeated, because FastAPI would ignore all values but the last.

    Raises:
        InvalidValue: a parameter is repeated.
    """
    parameters = request.query_params
    for name in parameters:
        count = len(parameters.getlist(name))
        if count > 1:
            raise InvalidValue(FieldError(("query", name), "given_twice", {"count": count}))
