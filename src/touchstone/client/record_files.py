"""Catalog records in files: CSV for spreadsheets, JSON Lines for programs. Both come back as they were written.

A record is the fields that its creator may write, so that a file can be put into any catalog: what the service
decides itself (ids, scores, times) is written for people where it helps, and passed over when read. In CSV an empty
cell is null; a flag is `true` or `false`; lists and metadata are JSON; a text that would be mistaken for something else
(empty, in quotes, or what a spreadsheet would take for a formula) is written as a JSON string.
"""

import csv
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TextIO

import msgspec

from touchstone.client.models import Dataset
from touchstone.core.attributes import ATTRIBUTES, Kind

Record = dict[str, Any]
TEXTS: Final = ("name", "description", "file_path", "file_type", "visibility")
# The form of every column, in the order of the file; the name of a record stands first.
COLUMNS: Final[Mapping[str, Kind | None]] = {
    **dict.fromkeys(TEXTS, Kind.TEXT),
    **{attribute.name: attribute.kind for attribute in ATTRIBUTES if attribute.name != "dataset_name"},
    "metadata": None,
}
REQUIRED: Final = "name"
PASSED_OVER: Final = frozenset(Dataset.__struct_fields__) - frozenset(COLUMNS)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_FLAGS: Final = {"true": True, "false": False}


class RecordError(ValueError):
    """A file that does not hold records; the message names the line or the row, and the column."""


def record_of(dataset: Dataset) -> Record:
    """What its creator could have written of a record; what is not known is None."""
    return {name: getattr(dataset, name) for name in COLUMNS}


def records_to_csv(datasets: Iterable[Dataset], file: TextIO) -> int:
    """Write records as CSV (RFC 4180, with a header) to a file opened with `newline=""`; how many there were."""
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    count = 0
    for dataset in datasets:
        writer.writerow(_cell(value) for value in record_of(dataset).values())
        count += 1
    return count


def records_from_csv(file: TextIO) -> Iterator[Record]:
    """The records of a CSV file opened with `newline=""`; a column that is missing is not known.

    Raises:
        RecordError: an unknown column, or a value that does not fit its column.
    """
    # A whole description or a metadata object may stand in one cell.
    csv.field_size_limit(max(csv.field_size_limit(), 2**24))
    rows = csv.reader(file, strict=True)
    try:
        header = [name.strip().removeprefix("\ufeff") for name in next(rows, [])]
        _check_names(header, "line 1")
        for row in rows:
            if row:
                yield _record(header, row, f"line {rows.line_num}")
    except csv.Error as problem:
        raise RecordError(f"line {rows.line_num}: {problem}") from problem


def records_to_jsonl(datasets: Iterable[Dataset], file: TextIO) -> int:
    """Write records as JSON Lines; how many there were."""
    count = 0
    for dataset in datasets:
        file.write(msgspec.json.encode(record_of(dataset)).decode() + "\n")
        count += 1
    return count


def records_from_jsonl(file: TextIO) -> Iterator[Record]:
    """The records of a JSON Lines file; a field that is missing is not known.

    Raises:
        RecordError: a line that is not an object of known fields with a name.
    """
    for number, line in enumerate(file, 1):
        if line.strip():
            where = f"line {number}"
            try:
                found = msgspec.json.decode(line.removeprefix("\ufeff"), type=dict[str, Any])
            except (msgspec.DecodeError, UnicodeEncodeError) as problem:
                raise RecordError(f"{where}: {problem}") from problem
            _check_names(found, where)
            yield _kept(found, where)


WRITERS: Final[Mapping[str, Callable[[Iterable[Dataset], TextIO], int]]] = {
    "csv": records_to_csv,
    "jsonl": records_to_jsonl,
}
READERS: Final[Mapping[str, Callable[[TextIO], Iterator[Record]]]] = {
    "csv": records_from_csv,
    "jsonl": records_from_jsonl,
}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        mistakable = value == "" or value != value.strip() or value.startswith(('"', *_FORMULA))
        return _json(value) if mistakable else value
    return _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _record(header: list[str], row: list[str], where: str) -> Record:
    if len(row) != len(header):
        raise RecordError(f"{where}: {len(row)} cells under {len(header)} columns")
    cells = {name: cell for name, cell in zip(header, row, strict=True) if name not in PASSED_OVER}
    return _kept({name: _value(name, cell, where) for name, cell in cells.items()}, where)


def _value(name: str, cell: str, where: str) -> Any:
    stripped = cell.strip()
    if stripped == "":
        return None
    kind = COLUMNS[name]
    try:
        if kind is Kind.FLAG:
            return _FLAGS[stripped.lower()]
        if kind is Kind.TEXT:
            return msgspec.json.decode(stripped, type=str) if stripped.startswith('"') else cell
        if kind is Kind.WORDS and not stripped.startswith("["):
            return [word.strip() for word in stripped.split(",") if word.strip()]
        return msgspec.json.decode(stripped, type=_JSON_TYPES[kind])
    except (KeyError, msgspec.DecodeError) as problem:
        raise RecordError(f"{where}, column {name}: {cell[:40]!r} does not fit ({_EXPECTED[kind]})") from problem


def _kept(record: Mapping[str, Any], where: str) -> Record:
    kept = {name: value for name, value in record.items() if name not in PASSED_OVER}
    if not kept.get(REQUIRED):
        raise RecordError(f"{where}: a record has a {REQUIRED}")
    return kept


def _check_names(names: Iterable[str], where: str) -> None:
    for name in names:
        if name not in COLUMNS and name not in PASSED_OVER:
            near = difflib.get_close_matches(name, COLUMNS, 1)
            raise RecordError(f"{where}: {name[:80]!r} is unknown" + (f"; did you mean {near[0]}?" if near else ""))


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
