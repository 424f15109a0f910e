"""The data folder, which is created at startup and only readable by the user who runs the service."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from touchstone.core.settings import Settings, SettingsError

# The permission bits for the group and for other users, which must not be set for any file of the service.
NON_OWNER_PERMISSIONS: Final = 0o077
# Only files created by the service, because other programs may use the same folder.
_SERVICE_FILE_PATTERNS: Final = (
    *("touchstone.db*", "signing.key", "installation.id", "uploads", "artifacts"),
    *("catalog-*.index", "catalog-*.lock", "catalog-*.unverified", "catalog-*.[0-9]*"),
)
log = structlog.get_logger("touchstone.data")


def prepare_data_folder(settings: Settings, database_path: str | None) -> None:
    """Create the data folder if it is missing, and make the service's files private.

    This must be called once, before the database is opened. It also sets the umask of the process.

    Args:
        settings: the settings with the path of the data folder.
        database_path: the file of an SQLite database, which may be outside the data folder, or None for PostgreSQL.

    Raises:
        SettingsError: the folder cannot be created or written to.
    """
    data_folder = settings.data_dir

    # This makes all new files private.
    os.umask(NON_OWNER_PERMISSIONS)

    try:
        data_folder.mkdir(parents=True, exist_ok=True)
        _check_writable(data_folder)
    except OSError as error:
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {data_folder} cannot be used: {error.strerror}") from None

    # Existing files may have been copied here or created with another umask.
    for path in _find_service_files(data_folder, database_path):
        _make_private(path)


def _check_writable(folder: Path) -> None:
    """Raise OSError if no file can be created in the folder."""
    test_file = folder / f".writable-{os.getpid()}"
    try:
        test_file.touch()
    finally:
        test_file.unlink(missing_ok=True)


def _find_service_files(data_folder: Path, database_path: str | None) -> Iterator[Path]:
    """Yield the paths of the data folder, the service's files in it, and the SQLite database.

    The data folder is left out if it holds anything else. Some of the paths may not exist.
    """
    service_paths = [path for pattern in _SERVICE_FILE_PATTERNS for path in data_folder.glob(pattern)]
    if database_path is not None:
        service_paths += [Path(database_path + suffix) for suffix in ("", "-wal", "-shm", ".reserve")]

    # A folder with other files, or with the sticky bit like /tmp, is not the service's own. Others may need it.
    has_sticky_bit = data_folder.stat().st_mode & stat.S_ISVTX
    if not has_sticky_bit and set(data_folder.absolute().iterdir()) <= {path.absolute() for path in service_paths}:
        yield data_folder

    for path in service_paths:
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from path.rglob("*")


def _make_private(path: Path) -> None:
    """Remove all permissions of other users, or log a warning if that is not possible."""
    try:
        mode = path.lstat().st_mode
        if mode & NON_OWNER_PERMISSIONS and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~NON_OWNER_PERMISSIONS)
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("readable by other users", path=str(path), problem=error.strerror)
