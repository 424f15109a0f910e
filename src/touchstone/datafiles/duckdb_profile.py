"""Measuring an opened data file with DuckDB; runs in the confined child of `profiling` (and in its tests).

The engine sees the inherited descriptor only (`/dev/fd/N`): every other path is locked away before the first byte is
read, and no name or value from the file reaches a query unquoted (hence the `noqa: S608`). Text columns are typed by
what all their values can be read as, so that a number column with ` ?` in it stays a number column. Everything is three
streaming aggregates over batches of columns: memory stays flat. No aggregate has a FILTER clause: the engine then keeps
a copy of the whole batch for each of them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from touchstone.datafiles.byte_scan import Scan, scan_bytes
from touchstone.datafiles.profiler import (
    MISSING_MARKS,
    ColumnProfile,
    ColumnType,
    Limits,
    Profile,
    ProfilingError,
    Reason,
)

BINS: Final = 20
TOP: Final = 10
FEW: Final = 200  # distinct values up to which a column's values are counted one by one
_BATCH: Final = 8  # columns in one query: planning grows faster than their number
_KEPT_BYTES: Final = 64 * 2**20
_SHOWN: Final = 80  # characters of a value that `top` keeps
_DELIMITERS: Final = (b",", b";", b"\t", b"|")
_MARKS: Final = ", ".join(f"'{mark}'" for mark in MISSING_MARKS)
_NUMERIC: Final = (ColumnType.INTEGER, ColumnType.NUMBER)
_BOOLEAN_WORDS: Final = "CASE lower({0}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
_ISO_DATE: Final = (
    r"CASE WHEN regexp_full_match({0}, '\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}([ T].*)?')"
    " THEN TRY_CAST({0} AS TIMESTAMP) END"
)

# How a text can be read, tried in this order: the first reading that fits every value of a column is its type.
_READINGS: Final = (
    (ColumnType.BOOLEAN, _BOOLEAN_WORDS),
    (
        ColumnType.INTEGER,
        r"CASE WHEN regexp_full_match({0}, '[+-]?\d+') THEN CAST(TRY_CAST({0} AS BIGINT) AS DOUBLE) END",
    ),
    (ColumnType.NUMBER, "TRY_CAST({0} AS DOUBLE)"),
    (ColumnType.DATE, _ISO_DATE),
    (ColumnType.DATE, "try_strptime({0}, '%m/%d/%Y')"),
    (ColumnType.DATE, "try_strptime({0}, '%d/%m/%Y')"),
)
_INTEGERS: Final = (
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT".split()  # noqa: SIM905
)
_DECLARED: Final = {
    "BOOLEAN": (ColumnType.BOOLEAN, "CAST({0} AS DOUBLE)"),
    **dict.fromkeys(_INTEGERS, (ColumnType.INTEGER, "CAST({0} AS DOUBLE)")),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), (ColumnType.NUMBER, "CAST({0} AS DOUBLE)")),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S"), (ColumnType.DATE, "{0}")),
}


@dataclass(frozen=True, slots=True)
class Table:
    """The open file as the engine reads it: a table expression, and what is odd about it."""

    connection: Any
    expression: str
    warnings: list[str]

    def one(self, what: str) -> tuple[Any, ...]:
        """Return the row of these aggregates; the added count keeps it one row even if all of them are constants."""
        query = f"SELECT count(*), {what} FROM {self.expression}"  # noqa: S608
        row: tuple[Any, ...] = self.connection.execute(query).fetchone()
        return row[1:]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, and the engine's type (its first word)."""

    name: str
    engine_type: str

    @property
    def identifier(self) -> str:
        """The name, quoted for SQL."""
        return '"' + self.name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Reading:
    """How a column is read: its type, the expression of its values, and what was counted on the way."""

    type: ColumnType
    expression: str
    present: int
    distinct: int


def measure(descriptor: int, file_type: str, *, limits: Limits) -> Profile:
    """Return the profile of an open file; raise `ProfilingError`, `duckdb.Error` or `MemoryError`."""
    scan = scan_bytes(descriptor, file_type, limits=limits)
    table = _kept(_table(f"/dev/fd/{descriptor}", file_type, scan=scan, limits=limits), scan.size)
    columns = _columns(table, limits=limits)
    rows = int(table.one("count(*)")[0])
    marks: Counter[str] = Counter()
    profiles: list[ColumnProfile] = []
    for start in range(0, len(columns), _BATCH):
        profiles += _profiles(table, columns[start : start + _BATCH], rows=rows, marks=marks)
    return Profile(
        rows=rows,
        columns=len(columns),
        missing_values_percentage=_share(sum(column.missing for column in profiles), rows * len(columns)),
        sha256=scan.sha256,
        bytes=scan.size,
        file_type=file_type,
        missing_marks={mark: count for mark, count in sorted(marks.items()) if count},
        warnings=table.warnings,
        column_profiles=profiles,
    )


def _share(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _table(path: str, file_type: str, *, scan: Scan, limits: Limits) -> Table:
    """Return the table in the file; the first row of a CSV or TSV file names the columns."""
    connection = _locked_connection(path)
    if file_type == "parquet":
        return Table(connection, f"read_parquet('{path}')", [])
    if file_type in ("json", "jsonl"):
        layout = "newline_delimited" if file_type == "jsonl" else "auto"
        options = f"format='{layout}', map_inference_threshold=-1, sample_size=-1, maximum_depth=2"
        return Table(connection, f"read_json('{path}', {options})", [])
    if max(scan.first_line.count(mark) for mark in _DELIMITERS) >= limits.columns:
        raise ProfilingError(Reason.TOO_MANY_COLUMNS)  # before the engine sees it: its guessing is slow on these
    return _text_table(connection, path, file_type, scan=scan, limits=limits)


def _kept(table: Table, size: int) -> Table:
    """Load a small table into memory, because every query would parse a text file again."""
    if size > _KEPT_BYTES:
        return table
    table.connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table.expression}")  # noqa: S608
    return Table(table.connection, "kept", table.warnings)


def _text_table(connection: Any, path: str, file_type: str, *, scan: Scan, limits: Limits) -> Table:
    """Return the table of a CSV or TSV file; DuckDB guesses the quote, and the delimiter of a CSV file."""
    line = limits.line_bytes
    common = f"'{path}', max_line_size={line}, buffer_size={2 * line}, encoding='{scan.encoding}', null_padding=true"
    known = ", delim='\t'" if file_type == "tsv" else ""
    guess = Table(connection, f"sniff_csv({common}{known})", [])
    delimiter, quote, has_header = guess.one("any_value(Delimiter), any_value(Quote), any_value(HasHeader)")
    quote = _literal(quote if quote in ('"', "'") else '"')
    return Table(
        connection,
        f"read_csv({common}, delim={_literal(delimiter)}, quote={quote}, escape={quote}, all_varchar=true, "
        "header=true, skip=0, parallel=false)",
        [] if has_header else ["first_row_looks_like_data"],
    )


def _literal(text: str) -> str:
    """Return a guessed delimiter or quote as an SQL literal."""
    text = {"\\t": "\t", "(empty)": ","}.get(text, text)
    return "'" + text.replace("'", "''") + "'"


def _locked_connection(path: str) -> Any:
    """Return a DuckDB connection that can read this path only, with its configuration locked."""
    connection = duckdb.connect(":memory:", config={"threads": 1, "temp_directory": "", "memory_limit": "1GiB"})
    for setting in (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "python_enable_replacements = false",
        f"allowed_paths = ['{path}']",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _columns(table: Table, *, limits: Limits) -> list[Column]:
    """Return the columns of the table; raise `ProfilingError` if there are too many."""
    described = table.connection.execute(f"DESCRIBE SELECT * FROM {table.expression}").fetchall()  # noqa: S608
    if len(described) > limits.columns:
        raise ProfilingError(Reason.TOO_MANY_COLUMNS)
    return [Column(name, _first_word(engine_type)) for name, engine_type, *_ in described]


def _first_word(engine_type: str) -> str:
    """DECIMAL of DECIMAL(18,3), TIMESTAMP of TIMESTAMP WITH TIME ZONE; a list of anything is handled as text."""
    return "VARCHAR" if engine_type.endswith("]") else engine_type.partition("(")[0].partition(" ")[0]


def _profiles(table: Table, columns: Sequence[Column], *, rows: int, marks: Counter[str]) -> list[ColumnProfile]:
    """Profiles of a batch of columns, in three passes over the file: types, extremes, distributions."""
    cleaned = _cleaned(table, columns)
    typed = cleaned.one(", ".join(_type_query(i, column) for i, column in enumerate(columns)))
    readings = [_reading(i, column, counts) for i, (column, counts) in enumerate(zip(columns, typed, strict=True))]
    for counts in typed:
        words = _as_counts(counts["marks"])
        marks.update({**words, "": words.get("", 0) + rows - counts["present"] - sum(words.values())})
    extremes = cleaned.one(", ".join(_extremes_query(reading) for reading in readings))
    shapes = cleaned.one(
        ", ".join(_shape_query(i, r, e) for i, (r, e) in enumerate(zip(readings, extremes, strict=True)))
    )
    return [
        _column_profile(column.name, reading, extreme, shape, rows=rows)
        for column, reading, extreme, shape in zip(columns, readings, extremes, shapes, strict=True)
    ]


def _cleaned(table: Table, columns: Sequence[Column]) -> Table:
    """Column i as `v{i}`, null where missing, and `m{i}`, its trimmed spelling where that can be a mark."""
    parts = []
    for i, column in enumerate(columns):
        if column.engine_type in ("FLOAT", "DOUBLE", "DECIMAL"):
            parts.append(f"CASE WHEN isnan(CAST({column.identifier} AS DOUBLE)) THEN 'NaN' END AS m{i}")
            parts.append(f"CASE WHEN m{i} IS NULL THEN {column.identifier} END AS v{i}")
        elif column.engine_type in _DECLARED:
            parts.append(f"NULL AS m{i}, {column.identifier} AS v{i}")
        else:
            parts.append(f"trim(CAST({column.identifier} AS VARCHAR), e' \\t\\r\\n') AS m{i}")
            parts.append(f"CASE WHEN m{i} NOT IN ({_MARKS}) THEN m{i} END AS v{i}")
    return Table(table.connection, f"(SELECT {', '.join(parts)} FROM {table.expression})", [])  # noqa: S608


def _type_query(i: int, column: Column) -> str:
    """Counts that decide the type: values present, distinct ones, marks by spelling, and what each reading can read."""
    fits = "" if column.engine_type in _DECLARED else ", ".join(f"count({sql.format(f'v{i}')})" for _, sql in _READINGS)
    return (
        f"{{'present': count(v{i}), 'distinct': approx_count_distinct(v{i}), 'fits': [{fits}]::BIGINT[], "
        f"'marks': histogram(CASE WHEN m{i} IN ({_MARKS}) THEN CAST(m{i} AS VARCHAR) END)}}"
    )


def _reading(i: int, column: Column, counts: Mapping[str, Any]) -> Reading:
    """Return the declared type of a column, or the first type that can represent all its values."""
    present, distinct = counts["present"], counts["distinct"]
    kind, sql = ColumnType.TEXT, "{0}"
    if column.engine_type in _DECLARED:
        kind, sql = _DECLARED[column.engine_type]
    elif present and present in counts["fits"]:
        kind, sql = _READINGS[counts["fits"].index(present)]
    return Reading(kind, sql.format(f"v{i}"), present, min(distinct, present))


def _extremes_query(reading: Reading) -> str:
    """Smallest and largest of numbers and dates; mean and deviation of numbers. Infinities are only counted.

    Mean and deviation leave out magnitudes whose squares are beyond a double.
    """
    e = reading.expression
    if reading.type is ColumnType.DATE:
        return f"{{'low': CAST(min({e}) AS VARCHAR), 'high': CAST(max({e}) AS VARCHAR)}}"
    if reading.type not in _NUMERIC:
        return "{'low': NULL}"
    finite, moderate = f"CASE WHEN isfinite({e}) THEN {e} END", f"CASE WHEN abs({e}) < 1e150 THEN {e} END"
    return (
        f"{{'low': min({finite}), 'high': max({finite}), 'mean': avg({moderate}), "
        f"'deviation': stddev_samp({moderate}), 'infinite': count_if(isinf({e}))}}"
    )


def _shape_query(i: int, reading: Reading, extremes: Mapping[str, Any]) -> str:
    """Counts of bins of numbers, and of the values of a column that has few."""
    bins, values = "NULL", "NULL"
    low, high = extremes["low"], extremes.get("high")
    if reading.type in _NUMERIC and low is not None and 0 < high - low < float("inf"):
        e = reading.expression
        place = f"CAST(least(floor(({e} - {low!r}::DOUBLE) / {high - low!r}::DOUBLE * {BINS}), {BINS - 1}) AS INTEGER)"
        bins = f"histogram(CASE WHEN isfinite({e}) THEN {place} END)"
    if 0 < reading.distinct <= FEW and reading.type is not ColumnType.NUMBER:
        values = f"histogram(left(CAST(v{i} AS VARCHAR), {_SHOWN}))"
    return f"{{'bins': {bins}, 'values': {values}}}"


def _as_counts(histogram: Mapping[Any, int] | None) -> dict[Any, int]:
    return dict(histogram or {})


def _column_profile(
    name: str, reading: Reading, extremes: Mapping[str, Any], shape: Mapping[str, Any], *, rows: int
) -> ColumnProfile:
    bins, values = _as_counts(shape["bins"]), _as_counts(shape["values"])
    ranked = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    return ColumnProfile(
        name=name,
        type=reading.type,
        missing=rows - reading.present,
        distinct=len(values) or reading.distinct,
        minimum=extremes["low"],
        maximum=extremes.get("high"),
        mean=extremes.get("mean"),
        deviation=extremes.get("deviation"),
        infinite=extremes.get("infinite") or 0,
        histogram=[bins.get(place, 0) for place in range(BINS)] if bins else [],
        top=ranked[:TOP],
    )
