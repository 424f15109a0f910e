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
    """Open the data file at a path that a caller has chosen, if it is inside a data folder; the caller closes it.

    A relative path is looked up in each root in order, an absolute one only below a root. A relative path whose first
    component is a key of `prefixes` (`demo`, `uploads`) is looked up in that folder alone. Roots may themselves be
    links; below them no link is followed.

    Raises:
        UnreadablePath: there is no such regular file, or it may not be read.
    """
    for folder, components in _possible_locations(path, roots, prefixes or {}):
        try:
            return _open_below(folder, components)
        except (OSError, ValueError):
            # A ValueError comes from a name that the file system cannot spell, such as a lone surrogate.
            continue

    raise UnreadablePath


def _possible_locations(
    path: str, roots: Sequence[Path], prefixes: Mapping[str, Path]
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield each location where the file may be: a data folder, and the components of the path below that folder.

    URLs and paths with `..` have no location.
    """
    if "\0" in path or "://" in path:
        return
    components = tuple(component for component in path.split("/") if component not in ("", "."))
    if not components or ".." in components:
        return

    if path.startswith("/"):
        for root in roots:
            yield from _locations_below_root(root, components)
    elif components[0] in prefixes:
        yield prefixes[components[0]], components[1:]
    else:
        for root in roots:
            yield root, components


def _locations_below_root(root: Path, components: tuple[str, ...]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the location of an absolute path if it is below a root, which is known by its own name and by its target.

    Both names are compared, because the caller may use either if the root is a link.
    """
    own_name = Path(os.path.abspath(root))  # noqa: PTH100 (no links followed)
    for root_name in dict.fromkeys((own_name, root.resolve())):
        root_components = root_name.parts[1:]
        depth = len(root_components)
        if components[:depth] == root_components and len(components) > depth:
            yield root_name, components[depth:]


def _open_below(root: Path, components: Sequence[str]) -> BinaryIO:
    """Walk down from the root, one folder at a time, and open the last component as a regular file.

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

        return _as_regular_file(os.open(file_name, _FILE_FLAGS, dir_fd=folder))
    finally:
        os.close(folder)


def _as_regular_file(descriptor: int) -> BinaryIO:
    """Return the descriptor as a file object; close it and raise OSError if it is not a regular file."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")

    os.close(descriptor)
    raise FileNotFoundError
