"""The columns of a data file in DuckDB, and the possible interpretations of their values."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from touchstone.core.column_names import unique_names
from touchstone.core.date_formats import DATE_FORMATS, ISO_8601
from touchstone.core.missing_values import MISSING_MARKS, MISSING_NUMBER_MARKS
from touchstone.core.number_notation import NumberNotation, infer_notation, may_have_dots_between_thousands
from touchstone.datafiles.duckdb_table import DuckDbTable
from touchstone.datafiles.file_profile import (
    ColumnType,
    FailureReason,
    ProfilingError,
    ProfilingLimits,
)
from touchstone.datafiles.number_notation_sql import conversion_template, reads_all

# The values of the first rows rule out most interpretations of a text column. A sample of all rows is added, because
# thousands separators may occur only in later rows.
_FIRST_ROWS: Final = 200
_SAMPLE_ROWS: Final = 200
_INTEGER_TYPES: Final = (
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT".split()  # noqa: SIM905
)
FLOAT_TYPES: Final = ("FLOAT", "DOUBLE", "DECIMAL")
_DATE_TYPES: Final = ("DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S")
# Patterns in the common syntax of Python and DuckDB. Numbers with leading zeros, such as 01067, are text.
_WHOLE_NUMBER: Final = r"0|[1-9][0-9]*|[+-][0-9]+"
_PLAIN_NUMBER: Final = (
    rf"(?i){_WHOLE_NUMBER}|[+-]?([0-9]+\.[0-9]*|\.[0-9]+)|[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)e[+-]?[0-9]+"
    r"|[+-]?inf(inity)?"
)
_MONTH_FORMAT: Final = "%Y-%m"  # Trainings read it as ISO 8601.
_FORMAT_CODE: Final = re.compile("%[a-zA-Z]")
_PATTERN_OF_CODE: Final = {
    "%Y": "[0-9][0-9][0-9][0-9]",
    "%y": "[0-9][0-9]",
    **dict.fromkeys(("%m", "%d", "%H", "%I", "%M", "%S"), "[0-9][0-9]?"),
    "%p": "[AaPp][Mm]",
    **dict.fromkeys(("%b", "%B"), "[A-Za-z]+"),
}
_ISO_8601_DATE: Final = (
    r"[0-9][0-9][0-9][0-9][-/][0-9][0-9]?[-/][0-9][0-9]?"
    r"([ T][0-9][0-9]?:[0-9][0-9](:[0-9][0-9](\.[0-9]+)?)? ?(Z|[+-][0-9][0-9](:?[0-9][0-9])?)?)?"
)


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A possible interpretation of the values of a column.

    Attributes:
        type: the type of the column if the interpretation fits all values.
        template: SQL that converts `{value}`, with the result NULL if the interpretation does not fit.
        shape: a pattern for the strings that may fit, which is less strict than the conversion.
    """

    type: ColumnType
    template: str
    shape: re.Pattern[str] = re.compile(".*", re.DOTALL)

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.type in (ColumnType.INTEGER, ColumnType.NUMBER)

    def conversion_of(self, value: str) -> str:
        """Return the SQL that converts `value`, which is an SQL expression, such as the name of a column."""
        return self.template.format(value=value)


def _date_interpretation(date_format: str) -> Interpretation:
    """Return the interpretation of strings as dates in a format; times with an offset are converted to UTC."""
    if date_format == ISO_8601:
        pattern = _ISO_8601_DATE
        # The time zone of this process is UTC.
        conversion = "CAST(TRY_CAST({value} AS TIMESTAMPTZ) AS TIMESTAMP)"
    else:
        pattern = _FORMAT_CODE.sub(lambda code: _PATTERN_OF_CODE[code[0]], date_format.replace(".", r"\."))
        conversion = f"try_strptime({{value}}, '{date_format}')"

    template = f"CASE WHEN regexp_full_match({{value}}, '{pattern}') THEN {conversion} END"
    return Interpretation(ColumnType.DATE, template, re.compile(pattern))


# The interpretations of a text column; the first one that fits every value is chosen.
TEXT_INTERPRETATIONS: Final = (
    Interpretation(
        ColumnType.BOOLEAN,
        "CASE lower({value}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END",
        re.compile("true|false", re.IGNORECASE),
    ),
    Interpretation(
        ColumnType.INTEGER,
        rf"CASE WHEN regexp_full_match({{value}}, '{_WHOLE_NUMBER}')"
        " THEN CAST(TRY_CAST({value} AS BIGINT) AS DOUBLE) END",
        re.compile(_WHOLE_NUMBER),
    ),
    Interpretation(
        ColumnType.NUMBER,
        f"CASE WHEN regexp_full_match({{value}}, '{_PLAIN_NUMBER}') THEN TRY_CAST({{value}} AS DOUBLE) END",
        re.compile(_PLAIN_NUMBER),
    ),
    *map(_date_interpretation, (*DATE_FORMATS, _MONTH_FORMAT)),
)
PLAIN_TEXT: Final = Interpretation(ColumnType.TEXT, "{value}")

# The interpretation for each type that a file can declare; all other columns are text columns.
INTERPRETATION_BY_DUCKDB_TYPE: Final[Mapping[str, Interpretation]] = {
    "BOOLEAN": Interpretation(ColumnType.BOOLEAN, "CAST({value} AS DOUBLE)"),
    **dict.fromkeys(_INTEGER_TYPES, Interpretation(ColumnType.INTEGER, "CAST({value} AS DOUBLE)")),
    **dict.fromkeys(FLOAT_TYPES, Interpretation(ColumnType.NUMBER, "CAST({value} AS DOUBLE)")),
    **dict.fromkeys(_DATE_TYPES, Interpretation(ColumnType.DATE, "{value}")),
}


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of the data file.

    Attributes:
        name: the name of the column, which is the name in the file if that is usable.
        name_in_sql: the name of the column in the DuckDB table.
        duckdb_type: the DuckDB type without parameters, such as DECIMAL for DECIMAL(18,3).
        index: the position of the column in the file.
        interpretations: the interpretations that may fit all values, if the file does not declare the type.
        missing_marks: the strings that mark missing values, in lower case.
    """

    name: str
    name_in_sql: str
    duckdb_type: str
    index: int
    interpretations: Sequence[Interpretation] = TEXT_INTERPRETATIONS
    missing_marks: frozenset[str] = MISSING_MARKS

    @property
    def identifier(self) -> str:
        """The name in SQL as a quoted identifier."""
        return '"' + self.name_in_sql.replace('"', '""') + '"'

    @property
    def text(self) -> str:
        """The SQL of a cell as text."""
        if self.duckdb_type == "JSON":  # A cast would leave the quotes around strings.
            return f"json_extract_string({self.identifier}, '$')"
        return f"CAST({self.identifier} AS VARCHAR)"

    @property
    def source(self) -> Self:
        """The column itself, for functions that accept any representation of a column."""
        return self

    @property
    def is_read_as_text(self) -> bool:
        """Whether the cells are read as text, because the file does not declare a boolean, number or date type."""
        return self.duckdb_type not in INTERPRETATION_BY_DUCKDB_TYPE


def list_columns(table: DuckDbTable, limits: ProfilingLimits) -> list[SourceColumn]:
    """Return the columns of a table, with their DuckDB types and plausible interpretations.

    Raises:
        ProfilingError: there are too many columns.
    """
    query = f"DESCRIBE SELECT * FROM {table.expression}"  # noqa: S608
    descriptions = table.connection.execute(query).fetchall()
    if len(descriptions) > limits.max_columns:
        raise ProfilingError(FailureReason.TOO_MANY_COLUMNS)

    names_in_sql = [name for name, *_unused in descriptions]
    names = unique_names(names_in_sql if table.names_in_file is None else table.names_in_file)

    columns = []
    for index, (name, (name_in_sql, full_type, *_unused)) in enumerate(zip(names, descriptions, strict=True)):
        columns.append(SourceColumn(name, name_in_sql, _type_without_parameters(full_type), index))
    return _with_plausible_interpretations(table, columns)


def _with_plausible_interpretations(table: DuckDbTable, columns: Sequence[SourceColumn]) -> list[SourceColumn]:
    """Return the columns of a table with only the interpretations that fit a sample of its rows.

    An interpretation, such as "integer" or "date", must fit every value of a column. The sample rules out most of them,
    so that only a few have to be tried on the whole table.
    """
    texts = ", ".join(column.text for column in columns)
    select = f"SELECT {texts} FROM {table.expression}"  # noqa: S608
    rows = table.connection.execute(f"{select} LIMIT {_FIRST_ROWS}").fetchall()
    if not rows:
        return list(columns)
    if len(rows) == _FIRST_ROWS:
        sample = f"{select} USING SAMPLE reservoir({_SAMPLE_ROWS} ROWS) REPEATABLE (1)"
        rows += table.connection.execute(sample).fetchall()

    narrowed_columns = []
    cells_by_column = zip(*rows, strict=True)
    for column, cells in zip(columns, cells_by_column, strict=True):
        sample_texts = {cell.strip() for cell in cells if cell is not None}
        sample_values = {text for text in sample_texts if text.lower() not in MISSING_MARKS}
        plausible = _plausible_interpretations(sample_values, table.delimiter)
        narrowed_columns.append(replace(column, interpretations=plausible))
    return narrowed_columns


def _plausible_interpretations(sample_values: Collection[str], delimiter: str) -> list[Interpretation]:
    """Return the interpretations that fit a sample of the values of a column, or else most of these values.

    Values that look neither like plain numbers nor like dates may still be numbers with units or thousands separators.
    A column of numbers or dates may also contain a few words.
    """
    possible_numbers = {value for value in sample_values if value.lower() not in MISSING_NUMBER_MARKS}

    plausible = []
    for interpretation in TEXT_INTERPRETATIONS:
        values = possible_numbers if interpretation.is_numeric else sample_values
        fits_all_values = all(map(interpretation.shape.fullmatch, values))
        if fits_all_values:
            plausible.append(interpretation)
    if plausible and not may_have_dots_between_thousands(possible_numbers, delimiter):
        return plausible

    notation = infer_notation(sorted(possible_numbers), delimiter) if possible_numbers else None
    if plausible and not _has_dots_between_thousands(notation):
        return plausible
    if notation is not None and reads_all(notation, possible_numbers):
        return [Interpretation(ColumnType.NUMBER, conversion_template(notation))]
    return _mostly_fitting_interpretations(sample_values, possible_numbers, notation)


def _has_dots_between_thousands(notation: NumberNotation | None) -> bool:
    """Return whether dots separate thousands, so that the interpretations of plain numbers would be wrong."""
    return notation is not None and notation.thousands == "."


def _mostly_fitting_interpretations(
    sample_values: Collection[str], possible_numbers: Collection[str], notation: NumberNotation | None
) -> list[Interpretation]:
    """Return the interpretations as numbers or dates that fit at least half of a sample of the values of a column."""
    fitting = []
    for interpretation in TEXT_INTERPRETATIONS:
        is_wrong_number = interpretation.is_numeric and _has_dots_between_thousands(notation)
        if interpretation.type is ColumnType.BOOLEAN or is_wrong_number:
            continue
        values = possible_numbers if interpretation.is_numeric else sample_values
        fitting_count = sum(interpretation.shape.fullmatch(value) is not None for value in values)
        if 0 < len(values) <= 2 * fitting_count:
            fitting.append(interpretation)

    if notation is not None:
        fitting.append(Interpretation(ColumnType.NUMBER, conversion_template(notation)))
    return fitting


def _type_without_parameters(full_type: str) -> str:
    """Return a DuckDB type without its parameters, or VARCHAR for any list.

    For example, DECIMAL(18,3) becomes DECIMAL, and TIMESTAMP WITH TIME ZONE becomes TIMESTAMP.
    """
    if full_type.endswith("]"):
        return "VARCHAR"
    return full_type.partition("(")[0].partition(" ")[0]


def choose_text_interpretation(
    column: SourceColumn, readable_counts: Sequence[int], present_count: int, missing_number_count: int
) -> Interpretation:
    """Return the first interpretation that fits every value of a text column, or else `PLAIN_TEXT`.

    Args:
        column: the column with its interpretations.
        readable_counts: the number of values that each of these interpretations can read.
        present_count: the number of values that are not missing.
        missing_number_count: the number of these values that count as missing in a column of numbers.
    """
    if present_count == 0:
        return PLAIN_TEXT

    for interpretation, readable_count in zip(column.interpretations, readable_counts, strict=True):
        value_count = present_count - missing_number_count if interpretation.is_numeric else present_count
        if 0 < readable_count == value_count:
            return interpretation
    return PLAIN_TEXT
