"""Catalog records in files: CSV for spreadsheets and JSON Lines for programs, both of which round-trip.

A record consists of the fields that its creator may write, so that a file can be imported into any catalog. Fields that
the service sets (ids, scores, times) are ignored when a file is read. In CSV an empty cell is null, a flag is `true` or
`false`, and lists and metadata are JSON. A text that would be mistaken for something else, because it is empty, quoted
or looks like a spreadsheet formula, is written as a JSON string.
"""

import csv
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TextIO

import msgspec

from touchstone.client.models import Dataset
from touchstone.core.attributes import ATTRIBUTES, Kind

Record = dict[str, Any]
TEXT_FIELDS: Final = ("name", "description", "file_path", "file_type", "visibility")
# The kind of every column, in the order of the file, which begins with the name of the record.
COLUMNS: Final[Mapping[str, Kind | None]] = {
    **dict.fromkeys(TEXT_FIELDS, Kind.TEXT),
    **{attribute.name: attribute.kind for attribute in ATTRIBUTES if attribute.name != "dataset_name"},
    "metadata": None,
}
REQUIRED_FIELD: Final = "name"
IGNORED_FIELDS: Final = frozenset(Dataset.__struct_fields__) - frozenset(COLUMNS)
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
_BOOLEANS: Final = {"true": True, "false": False}


class RecordError(ValueError):
    """A file that does not contain records; the message names the line and the column."""


def record_of(dataset: Dataset) -> Record:
    """Return the fields of a record that its creator may write; unknown values are None."""
    return {name: getattr(dataset, name) for name in COLUMNS}


def records_to_csv(datasets: Iterable[Dataset], file: TextIO) -> int:
    """Write records as CSV (RFC 4180, with a header) to a file opened with `newline=""`; return their number."""
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    count = 0
    for dataset in datasets:
        writer.writerow(_csv_cell(value) for value in record_of(dataset).values())
        count += 1
    return count


def records_from_csv(file: TextIO) -> Iterator[Record]:
    """Yield the records of a CSV file opened with `newline=""`; the values of a missing column are unknown.

    Raises:
        RecordError: A column is unknown, or a value does not fit its column.
    """
    # One cell may contain a whole description or a metadata object.
    csv.field_size_limit(max(csv.field_size_limit(), 2**24))
    rows = csv.reader(file, strict=True)
    try:
        header = [name.strip().removeprefix("\ufeff") for name in next(rows, [])]
        _check_names(header, "line 1")
        for row in rows:
            if row:
                yield _csv_record(header, row, f"line {rows.line_num}")
    except csv.Error as error:
        raise RecordError(f"line {rows.line_num}: {error}") from error


def records_to_jsonl(datasets: Iterable[Dataset], file: TextIO) -> int:
    """Write records as JSON Lines; return their number."""
    count = 0
    for dataset in datasets:
        file.write(msgspec.json.encode(record_of(dataset)).decode() + "\n")
        count += 1
    return count


def records_from_jsonl(file: TextIO) -> Iterator[Record]:
    """Yield the records of a JSON Lines file; the values of missing fields are unknown.

    Raises:
        RecordError: A line is not an object of known fields with a name.
    """
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue

        place = f"line {number}"
        try:
            record = msgspec.json.decode(line.removeprefix("\ufeff"), type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise RecordError(f"{place}: {error}") from error

        _check_names(record, place)
        yield _without_ignored_fields(record, place)


WRITERS: Final[Mapping[str, Callable[[Iterable[Dataset], TextIO], int]]] = {
    "csv": records_to_csv,
    "jsonl": records_to_jsonl,
}
READERS: Final[Mapping[str, Callable[[TextIO], Iterator[Record]]]] = {
    "csv": records_from_csv,
    "jsonl": records_from_jsonl,
}


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return _json_text(value)

    is_ambiguous = value == "" or value != value.strip() or value.startswith(('"', *_FORMULA_STARTS))
    return _json_text(value) if is_ambiguous else value


def _json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _csv_record(header: list[str], row: list[str], place: str) -> Record:
    if len(row) != len(header):
        raise RecordError(f"{place}: {len(row)} cells under {len(header)} columns")

    cells = zip(header, row, strict=True)
    record = {name: _csv_value(name, cell, place) for name, cell in cells if name not in IGNORED_FIELDS}
    return _without_ignored_fields(record, place)


def _csv_value(name: str, cell: str, place: str) -> Any:
    stripped = cell.strip()
    if stripped == "":
        return None
    kind = COLUMNS[name]
    try:
        if kind is Kind.FLAG:
            return _BOOLEANS[stripped.lower()]
        if kind is Kind.TEXT:
            return msgspec.json.decode(stripped, type=str) if stripped.startswith('"') else cell
        if kind is Kind.WORDS and not stripped.startswith("["):
            return [word.strip() for word in stripped.split(",") if word.strip()]
        return msgspec.json.decode(stripped, type=_JSON_TYPES[kind])
    except (KeyError, msgspec.DecodeError) as error:
        raise RecordError(f"{place}, column {name}: {cell[:40]!r} does not fit ({_EXPECTED[kind]})") from error


def _without_ignored_fields(record: Mapping[str, Any], place: str) -> Record:
    if not record.get(REQUIRED_FIELD):
        raise RecordError(f"{place}: a record has a {REQUIRED_FIELD}")
    return {name: value for name, value in record.items() if name not in IGNORED_FIELDS}


def _check_names(names: Iterable[str], place: str) -> None:
    for name in names:
        if name not in COLUMNS and name not in IGNORED_FIELDS:
            near = difflib.get_close_matches(name, COLUMNS, 1)
            raise RecordError(f"{place}: {name[:80]!r} is unknown" + (f"; did you mean {near[0]}?" if near else ""))


_JSON_TYPES: Final[Mapping[Kind | None, Any]] = {
    Kind.WORDS: list[str],
    Kind.INTEGER: int,
    Kind.PERCENTAGE: float,
    None: dict[str, Any],
}
_EXPECTED: Final[Mapping[Kind | None, str]] = {
    Kind.TEXT: "a text, or a JSON string",
    Kind.WORDS: "words with commas between them, or a JSON list",
    Kind.INTEGER: "a whole number",
    Kind.PERCENTAGE: "a number",
    Kind.FLAG: "true, false or nothing",
    None: "a JSON object",
}
