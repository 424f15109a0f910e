"""Flattening of nested objects in the rows of JSON files, with column names such as `address.city`."""

from typing import Any, Final

SEPARATOR: Final = "."
MAX_LEVELS: Final = 5  # objects below this level are not flattened

Row = dict[str, Any]


def member_name(object_name: str, key: str) -> str:
    """Return the name of the column for a member of an object."""
    return f"{object_name}{SEPARATOR}{key}"


def flatten(row: Row) -> Row:
    """Replace the objects in a row by their members. Arrays are not changed."""
    if not any(isinstance(value, dict) for value in row.values()):
        return row

    flat_row: Row = {}
    for name, value in row.items():
        _add_members(flat_row, name, value, levels=MAX_LEVELS)
    return flat_row


def _add_members(flat_row: Row, name: str, value: Any, *, levels: int) -> None:
    """Add a value to a flat row, or the members of an object down to `levels` levels."""
    if not isinstance(value, dict) or levels == 0:
        flat_row[name] = value
        return

    for key, member in value.items():
        _add_members(flat_row, member_name(name, key), member, levels=levels - 1)


def enclosing_names(name: str) -> list[str]:
    """Return the names of all objects that may contain a column, the outermost first."""
    keys = name.split(SEPARATOR)
    return [SEPARATOR.join(keys[:count]) for count in range(1, len(keys))]
