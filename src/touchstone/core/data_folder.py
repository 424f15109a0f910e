"""The data folder: created at the start, and readable only by the user who runs the service."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from touchstone.core.settings import Settings, SettingsError

PRIVATE_UMASK: Final = 0o077
# Only what the service itself creates, because the folder might be shared with something else.
_OUR_NAMES: Final = ("touchstone.db*", "*.key", "*.index", "*.id", "uploads", "artifacts")
log = structlog.get_logger("touchstone.data")


def prepare_data_folder(settings: Settings, database_path: str | None) -> None:
    """Create the data folder and make its contents private, whoever created them.

    From now on this process and its children create files with mode 0600 and folders with mode 0700.

    Raises:
        SettingsError: the folder cannot be created or written to.
    """
    folder = settings.data_dir
    os.umask(PRIVATE_UMASK)

    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_writable(folder)
    except OSError as error:
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {folder} cannot be used: {error.strerror}") from None

    for path in _our_paths(folder, database_path):
        _make_private(path)


def _require_writable(folder: Path) -> None:
    """Raise OSError if no file can be created in the folder."""
    probe = folder / f".writable-{os.getpid()}"
    try:
        probe.touch()
    finally:
        probe.unlink(missing_ok=True)


def _our_paths(folder: Path, database_path: str | None) -> Iterator[Path]:
    """Yield the folder, everything in it that the service creates, and the files of the database."""
    is_shared = folder.stat().st_mode & stat.S_ISVTX  # such as /tmp itself
    if not is_shared:
        yield folder

    for pattern in _OUR_NAMES:
        for path in folder.glob(pattern):
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from path.rglob("*")

    if database_path is not None:
        for suffix in ("", "-wal", "-shm"):
            yield Path(database_path + suffix)


def _make_private(path: Path) -> None:
    """Remove every right of other users, or log a warning where that is not possible."""
    try:
        mode = path.lstat().st_mode
        if mode & PRIVATE_UMASK and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~PRIVATE_UMASK)
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("readable by other users", path=str(path), problem=error.strerror)
