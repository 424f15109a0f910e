"""Tables for people, in which strings are never interpreted as markup or as commands to the terminal."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

T = TypeVar("T")
UNKNOWN: Final = "?"
UNLIMITED_WIDTH: Final = 10_000
MAX_CELL_CHARACTERS: Final = 80  # longer strings are cut in tables with many rows, but not in JSON output


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a table, which is wrapped on a narrow terminal unless it contains numbers or keys.

    Attributes:
        title: the heading of the column.
        read: a function that returns the value in this column for the item of a row.
        is_number: whether the values are numbers, which are aligned to the right.
        is_key: whether the values are keys, such as ids and states.
        min_width: the smallest number of characters on a line of a wrapped column.
    """

    title: str
    read: Callable[[T], Any]
    is_number: bool = False
    is_key: bool = False
    min_width: int | None = None


def build_table(columns: Sequence[Column[T]], items: Iterable[T], title: str | None = None) -> Table:
    """Return a table for a terminal, with one row for each item."""
    rows = [[format_value(column.read(item)) for column in columns] for item in items]
    table = _empty_table(title)

    # The width of a column may depend on its cells, so the rows are built before the columns.
    for index, column in enumerate(columns):
        cells_of_column = [row[index] for row in rows]
        _add_column(table, column, cells_of_column)

    for row in rows:
        table.add_row(*[Text(_shorten(cell)) for cell in row])
    return table


def _add_column(table: Table, column: Column[Any], cells: Sequence[str]) -> None:
    """Add a column to a table, wide enough for all `cells` if they must not be wrapped."""
    is_wrapped = not column.is_number and not column.is_key
    if is_wrapped:
        table.add_column(column.title, overflow="fold", min_width=column.min_width)
        return

    # Without a minimum, Rich would cut the cells and the title on a narrow terminal.
    min_width = max(len(line) for line in (*column.title.split("\n"), *cells))
    alignment: JustifyMethod = "right" if column.is_number else "left"
    table.add_column(column.title, justify=alignment, no_wrap=True, min_width=min_width)


def min_width_of(table: Table) -> int:
    """Return the number of characters per line that a terminal needs to show all columns of a table."""
    # Rich reports no minimum that is larger than the width of the console.
    wide_console = Console(width=UNLIMITED_WIDTH)
    return wide_console.measure(table).minimum


def _shorten(text: str) -> str:
    """Return a string cut to the maximum length of a cell, with an ellipsis at its end if it was longer."""
    if len(text) <= MAX_CELL_CHARACTERS:
        return text
    return text[: MAX_CELL_CHARACTERS - 1] + "…"


def build_facts_table(values_by_label: Mapping[str, Any], title: str | None = None) -> Table:
    """Return a table with one row for each label and value, without missing and empty values."""
    table = _empty_table(title)
    table.show_header = False
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")

    for label, value in values_by_label.items():
        if value not in (None, "", [], {}):
            table.add_row(label, Text(format_value(value)))
    return table


def _empty_table(title: str | None) -> Table:
    """Return a table without columns and rows, in the common style of all tables."""
    heading = None if title is None else Text(replace_unprintable_characters(title), style="bold")
    return Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def format_value(value: Any) -> str:
    """Return a value as text for people, without control characters.

    Booleans become yes or no, and None a question mark. Numbers have up to four decimals and spaces between thousands,
    times are local and name their time zone, and the items of a list are separated by commas.
    """
    match value:
        case None:
            text = UNKNOWN
        case bool():  # before int, because bool is a subclass of it
            text = "yes" if value else "no"
        case int():
            text = f"{value:,}".replace(",", " ")
        case float():
            text = f"{value:.4f}".rstrip("0").rstrip(".")
        case datetime():
            text = f"{value.astimezone():%Y-%m-%d %H:%M %Z}"
        case list() | tuple():
            text = ", ".join(format_value(item) for item in value)
        case _:
            text = str(value)
    return replace_unprintable_characters(text)


def digits_of(number: int | None) -> str | None:
    """Return a year or an id without spaces between thousands, or None for None."""
    return None if number is None else str(number)


def replace_unprintable_characters(text: str) -> str:
    """Replace every character that is not printable, except line breaks and spaces, by U+FFFD.

    Otherwise, a string from the service could send commands to the terminal. Python does not count no-break spaces as
    printable, but French sentences and large numbers contain them.
    """
    return "".join(character if _is_shown(character) else "\ufffd" for character in text)


def _is_shown(character: str) -> bool:
    """Return whether a character can be printed safely, unlike control characters and line separators."""
    return character.isprintable() or character == "\n" or unicodedata.category(character) == "Zs"
