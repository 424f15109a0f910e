"""How a table of delimited text is written: its delimiter, and whether its first row names the columns."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

DELIMITERS: Final = (",", ";", "\t", "|")
_YEARS: Final = range(1800, 2101)
# Numbers, amounts, shares, dates and times: whatever begins with a digit and consists of little else.
_VALUE: Final = re.compile(r"[-+\N{MINUS SIGN}(]?\s?[$€£¥]?\s?[.,]?\d[\d.,:/+ T%eE)-]*")
_MISSING: Final = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-", "."})
_MOSTLY: Final = 0.9


def detect_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most of these lines into the same number of fields.

    Among equally good delimiters, the one that makes more fields is preferred.
    """

    def agreement(delimiter: str) -> tuple[float, int]:
        """Return the share of the lines that have the most common number of fields, and that number."""
        field_counts = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter))
        fields, line_count = field_counts.most_common(1)[0]
        if fields < 2:
            return 0.0, fields  # A character that splits no line is not the delimiter, although all lines agree.
        return line_count / field_counts.total(), fields

    return max(DELIMITERS, key=agreement)


class _Evidence(Enum):
    """What the first cell of a column says about the first row."""

    NAME = auto()  # It is unlike the values below it, so it names them.
    VALUE = auto()  # It is like the values below it.
    NOTHING = auto()


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of some rows names the columns, instead of being data like the others.

    The first row is taken for data only if no cell of it is a word above values such as numbers, and at least half of
    its cells are like those below: a value above values, or a word that occurs again in its column. A series of numbers
    or of years above other values consists of names.
    """
    first_row, *other_rows = rows
    columns = [[row[position] for row in other_rows if position < len(row)] for position in range(len(first_row))]

    evidence = [_evidence(cell.strip(), cells) for cell, cells in zip(first_row, columns, strict=True)]
    if _Evidence.NAME in evidence or evidence.count(_Evidence.VALUE) < len(first_row) / 2:
        return True
    return _are_numbered_names(first_row, columns)


def _evidence(first_cell: str, cells: Sequence[str]) -> _Evidence:
    """Compare the first cell of a column with the cells below it."""
    known_cells = [cell.strip() for cell in cells if cell.strip().lower() not in _MISSING]
    if first_cell.lower() in _MISSING or not known_cells:
        return _Evidence.NOTHING

    value_count = sum(_is_value(cell) for cell in known_cells)
    if value_count >= _MOSTLY * len(known_cells):
        return _Evidence.VALUE if _is_value(first_cell) else _Evidence.NAME
    return _Evidence.VALUE if first_cell in known_cells else _Evidence.NOTHING


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number, an amount, a date or a time."""
    return _VALUE.fullmatch(cell) is not None


def _are_numbered_names(first_row: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Return whether the numbers in a first row are names: consecutive numbers, or years above what are no years."""
    numbers_by_position = {
        position: int(cell) for position, cell in enumerate(first_row) if cell.strip().isdecimal() and cell.isascii()
    }
    value_positions = [position for position, cell in enumerate(first_row) if _is_value(cell.strip())]
    if not value_positions or len(numbers_by_position) < len(value_positions):
        return False

    numbers = list(numbers_by_position.values())
    consecutive_numbers = list(range(numbers[0], numbers[0] + len(numbers)))
    if len(numbers) > 1 and numbers == consecutive_numbers:
        return True

    are_years = all(number in _YEARS for number in numbers)
    has_years_below = any(_are_mostly_years(columns[position]) for position in numbers_by_position)
    return are_years and len(set(numbers)) == len(numbers) and not has_years_below


def _are_mostly_years(cells: Sequence[str]) -> bool:
    """Return whether more than half of some cells are years."""
    years = sum(cell.strip().isdecimal() and int(cell) in _YEARS for cell in cells)
    return years > len(cells) / 2
