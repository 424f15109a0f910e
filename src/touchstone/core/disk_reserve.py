"""Reserved disk space, so that signing in and deleting still work when the disk is full."""

import os
from pathlib import Path
from typing import Final

# The reserve may use a sixteenth of the file system, because a larger one would immediately fill a small disk.
_MIN_DISK_TO_RESERVE_RATIO: Final = 16


class DiskReserve:
    """A file next to an SQLite database that occupies space and is deleted when the disk is full.

    While the file is missing, all processes that use the database accept only essential writes. Once there is enough
    free space, the file is created again and all writes are accepted.
    """

    def __init__(self, database_path: str, size_bytes: int) -> None:
        self._path = Path(f"{database_path}.reserve")
        self._folder = self._path.absolute().parent

        disk = os.statvfs(self._folder)
        disk_bytes = disk.f_blocks * disk.f_frsize
        self._size_bytes = min(size_bytes, disk_bytes // _MIN_DISK_TO_RESERVE_RATIO)

    @property
    def is_intact(self) -> bool:
        """Whether the reserve file exists, and therefore all writes are accepted."""
        return self._path.exists()

    def free_bytes(self) -> int:
        """Return the number of bytes that this process can still write. Root may also use reserved blocks."""
        disk = os.statvfs(self._folder)
        is_root = os.geteuid() == 0
        free_blocks = disk.f_bfree if is_root else disk.f_bavail
        return disk.f_frsize * free_blocks

    def has_room_for(self, byte_count: int) -> bool:
        """Return whether this many bytes can be written outside the database without using the reserve."""
        return self.is_intact and byte_count <= self.free_bytes()

    def can_reuse_pages(self, unused_bytes: int) -> bool:
        """Return whether the database may reuse `unused_bytes` of its file while the reserve is missing.

        Deleting rows frees pages of the database but no disk space, and the write-ahead log needs disk space.
        """
        free_bytes = self.free_bytes()
        has_room_for_log = free_bytes >= self._size_bytes // 2
        has_room_for_rows = free_bytes + unused_bytes >= 2 * self._size_bytes
        return has_room_for_log and has_room_for_rows

    def release(self) -> None:
        """Make the reserved space available to essential writes."""
        self._path.unlink(missing_ok=True)

    def release_if_short(self) -> None:
        """Release the reserve if there may be too little free space for the next essential write."""
        if self.free_bytes() < self._size_bytes // 4:
            self.release()

    def restore(self) -> None:
        """Create the reserve file again if it is missing and the disk has enough free space.

        All writes are then accepted. The file remains missing if another process uses the space first.
        """
        if self.is_intact:
            return

        # Without a margin, the next write could fill the disk, and the reserve would be released again.
        margin_bytes = self._size_bytes // 4
        if self.free_bytes() < self._size_bytes + margin_bytes:
            return

        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, self._size_bytes)
        except OSError:
            self._path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)
