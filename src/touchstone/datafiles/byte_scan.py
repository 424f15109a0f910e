"""One pass over the bytes of a data file, before any parser sees them: digest, size, encoding, longest line."""

import codecs
import hashlib
import os
from dataclasses import dataclass
from typing import Final

from touchstone.datafiles.profiler import Limits, ProfilingError, Reason

_CHUNK: Final = 2**20
_ROWS_OF_TEXT: Final = ("csv", "tsv")
_TEXT: Final = (*_ROWS_OF_TEXT, "json", "jsonl")
_CONTROL: Final = frozenset(range(0x20)) - frozenset(b"\t\n\r\f")


@dataclass(frozen=True, slots=True)
class Scan:
    """What the bytes tell. `encoding` is the engine's name for it, empty for a binary format."""

    sha256: str
    size: int
    encoding: str
    first_line: bytes


def scan_bytes(descriptor: int, file_type: str, *, limits: Limits) -> Scan:
    """Read the file once, wherever its position stands. Raises `ProfilingError` (empty, not text, line too long)."""
    digest = hashlib.sha256()
    lines = LineBound(limits.line_bytes if file_type in _ROWS_OF_TEXT else None)
    utf8 = Utf8()
    head, size = b"", 0
    while chunk := os.pread(descriptor, _CHUNK, size):
        digest.update(chunk)
        head = head or chunk
        size += len(chunk)
        lines.take(chunk)
        utf8.take(chunk)
    if not head.strip():
        raise ProfilingError(Reason.EMPTY)
    encoding = _encoding(head, is_utf8=utf8.valid) if file_type in _TEXT else ""
    return Scan(digest.hexdigest(), size, encoding, first_line=head.split(b"\n", 1)[0])


class LineBound:
    """Refuses a line longer than the bound (None: any length), fed chunk by chunk."""

    def __init__(self, bound: int | None) -> None:
        self._bound = bound
        self._open = 0

    def take(self, chunk: bytes) -> None:
        """Process a chunk; raise `ProfilingError` once the current line is too long."""
        last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._open = self._open + len(chunk) if last < 0 else len(chunk) - last - 1
        if self._bound is not None and self._open > self._bound:
            raise ProfilingError(Reason.LINE_TOO_LONG)


class Utf8:
    """Whether all bytes so far are UTF-8, fed chunk by chunk."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._broken = False

    def take(self, chunk: bytes) -> None:
        """Look at one more chunk; after the first wrong byte there is nothing left to learn."""
        if not self._broken:
            try:
                self._decoder.decode(chunk)
            except UnicodeDecodeError:
                self._broken = True

    @property
    def valid(self) -> bool:
        """No wrong byte, and no character cut off at the end."""
        return not self._broken and self._decoder.getstate()[0] == b""


def _encoding(head: bytes, *, is_utf8: bool) -> str:
    """Return DuckDB's name for the encoding; raise `ProfilingError` if the file is not text."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if not _CONTROL.isdisjoint(head[: 2**16]):
        raise ProfilingError(Reason.NOT_TEXT)
    return "utf-8" if is_utf8 else "latin-1"
