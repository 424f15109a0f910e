"""One pass over the bytes of a data file, before any parser sees them: digest, size, encoding, longest line."""

import codecs
import hashlib
import os
from dataclasses import dataclass
from typing import Final

from touchstone.datafiles.file_profile import FailureReason, ProfilingError, ProfilingLimits

_CHUNK_BYTES: Final = 2**20
# The part of a file in which control characters reveal that it is not text.
_INSPECTED_BYTES: Final = 2**16
# The formats in which a row is a line, so that a long line means a row that no parser could hold.
_LINE_FORMATS: Final = ("csv", "tsv")
_TEXT_FORMATS: Final = (*_LINE_FORMATS, "json", "jsonl")
_CONTROL_BYTES: Final = frozenset(range(0x20)) - frozenset(b"\t\n\r\f")


@dataclass(frozen=True, slots=True)
class ByteScan:
    """The result of a pass over the bytes of a file.

    Attributes:
        sha256: hexadecimal digest of the whole file.
        byte_count: size of the file.
        encoding: DuckDB's name for the encoding of a text format, empty for a binary one.
        first_line: the first line, or as much of it as the first mebibyte holds.
    """

    sha256: str
    byte_count: int
    encoding: str
    first_line: bytes


def scan_bytes(descriptor: int, file_type: str, *, limits: ProfilingLimits) -> ByteScan:
    """Read a file once to find its size, digest and encoding, and check that a parser can cope with it.

    The file is read in chunks, so that a line of a gigabyte does no harm here. The position in the file does not
    change.

    Raises:
        ProfilingError: the file is empty, contains binary data although it should be text, or has too long a line.
    """
    digest = hashlib.sha256()
    utf8_check = Utf8Check()
    line_check = LineLengthCheck(limits.max_line_bytes) if file_type in _LINE_FORMATS else None
    first_chunk = b""
    byte_count = 0

    while chunk := os.pread(descriptor, _CHUNK_BYTES, byte_count):
        digest.update(chunk)
        utf8_check.update(chunk)
        if line_check is not None:
            line_check.update(chunk)
        if byte_count == 0:
            first_chunk = chunk
        byte_count += len(chunk)

    if not first_chunk.strip():
        raise ProfilingError(FailureReason.EMPTY)

    encoding = ""
    if file_type in _TEXT_FORMATS:
        encoding = _detect_encoding(first_chunk, is_utf8=utf8_check.is_valid)
    first_line, _, _ = first_chunk.partition(b"\n")
    return ByteScan(digest.hexdigest(), byte_count, encoding, first_line)


class LineLengthCheck:
    """A check that no line of a file is much longer than a limit; `update` adds the file chunk by chunk.

    A line that ends within a chunk may be longer than the limit by up to the size of the chunk.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._unfinished_line_bytes = 0

    def update(self, chunk: bytes) -> None:
        """Check the next chunk of the file.

        Raises:
            ProfilingError: the line that continues after this chunk is too long already.
        """
        last_line_end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        if last_line_end == -1:
            self._unfinished_line_bytes += len(chunk)
        else:
            self._unfinished_line_bytes = len(chunk) - last_line_end - 1

        if self._unfinished_line_bytes > self._max_line_bytes:
            raise ProfilingError(FailureReason.LINE_TOO_LONG)


class Utf8Check:
    """A check whether a file is valid UTF-8; `update` adds the file chunk by chunk."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._has_failed = False

    def update(self, chunk: bytes) -> None:
        """Check the next chunk of the file, unless an earlier one was invalid."""
        if self._has_failed:
            return

        try:
            self._decoder.decode(chunk)
        except UnicodeDecodeError:
            self._has_failed = True

    @property
    def is_valid(self) -> bool:
        """Whether all chunks together are valid UTF-8 and the last character is complete."""
        undecoded_bytes, _ = self._decoder.getstate()
        return not self._has_failed and undecoded_bytes == b""


def _detect_encoding(first_chunk: bytes, *, is_utf8: bool) -> str:
    """Return DuckDB's name for the encoding of a text file: UTF-16 if it has its byte order mark, UTF-8, or Latin-1.

    Raises:
        ProfilingError: the beginning of the file contains control characters, so it is not text.
    """
    if first_chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if not _CONTROL_BYTES.isdisjoint(first_chunk[:_INSPECTED_BYTES]):
        raise ProfilingError(FailureReason.NOT_TEXT)
    return "utf-8" if is_utf8 else "latin-1"
