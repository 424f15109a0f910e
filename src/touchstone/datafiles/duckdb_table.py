"""Opening of a data file as a table of DuckDB, which can read that file and nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from touchstone.datafiles.byte_scan import ByteScan
from touchstone.datafiles.file_profile import FailureReason, ProfilingError, ProfilingLimits

_DELIMITERS: Final = (b",", b";", b"\t", b"|")


@dataclass(frozen=True, slots=True)
class DuckDbTable:
    """A table that DuckDB can query.

    Attributes:
        connection: the DuckDB connection.
        expression: the SQL to select from, such as a call of `read_csv`.
        warnings: keys of what looked odd when the file was opened.
    """

    connection: Any
    expression: str
    warnings: tuple[str, ...] = ()

    def aggregate(self, expressions: Iterable[str]) -> tuple[Any, ...]:
        """Return the results of SQL aggregates, such as `min(price)`, over the whole table in one pass."""
        # If all expressions were constants, the query would give a row for each row of the table; with a count it
        # always gives a single one.
        query = f"SELECT count(*), {', '.join(expressions)} FROM {self.expression}"  # noqa: S608
        _row_count, *results = self.connection.execute(query).fetchone()
        return tuple(results)


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How a CSV file is written.

    Attributes:
        delimiter: the character between cells.
        quote: the character around cells that contain the delimiter.
        has_header: whether the first row looks like the names of the columns.
    """

    delimiter: str
    quote: str
    has_header: bool


def open_table(path: str, file_type: str, scan: ByteScan, limits: ProfilingLimits) -> DuckDbTable:
    """Open a data file as a table. Its rows are read when the table is queried.

    `scan` is what has been found out about the bytes of the file, such as their encoding.

    Raises:
        ProfilingError: a CSV or TSV file has too many columns.
    """
    connection = _connect_for_one_file(path)

    if file_type == "parquet":
        return DuckDbTable(connection, _function_call("read_parquet", path))
    if file_type in ("json", "jsonl"):
        return _open_json_table(connection, path, is_one_object_per_line=file_type == "jsonl")
    return _open_delimited_table(connection, path, file_type, scan, limits)


def load_into_memory(table: DuckDbTable) -> DuckDbTable:
    """Copy a table into memory, so that the file is parsed once and not for every query."""
    table.connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table.expression}")  # noqa: S608
    return DuckDbTable(table.connection, "kept", table.warnings)


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
        # Find the types of the columns, but leave the values inside lists and objects as JSON.
        "maximum_depth": 2,
    }
    return DuckDbTable(connection, _function_call("read_json", path, **options))


def _open_delimited_table(
    connection: Any, path: str, file_type: str, scan: ByteScan, limits: ProfilingLimits
) -> DuckDbTable:
    """Open a CSV or TSV file as a table of texts. Its first row contains the names of the columns.

    Raises:
        ProfilingError: the file has too many columns.
    """
    _check_column_count(scan.first_line, limits.max_columns)

    known_options: dict[str, Any] = {
        "encoding": scan.encoding,
        "max_line_size": limits.max_line_bytes,
        "buffer_size": 2 * limits.max_line_bytes,  # DuckDB refuses a buffer that is too small for the longest line
        "null_padding": True,  # cells missing at the end of a row are NULL
    }
    if file_type == "tsv":
        known_options["delim"] = "\t"
    dialect = _guess_dialect(connection, path, known_options)

    read_options: dict[str, Any] = {
        **known_options,
        "delim": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.quote,  # a quote inside a quoted cell is doubled
        "header": True,
        "skip": 0,
        "all_varchar": True,
        "parallel": False,  # the parallel reader of DuckDB supports no line breaks in cells along with `null_padding`
    }
    warnings = () if dialect.has_header else ("first_row_looks_like_data",)
    return DuckDbTable(connection, _function_call("read_csv", path, **read_options), warnings)


def _check_column_count(first_line: bytes, max_columns: int) -> None:
    """Refuse a CSV or TSV file whose first line has too many columns, whichever delimiter the file uses.

    This has to come before DuckDB guesses the delimiter, which would take very long for so many columns.

    Raises:
        ProfilingError: there are too many columns.
    """
    for delimiter in _DELIMITERS:
        column_count = first_line.count(delimiter) + 1
        if column_count > max_columns:
            raise ProfilingError(FailureReason.TOO_MANY_COLUMNS)


def _guess_dialect(connection: Any, path: str, known_options: Mapping[str, Any]) -> CsvDialect:
    """Let DuckDB guess how a CSV file is written, apart from the options that are known already."""
    sniff_call = _function_call("sniff_csv", path, **known_options)
    query = f"SELECT Delimiter, Quote, HasHeader FROM {sniff_call}"  # noqa: S608
    delimiter, quote, has_header = connection.execute(query).fetchone()

    # DuckDB describes some characters instead of returning them.
    if delimiter == "\\t":
        delimiter = "\t"
    elif delimiter == "(empty)":  # there is a single column, so that any delimiter will do
        delimiter = ","

    if quote not in ('"', "'"):
        quote = '"'

    return CsvDialect(delimiter, quote, has_header)


def _function_call(function: str, path: str, **options: str | int | bool) -> str:
    """Return the SQL that calls a table function of DuckDB, such as `read_csv('/data/a.csv', header=true)`."""
    arguments = [_sql_literal(path)]
    for name, value in options.items():
        arguments.append(f"{name}={_sql_literal(value)}")
    return f"{function}({', '.join(arguments)})"


def _sql_literal(value: str | int | bool) -> str:
    """Return a value as an SQL literal: `true`, `42` or `'text'`; a quote within a text is doubled, as SQL demands."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)

    doubled_quotes = value.replace("'", "''")
    return f"'{doubled_quotes}'"
