"""Flattening of nested objects in the rows of JSON files, with column names such as `address.city`."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

SEPARATOR: Final = "."
MAX_LEVELS: Final = 5  # objects below this level are not flattened

Row = dict[str, Any]
# A key of a row, or the keys that lead to a member of an object within it. Names are not enough, because a key with a
# dot may look like the name of such a member.
ColumnPath: TypeAlias = str | tuple[str, ...]
FlatRow = Mapping[ColumnPath, Any]


def member_name(object_name: str, key: str) -> str:
    """Return the name of the column for a member of an object."""
    return f"{object_name}{SEPARATOR}{key}"


def column_name(path: ColumnPath) -> str:
    """Return the name of the column with a path, such as `address.city`."""
    return path if isinstance(path, str) else SEPARATOR.join(path)


def flatten(row: Row) -> FlatRow:
    """Replace the objects in a row by their members. Arrays are not changed."""
    if not any(isinstance(value, dict) for value in row.values()):
        return row  # type: ignore[return-value]

    flat_row: dict[ColumnPath, Any] = {}
    for key, value in row.items():
        _add_members(flat_row, (key,), value, levels=MAX_LEVELS)
    return flat_row


def _add_members(flat_row: dict[ColumnPath, Any], keys: tuple[str, ...], value: Any, *, levels: int) -> None:
    """Add a value to a flat row, or the members of an object down to `levels` levels."""
    if not isinstance(value, dict) or levels == 0:
        flat_row[_path_of(keys)] = value
        return

    for key, member in value.items():
        _add_members(flat_row, (*keys, key), member, levels=levels - 1)


def enclosing_paths(path: ColumnPath) -> list[ColumnPath]:
    """Return the paths of all objects that contain a column, the outermost first."""
    return [] if isinstance(path, str) else [_path_of(path[:count]) for count in range(1, len(path))]


def _path_of(keys: tuple[str, ...]) -> ColumnPath:
    """Return the path of a value, which is a single key if the value is not within an object."""
    return keys[0] if len(keys) == 1 else keys
