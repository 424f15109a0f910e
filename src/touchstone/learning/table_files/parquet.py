"""Reading of Parquet files, and conversion of their Arrow columns."""

from collections.abc import Callable
from typing import Any, BinaryIO, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.core.column_names import unique_names
from touchstone.learning.column_types import (
    TypedColumn,
    from_arrow_strings,
    from_booleans,
    from_dates,
    from_numbers,
    from_unsupported,
)
from touchstone.learning.fitting_pool import usable_core_count
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_files.limits import MAX_UNCOMPRESSED_BYTES, check_size
from touchstone.learning.table_files.table_content import TableContent, type_columns

TICKS_PER_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
FIRST_SECOND, END_SECOND = np.array(["0001-01-01", "10000-01-01"], dtype="datetime64[s]").astype(np.int64)
NOT_A_TIME: Final = int(np.iinfo(np.int64).min)  # the representation of NaT in datetime64


def read_parquet(stream: BinaryIO) -> TableContent:
    """Read a Parquet file, which declares the types of its columns.

    The declared sizes are checked before anything is decompressed.
    """
    stream.seek(0)
    try:
        parquet = pq.ParquetFile(stream)
        check_size(columns=parquet.metadata.num_columns, rows=parquet.metadata.num_rows)
        _check_uncompressed_size(parquet.metadata)
        table = parquet.read(use_threads=usable_core_count() > 1)
        names = list(table.column_names)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise LearningError("file_unreadable") from error

    return TableContent(names, type_columns(_convert_column, unique_names(names), table.columns))


def _check_uncompressed_size(metadata: Any) -> None:
    """Raise `LearningError` if the uncompressed size of a Parquet file is too large."""
    size = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
    if size > MAX_UNCOMPRESSED_BYTES:
        raise LearningError("file_too_large", maximum=MAX_UNCOMPRESSED_BYTES)


def _convert_column(name: str, values: Any) -> TypedColumn:
    """Convert an Arrow column with the first converter that accepts its type."""
    is_dictionary = pa.types.is_dictionary(values.type)
    arrow_type = values.type.value_type if is_dictionary else values.type
    for accepts, convert in ARROW_CONVERTERS:
        if accepts(arrow_type):
            return convert(name, values.cast(arrow_type))
    return from_unsupported(name, len(values), missing=values.null_count)


def _convert_strings(name: str, values: Any) -> TypedColumn:
    """Convert a column of strings, and infer the type of its values."""
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        # The strings in the file may not be valid UTF-8.
        encoded_cells = values.cast(pa.large_binary()).to_pylist()
        cells = [None if cell is None else cell.decode(errors="replace") for cell in encoded_cells]
        values = pa.chunked_array([pa.array(cells, pa.large_string())])
    return from_arrow_strings(name, values)


def _convert_numbers(name: str, values: Any) -> TypedColumn:
    """Convert a column of integers, decimals or floats."""
    return from_numbers(name, values.cast(pa.float64(), safe=False).to_numpy())


def _convert_booleans(name: str, values: Any) -> TypedColumn:
    """Convert a column of booleans."""
    return from_booleans(name, pd.Series(values.to_pylist(), dtype=object))


def _convert_days(name: str, values: Any) -> TypedColumn:
    """Convert a column of days without a time."""
    unit = "s" if pa.types.is_date32(values.type) else "ms"
    return _convert_timestamps(name, values.cast(pa.timestamp(unit)))


def _convert_timestamps(name: str, values: Any) -> TypedColumn:
    """Convert a column of timestamps. Timestamps outside the years 1 to 9999 become missing."""
    unit = values.type.unit
    ticks = values.cast(pa.int64()).fill_null(NOT_A_TIME).to_numpy()
    seconds = ticks / TICKS_PER_SECOND[unit]

    is_representable = (seconds >= FIRST_SECOND) & (seconds < END_SECOND)
    timestamps = np.where(is_representable, ticks, NOT_A_TIME).astype(f"datetime64[{unit}]")
    return from_dates(name, pd.Series(timestamps.astype("datetime64[us]")))


def _is_number(arrow_type: Any) -> bool:
    """Return whether an Arrow type holds integers, floats or decimals."""
    types = pa.types
    return bool(types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_decimal(arrow_type))


def _is_string(arrow_type: Any) -> bool:
    """Return whether an Arrow type holds strings, in any of its three layouts."""
    types = pa.types
    return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type))


ARROW_CONVERTERS: Final[tuple[tuple[Callable[[Any], bool], Callable[[str, Any], TypedColumn]], ...]] = (
    (pa.types.is_boolean, _convert_booleans),
    (_is_number, _convert_numbers),
    (_is_string, _convert_strings),
    (pa.types.is_date, _convert_days),
    (pa.types.is_timestamp, _convert_timestamps),
)
