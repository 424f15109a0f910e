"""API calls that export all records which match some filters, and reading of the records while they arrive."""

from typing import Final, Literal, Unpack

import httpx2
import msgspec

from touchstone.client.call import Call, build_path, keep_open
from touchstone.client.errors import TouchstoneError
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import Filters
from touchstone.client.models import Dataset

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
    """Stream all records that match the filters, in the order of the list."""
    path = build_path("datasets", f"export.{export_format}")
    query = {"sort_by": sort_by, "sort_order": sort_order, "assurance": assurance, **filters}
    return Call("GET", path, keep_open, query=query, streamed=True)


class ExportedRecords:
    """Reads records from the chunks of an export as JSON Lines, which may end anywhere within a line."""

    def __init__(self) -> None:
        self._incomplete_line = b""
        self._decoder = msgspec.json.Decoder(Dataset)

    def read_chunk(self, chunk: bytes) -> list[Dataset]:
        """Return the records whose lines are complete with the next chunk.

        Raises:
            TouchstoneError: A line is not a record.
        """
        *lines, self._incomplete_line = (self._incomplete_line + chunk).split(LINE_BREAK)
        try:
            return [self._decoder.decode(line) for line in lines]
        except msgspec.DecodeError as error:
            raise _unreadable(f"The answer is not one of this service: {error}") from error

    def check_end(self) -> None:
        """Check that the last chunk ended with a complete line, or raise TouchstoneError."""
        if self._incomplete_line:
            raise _unreadable("The answer ends in the middle of a record.")


def _unreadable(detail: str) -> TouchstoneError:
    """Return the exception for a successful response that is not an export of records."""
    return TouchstoneError(httpx2.codes.OK, "unreadable", detail)
