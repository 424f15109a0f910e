"""Disk space kept back so that a full disk can be emptied: signing in and deleting write to the database as well."""

import os
from pathlib import Path
from typing import Final

# A file system of a few megabytes would be full from the start: the reserve is at most this part of it.
LARGEST_SHARE: Final = 16


class DiskReserve:
    """A file beside an SQLite database that takes up space, and is removed when the disk is full.

    While it is missing only essential writes are accepted, in every process on this database. It is made again, and
    other writes are accepted again, once there is enough free space.
    """

    def __init__(self, database_path: str, size: int) -> None:
        self._path = Path(f"{database_path}.reserve")
        self._folder = self._path.absolute().parent
        numbers = os.statvfs(self._folder)
        self._size = min(size, numbers.f_blocks * numbers.f_frsize // LARGEST_SHARE)

    @property
    def is_intact(self) -> bool:
        """Whether all writes are accepted."""
        return self._path.exists()

    def free_bytes(self) -> int:
        """Return how much this process may still write."""
        numbers = os.statvfs(self._folder)
        return numbers.f_frsize * (numbers.f_bfree if os.geteuid() == 0 else numbers.f_bavail)

    def admits(self, byte_count: int) -> bool:
        """Return whether so much can be written beside the database without touching the reserve."""
        return self.is_intact and byte_count <= self.free_bytes()

    def admits_reuse(self, unused_bytes: int) -> bool:
        """Return whether the database may grow into `unused_bytes` of its own file while the reserve is missing.

        A deleted row frees no disk space, only pages of the database; the write-ahead log still needs some space.
        """
        free = self.free_bytes()
        return free >= self._size // 2 and free + unused_bytes >= 2 * self._size

    def release(self) -> None:
        """Give the space to essential writes."""
        self._path.unlink(missing_ok=True)

    def release_if_short(self) -> None:
        """Give the space to the essential write that is about to begin, if it could fail without."""
        if self.free_bytes() < self._size // 4:
            self.release()

    def restore(self) -> None:
        """Take the space back if there is enough, with a margin that keeps this from alternating with `release`."""
        if self.is_intact or self.free_bytes() < self._size + self._size // 4:
            return
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, self._size)
        except OSError:  # somebody else was faster
            self.release()
        finally:
            os.close(descriptor)
