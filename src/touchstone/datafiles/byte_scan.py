"""A scan of the bytes of a data file, before it is parsed."""

import hashlib
import os
from dataclasses import dataclass
from typing import Final

from touchstone.core.text_encoding import EncodingDetector, TextEncoding
from touchstone.datafiles.file_profile import FailureReason, ProfilingError, ProfilingLimits

_CHUNK_BYTES: Final = 2**20
# Control characters in this part of a file show that it is not text.
_INSPECTED_BYTES: Final = 2**16
# The formats with one row per line, whose parsers must hold a whole line in memory.
_LINE_FORMATS: Final = ("csv", "tsv")
_TEXT_FORMATS: Final = (*_LINE_FORMATS, "json", "jsonl")
_CONTROL_BYTES: Final = frozenset(range(0x20)) - frozenset(b"\t\n\r\f")


@dataclass(frozen=True, slots=True)
class ByteScan:
    """The result of a scan of the bytes of a file.

    Attributes:
        sha256: the hexadecimal digest of the whole file.
        byte_count: the size of the file.
        encoding: the encoding of a text format, or None for a binary format.
        beginning: the first mebibyte of the file.
    """

    sha256: str
    byte_count: int
    encoding: TextEncoding | None
    beginning: bytes


def scan_bytes(descriptor: int, file_type: str, *, limits: ProfilingLimits) -> ByteScan:
    """Determine the size, the digest and the encoding of a file, and check that it can be parsed.

    The file is read in chunks, because a single line may be larger than the memory. The position in the file does not
    change.

    Raises:
        ProfilingError: the file is empty, contains binary data instead of text, or has a line that is too long.
    """
    digest = hashlib.sha256()
    encoding_detector = EncodingDetector()
    line_check: LineLengthCheck | None = None
    if file_type in _LINE_FORMATS:
        line_check = LineLengthCheck(limits.max_line_bytes)

    first_chunk = b""
    byte_count = 0

    while chunk := os.pread(descriptor, _CHUNK_BYTES, byte_count):
        digest.update(chunk)
        encoding_detector.update(chunk)
        if line_check is not None:
            line_check.check_chunk(chunk)
        if byte_count == 0:
            first_chunk = chunk
        byte_count += len(chunk)

    if not first_chunk.strip():
        raise ProfilingError(FailureReason.EMPTY)

    encoding = None
    if file_type in _TEXT_FORMATS:
        encoding = encoding_detector.result()
        _check_text(first_chunk, encoding)
    return ByteScan(digest.hexdigest(), byte_count, encoding, first_chunk)


class LineLengthCheck:
    """A check that no line of a file is much longer than a limit.

    Only a line that is unfinished at the end of a chunk is measured, which is enough to stop lines that do not fit into
    memory. So a line can exceed the limit by up to the size of a chunk.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._unfinished_line_bytes = 0

    def check_chunk(self, chunk: bytes) -> None:
        """Read the next chunk of the file, and check the length of the line that is unfinished at its end.

        Raises:
            ProfilingError: this line is already too long.
        """
        last_line_end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        if last_line_end == -1:
            self._unfinished_line_bytes += len(chunk)
        else:
            self._unfinished_line_bytes = len(chunk) - last_line_end - 1

        if self._unfinished_line_bytes > self._max_line_bytes:
            raise ProfilingError(FailureReason.LINE_TOO_LONG)


def _check_text(first_chunk: bytes, encoding: TextEncoding) -> None:
    """Check that the beginning of a file is text: it must not contain control characters.

    Raises:
        ProfilingError: the file is not text.
    """
    is_utf16 = encoding.name.startswith("utf-16")
    if not is_utf16 and not _CONTROL_BYTES.isdisjoint(first_chunk[:_INSPECTED_BYTES]):
        raise ProfilingError(FailureReason.NOT_TEXT)
