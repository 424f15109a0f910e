"""Opening of a data file as a DuckDB table, in a connection that can read only this file."""

import codecs
import os
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from touchstone.core.delimited_text import DELIMITERS, detect_layout
from touchstone.core.nested_json import MAX_LEVELS, member_name
from touchstone.core.text_encoding import TextEncoding
from touchstone.datafiles.byte_scan import ByteScan
from touchstone.datafiles.file_profile import FailureReason, ProfilingError, ProfilingLimits

DELIMITED_TYPES: Final = ("csv", "tsv")
JSON_TYPES: Final = ("json", "jsonl")
_UTF8: Final = "utf-8"
_UTF8_WITH_MARK: Final = "utf-8-sig"
_NO_CELL: Final = "\x1a"  # Files do not contain this string for NULL, so only the missing cells of short rows are NULL.


@dataclass(frozen=True, slots=True)
class DuckDbTable:
    """A table that DuckDB can query.

    Attributes:
        connection: the DuckDB connection.
        expression: the SQL to select from, such as a call of `read_csv`.
        warnings: the keys of warnings about the file.
        delimiter: the delimiter of cells in a CSV or TSV file, which limits the possible meanings of commas in numbers.
        names_in_file: the original names of the columns, which may be empty or repeated, or None if the names in SQL
            are the same.
        has_extra_field: whether the rows of a CSV or TSV file have one field more than its header has names.
        is_rereadable: whether every query can read the file again; otherwise, the first query consumes it.
    """

    connection: Any
    expression: str
    warnings: tuple[str, ...] = ()
    delimiter: str = ","
    names_in_file: Sequence[str] | None = None
    has_extra_field: bool = False
    is_rereadable: bool = True

    def count_rows(self) -> int:
        """Return the number of rows of the table."""
        query = f"SELECT count(*) FROM {self.expression}"  # noqa: S608
        (row_count,) = self.connection.execute(query).fetchone()
        return int(row_count)


def open_table(path: str, file_type: str, scan: ByteScan, limits: ProfilingLimits) -> DuckDbTable:
    """Open a data file as a table, whose rows are read when it is queried.

    `scan` is the result of scanning the bytes of the file, such as their encoding.

    Raises:
        ProfilingError: a CSV or TSV file has too many columns.
    """
    if scan.encoding is None:
        connection = connect_for_one_file(path)
        names = _parquet_names(connection, path)
        return DuckDbTable(connection, function_call("read_parquet", path), names_in_file=names)

    text = decode_beginning(scan)
    readable_path = path_in_utf8(path, file_type, scan)
    connection = connect_for_one_file(readable_path)

    if file_type in JSON_TYPES:
        table = _open_json_table(connection, readable_path, json_format=json_format(file_type, text))
    else:
        table = _open_delimited_table(connection, readable_path, file_type, text, limits)
    warnings = ("encoding_guessed", *table.warnings) if scan.encoding.is_guess else table.warnings
    return replace(table, warnings=warnings, is_rereadable=readable_path == path)


def decode_beginning(scan: ByteScan) -> str:
    """Return the beginning of a text file without a byte order mark."""
    assert scan.encoding is not None
    return scan.beginning.decode(scan.encoding.name, errors="replace").lstrip("\ufeff")


def path_in_utf8(path: str, file_type: str, scan: ByteScan) -> str:
    """Return the path of a text file if DuckDB supports its encoding, or else of a new pipe with its text in UTF-8."""
    assert scan.encoding is not None
    # DuckDB drops a byte order mark from delimited text, but not from JSON.
    has_unsupported_mark = file_type in JSON_TYPES and scan.beginning.startswith(codecs.BOM_UTF8)
    is_readable = scan.encoding.name == _UTF8 and not has_unsupported_mark
    return path if is_readable else _transcode(path, scan.encoding)


def json_format(file_type: str, text: str) -> str:
    """Return the name in DuckDB of the format of a JSON file: an array, or an object on each line."""
    is_array = file_type == "json" and text.lstrip().startswith("[")
    return "array" if is_array else "newline_delimited"


def load_into_memory(table: DuckDbTable) -> DuckDbTable:
    """Copy a table into memory, so that the file is parsed only once.

    A table that needs too much memory is returned unchanged if its file can be read again.
    """
    try:
        table.connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table.expression}")  # noqa: S608
    except duckdb.OutOfMemoryException:
        if table.is_rereadable:
            return table
        raise
    return replace(table, expression="kept")


def resolve_surplus_fields(table: DuckDbTable) -> DuckDbTable:
    """Return a CSV or TSV table whose columns correspond to the names in its header.

    Some programs end each row with a delimiter, so the last field is always empty. This field is dropped. Other
    programs begin each row with a row name, which has no name in the header. An empty column name is added.

    Raises:
        ProfilingError: a row has too many fields.
    """
    assert table.names_in_file is not None
    width = len(table.names_in_file) + table.has_extra_field
    surplus = numbered_column(width)
    if _has_row(table, f"{surplus} IS NOT NULL"):
        raise ProfilingError(FailureReason.MALFORMED, "a row has too many fields")

    dropped_columns = [surplus]
    names = table.names_in_file
    if table.has_extra_field:
        last_column = numbered_column(width - 1)
        if _has_row(table, f"regexp_matches({last_column}, '\\S')"):
            names = ["", *names]
        else:
            dropped_columns.append(last_column)

    expression = f"(SELECT * EXCLUDE ({', '.join(dropped_columns)}) FROM {table.expression})"  # noqa: S608
    return replace(table, expression=expression, names_in_file=names)


def _has_row(table: DuckDbTable, condition: str) -> bool:
    """Return whether a condition in SQL is true for any row."""
    query = f"SELECT 1 FROM {table.expression} WHERE {condition} LIMIT 1"  # noqa: S608
    return table.connection.execute(query).fetchone() is not None


def flatten_objects(table: DuckDbTable) -> DuckDbTable:
    """Replace each column of JSON objects with one column for each of their members, such as `address.city`.

    The result selects from the original table, which is not changed.
    """
    # No rows are needed to learn the names and types of the columns.
    relation = table.connection.sql(f"SELECT * FROM {table.expression} LIMIT 0")  # noqa: S608

    members: list[_Member] = []
    for name, column_type in zip(relation.columns, relation.types, strict=True):
        column = _Member(name, sql=_quoted(name))
        members += _members_of(column, column_type, levels=MAX_LEVELS)

    has_objects = [member.name for member in members] != list(relation.columns)
    if not has_objects:
        return table

    selected = [f"{member.sql} AS {numbered_column(index)}" for index, member in enumerate(members)]
    expression = f"(SELECT {', '.join(selected)} FROM {table.expression})"  # noqa: S608
    return replace(table, expression=expression, names_in_file=[member.name for member in members])


class _Member(NamedTuple):
    """The name and the SQL of a column, or of a member of the objects in a column."""

    name: str
    sql: str


def _members_of(value: _Member, value_type: Any, *, levels: int) -> list[_Member]:
    """Return the members of an object, with the members of nested objects up to `levels`.

    A value that is not an object is returned as the only member. `value_type` is its type in DuckDB.
    """
    if value_type.id != "struct" or levels == 0:
        return [value]

    members: list[_Member] = []
    for key, member_type in value_type.children:
        member = _Member(member_name(value.name, key), f"struct_extract({value.sql}, {sql_literal(key)})")
        members += _members_of(member, member_type, levels=levels - 1)
    return members


def numbered_column(index: int) -> str:
    """Return the SQL name of the column with an index; SQL ignores the case of names, unlike data files."""
    return f"c{index}"


def _quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def connect_for_one_file(path: str) -> Any:
    """Return a new DuckDB connection that can read only the file at `path`.

    By default, DuckDB can read any file, load extensions, and even access the variables of this program. All of this is
    disabled, and the configuration is locked so that no query can enable it again.
    """
    connection = duckdb.connect(":memory:", config={"threads": 1, "temp_directory": "", "memory_limit": "1GiB"})

    settings = (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "python_enable_replacements = false",
        f"allowed_paths = [{sql_literal(path)}]",
        "enable_external_access = false",
        "lock_configuration = true",
    )
    for setting in settings:
        connection.execute(f"SET {setting}")
    return connection


def _transcode(path: str, encoding: TextEncoding) -> str:
    """Convert a text file to UTF-8, and return the path of a pipe with the result.

    DuckDB does not support other encodings for all formats. A byte order mark is left out, and invalid bytes become
    replacement characters.
    """
    read_end, write_end = os.pipe()
    threading.Thread(target=_write_utf8, args=(path, encoding, write_end), daemon=True).start()
    return f"/dev/fd/{read_end}"


def _write_utf8(path: str, encoding: TextEncoding, descriptor: int) -> None:
    """Write a text file to a descriptor in UTF-8, and close the descriptor."""
    codec = _UTF8_WITH_MARK if encoding.name == _UTF8 else encoding.name
    with (
        suppress(BrokenPipeError),
        Path(path).open(encoding=codec, errors="replace", newline="") as source,
        os.fdopen(descriptor, "w", encoding=_UTF8, newline="") as target,
    ):
        shutil.copyfileobj(source, target)


def _parquet_names(connection: Any, path: str) -> list[str]:
    """Return the names of the columns of a Parquet file."""
    _root, *elements = connection.execute("SELECT name, num_children FROM parquet_schema(?)", [path]).fetchall()

    # If the type of a column is nested, its descendants follow the column.
    names: list[str] = []
    descendant_count = 0
    for name, child_count in elements:
        if descendant_count == 0:
            names.append(name)
        else:
            descendant_count -= 1
        descendant_count += child_count or 0
    return names


def _open_json_table(connection: Any, path: str, *, json_format: str) -> DuckDbTable:
    """Open a JSON array of objects, or a JSON Lines file, as a table with a column for each key."""
    options: dict[str, Any] = {
        "format": json_format,
        # Refuse numbers and other values instead of objects.
        "records": True,
        # Look for keys in all objects (-1), because a key may be missing from the first ones.
        "sample_size": -1,
        # Never (-1) turn objects with many keys into a single column of maps.
        "map_inference_threshold": -1,
        # Detect the types of the members of objects, but leave deeper levels as JSON.
        "maximum_depth": 2 + MAX_LEVELS,
    }
    return DuckDbTable(connection, function_call("read_json", path, **options))


def _open_delimited_table(
    connection: Any, path: str, file_type: str, beginning: str, limits: ProfilingLimits
) -> DuckDbTable:
    """Open a CSV or TSV file as a table with only text columns.

    The delimiter and the presence of a header are inferred from the beginning of the text. The table has one additional
    column, which contains the surplus fields of rows that are too long.

    Raises:
        ProfilingError: the file is empty, or has too many columns.
    """
    _check_column_count(beginning, limits.max_columns)
    layout = detect_layout(beginning, delimiter="\t" if file_type == "tsv" else None)
    if layout is None:
        raise ProfilingError(FailureReason.EMPTY)

    options: dict[str, Any] = {
        "auto_detect": False,
        "columns": {numbered_column(index): "VARCHAR" for index in range(layout.width + 1)},
        "delim": layout.delimiter,
        "quote": '"',
        "escape": '"',  # a quote inside a quoted cell is doubled
        "header": layout.has_header,
        "skip": layout.skipped_lines,
        "nullstr": _NO_CELL,
        "null_padding": True,  # cells missing at the end of a row are NULL
        "strict_mode": False,  # accept quotes within cells, and line breaks of several kinds
        "max_line_size": limits.max_line_bytes,
        "buffer_size": 2 * limits.max_line_bytes,  # DuckDB refuses a buffer that is too small for the longest line
        "parallel": False,  # the parallel reader of DuckDB supports no line breaks in cells along with `null_padding`
    }
    return DuckDbTable(
        connection,
        function_call("read_csv", path, **options),
        warnings=() if layout.has_header else ("first_row_looks_like_data",),
        delimiter=layout.delimiter,
        names_in_file=layout.names,
        has_extra_field=layout.has_extra_field,
    )


def _check_column_count(beginning: str, max_columns: int) -> None:
    """Check that the first line of a CSV or TSV file does not have too many columns, for any delimiter.

    Raises:
        ProfilingError: there are too many columns.
    """
    first_line = beginning.lstrip().partition("\n")[0]
    for delimiter in DELIMITERS:
        column_count = first_line.count(delimiter) + 1
        if column_count > max_columns:
            raise ProfilingError(FailureReason.TOO_MANY_COLUMNS)


def function_call(function: str, path: str, **options: Any) -> str:
    """Return the SQL that calls a table function of DuckDB, such as `read_csv('/data/a.csv', header=true)`."""
    arguments = [sql_literal(path)]
    for name, value in options.items():
        arguments.append(f"{name}={sql_literal(value)}")
    return f"{function}({', '.join(arguments)})"


def sql_literal(value: str | int | bool | dict[str, str]) -> str:
    """Return a value as an SQL literal, such as `true`, `42`, `'text'` or a struct of strings.

    Quotes within a string are doubled.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        members = [f"{sql_literal(name)}: {sql_literal(member)}" for name, member in value.items()]
        return f"{{{', '.join(members)}}}"

    doubled_quotes = value.replace("'", "''")
    return f"'{doubled_quotes}'"
