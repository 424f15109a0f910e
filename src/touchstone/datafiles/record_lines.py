"""Rows of Parquet files as lines of JSON, each with one record."""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

# A row may have megabytes of metadata, so only a few rows are in memory at a time.
_ROWS_AT_ONCE: Final = 256
_METADATA: Final = "metadata"
# The columns in which pandas stores the labels of rows. They are part of the file, and not of the records.
_PANDAS_INDEX: Final = re.compile(r"__index_level_\d+__")
# The types with values that JSON cannot represent. The encoder would write them as null or in Base64.
_KINDS_NOT_IN_JSON: Final[Sequence[Callable[[pa.DataType], bool]]] = (
    pa.types.is_floating,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
# A number beyond float64 and a byte that is not UTF-8, so that the service refuses rows with infinite numbers, and with
# bytes that are not text.
_INFINITY: Final = msgspec.Raw(b"1e999")
_UNREADABLE_TEXT: Final = msgspec.Raw(b'"\xff"')
# Other values that JSON cannot represent, such as dates, are written as strings.
_ENCODER: Final = msgspec.json.Encoder(enc_hook=str, decimal_format="number")


def record_columns(file: pq.ParquetFile) -> list[str]:
    """Return the names of the columns of a file, without those in which pandas stores the labels of rows."""
    return [name for name in file.schema_arrow.names if not _PANDAS_INDEX.fullmatch(name)]


def read_record_lines(file: pq.ParquetFile, ignored_columns: Collection[str]) -> Iterator[list[bytes]]:
    """Yield the rows of a file as lines of JSON, in short lists.

    Null values are left out, and `metadata` may be a struct or a string of JSON.
    """
    column_names = [name for name in record_columns(file) if name not in ignored_columns]
    fields = {field.name: field for field in file.schema_arrow}
    converted_names = [name for name in column_names if _needs_conversion(fields[name].type)]

    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=column_names, use_threads=False):
        rows = batch.to_pylist()
        for row in rows:
            row.update({name: _as_json_value(row[name]) for name in converted_names})
        yield [_ENCODER.encode(_to_record(row)) + b"\n" for row in rows]


def _needs_conversion(data_type: pa.DataType) -> bool:
    """Return whether values of a type may contain floating-point numbers or bytes."""
    if isinstance(data_type, pa.BaseExtensionType):
        return _needs_conversion(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return _needs_conversion(data_type.value_type)
    if pa.types.is_nested(data_type):
        return any(_needs_conversion(data_type.field(position).type) for position in range(data_type.num_fields))

    return any(is_kind(data_type) for is_kind in _KINDS_NOT_IN_JSON)


def _as_json_value(value: Any) -> Any:
    """Return a value with strings instead of bytes.

    Infinite numbers, and bytes that are not UTF-8, are replaced by what no parser accepts.
    """
    if isinstance(value, float):
        return _INFINITY if math.isinf(value) else value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return _UNREADABLE_TEXT

    if isinstance(value, dict):
        return {name: _as_json_value(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json_value(item) for item in value]
    return value


def _to_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row to a record without null values; its metadata may be a struct or a string of JSON."""
    record = {name: value for name, value in row.items() if value is not None}
    metadata = record.get(_METADATA)
    if isinstance(metadata, str):
        record[_METADATA] = _raw_json(metadata)
    elif isinstance(metadata, dict):
        record[_METADATA] = _without_nulls(metadata)
    return record


def _raw_json(text: str) -> msgspec.Raw | str:
    """Return a string of JSON as raw JSON without line breaks, and any other string unchanged."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return text

    # In JSON, line breaks are escaped within strings, and white space anywhere else.
    return msgspec.Raw(text.replace("\n", " ").replace("\r", " ").encode())


def _without_nulls(value: Any) -> Any:
    """Return a value without null members of structs.

    All structs of a column have the same members, so a null usually means that a row has no such member.
    """
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
