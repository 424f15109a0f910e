"""Messages for the operator if the database cannot be used when a service or a command starts."""

import contextlib
from collections.abc import Iterator

from touchstone.core.errors import StorageFull, Unavailable
from touchstone.core.outage_log import first_line_of_driver_error
from touchstone.core.settings import Settings, SettingsError
from touchstone.database.sqlite import find_damage, is_damaged, sqlite_path


@contextlib.contextmanager
def startup_errors(settings: Settings) -> Iterator[None]:
    """Convert database failures in the `with` block to errors that tell the operator what to do.

    Raises:
        SettingsError: the disk is full, or the database cannot be opened or is damaged. The message is a single line,
            which begins with the environment variable for the location of the database.
    """
    variable = database_variable(settings)
    try:
        yield
    except StorageFull as error:
        raise SettingsError(f"{variable}: the disk is full; free some space and start again.") from error
    except Unavailable as error:
        raise SettingsError(f"{variable}: {_describe_unavailable_database(error, settings)}") from error


def check_database_file(settings: Settings) -> bool:
    """Check that an SQLite file is not damaged anywhere, and return whether the database has such a file.

    Raises:
        SettingsError: the file is damaged.
    """
    path = sqlite_path(settings.effective_database_url)
    if path is None:
        return False

    damage = find_damage(path)
    if damage is not None:
        reason = " ".join(damage.split())
        raise SettingsError(f"{database_variable(settings)}: {_describe_damage(reason, settings)}")
    return True


def database_variable(settings: Settings) -> str:
    """Return the name of the environment variable that locates the database."""
    return "TOUCHSTONE_DATA_DIR" if settings.database_url is None else "TOUCHSTONE_DATABASE_URL"


def _describe_unavailable_database(error: Unavailable, settings: Settings) -> str:
    """Return why the database cannot be opened and, if the file is damaged, how to recover."""
    driver_error = error.__cause__
    reason = first_line_of_driver_error(driver_error)
    if not is_damaged(driver_error):
        return f"the database cannot be opened: {reason}"

    return _describe_damage(reason, settings)


def _describe_damage(reason: str, settings: Settings) -> str:
    """Return that the file of the database is damaged, and how to recover."""
    path = sqlite_path(settings.effective_database_url)
    return (
        f"{path} is damaged ({reason}). Move it and its -wal and -shm files away; then put a backup in "
        f"its place, such as one of {path}.*, or start without one to begin empty."
    )
