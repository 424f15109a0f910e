"""The report of a bulk import: one line for each transaction, and a last line with the totals."""

from collections.abc import Sequence
from typing import Final

import msgspec

from touchstone.core.errors import ServiceError
from touchstone.http.error_rendering import render_detail

# Further refused lines are only counted, so that the report of a long import stays short.
MAX_LISTED_REFUSALS: Final = 10_000


class RefusedLine(msgspec.Struct, frozen=True):
    """A line that was not imported, and why."""

    line: int
    code: str
    detail: str


class BatchCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many records a transaction has created and updated, and how many it found unchanged."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0


class _BatchLine(msgspec.Struct, frozen=True):
    """The line about one transaction; `last_line` is the number of the last line of the body that it covers."""

    batch: int
    last_line: int
    created: int = msgspec.field(name="made")
    updated: int
    unchanged: int
    refused: Sequence[RefusedLine]


class _LastLine(msgspec.Struct, frozen=True):
    """The last line: the totals, and why the import stopped if it is not `done`."""

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
    """Collects the report of one import, which is sent after the whole body has been read."""

    def __init__(self, locale: str) -> None:
        """Start a report; messages are in the language of `locale`."""
        self._locale = locale
        self._lines: list[bytes] = []
        self._last_input_line = 0
        self._created = 0
        self._updated = 0
        self._unchanged = 0
        self._refused = 0

    def add_batch(self, counts: BatchCounts, refusals: Sequence[RefusedLine], last_line: int) -> None:
        """Add a committed transaction, and the lines that were refused since the previous one."""
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

    def refusal(self, line: int, error: ServiceError) -> RefusedLine:
        """Describe why a line is refused, in the language of the report."""
        return RefusedLine(line, error.code, render_detail(error, self._locale))

    def encode(self, failure: ServiceError | None = None) -> list[bytes]:
        """Return the lines of the report; `failure` is the error that has stopped the import, if any."""
        last_line = _LastLine(
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
        return [*self._lines, _encode_line(last_line)]


def _encode_line(line: msgspec.Struct) -> bytes:
    """Return a line of the report as JSON with a newline."""
    return msgspec.json.encode(line) + b"\n"
