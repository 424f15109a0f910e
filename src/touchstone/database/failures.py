"""Conversion of exceptions of database drivers and the disk to errors of `core/errors.py`.

Callers therefore only have to handle `Unavailable` and `StorageFull`, regardless of the database and its driver.
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
    "Disk quota exceeded",
    "could not extend file",
    "disk I/O error",
)
# PostgreSQL's error codes for writes on a standby server, and for missing rights. Since PostgreSQL 15, users may not
# create tables in the schema `public` by default.
_REFUSED_SQLSTATES: Final = frozenset({"25006", "42501"})
_CONNECTION_FAILURES: Final = (
    OperationalError,
    sqlite3.OperationalError,
    InterfaceError,
    PoolTimeout,
    ConnectionError,
)


@contextmanager
def translate_failures() -> Iterator[None]:
    """Raise `StorageFull` or `Unavailable` if the database or the disk fails in the `with` block.

    Other exceptions are raised unchanged.
    """
    try:
        yield
    except ServiceError:
        raise
    except Exception as failure:
        if is_disk_full(failure):
            raise StorageFull from failure
        if is_unavailable(failure):
            raise Unavailable from failure
        raise


def is_disk_full(failure: BaseException) -> bool:
    """Return whether an exception means that the disk is full."""
    if isinstance(failure, StorageFull):
        return True
    if isinstance(failure, IntegrityError) or not isinstance(failure, DBAPIError | sqlite3.Error | OSError):
        return False

    # Drivers have no exception class for a full disk, so it can only be recognized by the message.
    description = str(failure)
    return any(message in description for message in _DISK_FULL_MESSAGES)


def is_unavailable(failure: BaseException) -> bool:
    """Return whether an exception means that the database is busy, damaged, read-only, unreachable or inaccessible."""
    # A violated constraint shows that the database is available.
    if isinstance(failure, IntegrityError):
        return False

    is_connection_lost = isinstance(failure, DBAPIError) and failure.connection_invalidated
    is_connection_failure = is_connection_lost or isinstance(failure, _CONNECTION_FAILURES)
    return is_connection_failure or is_damaged(failure) or _is_refused(failure)


def _is_refused(failure: BaseException) -> bool:
    """Return whether an exception means that PostgreSQL is read-only, or that our user has no right to the tables."""
    driver_error = getattr(failure, "orig", failure)
    return getattr(driver_error, "sqlstate", None) in _REFUSED_SQLSTATES


def is_busy(failure: BaseException) -> bool:
    """Return whether an exception means that the database is busy with other transactions."""
    is_locked = is_unavailable(failure) and "locked" in str(failure)
    return is_locked or isinstance(failure, PoolTimeout)
