"""Detection of the encoding of text files, and rejection of binary files."""

from typing import BinaryIO, Final

from touchstone.core.text_encoding import EncodingDetector, TextEncoding
from touchstone.learning.learning_errors import LearningError

CHUNK: Final = 2**20
# The first bytes of pickles, ZIP archives, gzip, Parquet, PDF, PNG, bzip2 and xz.
BINARY_SIGNATURES: Final = (b"\x80", b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"%PDF", b"\x89PNG", b"BZh", b"\xfd7zXZ")


def detect_encoding(stream: BinaryIO, *, max_line_bytes: int | None = None) -> TextEncoding:
    """Read a whole file, and return the encoding of its text.

    Raises:
        LearningError: the file is empty, is not a text file, or a line is longer than `max_line_bytes`.
    """
    stream.seek(0)
    _check_beginning(stream.read(CHUNK))

    detector = EncodingDetector()
    contains_null_bytes = False
    open_line_bytes = 0
    stream.seek(0)
    while chunk := stream.read(CHUNK):
        detector.update(chunk)
        contains_null_bytes = contains_null_bytes or b"\x00" in chunk

        open_line_bytes = _count_open_line_bytes(chunk, open_line_bytes)
        if max_line_bytes is not None and open_line_bytes > max_line_bytes:
            raise LearningError("line_too_long", maximum=max_line_bytes)

    encoding = detector.result()
    if contains_null_bytes and not encoding.name.startswith("utf-16"):
        raise LearningError("file_not_text")
    return encoding


def _check_beginning(beginning: bytes) -> None:
    """Raise `LearningError` if a file is empty, or begins with the signature of a binary format."""
    if not beginning.strip():
        raise LearningError("file_empty")
    if beginning.startswith(BINARY_SIGNATURES):
        raise LearningError("file_not_text")


def _count_open_line_bytes(chunk: bytes, bytes_before: int) -> int:
    """Return the length of the unfinished line at the end of a chunk.

    `bytes_before` is the length of the unfinished line at the end of the previous chunk. Lines that end within a chunk
    are not measured, so that a line may exceed the limit by less than a chunk, which does no harm.
    """
    last_line_end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
    if last_line_end == -1:
        return bytes_before + len(chunk)
    return len(chunk) - last_line_end - 1
