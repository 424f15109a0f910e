"""Reading of JSON files with an array of objects, and of JSON Lines files with one object per line.

Each object is a row. The members of a nested object become separate columns, such as `address.city`.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
import pandas as pd

from touchstone.core.column_names import unique_names
from touchstone.core.nested_json import ColumnPath, FlatRow, Row, column_name, enclosing_paths, flatten
from touchstone.core.repeated_keys import find_repeated_key
from touchstone.core.text_encoding import TextEncoding
from touchstone.learning.column_types import (
    TypedColumn,
    from_booleans,
    from_numbers,
    from_strings,
    from_unsupported,
    json_as_text,
)
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_files.limits import check_size
from touchstone.learning.table_files.table_content import TableContent
from touchstone.learning.table_files.text_file import detect_encoding

BATCH_ROWS: Final = 10_000
ROW_DECODER: Final = msgspec.json.Decoder(dict[str, Any])
ARRAY_DECODER: Final = msgspec.json.Decoder(list[msgspec.Raw])


def read_json(stream: BinaryIO) -> TableContent:
    """Read an array of objects. Each object is a row, and its keys are the column names.

    A file without an array is read as JSON Lines.
    """
    encoding, text = _read_utf8(stream)
    is_array = text.lstrip().startswith(b"[")
    return _build_columns(_array_rows(text) if is_array else _line_rows(text), encoding)


def read_json_lines(stream: BinaryIO) -> TableContent:
    """Read a file with one object per line. Its keys are the column names."""
    encoding, text = _read_utf8(stream)
    return _build_columns(_line_rows(text), encoding)


def _read_utf8(stream: BinaryIO) -> tuple[TextEncoding, bytes]:
    """Return the encoding of a file, and its content converted to UTF-8."""
    encoding = detect_encoding(stream)
    stream.seek(0)
    content = stream.read()
    if encoding.name == "utf-8":
        return encoding, content.removeprefix(b"\xef\xbb\xbf")
    return encoding, content.decode(encoding.name, errors="replace").lstrip("\ufeff").encode()


def _array_rows(text: bytes) -> Iterator[Row]:
    """Yield the objects of an array, or raise `LearningError` if the text is not an array of objects."""
    try:
        for encoded_row in ARRAY_DECODER.decode(text):
            yield _decode_row(bytes(encoded_row))
    except (msgspec.DecodeError, RecursionError) as error:
        raise LearningError("file_unreadable") from error


def _line_rows(text: bytes) -> Iterator[Row]:
    """Yield the object on each line, or raise `LearningError` with the number of an invalid line."""
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _decode_row(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise LearningError("file_malformed", line=number) from error
        yield row


def _decode_row(encoded_row: bytes) -> Row:
    """Decode a row, or raise `LearningError` if one of its objects has a key twice.

    The decoder would keep only the last value of such a key.
    """
    row = ROW_DECODER.decode(encoded_row)
    repeated_key = find_repeated_key(encoded_row, row)
    if repeated_key is not None:
        raise LearningError("file_key_repeated", name=repeated_key.name)
    return row


def _build_columns(rows: Iterator[Row], encoding: TextEncoding) -> TableContent:
    """Convert rows to typed columns, in the order of the first occurrence of their keys.

    A cell is missing if its row does not contain the column. Rows are read in batches, so that an oversized table is
    rejected early.
    """
    cells_by_path: dict[ColumnPath, list[Any]] = {}
    row_count = 0
    while batch := [flatten(row) for row in islice(rows, BATCH_ROWS)]:
        for path in _new_paths(batch, cells_by_path):
            cells_by_path[path] = [None] * row_count

        row_count += len(batch)
        check_size(columns=len(cells_by_path), rows=row_count)
        for path, cells in cells_by_path.items():
            cells.extend([row.get(path) for row in batch])

    if not cells_by_path:
        raise LearningError("file_empty")
    for path in _paths_of_absent_objects(cells_by_path):
        del cells_by_path[path]

    names = [column_name(path) for path in cells_by_path]
    columns = [
        _typed_column(name, cells) for name, cells in zip(unique_names(names), cells_by_path.values(), strict=True)
    ]
    return TableContent(names, columns, encoding)


def _new_paths(batch: list[FlatRow], known_paths: dict[ColumnPath, list[Any]]) -> list[ColumnPath]:
    """Return the paths that first occur in this batch of rows, in the order of their occurrence."""
    paths_in_batch = dict.fromkeys(path for row in batch for path in row)
    return [path for path in paths_in_batch if path not in known_paths]


def _paths_of_absent_objects(cells_by_path: dict[ColumnPath, list[Any]]) -> set[ColumnPath]:
    """Return the paths that hold a nested object in some rows, and null in all others.

    The members of the object have columns of their own, so the column of the path itself contains no data.
    """
    object_paths = {object_path for path in cells_by_path for object_path in enclosing_paths(path)}
    paths = object_paths & cells_by_path.keys()
    return {path for path in paths if all(cell is None for cell in cells_by_path[path])}


def _typed_column(name: str, cells: list[Any]) -> TypedColumn:
    """Return a column with the type of its JSON values.

    The type of all other columns is inferred as for CSV files: of strings, of values with several types, and of
    integers that are too large for a float. Arrays within a row are not supported, and neither are objects that are
    nested too deeply to be divided.
    """
    types = {type(cell) for cell in cells if cell is not None}
    if types & {list, dict}:
        return from_unsupported(name, len(cells), missing=cells.count(None))

    if types == {bool}:
        return from_booleans(name, pd.Series(cells, dtype=object))

    has_only_numbers = bool(types) and types <= {int, float}
    if has_only_numbers:
        with suppress(OverflowError):  # An integer that is too large for a float is read as a string below.
            return from_numbers(name, np.array(cells, dtype=np.float64))

    return from_strings(name, pd.Series([json_as_text(cell) for cell in cells], dtype=object))
