"""Disk space held in reserve, because signing in and deleting must still work when the disk is full."""

import os
from pathlib import Path
from typing import Final

# The reserve is at most a sixteenth of the file system: a larger one would fill a small disk from the start.
SMALLEST_DISK_RATIO: Final = 16


class DiskReserve:
    """A file beside an SQLite database that occupies space and is removed when the disk is full.

    While the file is missing, every process on this database accepts only essential writes. Once there is enough free
    space the file is created again, and all writes are accepted.
    """

    def __init__(self, database_path: str, size: int) -> None:
        self._path = Path(f"{database_path}.reserve")
        self._folder = self._path.absolute().parent
        disk = os.statvfs(self._folder)
        self._size = min(size, disk.f_blocks * disk.f_frsize // SMALLEST_DISK_RATIO)

    @property
    def is_intact(self) -> bool:
        """Whether all writes are accepted."""
        return self._path.exists()

    def free_bytes(self) -> int:
        """Return the number of bytes that this process can still write."""
        disk = os.statvfs(self._folder)
        free_blocks = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail
        return disk.f_frsize * free_blocks

    def admits(self, byte_count: int) -> bool:
        """Return whether this many bytes can be written beside the database without touching the reserve."""
        return self.is_intact and byte_count <= self.free_bytes()

    def admits_reuse(self, unused_bytes: int) -> bool:
        """Return whether the database may grow into `unused_bytes` of its own file while the reserve is missing.

        Deleting a row frees pages of the database but no disk space, and the write-ahead log still needs some space.
        """
        free_bytes = self.free_bytes()
        return free_bytes >= self._size // 2 and free_bytes + unused_bytes >= 2 * self._size

    def release(self) -> None:
        """Make the reserved space available to essential writes."""
        self._path.unlink(missing_ok=True)

    def release_if_short(self) -> None:
        """Release the reserve if the essential write that is about to begin could fail without it."""
        if self.free_bytes() < self._size // 4:
            self.release()

    def restore(self) -> None:
        """Reserve the space again if there is enough, with a margin that prevents alternating with `release`."""
        if self.is_intact or self.free_bytes() < self._size + self._size // 4:
            return

        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, self._size)
        except OSError:  # another process has used the space in the meantime
            self.release()
        finally:
            os.close(descriptor)
