"""Opening of JSON files with the exact names of their keys.

SQL ignores the case of names, so DuckDB renames columns whose keys differ only in case, and refuses such keys in nested
objects. This module reads each value by the path of its keys instead.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from touchstone.core.nested_json import MAX_LEVELS, column_name
from touchstone.datafiles.byte_scan import ByteScan
from touchstone.datafiles.duckdb_table import (
    DuckDbTable,
    connect_for_one_file,
    decode_beginning,
    function_call,
    json_format,
    numbered_column,
    path_in_utf8,
    sql_literal,
)
from touchstone.datafiles.file_profile import FailureReason, ProfilingError

_SUFFIX_OF_RENAMED: Final = re.compile(r"(.*)_\d+")


def may_have_renamed_columns(table: DuckDbTable) -> bool:
    """Return whether DuckDB may have given a column a suffix, such as `Age_1` in a table that also has `age`."""
    names = table.connection.sql(f"SELECT * FROM {table.expression} LIMIT 0").columns  # noqa: S608
    lower_names = {name.lower() for name in names}
    matches = [_SUFFIX_OF_RENAMED.fullmatch(name.lower()) for name in names]
    return any(match is not None and match[1] in lower_names for match in matches)


def open_with_exact_names(path: str, file_type: str, scan: ByteScan) -> DuckDbTable:
    """Open a JSON file as a table of JSON values, with a column for each key of its rows and of their objects.

    Raises:
        ProfilingError: the rows are not objects.
    """
    keys = _read_structure(path, file_type, scan)
    key_paths = list(_key_paths((), keys, levels=MAX_LEVELS))

    selected = []
    for index, key_path in enumerate(key_paths):
        value = f"json_extract(json, {sql_literal(_json_pointer(key_path))})"
        # A null in JSON is a missing value.
        selected.append(f"CASE json_type({value}) WHEN 'NULL' THEN NULL ELSE {value} END AS {numbered_column(index)}")

    readable_path = path_in_utf8(path, file_type, scan)
    rows = _rows_of(readable_path, file_type, scan)
    return DuckDbTable(
        connect_for_one_file(readable_path),
        f"(SELECT {', '.join(selected)} FROM {rows})",  # noqa: S608
        warnings=("encoding_guessed",) if scan.encoding is not None and scan.encoding.is_guess else (),
        names_in_file=[column_name(key_path) for key_path in key_paths],
        is_rereadable=readable_path == path,
    )


def _read_structure(path: str, file_type: str, scan: ByteScan) -> Mapping[str, Any]:
    """Return the keys that occur in the rows of a file, where an object has the keys of its members, too."""
    # If the file is converted to UTF-8, every query needs a pipe and a connection of its own.
    readable_path = path_in_utf8(path, file_type, scan)
    connection = connect_for_one_file(readable_path)
    query = f"SELECT json_group_structure(json) FROM {_rows_of(readable_path, file_type, scan)}"  # noqa: S608
    (structure_json,) = connection.execute(query).fetchone()

    structure = msgspec.json.decode(structure_json)
    if not isinstance(structure, dict):
        raise ProfilingError(FailureReason.MALFORMED, "the rows are not objects")
    return structure


def _rows_of(readable_path: str, file_type: str, scan: ByteScan) -> str:
    """Return the SQL of a table with the rows of a file in its only column, `json`."""
    return function_call("read_json_objects", readable_path, format=json_format(file_type, decode_beginning(scan)))


def _key_paths(object_path: tuple[str, ...], keys: Mapping[str, Any], *, levels: int) -> Iterator[tuple[str, ...]]:
    """Yield the path of each value in an object, or of the values in it if it is an object itself.

    Args:
        object_path: the path of the object.
        keys: its keys, each with the keys of its value or the type of its value.
        levels: the number of levels of nested objects to divide.
    """
    for key, content in keys.items():
        key_path = (*object_path, key)
        if isinstance(content, dict) and levels:
            yield from _key_paths(key_path, content, levels=levels - 1)
        else:
            yield key_path


def _json_pointer(key_path: tuple[str, ...]) -> str:
    """Return a path as a JSON pointer (RFC 6901), in which keys may contain any characters."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in key_path)
