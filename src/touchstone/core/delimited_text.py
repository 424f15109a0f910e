"""How a table of delimited text is written: its delimiter, and whether its first row names the columns."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import Final

from touchstone.core.column_names import numbered_name
from touchstone.core.missing_values import PLUS, missing_marks

DELIMITERS: Final = (",", ";", "\t", "|")
_YEARS: Final = range(1800, 2101)
# Longer numbers name no column, and Python refuses to convert those with more than 4,300 digits.
_MAX_DIGITS: Final = 18
# Numbers, amounts, shares, dates and times: whatever begins with a digit and consists of little else.
_VALUE: Final = re.compile(r"[-+\N{MINUS SIGN}(]?\s?[$€£¥]?\s?[.,]?\d[\d.,:/+ T%eE)-]*")
_MOSTLY: Final = 0.9
_SAMPLE_LINES: Final = 50
_MAX_FIELD_CHARACTERS: Final = 2**31 - 1  # The callers limit the length of lines.


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How a table of delimited text is written.

    Attributes:
        names: the names in the header, as they are written, or made up if there is none.
        rows_are_wider: whether rows have one field more than there are names: a row name in front, or an empty field
            after a delimiter at the end.
        empty_lines: the number of empty lines before the first row.
    """

    delimiter: str
    has_header: bool
    names: list[str]
    rows_are_wider: bool
    empty_lines: int

    @property
    def width(self) -> int:
        """The number of fields in a row."""
        return len(self.names) + 1 if self.rows_are_wider else len(self.names)


def detect_layout(beginning: str, delimiter: str | None = None) -> TableLayout | None:
    """Find out from the beginning of a text how it is written, or return None if its lines are empty.

    The delimiter is detected, too, unless it is given.
    """
    # Other characters than these line breaks, which `splitlines` would take for some, belong to the cells.
    numbered_lines = enumerate(io.StringIO(beginning, newline=None))
    numbered_sample = list(islice((entry for entry in numbered_lines if entry[1].strip()), _SAMPLE_LINES))
    if not numbered_sample:
        return None

    sample = [line for _number, line in numbered_sample]
    empty_lines, _first_line = numbered_sample[0]
    delimiter = delimiter or detect_delimiter(sample)
    rows = _parse(sample, delimiter)
    header, *other_rows = rows
    if not has_header(rows):
        names = [numbered_name(position) for position in range(1, _usual_width(rows) + 1)]
        return TableLayout(delimiter, False, names, False, empty_lines)

    rows_are_wider = bool(other_rows) and _usual_width(other_rows) == len(header) + 1
    return TableLayout(delimiter, True, header, rows_are_wider, empty_lines)


def _parse(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the fields of each row."""
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    return list(csv.reader(lines, delimiter=delimiter))


def _quotes_fit(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether a delimiter or the end of a row follows all quoted fields."""
    try:
        for _row in csv.reader(lines, delimiter=delimiter, strict=True):
            pass
    except csv.Error:
        return False
    return True


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the most common number of fields in a row."""
    field_counts = Counter(len(row) for row in rows)
    [(usual_width, _rows)] = field_counts.most_common(1)
    return usual_width


def detect_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most of these lines into the same number of fields.

    Delimiters that stand right beside all quotes are preferred, and among equally good ones, the one that makes more
    fields.
    """

    def agreement(delimiter: str) -> tuple[bool, float, int]:
        """Return whether quotes fit, how large a share of the lines has the usual number of fields, and that number."""
        quotes_fit = _quotes_fit(lines, delimiter)
        field_counts = Counter(len(row) for row in _parse(lines, delimiter))
        field_count, line_count = field_counts.most_common(1)[0]

        # A character that splits no line is not the delimiter, although all lines agree.
        if field_count < 2:
            return quotes_fit, 0.0, field_count

        share_of_lines = line_count / field_counts.total()
        return quotes_fit, share_of_lines, field_count

    return max(DELIMITERS, key=agreement)


class _Evidence(Enum):
    """What the first cell of a column says about the first row."""

    NAME = auto()  # It is unlike the values below it, so it names them.
    VALUE = auto()  # It is like the values below it.
    NOTHING = auto()


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table contains the names of the columns, and not data like the other rows.

    Each cell of the first row is compared with the cells below it. The row is data if no cell is a word above values
    such as numbers, and at least half of the cells resemble those below: a value above values, or a word that occurs
    again in its column. Consecutive numbers, or years above other values, are names nevertheless.
    """
    first_row, *other_rows = rows

    # The cells below each cell of the first row; a row may be too short to have one.
    columns = []
    for position in range(len(first_row)):
        cells_below = [row[position] for row in other_rows if position < len(row)]
        columns.append(cells_below)

    evidence = [_evidence(cell.strip(), cells) for cell, cells in zip(first_row, columns, strict=True)]
    has_name = _Evidence.NAME in evidence
    resembles_data = evidence.count(_Evidence.VALUE) >= len(first_row) / 2
    if has_name or not resembles_data:
        return True
    return _are_numbered_names(first_row, columns)


def _evidence(first_cell: str, cells: Sequence[str]) -> _Evidence:
    """Compare the first cell of a column with the cells below it."""
    trimmed_cells = [cell.strip() for cell in cells]
    marks = missing_marks(has_plus=first_cell == PLUS or PLUS in trimmed_cells) | {"none"}
    known_cells = [cell for cell in trimmed_cells if cell.lower() not in marks]
    if first_cell.lower() in marks or not known_cells:
        return _Evidence.NOTHING

    value_count = sum(_is_value(cell) for cell in known_cells)
    if value_count >= _MOSTLY * len(known_cells):
        return _Evidence.VALUE if _is_value(first_cell) else _Evidence.NAME
    return _Evidence.VALUE if first_cell in known_cells else _Evidence.NOTHING


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number, an amount, a date or a time."""
    return _VALUE.fullmatch(cell) is not None


def _are_numbered_names(first_row: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Return whether the values in a first row are whole numbers that name their columns.

    They are names if they are consecutive, such as `1, 2, 3`, or if they are different years, such as `2010, 2020`,
    above values that are not years.
    """
    numbers_by_position = {
        position: int(cell) for position, cell in enumerate(first_row) if cell.isascii() and _is_whole_number(cell)
    }
    value_count = sum(_is_value(cell.strip()) for cell in first_row)
    has_other_values = len(numbers_by_position) < value_count
    if value_count == 0 or has_other_values:
        return False

    numbers = list(numbers_by_position.values())
    consecutive_numbers = list(range(numbers[0], numbers[0] + len(numbers)))
    if len(numbers) > 1 and numbers == consecutive_numbers:
        return True

    are_years = all(number in _YEARS for number in numbers)
    are_different = len(set(numbers)) == len(numbers)
    has_years_below = any(_are_mostly_years(columns[position]) for position in numbers_by_position)
    return are_years and are_different and not has_years_below


def _is_whole_number(cell: str) -> bool:
    """Return whether a cell consists of digits only, which are few enough for Python to convert them."""
    digits = cell.strip()
    return digits.isdecimal() and len(digits) <= _MAX_DIGITS


def _are_mostly_years(cells: Sequence[str]) -> bool:
    """Return whether more than half of some cells are years."""
    years = sum(_is_whole_number(cell) and int(cell) in _YEARS for cell in cells)
    return years > len(cells) / 2
