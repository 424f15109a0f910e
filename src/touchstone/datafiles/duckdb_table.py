"""Opening of a data file as a table of DuckDB, which can read that file and nothing else."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.csv as arrow_csv

from touchstone.core.delimited_text import DELIMITERS, detect_delimiter, has_header
from touchstone.core.nested_json import MAX_LEVELS, member_name
from touchstone.core.text_encoding import TextEncoding
from touchstone.datafiles.byte_scan import ByteScan
from touchstone.datafiles.file_profile import FailureReason, ProfilingError, ProfilingLimits

JSON_TYPES: Final = ("json", "jsonl")
_SAMPLE_LINES: Final = 50
_DUCKDB_ENCODINGS: Final = ("utf-8", "utf-16")


@dataclass(frozen=True, slots=True)
class DuckDbTable:
    """A table that DuckDB can query.

    Attributes:
        connection: the DuckDB connection.
        expression: the SQL to select from, such as a call of `read_csv`.
        warnings: keys of what looked odd when the file was opened.
        delimiter: what separates the cells of a delimited text; it decides what commas in numbers can mean.
    """

    connection: Any
    expression: str
    warnings: tuple[str, ...] = ()
    delimiter: str = ","

    def count_rows(self) -> int:
        """Return the number of rows of the table."""
        query = f"SELECT count(*) FROM {self.expression}"  # noqa: S608
        (row_count,) = self.connection.execute(query).fetchone()
        return int(row_count)


def open_table(path: str, file_type: str, scan: ByteScan, limits: ProfilingLimits) -> DuckDbTable:
    """Open a data file as a table. Its rows are read when the table is queried.

    `scan` is what has been found out about the bytes of the file, such as their encoding.

    Raises:
        ProfilingError: a CSV or TSV file has too many columns.
    """
    connection = _connect_for_one_file(path)

    if file_type == "parquet":
        return DuckDbTable(connection, _function_call("read_parquet", path))
    if file_type in JSON_TYPES:
        return _open_json_table(connection, path, is_one_object_per_line=file_type == "jsonl")
    return _open_delimited_table(connection, path, file_type, scan, limits)


def load_into_memory(table: DuckDbTable) -> DuckDbTable:
    """Copy a table into memory, so that the file is parsed once and not for every query.

    A table that needs too much memory is returned as it is.
    """
    try:
        table.connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table.expression}")  # noqa: S608
    except duckdb.OutOfMemoryException:
        return table
    return replace(table, expression="kept")


def flatten_objects(table: DuckDbTable) -> DuckDbTable:
    """Replace each column of JSON objects by one column for each member of the objects, such as `address.city`.

    The table itself does not change; the result selects from it.
    """
    relation = table.connection.sql(f"SELECT * FROM {table.expression} LIMIT 0")  # noqa: S608

    members: list[_Member] = []
    for name, column_type in zip(relation.columns, relation.types, strict=True):
        column = _Member(name, sql=_quoted(name))
        members += _members_of(column, column_type, levels=MAX_LEVELS)

    has_objects = [member.name for member in members] != list(relation.columns)
    if not has_objects:
        return table

    names = _distinct_names([member.name for member in members])
    selected = [f"{member.sql} AS {_quoted(name)}" for member, name in zip(members, names, strict=True)]
    return replace(table, expression=f"(SELECT {', '.join(selected)} FROM {table.expression})")  # noqa: S608


class _Member(NamedTuple):
    """A column, or a member of an object in a column: its name, and the SQL of its value."""

    name: str
    sql: str


def _members_of(value: _Member, value_type: Any, *, levels: int) -> list[_Member]:
    """Return the members of an object, or the value itself if it is none; `value_type` is its type in DuckDB."""
    if value_type.id != "struct" or levels == 0:
        return [value]

    members: list[_Member] = []
    for key, member_type in value_type.children:
        member = _Member(member_name(value.name, key), f"struct_extract({value.sql}, {_sql_literal(key)})")
        members += _members_of(member, member_type, levels=levels - 1)
    return members


def _quoted(name: str) -> str:
    """Return a name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _connect_for_one_file(path: str) -> Any:
    """Return a new DuckDB connection that can read the file at `path` and nothing else.

    DuckDB can usually read any file, load extensions, and even look into the variables of this program. All of this is
    switched off, and the configuration is locked, so that no query can switch it on again.
    """
    connection = duckdb.connect(":memory:", config={"threads": 1, "temp_directory": "", "memory_limit": "1GiB"})

    settings = (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "python_enable_replacements = false",
        f"allowed_paths = [{_sql_literal(path)}]",
        "enable_external_access = false",
        "lock_configuration = true",
    )
    for setting in settings:
        connection.execute(f"SET {setting}")
    return connection


def _open_json_table(connection: Any, path: str, *, is_one_object_per_line: bool) -> DuckDbTable:
    """Open a JSON or JSON Lines file as a table with one row for each object and one column for each key."""
    options: dict[str, Any] = {
        "format": "newline_delimited" if is_one_object_per_line else "auto",
        # Look for keys in all objects (-1), because a key may be missing from the first ones.
        "sample_size": -1,
        # Never (-1) turn objects with many keys into a single column of maps.
        "map_inference_threshold": -1,
        # Find the types of the members of objects, and leave what is nested deeper as JSON.
        "maximum_depth": 2 + MAX_LEVELS,
    }
    return DuckDbTable(connection, _function_call("read_json", path, **options))


def _open_delimited_table(
    connection: Any, path: str, file_type: str, scan: ByteScan, limits: ProfilingLimits
) -> DuckDbTable:
    """Open a CSV or TSV file as a table in which every column is text.

    The first lines of the file show its delimiter, and whether the first row contains the names of the columns.

    Raises:
        ProfilingError: the file has too many columns.
    """
    assert scan.encoding is not None, "text formats have an encoding"
    lines = _first_lines(scan)
    _check_column_count(lines[0], limits.max_columns)

    delimiter = "\t" if file_type == "tsv" else detect_delimiter(lines)
    rows = list(csv.reader(lines, delimiter=delimiter))
    names_columns = has_header(rows)
    numbered_names = [f"column_{number}" for number in range(1, len(rows[0]) + 1)]
    names = _distinct_names(rows[0]) if names_columns else numbered_names
    warnings = _layout_warnings(scan.encoding, names_columns=names_columns)

    if scan.encoding.name not in _DUCKDB_ENCODINGS:
        layout = _TextLayout(scan.encoding.name, delimiter, names, names_columns)
        return DuckDbTable(connection, _register_other_encoding(connection, path, layout), warnings, delimiter)

    options: dict[str, Any] = {
        "encoding": scan.encoding.name,
        "delim": delimiter,
        "quote": '"',
        "escape": '"',  # a quote inside a quoted cell is doubled
        "header": names_columns,
        "skip": 0,
        "all_varchar": True,
        "null_padding": True,  # cells missing at the end of a row are NULL
        "max_line_size": limits.max_line_bytes,
        "buffer_size": 2 * limits.max_line_bytes,  # DuckDB refuses a buffer that is too small for the longest line
        "parallel": False,  # the parallel reader of DuckDB supports no line breaks in cells along with `null_padding`
    }
    if not names_columns:
        options["names"] = names
    return DuckDbTable(connection, _function_call("read_csv", path, **options), warnings, delimiter)


class _TextLayout(NamedTuple):
    """How a delimited text is written, and the names of its columns, which its first row may contain."""

    encoding: str
    delimiter: str
    names: list[str]
    has_header: bool


def _register_other_encoding(connection: Any, path: str, layout: _TextLayout) -> str:
    """Read a delimited text with Arrow, because DuckDB does not know its encoding; return the name of the table.

    Raises:
        ProfilingError: the rows have different lengths, or bytes mean nothing in the encoding.
    """
    # More threads would use up the limit on the address space of this process.
    pa.set_memory_pool(pa.system_memory_pool())
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)

    read_options = arrow_csv.ReadOptions(
        column_names=layout.names,
        skip_rows_after_names=1 if layout.has_header else 0,
        encoding=layout.encoding,
        use_threads=False,
    )
    parse_options = arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
    convert_options = arrow_csv.ConvertOptions(column_types=dict.fromkeys(layout.names, pa.large_string()))

    try:
        with Path(path).open("rb") as file:
            texts = arrow_csv.read_csv(
                file, read_options=read_options, parse_options=parse_options, convert_options=convert_options
            )
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise ProfilingError(FailureReason.MALFORMED, str(error)) from None
    connection.register("texts", texts)
    return "texts"


def _distinct_names(header: Sequence[str]) -> list[str]:
    """Return the names in a header, with numbers after those that DuckDB would not tell apart."""
    names: list[str] = []
    taken: set[str] = set()
    for position, name in enumerate(header, start=1):
        candidate = name.strip() or f"column_{position}"
        if candidate.lower() in taken:
            candidate = f"{candidate}_{position}"
        taken.add(candidate.lower())
        names.append(candidate)
    return names


def _layout_warnings(encoding: TextEncoding, *, names_columns: bool) -> tuple[str, ...]:
    """Return the keys of what looks odd in a delimited text: a guessed encoding, and a first row of data."""
    warnings = []
    if encoding.is_guess:
        warnings.append("encoding_guessed")
    if not names_columns:
        warnings.append("first_row_looks_like_data")
    return tuple(warnings)


def _first_lines(scan: ByteScan) -> list[str]:
    """Return the first lines of a delimited text that are not empty; there is at least one."""
    assert scan.encoding is not None
    text = scan.beginning.decode(scan.encoding.name, errors="replace").lstrip("\ufeff")
    lines = text.splitlines()
    is_whole_file = scan.byte_count == len(scan.beginning)
    if not is_whole_file and len(lines) > 1:
        lines.pop()  # the last line may be incomplete

    nonempty_lines = [line for line in lines if line.strip()]
    return nonempty_lines[:_SAMPLE_LINES] or [""]


def _check_column_count(first_line: str, max_columns: int) -> None:
    """Refuse a CSV or TSV file whose first line has too many columns, whichever delimiter the file uses.

    Raises:
        ProfilingError: there are too many columns.
    """
    for delimiter in DELIMITERS:
        column_count = first_line.count(delimiter) + 1
        if column_count > max_columns:
            raise ProfilingError(FailureReason.TOO_MANY_COLUMNS)


def _function_call(function: str, path: str, **options: str | int | bool | list[str]) -> str:
    """Return the SQL that calls a table function of DuckDB, such as `read_csv('/data/a.csv', header=true)`."""
    arguments = [_sql_literal(path)]
    for name, value in options.items():
        arguments.append(f"{name}={_sql_literal(value)}")
    return f"{function}({', '.join(arguments)})"


def _sql_literal(value: str | int | bool | list[str]) -> str:
    """Return a value as an SQL literal: `true`, `42`, `'text'` or a list of texts.

    A quote within a text is doubled, as SQL demands.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_sql_literal, value))}]"

    doubled_quotes = value.replace("'", "''")
    return f"'{doubled_quotes}'"
