"""Tables for people: every text is shown as it is, never as markup or as commands to the terminal."""

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
MAX_CELL_CHARACTERS: Final = 80  # of a text in a table with many rows; the JSON contains all of it


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a table. Texts are wrapped where the terminal is too narrow, but numbers and keys never are.

    Attributes:
        title: the title above the column.
        read: returns the value in this column for the item that a row shows.
        is_number: whether the values are numbers, which are aligned to the right.
        is_key: whether the values are keys, such as ids and states.
        min_width: the smallest number of characters on a line, for a column that is wrapped.
    """

    title: str
    read: Callable[[T], Any]
    is_number: bool = False
    is_key: bool = False
    min_width: int | None = None


def build_table(columns: Sequence[Column[T]], items: Iterable[T], title: str | None = None) -> Table:
    """Return a table for a person at a terminal, with one row for each item."""
    rows = [[format_value(column.read(item)) for column in columns] for item in items]
    table = _empty_table(title)

    # The cells are known before the columns are added, because the width of a column may depend on them.
    for index, column in enumerate(columns):
        cells_of_column = [row[index] for row in rows]
        _add_column(table, column, cells_of_column)

    for row in rows:
        table.add_row(*[Text(_shorten(cell)) for cell in row])
    return table


def _add_column(table: Table, column: Column[Any], cells: Sequence[str]) -> None:
    """Add an empty column to a table, wide enough for `cells` if these must not be wrapped."""
    is_wrapped = not column.is_number and not column.is_key
    if is_wrapped:
        table.add_column(column.title, overflow="fold", min_width=column.min_width)
        return

    # Without a minimum, Rich would cut the cells and the title on a narrow terminal.
    min_width = max(len(line) for line in (*column.title.split("\n"), *cells))
    alignment: JustifyMethod = "right" if column.is_number else "left"
    table.add_column(column.title, justify=alignment, no_wrap=True, min_width=min_width)


def min_width_of(table: Table) -> int:
    """Return the number of characters that a terminal must have in a line to show all columns of a table."""
    # Rich reports no minimum that is larger than the width of the console.
    wide_console = Console(width=UNLIMITED_WIDTH)
    return wide_console.measure(table).minimum


def _shorten(text: str) -> str:
    """Return a text cut to the length of a cell, with an ellipsis at its end if something is missing."""
    if len(text) <= MAX_CELL_CHARACTERS:
        return text
    return text[: MAX_CELL_CHARACTERS - 1] + "…"


def build_facts_table(facts: Mapping[str, Any], title: str | None = None) -> Table:
    """Return a table with one row for each name and value; missing and empty values are left out."""
    table = _empty_table(title)
    table.show_header = False
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")

    for name, value in facts.items():
        if value not in (None, "", [], {}):
            table.add_row(name, Text(format_value(value)))
    return table


def _empty_table(title: str | None) -> Table:
    """Return a table without columns and rows, in the style of all our tables."""
    heading = None if title is None else Text(replace_control_characters(title), style="bold")
    return Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def format_value(value: Any) -> str:
    """Return a value as text for people, without control characters.

    Flags are yes, no or unknown, numbers have up to four decimals and blanks between thousands, times are local,
    and the items of a list are separated by commas.
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
            text = f"{value.astimezone():%Y-%m-%d %H:%M}"
        case list() | tuple():
            text = ", ".join(format_value(item) for item in value)
        case _:
            text = str(value)
    return replace_control_characters(text)


def digits_of(number: int | None) -> str | None:
    """Return a number without blanks between thousands, as suits years and ids; None stays None."""
    return None if number is None else str(number)


def replace_control_characters(text: str) -> str:
    """Return a text in which U+FFFD replaces every character that is not printable, except line breaks and spaces.

    A text from the service must not be able to give commands to the terminal. Python counts no-break spaces, which
    French sentences and large numbers contain, as not printable, too.
    """
    return "".join(character if _is_shown(character) else "\ufffd" for character in text)


def _is_shown(character: str) -> bool:
    """Return whether a character is printed as it is; control characters and separators of lines are not."""
    return character.isprintable() or character == "\n" or unicodedata.category(character) == "Zs"
