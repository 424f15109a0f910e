"""The profile of a data file, the limits for profiling, and the reasons for failures."""

from enum import StrEnum
from typing import Final

import msgspec

from touchstone.core.confined_process import ProcessLimits

FILE_TYPES: Final = ("csv", "tsv", "parquet", "json", "jsonl")


class FailureReason(StrEnum):
    """The reason why a file cannot be profiled; clients see these values, so they never change."""

    UNSUPPORTED_TYPE = "unsupported_type"
    EMPTY = "empty"
    NOT_TEXT = "not_text"  # binary content in a file of a text format
    MALFORMED = "malformed"  # not valid for its type, such as broken Parquet or JSON, or rows of uneven length
    LINE_TOO_LONG = "line_too_long"
    TOO_MANY_COLUMNS = "too_many_columns"
    TOO_LARGE = "too_large"  # needs more memory than the limit
    TOO_SLOW = "too_slow"  # needs more time than the limit
    CRASHED = "crashed"  # the process that read the file died


class ProfilingError(Exception):
    """A data file cannot be profiled.

    Attributes:
        reason: the reason for clients; the message adds details for the log.
    """

    def __init__(self, reason: FailureReason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason


class ProfilingLimits(ProcessLimits, frozen=True, kw_only=True):
    """The limits for profiling a file."""

    max_columns: int = 2_000
    max_line_bytes: int = 2 * 2**20


class ColumnType(StrEnum):
    """The common type of all values of a column, except for missing and unreadable ones."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    TEXT = "text"


class ColumnProfile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The profile of one column, as the API shows it.

    A column without any value has the type text and no extremes.

    Attributes:
        missing: the number of missing cells, including unreadable ones.
        unreadable: the number of other values in a column of numbers or dates, such as words, which count as missing.
        distinct: the number of different values, which is an estimate above a thousand. Strings are compared without
            surrounding white space, and numbers and dates by their values, so that 1 and 1.0 are equal.
        minimum, maximum: the extremes of dates and finite numbers.
        mean, deviation: the mean and the standard deviation of numbers.
        infinite: the number of infinite values.
        histogram: counts of numbers in bins of equal width from `minimum` to `maximum`.
        top: the most frequent values with their counts, for columns with few different values.
    """

    name: str
    type: ColumnType
    missing: int
    distinct: int
    unreadable: int = 0
    minimum: float | str | None = None
    maximum: float | str | None = None
    mean: float | None = None
    deviation: float | None = None
    infinite: int = 0
    histogram: list[int] = []
    top: list[tuple[str, int]] = []


class FileProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The profile of a data file, which the API shows as `metadata.measured` of a record.

    Attributes:
        missing_values_percentage: the share of missing cells among all cells, 0-100, or None without cells.
        missing_marks: the number of cells with each missing mark; the empty mark also counts nulls.
        warnings: stable keys of warnings: `first_row_looks_like_data` (so the columns are numbered), and
            `encoding_guessed`.
    """

    rows: int
    columns: int
    missing_values_percentage: float | None
    sha256: str
    bytes: int
    file_type: str
    missing_marks: dict[str, int]
    warnings: list[str]
    column_profiles: list[ColumnProfile]
