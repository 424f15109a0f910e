"""API calls for exporting records, and a decoder of records that arrive in chunks."""

from typing import Final, Literal, Unpack

import httpx2
import msgspec

from touchstone.client.call import Call, build_path, keep_streaming
from touchstone.client.errors import unreadable_response
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import Filters
from touchstone.client.models import Dataset
from touchstone.core.json_decoding import decode_json

CatalogFormat = Literal["jsonl", "parquet"]
LINE_BREAK: Final = b"\n"


def stream_export(
    export_format: CatalogFormat,
    *,
    sort_by: str | None = None,
    sort_order: Literal["asc", "desc"] | None = None,
    assurance: AssuranceName | None = None,
    **filters: Unpack[Filters],
) -> Call[httpx2.Response]:
    """Export all records that match the filters, sorted as in a list of datasets.

    The result of the call is an open response, which the caller reads and closes.
    """
    path = build_path("datasets", f"export.{export_format}")
    query = {"sort_by": sort_by, "sort_order": sort_order, "assurance": assurance, **filters}
    return Call("GET", path, keep_streaming, query=query, streamed=True)


class ExportedRecords:
    """A decoder of records in JSON Lines, which arrive in chunks that may end in the middle of a line."""

    def __init__(self) -> None:
        self._incomplete_line = b""

    def read_chunk(self, chunk: bytes) -> list[Dataset]:
        """Return the records that are complete after this chunk, and buffer an incomplete line.

        Raises:
            TouchstoneError: a line is not a record.
        """
        received = self._incomplete_line + chunk
        *complete_lines, self._incomplete_line = received.split(LINE_BREAK)
        try:
            return [decode_json(line, Dataset) for line in complete_lines]
        except msgspec.DecodeError as error:
            raise unreadable_response(httpx2.codes.OK, error) from error

    def check_completeness(self) -> None:
        """Raise TouchstoneError if the export ended in the middle of a line."""
        if self._incomplete_line:
            raise unreadable_response(httpx2.codes.OK, "it ends in the middle of a record")
