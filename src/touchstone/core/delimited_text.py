"""Detection of the layout of delimited text, such as the delimiter and the header."""

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
# Longer numbers are not column names, and Python refuses to convert numbers with more than 4,300 digits.
_MAX_DIGITS: Final = 18
# Numbers, amounts, percentages, dates and times, which begin with a digit and contain few other characters.
_VALUE: Final = re.compile(r"[-+\N{MINUS SIGN}(]?\s?[$€£¥]?\s?[.,]?\d[\d.,:/+ T%eE)-]*")
_STATED_DELIMITER: Final = re.compile(r"sep=([,;\t|])\s*", re.IGNORECASE)
_COMMA_OUTSIDE_NUMBER: Final = re.compile(r"(?<!\d),|,(?!\d)")
_MIN_VALUE_SHARE: Final = 0.9
_SAMPLE_LINES: Final = 50
_MAX_FIELD_CHARACTERS: Final = 2**31 - 1  # practically unlimited, because callers limit the length of lines


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of a table of delimited text.

    Attributes:
        delimiter: the delimiter between fields.
        has_header: whether the first row contains the column names.
        names: the column names, exactly as in the header, or numbered names if there is no header.
        has_extra_field: whether rows have one field more than the header. This is a row name at the beginning, or an
            empty field after a delimiter at the end.
        skipped_lines: the number of lines before the first row, which are empty or state the delimiter.
        states_delimiter: whether one of these lines states the delimiter.
        has_spaces_before_quotes: whether quoted fields follow a delimiter and a space, as in `"a", "b"`.
    """

    delimiter: str
    has_header: bool
    names: list[str]
    has_extra_field: bool
    skipped_lines: int
    states_delimiter: bool
    has_spaces_before_quotes: bool

    @property
    def width(self) -> int:
        """The number of fields per row."""
        return len(self.names) + 1 if self.has_extra_field else len(self.names)


def detect_layout(beginning: str, delimiter: str | None = None) -> TableLayout | None:
    """Detect the layout of delimited text from its beginning, or return None if all lines are empty.

    Args:
        beginning: the first lines of the text.
        delimiter: the delimiter, or None to detect it.
    """
    # `splitlines` would also split at characters, such as form feeds, that belong to the cells.
    numbered_lines = enumerate(io.StringIO(beginning, newline=None))
    nonempty_lines = ((number, line) for number, line in numbered_lines if line.strip())
    numbered_sample = list(islice(nonempty_lines, _SAMPLE_LINES))

    stated_delimiter = _read_stated_delimiter(numbered_sample[0][1]) if numbered_sample else None
    states_delimiter = stated_delimiter is not None and delimiter in (None, stated_delimiter)
    if states_delimiter:
        delimiter = stated_delimiter
        del numbered_sample[0]
    if not numbered_sample:
        return None

    skipped_lines, _first_line = numbered_sample[0]
    lines = [line for _number, line in numbered_sample]
    delimiter = delimiter or detect_delimiter(lines)
    has_spaces_before_quotes = _has_spaces_before_quotes(lines, delimiter)
    rows = _parse_rows(lines, delimiter, skips_spaces=has_spaces_before_quotes)

    header, *other_rows = rows
    first_row_has_names = has_header(rows)
    if first_row_has_names:
        names = header
        has_extra_field = bool(other_rows) and _most_common_width(other_rows) == len(header) + 1
    else:
        names = [numbered_name(position) for position in range(1, _most_common_width(rows) + 1)]
        has_extra_field = False

    return TableLayout(
        delimiter,
        has_header=first_row_has_names,
        names=names,
        has_extra_field=has_extra_field,
        skipped_lines=skipped_lines,
        states_delimiter=states_delimiter,
        has_spaces_before_quotes=has_spaces_before_quotes,
    )


def _read_stated_delimiter(line: str) -> str | None:
    """Return the delimiter that a line such as `sep=;` states, or None for any other line.

    Spreadsheets write such a line above the header.
    """
    match = _STATED_DELIMITER.fullmatch(line)
    return None if match is None else match[1]


def _parse_rows(lines: Sequence[str], delimiter: str, *, skips_spaces: bool = False) -> list[list[str]]:
    """Split each line into its fields, without the spaces at their beginning if `skips_spaces` is true."""
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=skips_spaces))


def _is_consistent_with_quotes(lines: Sequence[str], delimiter: str, *, skips_spaces: bool = False) -> bool:
    """Return whether all quoted fields are followed by the delimiter or the end of the row."""
    try:
        for _row in csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=skips_spaces):
            pass
    except csv.Error:
        return False
    return True


def _has_spaces_before_quotes(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether quoted fields follow a delimiter and a space, as in `"a", "b"`.

    Quotes that enclose only a part of a field, as in `1, "yes" or "no"`, are characters of the field.
    """
    rows_with_spaces = _parse_rows(lines, delimiter)
    rows = _parse_rows(lines, delimiter, skips_spaces=True)
    quotes_matter = _strip_leading_spaces(rows_with_spaces) != _strip_leading_spaces(rows)
    return quotes_matter and _is_consistent_with_quotes(lines, delimiter, skips_spaces=True)


def _strip_leading_spaces(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Remove the spaces at the beginning of each field."""
    return [[field.lstrip(" ") for field in row] for row in rows]


def _most_common_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the most common number of fields in a row."""
    field_counts = Counter(len(row) for row in rows)
    [(most_common_width, _rows)] = field_counts.most_common(1)
    return most_common_width


def detect_delimiter(lines: Sequence[str]) -> str:
    """Return the most plausible delimiter.

    Prefer delimiters consistent with the quoting, then the most uniform field count, then other delimiters than commas
    that may be decimal marks, then the larger count.
    """
    may_have_decimal_commas = not any(map(_COMMA_OUTSIDE_NUMBER.search, lines))

    def rank_delimiter(delimiter: str) -> tuple[bool, float, bool, int]:
        """Return the sort key of a delimiter, where larger is better."""
        may_be_decimal_mark = delimiter == "," and may_have_decimal_commas
        is_consistent = _is_consistent_with_quotes(lines, delimiter)
        field_counts = Counter(len(row) for row in _parse_rows(lines, delimiter))
        field_count, line_count = field_counts.most_common(1)[0]

        # A delimiter that splits nothing is uniform but useless.
        if field_count < 2:
            return is_consistent, 0.0, False, field_count

        share_of_lines = line_count / field_counts.total()
        return is_consistent, share_of_lines, not may_be_decimal_mark, field_count

    return max(DELIMITERS, key=rank_delimiter)


class _HeaderEvidence(Enum):
    """The conclusion from the first cell of a column about the first row."""

    NAME = auto()  # the cell differs from the values below it, so it is a name
    VALUE = auto()  # the cell is similar to the values below it
    NOTHING = auto()


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table contains column names instead of data.

    The first row is data if no cell is a word above values such as numbers, and at least half of the cells are similar
    to the cells below. A cell is similar if it is a value above values, or a word that is repeated in its column. As an
    exception, consecutive numbers, and years above other values, are names.
    """
    first_row, *other_rows = rows

    columns = []  # the cells below each cell of the first row, except in rows that are too short
    for position in range(len(first_row)):
        cells_below = [row[position] for row in other_rows if position < len(row)]
        columns.append(cells_below)

    evidence_by_column = [
        _examine_first_cell(cell.strip(), cells) for cell, cells in zip(first_row, columns, strict=True)
    ]
    has_name = _HeaderEvidence.NAME in evidence_by_column
    resembles_data = evidence_by_column.count(_HeaderEvidence.VALUE) >= len(first_row) / 2
    if has_name or not resembles_data:
        return True
    return _are_numbered_names(first_row, columns)


def _examine_first_cell(first_cell: str, cells: Sequence[str]) -> _HeaderEvidence:
    """Compare the first cell of a column with the cells below it."""
    trimmed_cells = [cell.strip() for cell in cells]
    marks = missing_marks(has_plus=first_cell == PLUS or PLUS in trimmed_cells) | {"none"}
    known_cells = [cell for cell in trimmed_cells if cell.lower() not in marks]
    if first_cell.lower() in marks or not known_cells:
        return _HeaderEvidence.NOTHING

    value_count = sum(_is_value(cell) for cell in known_cells)
    if value_count >= _MIN_VALUE_SHARE * len(known_cells):
        return _HeaderEvidence.VALUE if _is_value(first_cell) else _HeaderEvidence.NAME
    return _HeaderEvidence.VALUE if first_cell in known_cells else _HeaderEvidence.NOTHING


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number, an amount, a date or a time."""
    return _VALUE.fullmatch(cell) is not None


def _are_numbered_names(first_row: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Return whether the numbers in a first row are the names of the columns.

    This is only possible if the row contains no values except whole numbers. They are names in two cases:

    - They count the columns, such as `1, 2, 3`.
    - They are different years, such as `2010, 2020`, and the columns themselves do not contain years.
    """
    number_at = {
        position: int(cell) for position, cell in enumerate(first_row) if cell.isascii() and _is_whole_number(cell)
    }
    value_count = sum(_is_value(cell.strip()) for cell in first_row)
    if not number_at or len(number_at) < value_count:
        return False

    numbers = list(number_at.values())
    are_consecutive = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    if are_consecutive and len(numbers) > 1:
        return True

    are_different_years = len(set(numbers)) == len(numbers) and all(number in _YEARS for number in numbers)
    return are_different_years and not any(_are_mostly_years(columns[position]) for position in number_at)


def _is_whole_number(cell: str) -> bool:
    """Return whether a cell consists of at most `_MAX_DIGITS` digits."""
    digits = cell.strip()
    return digits.isdecimal() and len(digits) <= _MAX_DIGITS


def _are_mostly_years(cells: Sequence[str]) -> bool:
    """Return whether more than half of the cells are years."""
    year_count = sum(_is_whole_number(cell) and int(cell) in _YEARS for cell in cells)
    return year_count > len(cells) / 2
