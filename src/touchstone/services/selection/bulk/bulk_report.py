"""The report of a bulk import, with one line for each transaction and a final line with the totals."""

from collections.abc import Sequence
from typing import Final

import msgspec

from touchstone.core.errors import ServiceError
from touchstone.http.error_rendering import render_detail
from touchstone.messages import text
from touchstone.services.selection.bulk.line_errors import LineError

# Further refused lines are only counted, to limit the length of the report.
MAX_LISTED_REFUSALS: Final = 10_000


class RefusedLine(msgspec.Struct, frozen=True):
    """A line that was not imported, with the reason."""

    line: int
    code: str
    detail: str


class BatchCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of records that a transaction has created, updated and left unchanged."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0


class _BatchLine(msgspec.Struct, frozen=True):
    """The report line about one transaction.

    Attributes:
        batch: the number of the transaction, starting at 1.
        last_line: the number of the last line in the transaction.
        created, updated, unchanged: the numbers of records.
        refused: the refused lines.
    """

    batch: int
    last_line: int
    created: int = msgspec.field(name="made")
    updated: int
    unchanged: int
    refused: Sequence[RefusedLine]


class _FinalLine(msgspec.Struct, frozen=True):
    """The final report line, with the totals and, unless `done`, the error that stopped the import."""

    done: bool
    code: str | msgspec.UnsetType
    detail: str | msgspec.UnsetType
    batches: int
    lines: int
    created: int = msgspec.field(name="made")
    updated: int
    unchanged: int
    refused: int


class BulkReport:
    """The report of one import, which is sent after the whole body has been read."""

    def __init__(self, locale: str) -> None:
        """Create an empty report with messages in the language `locale`."""
        self._locale = locale
        self._lines: list[bytes] = []
        self._last_input_line = 0
        self._created = 0
        self._updated = 0
        self._unchanged = 0
        self._refused = 0

    def add_batch(self, counts: BatchCounts, refusals: Sequence[RefusedLine], last_line: int) -> None:
        """Add a committed transaction, with the lines that were refused since the previous one."""
        listed_count = max(0, MAX_LISTED_REFUSALS - self._refused)
        batch_line = _BatchLine(
            batch=len(self._lines) + 1,
            last_line=last_line,
            created=counts.created,
            updated=counts.updated,
            unchanged=counts.unchanged,
            refused=refusals[:listed_count],
        )
        self._lines.append(_encode_line(batch_line))

        self._last_input_line = last_line
        self._created += counts.created
        self._updated += counts.updated
        self._unchanged += counts.unchanged
        self._refused += len(refusals)

    def describe_refusal(self, line: int, error: ServiceError | LineError) -> RefusedLine:
        """Return the refusal of a line, with a message in the language of the report."""
        if isinstance(error, LineError):
            return RefusedLine(line, error.code, text(error.message_key, self._locale, **error.facts))
        return RefusedLine(line, error.code, render_detail(error, self._locale, body_message="whole_line"))

    def encode(self, failure: ServiceError | None = None) -> list[bytes]:
        """Return the lines of the report. `failure` is the error that stopped the import, if any."""
        final_line = _FinalLine(
            done=failure is None,
            code=failure.code if failure else msgspec.UNSET,
            detail=render_detail(failure, self._locale) if failure else msgspec.UNSET,
            batches=len(self._lines),
            lines=self._last_input_line,
            created=self._created,
            updated=self._updated,
            unchanged=self._unchanged,
            refused=self._refused,
        )
        return [*self._lines, _encode_line(final_line)]


def _encode_line(line: msgspec.Struct) -> bytes:
    """Encode a line of the report as JSON, followed by a newline."""
    return msgspec.json.encode(line) + b"\n"
