"""Opening of data files by paths that callers choose, without ever leaving the data folders.

The path is walked one component at a time. Each component is opened relative to the folder before it and without
following links (openat(2) with O_NOFOLLOW), and the opened file is checked instead of its name, so that nothing can be
replaced between the check and the use. The rest of the service passes on the opened file and not the path.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


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
    for folder, components in _possible_locations(path, roots, prefixes or {}):
        try:
            return _open_below(folder, components)
        except OSError:
            continue
        except ValueError:
            continue  # the file system cannot encode the name, for example because of a lone surrogate

    raise UnreadablePath


def _possible_locations(
    path: str, roots: Sequence[Path], prefixes: Mapping[str, Path]
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield where the file may be: each time a folder, and the components of the file's path below that folder.

    Nothing is yielded for URLs and for paths with `..`, so that these are never opened.
    """
    if "\0" in path or "://" in path:
        return

    components = tuple(component for component in path.split("/") if component not in ("", "."))
    if not components or ".." in components:
        return

    is_absolute = path.startswith("/")
    if is_absolute:
        for root in roots:
            yield from _locations_below_root(root, components)
    elif components[0] in prefixes:
        yield prefixes[components[0]], components[1:]
    else:
        for root in roots:
            yield root, components


def _locations_below_root(root: Path, components: tuple[str, ...]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the location of an absolute path if it is below a root.

    If the root is a symbolic link, the path may begin with the link or with its target.
    """
    own_name = Path(os.path.abspath(root))  # noqa: PTH100 (no links followed)
    for root_name in dict.fromkeys((own_name, root.resolve())):
        root_components = root_name.parts[1:]
        depth = len(root_components)
        if components[:depth] == root_components and len(components) > depth:
            yield root_name, components[depth:]


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
