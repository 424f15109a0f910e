"""Profiling of an open data file with DuckDB; runs in the confined child process of `profiler` (and in its tests).

DuckDB sees the inherited descriptor only (`/dev/fd/N`): every other path is locked away before the first byte is
read, and no name or value from the file reaches a query unquoted (hence the `noqa: S608`).

A missing mark is a word such as `N/A` or `?` that stands for a missing value. The type of a text column is decided by
all its other values, so that a number column with ` ?` in it stays a number column.

The columns are profiled in batches, each in three passes of streaming aggregates, so that memory stays flat. No
aggregate has a FILTER clause: DuckDB would keep a copy of the whole batch for each of them.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from touchstone.datafiles.byte_scan import scan_bytes
from touchstone.datafiles.duckdb_table import DuckDbTable, load_into_memory, open_table
from touchstone.datafiles.file_profile import (
    MISSING_MARKS,
    ColumnProfile,
    ColumnType,
    FileProfile,
    ProfilingLimits,
)
from touchstone.datafiles.source_columns import (
    FLOAT_TYPES,
    INTERPRETATION_BY_DUCKDB_TYPE,
    SourceColumn,
    choose_text_interpretation,
    list_columns,
)

BIN_COUNT: Final = 20
TOP_COUNT: Final = 10
MAX_LISTED_VALUES: Final = 200  # a column with more different values has no `top`
_BATCH_SIZE: Final = 8  # columns in one query, because planning time grows faster than their number
_MAX_IN_MEMORY_BYTES: Final = 64 * 2**20
_SHOWN_CHARACTERS: Final = 80  # of a value in `top`
_MAX_MODERATE_NUMBER: Final = "1e150"  # the square of a larger number may not fit into a double
_MISSING_MARK_LITERALS: Final = ", ".join(f"'{mark}'" for mark in MISSING_MARKS)


@dataclass(frozen=True, slots=True)
class InterpretedColumn:
    """A column whose type has been decided, with what was counted on the way.

    Attributes:
        converted_value: the SQL of a value of this type.
        present_count: the number of values that are not missing.
        distinct_count: an estimate of the number of different values.
        mark_counts: the number of cells that contain each missing mark, such as `N/A`; nulls are not included.
    """

    source: SourceColumn
    type: ColumnType
    converted_value: str
    present_count: int
    distinct_count: int
    mark_counts: Mapping[str, int]

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.type in (ColumnType.INTEGER, ColumnType.NUMBER)


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """The profile of a column, and how many of its cells contain each missing mark."""

    profile: ColumnProfile
    mark_counts: Mapping[str, int]


def profile_descriptor(descriptor: int, file_type: str, *, limits: ProfilingLimits) -> FileProfile:
    """Profile an open data file: count its rows and missing values, and describe each column.

    Parsing a hostile file is dangerous, so this is called in a child process with few rights.

    Raises:
        ProfilingError: the file is refused, for one of the reasons in `FailureReason`.
        duckdb.Error: DuckDB cannot read the file.
        MemoryError: this process may not use enough memory.
    """
    # DuckDB opens files by path, and this is the path of an open descriptor.
    path = f"/dev/fd/{descriptor}"
    scan = scan_bytes(descriptor, file_type, limits=limits)
    table = open_table(path, file_type, scan, limits)
    if scan.byte_count <= _MAX_IN_MEMORY_BYTES:
        table = load_into_memory(table)

    source_columns = list_columns(table, limits)
    (row_count,) = table.aggregate(["count(*)"])
    columns: list[MeasuredColumn] = []
    for batch in _batches(source_columns):
        columns += _measure_columns(table, batch, row_count)

    cell_count = row_count * len(columns)
    missing_count = sum(column.profile.missing for column in columns)
    missing_percentage = 100 * missing_count / cell_count if cell_count else None
    return FileProfile(
        rows=row_count,
        columns=len(columns),
        missing_values_percentage=missing_percentage,
        sha256=scan.sha256,
        bytes=scan.byte_count,
        file_type=file_type,
        missing_marks=_sum_mark_counts(columns),
        warnings=list(table.warnings),
        column_profiles=[_decode_texts(column.profile, table) for column in columns],
    )


def _decode_texts(profile: ColumnProfile, table: DuckDbTable) -> ColumnProfile:
    """Return the profile of a column with its name and values as they are meant, whatever the encoding of the file."""
    top = [(table.decode(value), count) for value, count in profile.top]
    return replace(profile, name=table.decode(profile.name), top=top)


def _batches(columns: Sequence[SourceColumn]) -> Iterator[Sequence[SourceColumn]]:
    """Yield the columns in groups that are small enough for one query."""
    for start in range(0, len(columns), _BATCH_SIZE):
        yield columns[start : start + _BATCH_SIZE]


def _sum_mark_counts(columns: Iterable[MeasuredColumn]) -> dict[str, int]:
    """Return how many cells of the whole file contain each missing mark, in alphabetical order of the marks."""
    totals: Counter[str] = Counter()
    for column in columns:
        totals.update(column.mark_counts)
    return {mark: count for mark, count in sorted(totals.items()) if count}


def _measure_columns(table: DuckDbTable, columns: Sequence[SourceColumn], row_count: int) -> list[MeasuredColumn]:
    """Profile a batch of columns in three passes over the table, each of which needs the results of the one before."""
    cleaned_table = _separate_missing_marks(table, columns)

    # The first pass counts values, which decides the type of each column.
    counts = cleaned_table.aggregate(map(_counts_sql, columns))
    interpreted_columns = list(map(_decide_type, columns, counts))

    # The second pass finds the minimum and maximum of numbers and dates.
    extremes = cleaned_table.aggregate(map(_extremes_sql, interpreted_columns))

    # The third pass counts values for histograms and for the lists of the most frequent ones.
    distributions = cleaned_table.aggregate(map(_distribution_sql, interpreted_columns, extremes))

    measured_columns = []
    for column, column_extremes, distribution in zip(interpreted_columns, extremes, distributions, strict=True):
        profile = _build_profile(column, row_count, column_extremes, distribution)
        mark_counts = _count_missing_marks(column, row_count)
        measured_columns.append(MeasuredColumn(profile, mark_counts))
    return measured_columns


def _separate_missing_marks(table: DuckDbTable, columns: Sequence[SourceColumn]) -> DuckDbTable:
    """Return a table with two columns for each column of the file: its values, and its missing marks.

    A missing mark is a word such as `N/A` that stands for a missing value. For example, the cells `5` and `N/A` become
    the values `5` and NULL, and the missing marks NULL and `N/A`.
    """
    # The cells first get names of our own, so that the names in the file cannot collide with those of the new columns.
    cells = [f"{_cell_sql(column)} AS {column.cell}" for column in columns]
    cell_query = f"SELECT {', '.join(cells)} FROM {table.expression}"  # noqa: S608

    new_columns: list[str] = []
    for column in columns:
        new_columns.append(f"{_value_sql(column)} AS {column.value}")
        new_columns.append(f"{_missing_mark_sql(column)} AS {column.missing_mark}")
    separating_query = f"SELECT {', '.join(new_columns)} FROM ({cell_query})"  # noqa: S608

    return DuckDbTable(table.connection, f"({separating_query})")


def _cell_sql(column: SourceColumn) -> str:
    """Return the SQL of a cell: a text without surrounding white space, or an unchanged boolean, number or date."""
    if not column.is_read_as_text:
        return column.identifier
    return f"trim(CAST({column.identifier} AS VARCHAR), e' \\t\\r\\n')"


def _value_sql(column: SourceColumn) -> str:
    """Return the SQL of the value in a cell, which is NULL for a word such as `N/A` that says that it is missing."""
    if column.is_read_as_text:
        return f"CASE WHEN NOT ({column.cell} IN ({_MISSING_MARK_LITERALS})) THEN {column.cell} END"
    if column.duckdb_type in FLOAT_TYPES:
        return f"CASE WHEN NOT isnan(CAST({column.cell} AS DOUBLE)) THEN {column.cell} END"
    return column.cell


def _missing_mark_sql(column: SourceColumn) -> str:
    """Return the SQL of a word in a cell that stands for a missing value, such as `N/A`, or NULL if there is none."""
    if column.is_read_as_text:
        return f"CASE WHEN {column.cell} IN ({_MISSING_MARK_LITERALS}) THEN {column.cell} END"
    if column.duckdb_type in FLOAT_TYPES:
        return f"CASE WHEN isnan(CAST({column.cell} AS DOUBLE)) THEN 'NaN' END"
    return "CAST(NULL AS VARCHAR)"


def _struct_sql(**members: str) -> str:
    """Return the SQL of a struct, which a query returns as a dictionary, from the SQL of each member.

    For example, `_struct_sql(lowest="min(price)")` returns `{'lowest': min(price)}`.
    """
    named_members = [f"'{name}': {member_sql}" for name, member_sql in members.items()]
    return "{" + ", ".join(named_members) + "}"


def _counts_sql(column: SourceColumn) -> str:
    """Return the SQL that counts the values of a column, from which its type is decided.

    For a text column, `readable_counts` says how many values can be read in each way that its first values allow.
    """
    readable_counts: list[str] = []
    if column.is_read_as_text:
        for interpretation in column.interpretations:
            converted_value = interpretation.conversion_of(column.value)
            readable_counts.append(f"count({converted_value})")

    return _struct_sql(
        present_count=f"count({column.value})",
        distinct_count=f"approx_count_distinct({column.value})",
        readable_counts=f"[{', '.join(readable_counts)}]::BIGINT[]",
        mark_counts=f"histogram({column.missing_mark})",
    )


def _decide_type(column: SourceColumn, counts: Mapping[str, Any]) -> InterpretedColumn:
    """Return a column with its type, which is declared by the file or else fits all values of the column."""
    present_count = counts["present_count"]
    if column.is_read_as_text:
        interpretation = choose_text_interpretation(column, counts["readable_counts"], present_count)
    else:
        interpretation = INTERPRETATION_BY_DUCKDB_TYPE[column.duckdb_type]

    return InterpretedColumn(
        source=column,
        type=interpretation.type,
        converted_value=interpretation.conversion_of(column.value),
        present_count=present_count,
        distinct_count=min(counts["distinct_count"], present_count),  # the estimate can be too high
        mark_counts=counts["mark_counts"] or {},
    )


def _extremes_sql(column: InterpretedColumn) -> str:
    """Return the SQL of the minimum and maximum of a column, and of the mean and deviation of numbers.

    Columns that are neither numbers nor dates have no minimum. Infinite numbers are counted and otherwise ignored.
    """
    value = column.converted_value

    if column.type is ColumnType.DATE:
        return _struct_sql(minimum=f"CAST(min({value}) AS VARCHAR)", maximum=f"CAST(max({value}) AS VARCHAR)")
    if not column.is_numeric:
        return _struct_sql(minimum="NULL")

    finite_value = f"CASE WHEN isfinite({value}) THEN {value} END"
    # The square of a larger number, which the deviation needs, does not fit into a double.
    moderate_value = f"CASE WHEN abs({value}) < {_MAX_MODERATE_NUMBER} THEN {value} END"
    return _struct_sql(
        minimum=f"min({finite_value})",
        maximum=f"max({finite_value})",
        mean=f"avg({moderate_value})",
        deviation=f"stddev_samp({moderate_value})",
        infinite=f"count_if(isinf({value}))",
    )


def _distribution_sql(column: InterpretedColumn, extremes: Mapping[str, Any]) -> str:
    """Return the SQL that counts the numbers in each bin of a histogram, and how often each value occurs.

    The histogram is NULL for a column without different numbers. The values are counted only if few of them differ, and
    never for numbers with decimals, which rarely repeat.
    """
    bin_counts = "NULL"
    if column.is_numeric and _has_finite_range(extremes):
        bin_number = _bin_number_sql(column.converted_value, extremes["minimum"], extremes["maximum"])
        bin_counts = f"histogram({bin_number})"

    value_counts = "NULL"
    has_few_values = 0 < column.distinct_count <= MAX_LISTED_VALUES
    if has_few_values and column.type is not ColumnType.NUMBER:
        shown_value = f"left(CAST({column.source.value} AS VARCHAR), {_SHOWN_CHARACTERS})"
        value_counts = f"histogram({shown_value})"

    return _struct_sql(bin_counts=bin_counts, value_counts=value_counts)


def _has_finite_range(extremes: Mapping[str, Any]) -> bool:
    """Return whether numbers have a minimum below their maximum, and a difference that fits into a double."""
    if extremes["minimum"] is None:
        return False

    difference: float = extremes["maximum"] - extremes["minimum"]
    return 0 < difference < math.inf


def _bin_number_sql(value: str, minimum: float, maximum: float) -> str:
    """Return the SQL of the histogram bin that a number is in, from 0 to `BIN_COUNT - 1`, or NULL if it is infinite.

    The bins divide the range from `minimum` to `maximum` into equal parts.
    """
    position = f"floor(({value} - {minimum!r}::DOUBLE) / {maximum - minimum!r}::DOUBLE * {BIN_COUNT})"
    # Without `least`, the maximum itself would begin a further bin.
    bin_number = f"CAST(least({position}, {BIN_COUNT - 1}) AS INTEGER)"
    return f"CASE WHEN isfinite({value}) THEN {bin_number} END"


def _build_profile(
    column: InterpretedColumn, row_count: int, extremes: Mapping[str, Any], distribution: Mapping[str, Any]
) -> ColumnProfile:
    """Return the profile of a column from the results of the queries for its extremes and its distribution."""
    bin_counts: Mapping[int, int] = distribution["bin_counts"] or {}
    histogram: list[int] = []
    if bin_counts:
        histogram = [bin_counts.get(bin_number, 0) for bin_number in range(BIN_COUNT)]

    # Values that are equally frequent stay in alphabetical order.
    value_counts: Mapping[str, int] = distribution["value_counts"] or {}
    alphabetical = sorted(value_counts.items())
    most_frequent_first = sorted(alphabetical, key=lambda value_and_count: value_and_count[1], reverse=True)

    return ColumnProfile(
        name=column.source.name,
        type=column.type,
        missing=row_count - column.present_count,
        distinct=len(value_counts) or column.distinct_count,  # a count of all values is more exact than the estimate
        minimum=extremes["minimum"],
        maximum=extremes.get("maximum"),
        mean=extremes.get("mean"),
        deviation=extremes.get("deviation"),
        infinite=extremes.get("infinite") or 0,
        histogram=histogram,
        top=most_frequent_first[:TOP_COUNT],
    )


def _count_missing_marks(column: InterpretedColumn, row_count: int) -> dict[str, int]:
    """Return how many cells of a column contain each missing mark, such as `N/A`; nulls count as the empty text."""
    marked_count = sum(column.mark_counts.values())
    null_count = row_count - column.present_count - marked_count
    return {**column.mark_counts, "": column.mark_counts.get("", 0) + null_count}
