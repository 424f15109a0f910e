"""Conversion of exceptions of the database drivers and the disk into errors of `core/errors.py`.

Callers of the database therefore see `Unavailable` or `StorageFull`, whichever database and driver is in use.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from touchstone.core.errors import ServiceError, StorageFull, Unavailable
from touchstone.database.sqlite import is_damaged

_DISK_FULL_MESSAGES: Final = (
    "disk is full",
    "No space left on device",
    "could not extend file",
    "disk I/O error",
)
_CONNECTION_FAILURES: Final = (
    OperationalError,
    sqlite3.OperationalError,
    InterfaceError,
    PoolTimeout,
    ConnectionError,
)


@contextmanager
def translate_failures() -> Iterator[None]:
    """Raise a failure of the database or the disk in the block as the `ServiceError` that callers understand."""
    try:
        yield
    except Exception as problem:
        error = service_error_for(problem)
        if error is None or error is problem:
            raise
        raise error from problem


def service_error_for(problem: BaseException) -> ServiceError | None:
    """Return the error that clients receive after a failure of the database or the disk.

    All other exceptions give None. This includes violated constraints, which the caller that caused them handles.
    """
    if isinstance(problem, StorageFull):
        return problem
    if isinstance(problem, IntegrityError):
        return None
    if _is_disk_full(problem):
        return StorageFull()

    has_no_connection = isinstance(problem, _CONNECTION_FAILURES) or _is_connection_lost(problem)
    if has_no_connection or is_damaged(problem):
        return Unavailable()
    return None


def is_busy(problem: BaseException) -> bool:
    """Return whether the database could not be reached because of other transactions, not because of an outage."""
    return isinstance(problem, PoolTimeout) or "locked" in str(problem)


def _is_disk_full(problem: BaseException) -> bool:
    """Return whether the database or the system reports a full disk, for which drivers have no class of their own."""
    if not isinstance(problem, DBAPIError | sqlite3.Error | OSError):
        return False

    description = str(problem)
    return any(message in description for message in _DISK_FULL_MESSAGES)


def _is_connection_lost(problem: BaseException) -> bool:
    """Return whether the connection broke during a statement, for example because the server was stopped."""
    return isinstance(problem, DBAPIError) and problem.connection_invalidated
