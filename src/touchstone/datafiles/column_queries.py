"""Queries that measure many columns together, by stacking columns that can be read with the same SQL.

With a separate expression for each column, planning a query would take longer than running it: a minute for a table of
1,700 columns. Stacked columns share a few expressions, however many columns there are.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, Protocol, TypeVar

from touchstone.core.missing_values import MISSING_NUMBER_MARKS, PLUS
from touchstone.datafiles.duckdb_table import DuckDbTable
from touchstone.datafiles.source_columns import FLOAT_TYPES, SourceColumn

_COLUMNS_PER_STACK: Final = 256  # DuckDB holds 2,048 rows of all these columns in memory.
# The characters that trainings strip from strings.
_WHITE_SPACE: Final = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


class _HasSource(Protocol):
    """Any representation of a column of the file."""

    @property
    def source(self) -> SourceColumn: ...


Column = TypeVar("Column", bound=_HasSource)


def stack_columns(columns: Iterable[Column], sql_by_column: Mapping[int, str]) -> Iterator[Sequence[Column]]:
    """Divide columns into stacks, which a single query can measure, and yield the stacks.

    The columns of a stack have the same declared type, missing marks and SQL, and their number is limited.
    `sql_by_column` contains the SQL that is applied to the values, keyed by the index of each column in the file.
    """
    columns_by_key: defaultdict[Hashable, list[Column]] = defaultdict(list)
    for column in columns:
        source = column.source
        key = source.duckdb_type, source.missing_marks, sql_by_column[source.index]
        columns_by_key[key].append(column)

    for alike_columns in columns_by_key.values():
        for start in range(0, len(alike_columns), _COLUMNS_PER_STACK):
            yield alike_columns[start : start + _COLUMNS_PER_STACK]


def aggregate_columns(
    table: DuckDbTable, columns: Iterable[_HasSource], sql_by_column: Mapping[int, str]
) -> dict[int, dict[str, Any]]:
    """Measure columns with as few queries as possible, and return their results, keyed by the index of the column.

    `sql_by_column` contains the SQL of a struct for each column (see `aggregate_stack`).
    """
    results: dict[int, dict[str, Any]] = {}
    for stack in stack_columns(columns, sql_by_column):
        shared_sql = sql_by_column[stack[0].source.index]
        results |= aggregate_stack(table, stack, shared_sql)
    return results


def aggregate_stack(table: DuckDbTable, stack: Sequence[_HasSource], aggregates: str) -> dict[int, dict[str, Any]]:
    """Measure all columns of a stack with one query.

    `aggregates` is the SQL of a struct, such as `{'lowest': min(value)}`. It may use these names for each cell:

    - `stack_position`: the number of its column in the stack, from 1.
    - `value`: its value, or NULL if it is missing.
    - `missing_mark`: a word such as `N/A` that marks a missing value, or NULL.
    - `ambiguous_word`: a word such as `unknown`, which may be a missing mark depending on the other values, or NULL.

    Returns:
        the struct of each column, keyed by the index of the column in the file. It is empty if the table has no rows.
    """
    # Stack the cells of all columns, each with the position of its column in the stack.
    sources = [column.source for column in stack]
    positions = ", ".join(str(position) for position in range(1, len(sources) + 1))
    cells = ", ".join(_cell_sql(source) for source in sources)
    unnested = f"unnest([{positions}]) AS stack_position, unnest([{cells}]) AS cell"
    stacked_cells = f"SELECT {unnested} FROM {table.expression}"  # noqa: S608

    # All columns of a stack are read with the same SQL, which is taken from the first one.
    value = _value_sql(sources[0])
    missing_mark = _missing_mark_sql(sources[0])
    ambiguous_word = _ambiguous_word_sql(sources[0])
    members = f"stack_position, {value} AS value, {missing_mark} AS missing_mark, {ambiguous_word} AS ambiguous_word"
    stacked_values = f"SELECT {members} FROM ({stacked_cells})"  # noqa: S608

    query = f"SELECT stack_position, {aggregates} FROM ({stacked_values}) GROUP BY stack_position"  # noqa: S608
    results = table.connection.execute(query).fetchall()
    return {sources[position - 1].index: struct for position, struct in results}


def _cell_sql(column: SourceColumn) -> str:
    """Return the SQL of a cell: an unchanged boolean, number or date, or a stripped string."""
    if not column.is_read_as_text:
        return column.identifier

    # Trimming is slow, and most cells begin and end with a visible ASCII character.
    text = column.text
    begins_visibly = f"{text} >= '!' AND {text} < chr(127)"
    ends_visibly = f"right({text}, 1) BETWEEN '!' AND '~'"
    return f"CASE WHEN {begins_visibly} AND {ends_visibly} THEN {text} ELSE trim({text}, '{_WHITE_SPACE}') END"


def _value_sql(column: SourceColumn) -> str:
    """Return the SQL of the value in a `cell`, which is NULL if the value is missing."""
    if column.is_read_as_text:
        return f"CASE WHEN NOT ({_is_any_of(column.missing_marks)}) THEN cell END"
    if column.duckdb_type in FLOAT_TYPES:
        return "CASE WHEN NOT isnan(CAST(cell AS DOUBLE)) THEN cell END"
    return "cell"


def _missing_mark_sql(column: SourceColumn) -> str:
    """Return the SQL of the missing mark in a `cell`, such as `N/A`, or NULL for any other value."""
    if column.is_read_as_text:
        return f"CASE WHEN {_is_any_of(column.missing_marks)} THEN cell END"
    if column.duckdb_type in FLOAT_TYPES:
        return "CASE WHEN isnan(CAST(cell AS DOUBLE)) THEN 'NaN' END"
    return "CAST(NULL AS VARCHAR)"


def _ambiguous_word_sql(column: SourceColumn) -> str:
    """Return the SQL of a word in a `cell` that may be a missing mark, or NULL for any other value.

    In a column with plus signs, a minus sign is a value. In a column of numbers, words such as `unknown` are missing
    marks.
    """
    if column.is_read_as_text:
        return f"CASE WHEN {_is_any_of(MISSING_NUMBER_MARKS | {PLUS})} THEN cell END"
    return "CAST(NULL AS VARCHAR)"


def _is_any_of(words: Set[str]) -> str:
    """Return the SQL condition that `cell`, in any case, is one of the given lower-case words."""
    literals = ", ".join(f"'{word}'" for word in sorted(words))
    return f"length(cell) <= {max(map(len, words))} AND lower(cell) IN ({literals})"
