"""Catalog records in files: CSV for spreadsheets and JSON Lines for programs.

Both formats are lossless. A file contains only the fields that the creator of a record may write, so that it can be
imported into any catalog. Fields that the service sets (ids, scores, times) are ignored when a file is read. Files
contain only one of them: in JSON Lines, hidden records are marked.

In CSV, an empty cell is null, a flag is `true` or `false`, and lists and metadata are JSON. Strings that a reader could
misinterpret are also written as JSON: empty and quoted ones, and ones that a spreadsheet could take for a formula.
"""

import csv
import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TextIO

import msgspec

from touchstone.client.models import Dataset
from touchstone.client.spreadsheet_formulas import contains_formula, escape_formulas_in_json
from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.json_decoding import decode_json

Record = dict[str, Any]
TEXT_FIELDS: Final = ("name", "description", "file_path", "file_type", "visibility")
# The kind of each column, in the order of the file.
COLUMNS: Final[Mapping[str, Kind | None]] = {
    **dict.fromkeys(TEXT_FIELDS, Kind.TEXT),
    **{attribute.name: attribute.kind for attribute in ATTRIBUTES if attribute.name != "dataset_name"},
    "metadata": None,
}
REQUIRED_FIELD: Final = "name"
IGNORED_FIELDS: Final = frozenset(Dataset.__struct_fields__) - frozenset(COLUMNS)
MAX_CELL_LENGTH: Final = 2**24  # one cell may contain a whole description or a metadata object
MAX_QUOTED_NAME_LENGTH: Final = 80
MAX_QUOTED_CELL_LENGTH: Final = 40
BYTE_ORDER_MARK: Final = "\ufeff"
_BOOLEANS: Final = {"true": True, "false": False}


class RecordError(ValueError):
    """A file cannot be read as records; the message contains the line and the column."""


def record_of(dataset: Dataset) -> Record:
    """Return the fields of a dataset that its creator may write, with None for unknown values."""
    return {name: getattr(dataset, name) for name in COLUMNS}


def bulk_record_of(dataset: Dataset) -> Record:
    """Return the record of a dataset for a bulk import.

    A dataset that an administrator has hidden looks private to its creator, who may have made it public. The additional
    field `hidden` marks it, so that a bulk import keeps the visibility of the stored record.
    """
    record = record_of(dataset)
    return record | {"hidden": True} if dataset.hidden else record


def records_to_csv(datasets: Iterable[Dataset], file: TextIO) -> int:
    """Write records as CSV (RFC 4180, with a header), and return their number.

    The file must have been opened with `newline=""`.
    """
    writer = csv.writer(file)
    writer.writerow(COLUMNS)

    record_count = 0
    for dataset in datasets:
        record = record_of(dataset)
        writer.writerow([_format_csv_cell(value) for value in record.values()])
        record_count += 1
    return record_count


def records_from_csv(file: TextIO) -> Iterator[Record]:
    """Yield the records of a CSV file opened with `newline=""`.

    The first line contains the names of the columns, in any order. The values of missing columns are unknown, empty
    lines are skipped, and columns that the service sets are ignored.

    Raises:
        RecordError: a column is unknown or repeated, or a value does not fit its column; the message contains the line
            number.
    """
    _allow_long_cells()
    rows = csv.reader(file, strict=True)
    try:
        header = next(rows, [])
        column_names = [name.strip().removeprefix(BYTE_ORDER_MARK) for name in header]
        check_field_names(column_names, location="line 1")
        check_names_are_unique(column_names, location="line 1")

        for cells in rows:
            if not cells:
                continue
            yield _parse_csv_row(column_names, cells, location=f"line {rows.line_num}")
    except csv.Error as error:
        raise RecordError(f"line {rows.line_num}: {error}") from error


def _allow_long_cells() -> None:
    """Raise the limit on the length of cells for all CSV readers of this process, from 128 KiB by default."""
    current_limit = csv.field_size_limit()
    if current_limit < MAX_CELL_LENGTH:
        csv.field_size_limit(MAX_CELL_LENGTH)


def records_to_jsonl(datasets: Iterable[Dataset], file: TextIO) -> int:
    """Write records as JSON Lines, and return their number."""
    record_count = 0
    for dataset in datasets:
        file.write(_to_json(bulk_record_of(dataset)) + "\n")
        record_count += 1
    return record_count


def records_from_jsonl(file: TextIO) -> Iterator[Record]:
    """Yield the records of a JSON Lines file, which has one JSON object per line.

    The values of missing fields are unknown, empty lines are skipped, and fields that the service sets are ignored.

    Raises:
        RecordError: a line is not an object of known fields with a name; the message contains the line number.
    """
    for line_number, line in enumerate(file, start=1):
        if not line.strip():
            continue

        location = f"line {line_number}"
        try:
            record = decode_json(line.removeprefix(BYTE_ORDER_MARK), dict[str, Any])
        except msgspec.DecodeError as error:
            raise RecordError(f"{location}: {error}") from error

        check_field_names(record, location)
        _check_has_name(record, location)
        yield {name: value for name, value in record.items() if name not in IGNORED_FIELDS}


WRITERS: Final[Mapping[str, Callable[[Iterable[Dataset], TextIO], int]]] = {
    "csv": records_to_csv,
    "jsonl": records_to_jsonl,
}
READERS: Final[Mapping[str, Callable[[TextIO], Iterator[Record]]]] = {
    "csv": records_from_csv,
    "jsonl": records_from_jsonl,
}


def _format_csv_cell(value: Any) -> str:
    """Return the CSV cell for a value, such that reading the cell returns the same value.

    Strings are written unchanged, unless a reader or a spreadsheet could misinterpret them. These strings, and all
    other values, are written as JSON. An empty cell means that the value is unknown.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return _to_json(value)

    is_empty_or_padded = value == "" or value != value.strip()
    looks_like_json = value.startswith('"')
    if is_empty_or_padded or looks_like_json or contains_formula(value):
        return _to_json(value)
    return value


def _to_json(value: Any) -> str:
    return escape_formulas_in_json(msgspec.json.encode(value).decode())


def _parse_csv_row(column_names: list[str], cells: list[str], location: str) -> Record:
    """Return the record in one row of a CSV file, without the columns that the service sets.

    `location` describes the row in error messages, for example as `line 7`.

    Raises:
        RecordError: there are more or fewer cells than columns, a cell does not fit its column, or the name is missing.
    """
    if len(cells) != len(column_names):
        raise RecordError(f"{location}: {len(cells)} cells under {len(column_names)} columns")

    record = {}
    for name, cell in zip(column_names, cells, strict=True):
        if name not in IGNORED_FIELDS:
            record[name] = _parse_csv_cell(cell, name, location)

    _check_has_name(record, location)
    return record


def _parse_csv_cell(cell: str, column_name: str, location: str) -> Any:
    """Return the value in a cell of a CSV file, converted to the type of its column.

    `location` describes the row in error messages, for example as `line 7`.

    Raises:
        RecordError: the cell does not fit the column; the message contains the cell and the expected values.
    """
    kind = COLUMNS[column_name]
    try:
        return _decode_cell(cell, kind)
    except (KeyError, msgspec.DecodeError) as error:
        quoted_cell = repr(cell[:MAX_QUOTED_CELL_LENGTH])
        expected_values = _EXPECTED_VALUES[kind]
        message = f"{location}, column {column_name}: {quoted_cell} does not fit ({expected_values})"
        raise RecordError(message) from error


def _decode_cell(cell: str, kind: Kind | None) -> Any:
    """Return the value in a cell of a column of the given kind, or None if the cell is empty.

    Text may be plain or a JSON string, and words may be separated by commas or a JSON list. All other values are JSON.

    Raises:
        KeyError, msgspec.DecodeError: the cell does not fit the kind.
    """
    stripped_cell = cell.strip()
    if stripped_cell == "":
        return None

    if kind is Kind.FLAG:
        return _BOOLEANS[stripped_cell.lower()]
    if kind is Kind.TEXT and not stripped_cell.startswith('"'):
        return cell
    if kind is Kind.WORDS and not stripped_cell.startswith("["):
        return _split_words(stripped_cell)
    return decode_json(stripped_cell, _JSON_TYPES[kind])


def _split_words(text: str) -> list[str]:
    """Split a string at its commas, and return the stripped words without empty ones."""
    words = [word.strip() for word in text.split(",")]
    return [word for word in words if word]


def _check_has_name(record: Record, location: str) -> None:
    """Raise RecordError if a record has no name, or an empty one."""
    if not record.get(REQUIRED_FIELD):
        raise RecordError(f"{location}: a record has a {REQUIRED_FIELD}")


def check_field_names(names: Iterable[str], location: str) -> None:
    """Raise RecordError for the first name that is not a field of a record, with the most similar field."""
    for name in names:
        if name in COLUMNS or name in IGNORED_FIELDS:
            continue

        message = f"{location}: {name[:MAX_QUOTED_NAME_LENGTH]!r} is unknown"
        similar_names = difflib.get_close_matches(name, COLUMNS, n=1)
        if similar_names:
            message += f"; did you mean {similar_names[0]}?"
        raise RecordError(message)


def check_names_are_unique(names: Iterable[str], location: str) -> None:
    """Raise RecordError if two columns have the same name, because one of their values would be lost."""
    for name, count in Counter(names).items():
        if count > 1:
            raise RecordError(f"{location}: there are {count} columns {name}")


_JSON_TYPES: Final[Mapping[Kind | None, Any]] = {
    Kind.TEXT: str,
    Kind.WORDS: list[str],
    Kind.INTEGER: int,
    Kind.PERCENTAGE: float,
    None: dict[str, Any],
}
_EXPECTED_VALUES: Final[Mapping[Kind | None, str]] = {
    Kind.TEXT: "text, or a JSON string",
    Kind.WORDS: "words with commas between them, or a JSON list",
    Kind.INTEGER: "a whole number",
    Kind.PERCENTAGE: "a number",
    Kind.FLAG: "true, false or nothing",
    None: "a JSON object",
}
