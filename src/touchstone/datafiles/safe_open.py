"""Opening of data files at client-supplied paths, without ever leaving the data folders.

A path is opened one component at a time, each relative to its parent folder and without following links (openat(2) with
O_NOFOLLOW). The open file is checked instead of its path, so that it cannot be replaced between the check and its use.
For the same reason, the rest of the service passes on the open file and not the path.
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
    """A possible location of a data file.

    Attributes:
        folder: a data folder.
        components: the names of the subfolders that lead to the file, and the name of the file.
    """

    folder: Path
    components: tuple[str, ...]


class UnreadablePath(Exception):
    """There is no readable file at a path, because it is missing, forbidden or outside the data folders."""

    def __init__(self) -> None:
        super().__init__("no readable data file at this path")


def open_data_file(path: str, roots: Sequence[Path], *, named_folders: Mapping[str, Path] | None = None) -> BinaryIO:
    """Open a data file at a client-supplied path, which must lie inside a data folder.

    Symbolic links below a data folder are not followed, because they could lead out of it.

    Args:
        path: a path relative to a data folder, or the absolute path of a file in one.
        roots: the data folders, which are searched in this order.
        named_folders: further data folders by name, such as `uploads`. A relative path that begins with such a name is
            looked up in this folder only.

    Raises:
        UnreadablePath: there is no such regular file, or it may not be read.
    """
    for location in _possible_locations(path, roots, named_folders or {}):
        try:
            return _open_without_symlinks(location.folder, location.components)
        except (OSError, ValueError):
            # The file cannot be opened, or its name cannot be encoded, for example because of a lone surrogate.
            continue

    raise UnreadablePath


def _possible_locations(path: str, roots: Sequence[Path], named_folders: Mapping[str, Path]) -> Iterator[_Location]:
    """Yield the possible locations of the file at a path, in the order of the search."""
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
    if first_component in named_folders:
        yield _Location(named_folders[first_component], components[1:])
        return

    for root in roots:
        yield _Location(root, components)


def _split_path(path: str) -> tuple[str, ...]:
    """Return the components of a path, or an empty tuple if it must not be opened.

    URLs must not be opened, and neither must paths with `..` or a null byte.
    """
    if "\0" in path or "://" in path:
        return ()

    components = tuple(component for component in path.split("/") if component not in ("", "."))
    if ".." in components:
        return ()
    return components


def _locations_below_root(root: Path, components: tuple[str, ...]) -> Iterator[_Location]:
    """Yield the location of an absolute path, given as components, if it is below a root.

    If the root is a symbolic link, the path may begin with the link or with its target.
    """
    folder_as_configured = Path(os.path.abspath(root))  # noqa: PTH100 (no links followed)
    resolved_folder = root.resolve()

    # Without symbolic links, both are the same folder, which is tried only once.
    for folder in dict.fromkeys((folder_as_configured, resolved_folder)):
        folder_components = folder.parts[1:]
        depth = len(folder_components)
        is_below_folder = components[:depth] == folder_components and len(components) > depth
        if is_below_folder:
            yield _Location(folder, components[depth:])


def _open_without_symlinks(root: Path, components: Sequence[str]) -> BinaryIO:
    """Open a regular file below a root without following symbolic links.

    Each folder is opened relative to its parent. Opening the whole path at once would follow a link if another process
    replaced a folder by one.

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
    """Return a file object for a descriptor, or close it and raise OSError if it is not a regular file."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")

    os.close(descriptor)
    raise FileNotFoundError
