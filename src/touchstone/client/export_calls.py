"""API calls for exporting records and rankings, and decoders of what arrives in chunks."""

import codecs
import json
import re
from typing import Any, Final, Literal, Unpack

import httpx2
import msgspec

from touchstone.client.call import Call, build_path, keep_streaming
from touchstone.client.catalog_calls import Weights, ranking_body
from touchstone.client.errors import unreadable_response
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import Filters, Gates, ScoringOptions
from touchstone.client.models import Dataset, ScoredDataset
from touchstone.core.json_decoding import decode_json

CatalogFormat = Literal["jsonl", "parquet"]
LINE_BREAK: Final = b"\n"
_BETWEEN_ITEMS: Final = re.compile(r"[\s,\[]*")
_END_OF_ARRAY: Final = "]"


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


def stream_ranking(
    filters: Filters | None = None,
    *,
    weights: Weights = None,
    gates: Gates | None = None,
    **options: Unpack[ScoringOptions],
) -> Call[httpx2.Response]:
    """Rank the records that match the filters, with the parameters of `score_datasets`.

    The result of the call is an open response with the datasets as a JSON array. `RankedDatasets` decodes it while it
    arrives. The caller closes it.
    """
    path = build_path("datasets", "score")
    body = ranking_body(filters, weights, gates)
    return Call("POST", path, keep_streaming, query=dict(options), json=body, read_only=True, streamed=True)


class RankedDatasets:
    """A decoder of ranked datasets in a JSON array, which arrives in chunks that may end in the middle of a dataset."""

    def __init__(self) -> None:
        self._text_decoder = codecs.getincrementaldecoder("utf-8")()
        self._json_decoder = json.JSONDecoder()
        self._incomplete_text = ""

    def read_chunk(self, chunk: bytes) -> list[ScoredDataset]:
        """Return the datasets that are complete after this chunk, and buffer an incomplete dataset.

        Raises:
            TouchstoneError: an element of the array is not a ranked dataset.
        """
        text = self._incomplete_text + self._text_decoder.decode(chunk)
        members: list[dict[str, Any]] = []
        position = self._skip_to_item(text, 0)
        while position < len(text) and text[position] != _END_OF_ARRAY:
            try:
                item, end = self._json_decoder.raw_decode(text, position)
            except json.JSONDecodeError:
                break
            members.append(item)
            position = self._skip_to_item(text, end)

        self._incomplete_text = text[position:]
        try:
            return msgspec.convert(members, list[ScoredDataset])
        except msgspec.ValidationError as error:
            raise unreadable_response(httpx2.codes.OK, error) from error

    @staticmethod
    def _skip_to_item(text: str, position: int) -> int:
        """Return the position of the next dataset, or of the end of the array, at or after a position."""
        separator = _BETWEEN_ITEMS.match(text, position)
        assert separator is not None, "the pattern matches an empty string"
        return separator.end()

    def check_completeness(self) -> None:
        """Raise TouchstoneError if the ranking ended before the end of the array."""
        if not self._incomplete_text.startswith(_END_OF_ARRAY):
            raise unreadable_response(httpx2.codes.OK, "it ends in the middle of a ranking")
