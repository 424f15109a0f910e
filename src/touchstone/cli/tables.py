"""Tables for people: every text is shown as it is, never as markup or as commands to the terminal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeVar

from rich import box
from rich.table import Table
from rich.text import Text

T = TypeVar("T")
UNKNOWN: Final = "?"
MAX_CELL: Final = 80  # characters of a text in a table with many rows; the whole is in the JSON


@dataclass(frozen=True)
class Column(Generic[T]):
    """One column: its title, and what it shows of an item; a text may be folded, a number or a key never is."""

    title: str
    read: Callable[[T], Any]
    is_number: bool = False
    is_key: bool = False


def table(columns: Sequence[Column[T]], items: Iterable[T], title: str | None = None) -> Table:
    """Return a table with one row per item."""
    rows = [[shown(column.read(item)) for column in columns] for item in items]
    drawn = _drawn(title)
    for number, column in enumerate(columns):
        if column.is_number or column.is_key:
            width = max((len(row[number]) for row in rows), default=0)
            justify: Literal["left", "right"] = "right" if column.is_number else "left"
            drawn.add_column(column.title, justify=justify, no_wrap=True, min_width=width)
        else:
            drawn.add_column(column.title, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(_short(cell)) for cell in row))
    return drawn


def _short(text: str) -> str:
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def facts(pairs: Mapping[str, Any], title: str | None = None) -> Table:
    """Return a table of names and values without the missing values."""
    drawn = _drawn(title)
    drawn.show_header = False
    drawn.add_column(no_wrap=True, style="bold")
    drawn.add_column(overflow="fold")
    for name, value in pairs.items():
        if value not in (None, "", [], {}):
            drawn.add_row(name, Text(shown(value)))
    return drawn


def _drawn(title: str | None) -> Table:
    heading = None if title is None else Text(plain(title), style="bold")
    return Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def shown(value: Any) -> str:
    """Format a value for people: flags with three states, four decimals, separated thousands, no control characters."""
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    form = next((form for kinds, form in FORMS if isinstance(value, kinds)), str)
    return plain(form(value))


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


# The first kind that fits: a boolean is an integer too.
FORMS: Final[tuple[tuple[type, Callable[[Any], str]], ...]] = (
    (type(None), lambda _: UNKNOWN),
    (bool, lambda value: "yes" if value else "no"),
    (float, _number),
    (int, lambda value: f"{value:,}".replace(",", " ")),
    (datetime, lambda value: f"{value.astimezone():%Y-%m-%d %H:%M}"),
)


def plain(text: str) -> str:
    """Return a text without terminal control sequences."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
