"""Profiling of an open data file with DuckDB, in the confined child process of `profiler` or in tests.

DuckDB can access only the inherited descriptor (`/dev/fd/N`), because all other paths are disabled before the first
byte is read. Names and values from the file are always quoted in queries, which explains the `noqa: S608`.

A missing mark is a word such as `N/A` or `?` that marks a missing value. The type of a text column depends on all its
other values, so that a column of numbers remains one if some cells contain ` ?`. Some words are missing marks only in
certain columns, which can be decided after their values have been counted.

The columns are profiled in three passes of streaming aggregates, which need little memory. No aggregate has a FILTER
clause, because DuckDB would store a copy of all values for each of them.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import duckdb

from touchstone.core.missing_values import DASHES, MISSING_NUMBER_MARKS, PLUS, missing_marks
from touchstone.datafiles.byte_scan import ByteScan, scan_bytes
from touchstone.datafiles.column_queries import aggregate_stack, stack_columns
from touchstone.datafiles.duckdb_table import (
    DELIMITED_TYPES,
    JSON_TYPES,
    DuckDbTable,
    flatten_objects,
    load_into_memory,
    open_table,
    resolve_surplus_fields,
)
from touchstone.datafiles.file_profile import (
    ColumnProfile,
    ColumnType,
    FileProfile,
    ProfilingLimits,
)
from touchstone.datafiles.json_keys import may_have_renamed_columns, open_with_exact_names
from touchstone.datafiles.mixed_columns import find_mixed_columns
from touchstone.datafiles.source_columns import (
    INTERPRETATION_BY_DUCKDB_TYPE,
    Interpretation,
    SourceColumn,
    choose_text_interpretation,
    list_columns,
)

BIN_COUNT: Final = 20
TOP_COUNT: Final = 10
MAX_LISTED_VALUES: Final = 200  # a column with more different values has no list of frequent values
_MAX_COUNTED_VALUES: Final = 1_000  # larger numbers of different values are estimated
_MAX_IN_MEMORY_BYTES: Final = 256 * 2**20
_SHOWN_CHARACTERS: Final = 80  # longer frequent values are truncated
_NO_COUNTS: Final[Mapping[str, Any]] = {
    "present_count": 0,
    "distinct_count": 0,
    "mark_counts": {},
    "ambiguous_counts": {},
    "readable_counts": (),
}
_MAX_MODERATE_NUMBER: Final = "1e150"  # the square of a larger number may not fit into a double


Results = dict[int, dict[str, Any]]  # The results of a query for each column, by its index in the file.


@dataclass(frozen=True, slots=True)
class InterpretedColumn:
    """A column with its type, and the counts of its values.

    Attributes:
        source: the column of the file, with the missing marks for its type.
        present_count: the number of values that are not missing.
        distinct_count: an estimate of the number of different values as they are in the file.
        mark_counts: the number of cells with each missing mark, such as `N/A`, without nulls.
        unreadable_count: the number of other cells that do not fit the type, and therefore count as missing.
    """

    source: SourceColumn
    interpretation: Interpretation
    present_count: int
    distinct_count: int
    mark_counts: Mapping[str, int]
    unreadable_count: int = 0

    @property
    def type(self) -> ColumnType:
        """The type of the values."""
        return self.interpretation.type

    @property
    def converted_value(self) -> str:
        """The SQL that converts `value` to the type of the column."""
        return self.interpretation.conversion_of("value")


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """The profile of a column, and the number of its cells with each missing mark."""

    profile: ColumnProfile
    mark_counts: Mapping[str, int]


def profile_descriptor(descriptor: int, file_type: str, *, limits: ProfilingLimits) -> FileProfile:
    """Profile an open data file: count its rows and missing values, and describe each column.

    The file may be hostile, so this function must be called in a child process with few rights.

    Raises:
        ProfilingError: the file is refused for one of the reasons in `FailureReason`.
        duckdb.Error: DuckDB cannot read the file.
        MemoryError: the memory limit of this process is too low for the file.
    """
    # DuckDB opens files by path, even if they are open already.
    path = f"/dev/fd/{descriptor}"
    scan = scan_bytes(descriptor, file_type, limits=limits)
    if file_type in JSON_TYPES:
        table = _open_json(path, file_type, scan, limits)
    else:
        table = _load_if_useful(open_table(path, file_type, scan, limits), scan)
    if file_type in DELIMITED_TYPES:
        table = resolve_surplus_fields(table)

    source_columns = list_columns(table, limits)
    row_count = table.count_rows()
    columns = _measure_columns(table, source_columns, row_count)

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
        column_profiles=[column.profile for column in columns],
    )


def _open_json(path: str, file_type: str, scan: ByteScan, limits: ProfilingLimits) -> DuckDbTable:
    """Open a JSON file as a table with a column for each key of its rows and of the objects within them.

    DuckDB renames keys that differ only in case, or refuses them. Such files are opened in a way that takes longer.
    """
    try:
        table = _load_if_useful(open_table(path, file_type, scan, limits), scan)
        has_exact_names = not may_have_renamed_columns(table)
    except duckdb.NotImplementedException:
        has_exact_names = False

    if has_exact_names:
        return flatten_objects(table)
    return _load_if_useful(open_with_exact_names(path, file_type, scan), scan)


def _load_if_useful(table: DuckDbTable, scan: ByteScan) -> DuckDbTable:
    """Load a table into memory if its file is small or can be read only once."""
    is_useful = scan.byte_count <= _MAX_IN_MEMORY_BYTES or not table.is_rereadable
    return load_into_memory(table) if is_useful else table


def _sum_mark_counts(columns: Iterable[MeasuredColumn]) -> dict[str, int]:
    """Return the number of cells in the file with each missing mark, in alphabetical order."""
    totals: Counter[str] = Counter()
    for column in columns:
        totals.update(column.mark_counts)
    return {mark: count for mark, count in sorted(totals.items()) if count}


def _measure_columns(table: DuckDbTable, columns: Sequence[SourceColumn], row_count: int) -> list[MeasuredColumn]:
    """Profile all columns of a table in three passes over its rows, each based on the previous ones."""
    # The first pass counts values, which decides the type of each column.
    counts_sql = {column.index: _counts_sql(column) for column in columns}
    counts: Results = {}
    for stack in stack_columns(columns, counts_sql):
        counts |= aggregate_stack(table, stack, counts_sql[stack[0].index])
    mixed_columns = find_mixed_columns(table, columns, counts)
    interpreted_columns = [
        _decide_type(column, counts.get(column.index, _NO_COUNTS), mixed_columns.get(column.index))
        for column in columns
    ]

    # The second pass finds the minimum and maximum of numbers and dates. The third one counts values for histograms and
    # for the lists of the most frequent values.
    extremes = _find_extremes(table, interpreted_columns)
    histograms = _count_bins(table, interpreted_columns, extremes)
    value_counts = _count_values(table, interpreted_columns)

    measured_columns = []
    for column in interpreted_columns:
        index = column.source.index
        distribution = {**histograms.get(index, {}), **value_counts.get(index, {})}
        profile = _build_profile(column, row_count, extremes.get(index, {}), distribution)
        measured_columns.append(MeasuredColumn(profile, _count_missing_marks(column, row_count)))
    return measured_columns


def _find_extremes(table: DuckDbTable, columns: Sequence[InterpretedColumn]) -> Results:
    """Return the extremes and the mean of columns of numbers and dates, by index in the file."""
    ordered_columns = [
        column for column in columns if column.interpretation.is_numeric or column.type is ColumnType.DATE
    ]
    extremes_sql = {column.source.index: _extremes_sql(column) for column in ordered_columns}

    extremes: Results = {}
    for stack in stack_columns(ordered_columns, extremes_sql):
        extremes |= aggregate_stack(table, stack, extremes_sql[stack[0].source.index])
    return extremes


def _count_bins(table: DuckDbTable, columns: Sequence[InterpretedColumn], extremes: Results) -> Results:
    """Return the bin counts of the histograms of columns with different numbers, by index in the file."""
    columns_with_range = [
        column
        for column in columns
        if column.interpretation.is_numeric and _has_finite_range(extremes.get(column.source.index, {}))
    ]
    conversions = {column.source.index: column.converted_value for column in columns_with_range}

    bins: Results = {}
    for stack in stack_columns(columns_with_range, conversions):
        stack_extremes = [extremes[column.source.index] for column in stack]
        bin_number = _bin_number_sql(stack[0].converted_value, stack_extremes)
        bins |= aggregate_stack(table, stack, _struct_sql(bin_counts=f"histogram({bin_number})"))
    return bins


def _count_values(table: DuckDbTable, columns: Sequence[InterpretedColumn]) -> Results:
    """Count the different values of columns with few of them, and the occurrences of each value.

    The results are returned by the index of each column in the file. Occurrences of numbers with decimals are not
    counted, because such numbers rarely repeat.
    """
    shown_value = f"left(CAST(value AS VARCHAR), {_SHOWN_CHARACTERS})"
    counted_columns = []
    counts_sql: dict[int, str] = {}
    for column in columns:
        if not 0 < column.distinct_count <= _MAX_COUNTED_VALUES:
            continue

        members = {"distinct_count": f"count(DISTINCT {_finite_value(column)})"}
        if column.distinct_count <= MAX_LISTED_VALUES and column.type is not ColumnType.NUMBER:
            readable_value = shown_value
            if column.unreadable_count:
                readable_value = f"CASE WHEN {column.converted_value} IS NOT NULL THEN {shown_value} END"
            members["value_counts"] = f"histogram({readable_value})"
        counted_columns.append(column)
        counts_sql[column.source.index] = _struct_sql(**members)

    value_counts: Results = {}
    for stack in stack_columns(counted_columns, counts_sql):
        value_counts |= aggregate_stack(table, stack, counts_sql[stack[0].source.index])
    return value_counts


def _finite_value(column: InterpretedColumn) -> str:
    """Return the SQL of a value, converted to the type of its column, or NULL for an infinite number."""
    value = column.converted_value
    return f"CASE WHEN isfinite({value}) THEN {value} END" if column.interpretation.is_numeric else value


def _struct_sql(**members: str) -> str:
    """Return the SQL of a struct with the given members, which a query returns as a dictionary.

    For example, `_struct_sql(lowest="min(price)")` returns `{'lowest': min(price)}`.
    """
    named_members = [f"'{name}': {member_sql}" for name, member_sql in members.items()]
    return "{" + ", ".join(named_members) + "}"


def _counts_sql(column: SourceColumn) -> str:
    """Return the SQL that counts the values of a column, to determine its type.

    For a text column, `readable_counts` contains the number of values that each of its interpretations can read.
    """
    readable_counts: list[str] = []
    if column.is_read_as_text:
        for interpretation in column.interpretations:
            converted_value = interpretation.conversion_of("value")
            readable_counts.append(f"count({converted_value})")

    return _struct_sql(
        present_count="count(value)",
        distinct_count="approx_count_distinct(value)",
        readable_counts=f"[{', '.join(readable_counts)}]::BIGINT[]",
        mark_counts="histogram(missing_mark)",
        ambiguous_counts="histogram(ambiguous_word)",
    )


def _decide_type(
    column: SourceColumn, counts: Mapping[str, Any], mixed_interpretation: Interpretation | None
) -> InterpretedColumn:
    """Determine the type of a column, which the file declares, or which (nearly) all values of a text column fit.

    Args:
        column: the column.
        counts: the counts of its values.
        mixed_interpretation: the interpretation that fits all but a few of its values, or None.
    """
    present_count = counts["present_count"]
    distinct_count = min(counts["distinct_count"], present_count)  # estimates can be too high
    mark_counts = Counter(counts["mark_counts"] or {})
    if not column.is_read_as_text:
        interpretation = INTERPRETATION_BY_DUCKDB_TYPE[column.duckdb_type]
        return InterpretedColumn(column, interpretation, present_count, distinct_count, mark_counts)

    ambiguous_counts = Counter(counts["ambiguous_counts"] or {})
    has_plus = ambiguous_counts.pop(PLUS, 0) > 0
    interpretation = mixed_interpretation or choose_text_interpretation(
        column, counts["readable_counts"], present_count, missing_number_count=ambiguous_counts.total()
    )
    marks = missing_marks(has_plus=has_plus)
    if interpretation.is_numeric:
        marks |= MISSING_NUMBER_MARKS

    # The missing marks depend on the type, so the counts are corrected after the type has been determined.
    possible_mark_counts = mark_counts + ambiguous_counts
    corrected_counts = Counter({mark: count for mark, count in possible_mark_counts.items() if mark.lower() in marks})
    corrected_present_count = present_count + mark_counts.total() - corrected_counts.total()
    readable_count = corrected_present_count
    if mixed_interpretation is not None:
        readable_count = counts["readable_counts"][column.interpretations.index(mixed_interpretation)]
    return InterpretedColumn(
        source=replace(column, missing_marks=marks),
        interpretation=interpretation,
        present_count=readable_count,
        distinct_count=distinct_count + len(DASHES) if has_plus else distinct_count,
        mark_counts=corrected_counts,
        unreadable_count=corrected_present_count - readable_count,
    )


def _extremes_sql(column: InterpretedColumn) -> str:
    """Return the SQL of the minimum and maximum of dates or numbers, and of the mean and deviation of numbers.

    Infinite numbers are counted and otherwise ignored.
    """
    value = column.converted_value
    if column.type is ColumnType.DATE:
        return _struct_sql(
            minimum=f"CAST(min({value}) AS VARCHAR)",
            maximum=f"CAST(max({value}) AS VARCHAR)",
            distinct_count=f"approx_count_distinct({value})",
        )

    finite_value = _finite_value(column)
    # The square of a larger number, which the deviation needs, does not fit into a double.
    moderate_value = f"CASE WHEN abs({value}) < {_MAX_MODERATE_NUMBER} THEN {value} END"
    return _struct_sql(
        minimum=f"min({finite_value})",
        maximum=f"max({finite_value})",
        mean=f"avg({moderate_value})",
        deviation=f"stddev_samp({moderate_value})",
        infinite=f"count_if(isinf({value}))",
        distinct_count=f"approx_count_distinct({finite_value})",
    )


def _has_finite_range(extremes: Mapping[str, Any]) -> bool:
    """Return whether numbers have a minimum below their maximum, with a difference that fits into a double."""
    if extremes.get("minimum") is None:
        return False

    difference: float = extremes["maximum"] - extremes["minimum"]
    return 0 < difference < math.inf


def _bin_number_sql(value: str, stack_extremes: Sequence[Mapping[str, Any]]) -> str:
    """Return the SQL of the histogram bin of a number, from 0 to `BIN_COUNT - 1`, or NULL if it is infinite.

    For each column of a stack, the bins divide the range from its minimum to its maximum into equal parts.
    """
    minima = ", ".join(repr(extremes["minimum"]) for extremes in stack_extremes)
    ranges = ", ".join(repr(extremes["maximum"] - extremes["minimum"]) for extremes in stack_extremes)
    minimum = f"list_extract([{minima}]::DOUBLE[], place)"
    width = f"list_extract([{ranges}]::DOUBLE[], place)"
    position = f"floor(({value} - {minimum}) / {width} * {BIN_COUNT})"
    # Without `least`, the maximum itself would be in an additional bin.
    bin_number = f"CAST(least({position}, {BIN_COUNT - 1}) AS INTEGER)"
    return f"CASE WHEN isfinite({value}) THEN {bin_number} END"


def _build_profile(
    column: InterpretedColumn, row_count: int, extremes: Mapping[str, Any], distribution: Mapping[str, Any]
) -> ColumnProfile:
    """Build the profile of a column from the results of the queries for its extremes and its distribution.

    The results are empty for columns that these queries do not measure.
    """
    bin_counts: Mapping[int, int] = distribution.get("bin_counts") or {}
    histogram: list[int] = []
    if bin_counts:
        histogram = [bin_counts.get(bin_number, 0) for bin_number in range(BIN_COUNT)]

    # Values that are equally frequent stay in alphabetical order.
    value_counts: Mapping[str, int] = distribution.get("value_counts") or {}
    alphabetical = sorted(value_counts.items())
    most_frequent_first = sorted(alphabetical, key=lambda value_and_count: value_and_count[1], reverse=True)

    # A count is more precise than the estimate for converted values. The estimate for unconverted values is the least
    # precise one, because it may count 1 and 1.0 as two values.
    counts_by_precision = (distribution.get("distinct_count"), extremes.get("distinct_count"), column.distinct_count)
    distinct_count = next(count for count in counts_by_precision if count is not None)

    return ColumnProfile(
        name=column.source.name,
        type=column.type,
        missing=row_count - column.present_count,
        unreadable=column.unreadable_count,
        distinct=min(distinct_count, column.present_count),
        minimum=extremes.get("minimum"),
        maximum=extremes.get("maximum"),
        mean=extremes.get("mean"),
        deviation=extremes.get("deviation"),
        infinite=extremes.get("infinite") or 0,
        histogram=histogram,
        top=most_frequent_first[:TOP_COUNT],
    )


def _count_missing_marks(column: InterpretedColumn, row_count: int) -> dict[str, int]:
    """Return the number of cells of a column with each missing mark; nulls count as the empty string."""
    marked_count = sum(column.mark_counts.values())
    null_count = row_count - column.present_count - column.unreadable_count - marked_count
    return {**column.mark_counts, "": column.mark_counts.get("", 0) + null_count}
