"""Opening of data files by paths that callers choose, without ever leaving the data folders.

The path is walked one component at a time. Each component is opened relative to the folder before it and without
following links (openat(2) with O_NOFOLLOW), and the opened file is checked instead of its name, so that nothing can be
replaced between the check and the use. The rest of the service passes on the opened file and not the path.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class _Location(NamedTuple):
    """A place where a data file may be.

    Attributes:
        folder: the folder from which the path is walked.
        components: the names of the folders below it that lead to the file, and the name of the file.
    """

    folder: Path
    components: tuple[str, ...]


class UnreadablePath(Exception):
    """The path names no file that may be read: it is missing, forbidden or outside the data folders."""

    def __init__(self) -> None:
        super().__init__("no readable data file at this path")


def open_data_file(path: str, roots: Sequence[Path], *, prefixes: Mapping[str, Path] | None = None) -> BinaryIO:
    """Open a data file at a path that a client has sent, if the file is inside one of the data folders.

    No symbolic link below a data folder is followed, so that the path cannot lead out of it.

    Args:
        path: a path relative to a data folder, or the absolute path of a file in one.
        roots: the data folders, which are searched in this order.
        prefixes: folders by name, such as `uploads`; a relative path that begins with a name is looked up there only.

    Raises:
        UnreadablePath: there is no such regular file, or it may not be read.
    """
    for location in _possible_locations(path, roots, prefixes or {}):
        try:
            return _open_below(location.folder, location.components)
        except OSError:
            continue
        except ValueError:
            continue  # the file system cannot encode the name, for example because of a lone surrogate

    raise UnreadablePath


def _possible_locations(path: str, roots: Sequence[Path], prefixes: Mapping[str, Path]) -> Iterator[_Location]:
    """Yield the places where the file at a path may be, in the order in which they are tried."""
    components = _split_path(path)
    if not components:
        return

    is_absolute = path.startswith("/")
    if is_absolute:
        for root in roots:
            yield from _locations_below_root(root, components)
        return

    # A relative path may begin with the name of a special folder, such as `uploads`.
    first_component = components[0]
    if first_component in prefixes:
        yield _Location(prefixes[first_component], components[1:])
        return

    for root in roots:
        yield _Location(root, components)


def _split_path(path: str) -> tuple[str, ...]:
    """Return the components of a path, or none if it must not be opened: a URL, or a path with `..` or a null byte."""
    if "\0" in path or "://" in path:
        return ()

    components = tuple(component for component in path.split("/") if component not in ("", "."))
    if ".." in components:
        return ()
    return components


def _locations_below_root(root: Path, components: tuple[str, ...]) -> Iterator[_Location]:
    """Yield the location of an absolute path, given by its components, if it is below a root.

    If the root is a symbolic link, the path may begin with the link or with its target.
    """
    folder_as_configured = Path(os.path.abspath(root))  # noqa: PTH100 (no links followed)
    resolved_folder = root.resolve()

    # Without symbolic links, both are the same folder, which is then tried only once.
    for folder in dict.fromkeys((folder_as_configured, resolved_folder)):
        folder_components = folder.parts[1:]
        depth = len(folder_components)
        is_below_folder = components[:depth] == folder_components and len(components) > depth
        if is_below_folder:
            yield _Location(folder, components[depth:])


def _open_below(root: Path, components: Sequence[str]) -> BinaryIO:
    """Open the regular file with this path below a root, without following a symbolic link on the way.

    Each folder is opened relative to the one before it. Opening the whole path at once would follow a link that another
    process could put in the place of a folder.

    Raises:
        OSError: a component cannot be opened, or the last one is not a regular file.
    """
    if not components:
        raise FileNotFoundError
    *folder_names, file_name = components

    folder = os.open(root, _FOLDER_FLAGS)
    try:
        for folder_name in folder_names:
            subfolder = os.open(folder_name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = subfolder

        descriptor = os.open(file_name, _FILE_FLAGS, dir_fd=folder)
        return _as_regular_file(descriptor)
    finally:
        os.close(folder)


def _as_regular_file(descriptor: int) -> BinaryIO:
    """Return the descriptor as a file object; close it and raise OSError if it is not a regular file."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")

    os.close(descriptor)
    raise FileNotFoundError
