"""Writing dataset records to Parquet files, which are sent while they are being written."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.ranking.criteria import COMPOSITES

# A row group is written when it reaches either limit. Readers load one row group at a time.
RECORDS_PER_ROW_GROUP: Final = 10_000
BYTES_PER_ROW_GROUP: Final = 32 * 1024 * 1024

_TYPES: Final[Mapping[Kind, pa.DataType]] = {
    Kind.TEXT: pa.string(),
    Kind.WORDS: pa.list_(pa.string()),
    Kind.INTEGER: pa.int64(),
    Kind.PERCENTAGE: pa.float64(),
    Kind.FLAG: pa.bool_(),
}
_TIME: Final = pa.timestamp("us", tz="UTC")
_OTHER_ATTRIBUTES: Final = tuple(attribute for attribute in ATTRIBUTES if attribute.name != "dataset_name")
# The columns are the same as in the API. Metadata is encoded as JSON, because its members differ between records.
SCHEMA: Final = pa.schema(
    [
        ("id", pa.int64()),
        ("dataset_id", pa.string()),
        ("name", pa.string()),
        ("dataset_name", pa.string()),
        ("description", pa.string()),
        ("file_path", pa.string()),
        ("file_type", pa.string()),
        ("metadata", pa.string()),
        ("visibility", pa.string()),
        ("hidden", pa.bool_()),
        ("hidden_reason", pa.string()),
        ("declared_by", pa.struct([("id", pa.string()), ("pseudo", pa.string())])),
        *((attribute.name, _TYPES[attribute.kind]) for attribute in _OTHER_ATTRIBUTES),
        *((name, pa.float64()) for name in COMPOSITES),
        ("created_at", _TIME),
        ("updated_at", _TIME),
    ]
)


class ParquetRecordWriter:
    """Writes records to a Parquet file, and returns its bytes piece by piece so that memory use is bounded."""

    def __init__(self) -> None:
        self._file = _WriteBuffer()
        self._writer = pq.ParquetWriter(self._file, SCHEMA, compression="zstd")
        self._row_group: list[pa.RecordBatch] = []

    def write(self, json_objects: Sequence[Mapping[str, Any]]) -> bytes:
        """Add records, given as JSON objects of the API, and return the bytes that were written.

        The result is empty until the records fill a row group.
        """
        rows = [_to_row(json_object) for json_object in json_objects]
        self._row_group.append(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))

        record_count = sum(batch.num_rows for batch in self._row_group)
        byte_count = sum(batch.nbytes for batch in self._row_group)
        if record_count >= RECORDS_PER_ROW_GROUP or byte_count >= BYTES_PER_ROW_GROUP:
            self._write_row_group()
        return self._file.pop_bytes()

    def finish(self) -> bytes:
        """Complete the file, and return its last bytes."""
        if self._row_group:
            self._write_row_group()

        self._writer.close()
        return self._file.pop_bytes()

    def _write_row_group(self) -> None:
        """Write the buffered records as one row group."""
        self._writer.write_table(pa.Table.from_batches(self._row_group))
        self._row_group = []


class _WriteBuffer:
    """A file object for pyarrow to write to, with a buffer that the caller empties repeatedly."""

    def __init__(self) -> None:
        self.closed = False
        self._chunks: list[bytes] = []
        self._position = 0

    def write(self, content: bytes) -> int:
        """Append the bytes, and return their number. They are copied, because pyarrow may reuse their memory."""
        self._chunks.append(bytes(content))
        self._position += len(content)
        return len(content)

    def tell(self) -> int:
        """Return the size of the file so far, including bytes that are no longer in the buffer."""
        return self._position

    def pop_bytes(self) -> bytes:
        """Return the bytes written since the last call, and remove them from the buffer."""
        content = b"".join(self._chunks)
        self._chunks.clear()
        return content

    def flush(self) -> None:
        """Do nothing, because all bytes are in the buffer."""

    def close(self) -> None:
        """Mark the file as closed. Its last bytes remain in the buffer."""
        self.closed = True


def _to_row(json_object: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a JSON object of the API to a row, with strings for UUIDs and encoded JSON for the metadata."""
    owner = json_object["declared_by"]
    metadata = json_object["metadata"]
    return {
        **json_object,
        "dataset_id": str(json_object["dataset_id"]),
        "declared_by": None if owner is None else {"id": str(owner["id"]), "pseudo": owner["pseudo"]},
        "metadata": None if metadata is None else msgspec.json.encode(metadata).decode(),
    }
