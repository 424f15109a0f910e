"""Objects within the rows of JSON files, whose members are columns of their own, such as `address.city`."""

from typing import Any, Final

SEPARATOR: Final = "."
MAX_LEVELS: Final = 5  # Objects below this level are not divided any more.

Row = dict[str, Any]


def member_name(object_name: str, key: str) -> str:
    """Return the name of the column for a member of an object."""
    return f"{object_name}{SEPARATOR}{key}"


def flatten(row: Row) -> Row:
    """Return a row with the members of its objects in place of the objects; arrays stay as they are."""
    if not any(isinstance(value, dict) for value in row.values()):
        return row

    flat_row: Row = {}
    for name, value in row.items():
        _add_members(flat_row, name, value, levels=MAX_LEVELS)
    return flat_row


def _add_members(flat_row: Row, name: str, value: Any, *, levels: int) -> None:
    """Add a value to a row, or the members of an object that has at most `levels` levels of objects."""
    if not isinstance(value, dict) or levels == 0:
        flat_row[name] = value
        return

    for key, member in value.items():
        _add_members(flat_row, member_name(name, key), member, levels=levels - 1)


def enclosing_names(name: str) -> list[str]:
    """Return the names of the objects that a column may be a member of, the outermost first."""
    keys = name.split(SEPARATOR)
    return [SEPARATOR.join(keys[:count]) for count in range(1, len(keys))]
