"""Opening of a data file as a table of DuckDB, which can read that file and nothing else."""

from collections.abc import Iterable
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
        """Return the results of SQL aggregates over the whole table, all computed in one pass."""
        # The added count makes this a query of one row even if all other expressions are constants.
        query = f"SELECT count(*), {', '.join(expressions)} FROM {self.expression}"  # noqa: S608
        row: tuple[Any, ...] = self.connection.execute(query).fetchone()
        return row[1:]


def open_table(path: str, file_type: str, scan: ByteScan, limits: ProfilingLimits) -> DuckDbTable:
    """Open the file at `path` as a table, which the first query reads.

    The first row of a CSV or TSV file names the columns, and all its cells are texts. `scan` says how such a file is
    encoded.

    Raises:
        ProfilingError: a CSV or TSV file has too many columns.
    """
    connection = _connect_for_one_file(path)
    if file_type == "parquet":
        return DuckDbTable(connection, f"read_parquet('{path}')")

    if file_type in ("json", "jsonl"):
        layout = "newline_delimited" if file_type == "jsonl" else "auto"
        options = f"format='{layout}', map_inference_threshold=-1, sample_size=-1, maximum_depth=2"
        return DuckDbTable(connection, f"read_json('{path}', {options})")

    # This is checked before DuckDB sees the file, because it guesses the delimiter slowly if there are many columns.
    delimiter_counts = [scan.first_line.count(delimiter) for delimiter in _DELIMITERS]
    if max(delimiter_counts) >= limits.max_columns:
        raise ProfilingError(FailureReason.TOO_MANY_COLUMNS)

    known_delimiter = "\t" if file_type == "tsv" else None
    common_options = (
        f"max_line_size={limits.max_line_bytes}, buffer_size={2 * limits.max_line_bytes}, "
        f"encoding='{scan.encoding}', null_padding=true"
    )
    return _open_delimited_table(connection, f"'{path}', {common_options}", known_delimiter)


def load_into_memory(table: DuckDbTable) -> DuckDbTable:
    """Return a copy of the table in memory, because every query would parse a text file again."""
    table.connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table.expression}")  # noqa: S608
    return DuckDbTable(table.connection, "kept", table.warnings)


def _connect_for_one_file(path: str) -> Any:
    """Return a DuckDB connection that can read the file at `path` and nothing else.

    Its configuration is locked, so that no query can lift the restriction.
    """
    connection = duckdb.connect(":memory:", config={"threads": 1, "temp_directory": "", "memory_limit": "1GiB"})
    settings = (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "python_enable_replacements = false",
        f"allowed_paths = ['{path}']",
        "enable_external_access = false",
        "lock_configuration = true",
    )
    for setting in settings:
        connection.execute(f"SET {setting}")
    return connection


def _open_delimited_table(connection: Any, arguments: str, known_delimiter: str | None) -> DuckDbTable:
    """Open a CSV or TSV file as a table of texts; `arguments` are those that `sniff_csv` and `read_csv` share.

    DuckDB guesses the quote, and the delimiter if it is not known. If it takes the first row for data, the table has
    a warning, and that row names the columns all the same.
    """
    sniff_arguments = arguments
    if known_delimiter is not None:
        sniff_arguments += f", delim={_quote(known_delimiter)}"
    sniffed = DuckDbTable(connection, f"sniff_csv({sniff_arguments})")
    delimiter, quote, has_header = sniffed.aggregate(
        ["any_value(Delimiter)", "any_value(Quote)", "any_value(HasHeader)"]
    )

    # The sniffer spells two delimiters in its own way; the second stands for a file of a single column.
    delimiter = {"\\t": "\t", "(empty)": ","}.get(delimiter, delimiter)
    if quote not in ('"', "'"):
        quote = '"'

    return DuckDbTable(
        connection,
        f"read_csv({arguments}, delim={_quote(delimiter)}, quote={_quote(quote)}, escape={_quote(quote)}, "
        "all_varchar=true, header=true, skip=0, parallel=false)",
        warnings=() if has_header else ("first_row_looks_like_data",),
    )


def _quote(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
