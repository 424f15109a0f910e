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

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class UnreadablePath(Exception):
    """The path names no file that may be read: it is missing, forbidden or outside the data folders."""

    def __init__(self) -> None:
        super().__init__("no readable data file at this path")


def open_data_file(path: str, roots: Sequence[Path], *, prefixes: Mapping[str, Path] | None = None) -> BinaryIO:
    """Open the regular file at `path` for reading; the caller closes it.

    A relative path is looked up in each root in order, an absolute one only below a root. A relative path whose first
    component is a key of `prefixes` (`demo`, `uploads`) is looked up in that folder alone. Roots may themselves be
    links; below them no link is followed.

    Raises:
        UnreadablePath: there is no such file, or it may not be read.
    """
    for root, components in _candidates(path, roots, prefixes or {}):
        try:
            return _open_below(root, components)
        except (OSError, ValueError):
            # A ValueError comes from a name that the file system cannot spell, such as a lone surrogate.
            continue

    raise UnreadablePath


def _candidates(
    path: str, roots: Sequence[Path], prefixes: Mapping[str, Path]
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the places where the path may be: a root, and the components below it."""
    if "\0" in path or "://" in path:
        return
    components = tuple(part for part in path.split("/") if part not in ("", "."))
    if not components or ".." in components:
        return
    if path.startswith("/"):
        for root in roots:
            for spelling in dict.fromkeys((Path(os.path.abspath(root)), root.resolve())):  # noqa: PTH100 (no links followed)
                below = spelling.parts[1:]
                if components[: len(below)] == below and len(components) > len(below):
                    yield spelling, components[len(below) :]
    elif components[0] in prefixes:
        yield prefixes[components[0]], components[1:]
    else:
        yield from ((root, components) for root in roots)


def _open_below(root: Path, components: Sequence[str]) -> BinaryIO:
    """Walk down from the root and open the last component as a regular file.

    Raises:
        OSError: a component cannot be opened, or the last one is not a regular file.
    """
    if not components:
        raise FileNotFoundError

    folder = os.open(root, _FOLDER)
    try:
        for name in components[:-1]:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return _regular_file(os.open(components[-1], _FILE, dir_fd=folder))
    finally:
        os.close(folder)


def _regular_file(descriptor: int) -> BinaryIO:
    """Return the descriptor as a file object; close it and raise OSError if it is not a regular file."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")

    os.close(descriptor)
    raise FileNotFoundError
