"""The data folder: made at the start, and readable by the user of the service alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from touchstone.core.settings import Settings, SettingsError

PRIVATE_UMASK: Final = 0o077
# Only what the service itself has put there: the folder might be shared with something else.
_OWN_NAMES: Final = ("touchstone.db*", "*.key", "*.index", "*.id", "uploads", "artifacts")
log = structlog.get_logger("touchstone.data")


def prepare_data_folder(settings: Settings, database_path: str | None) -> None:
    """Make the data folder, and keep everything in it from other users of the machine, whatever made it.

    From here on this process and its children create files with mode 0600 and folders with mode 0700.

    Raises:
        SettingsError: the folder cannot be made or written to.
    """
    folder = settings.data_dir
    os.umask(PRIVATE_UMASK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_writable(folder)
    except OSError as problem:
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {folder} cannot be used: {problem.strerror}") from None

    for path in _own_paths(folder, database_path):
        _restrict(path)


def _check_writable(folder: Path) -> None:
    probe = folder / f".writable-{os.getpid()}"
    try:
        probe.touch()
    finally:
        probe.unlink(missing_ok=True)


def _own_paths(folder: Path, database_path: str | None) -> Iterator[Path]:
    if not folder.stat().st_mode & stat.S_ISVTX:  # such as /tmp itself, which is everybody's
        yield folder
    for pattern in _OWN_NAMES:
        for path in folder.glob(pattern):
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from path.rglob("*")
    if database_path is not None:
        yield from (Path(database_path + suffix) for suffix in ("", "-wal", "-shm"))


def _restrict(path: Path) -> None:
    """Take every right of other users away."""
    try:
        mode = path.lstat().st_mode
        if mode & PRIVATE_UMASK and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~PRIVATE_UMASK)
    except FileNotFoundError:
        return
    except OSError as problem:
        log.warning("readable by other users", path=str(path), problem=problem.strerror)
