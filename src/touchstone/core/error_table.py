"""The table of all errors of the HTTP API, for the documentation and the tests."""

from types import ModuleType
from typing import Final

from touchstone.core import errors, identity_provider_errors
from touchstone.core.errors import ServiceError


def _errors_of(module: ModuleType) -> list[type[ServiceError]]:
    """Return the error classes that a module defines."""
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, ServiceError)]
    return [value for value in classes if value.__module__ == module.__name__ and value is not ServiceError]


ERRORS: Final = tuple(
    sorted([*_errors_of(errors), *_errors_of(identity_provider_errors)], key=lambda error: (error.status, error.code))
)
