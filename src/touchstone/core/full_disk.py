"""Recognition of a full disk outside the database, such as the one with temporary files."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from touchstone.core.errors import StorageFull

DISK_FULL_ERRORS: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def report_full_disk() -> Iterator[None]:
    """Raise `StorageFull` if a file cannot be written in the `with` block because the disk or a quota is full.

    Other exceptions are raised unchanged.
    """
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL_ERRORS:
            raise StorageFull from error
        raise
