"""The lines of a body that arrives in chunks."""

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

_NEWLINE: Final = b"\n"


class BodyLine(NamedTuple):
    """One line of a body.

    Attributes:
        number: the number of the line, counted from 1.
        content: the line without its end; None if it is longer than allowed.
    """

    number: int
    content: bytes | None


class LineSplitter:
    """Splits the chunks of a body into lines; of a line that is too long, nothing is kept in memory."""

    def __init__(self, max_bytes: int) -> None:
        """Prepare to split a body; a line may have at most `max_bytes` bytes."""
        self._max_bytes = max_bytes
        self._line_count = 0
        self._beginning = b""  # of the line whose end has not arrived yet
        self._is_too_long = False  # whether that line is longer than allowed already

    def split(self, chunk: bytes) -> list[BodyLine]:
        """Return the lines that end in the next chunk of the body, without those that are blank."""
        *contents, self._beginning = (self._beginning + chunk).split(_NEWLINE)
        lines = [self._end_line(content) for content in contents]

        if len(self._beginning) > self._max_bytes:
            self._is_too_long = True
            self._beginning = b""
        return [line for line in lines if not _is_blank(line)]

    def last_line(self) -> list[BodyLine]:
        """Return the line that the end of the body ends, unless it is blank."""
        line = self._end_line(self._beginning)
        return [] if _is_blank(line) else [line]

    def _end_line(self, content: bytes) -> BodyLine:
        """Count a line, and return it."""
        is_too_long = self._is_too_long or len(content) > self._max_bytes
        self._is_too_long = False
        self._line_count += 1
        return BodyLine(self._line_count, None if is_too_long else content)


async def split_lines(chunks: AsyncIterator[bytes], max_bytes: int) -> AsyncIterator[list[BodyLine]]:
    """Yield the lines of a body that are not blank, those of each chunk together."""
    splitter = LineSplitter(max_bytes)
    async for chunk in chunks:
        yield splitter.split(chunk)

    yield splitter.last_line()


def _is_blank(line: BodyLine) -> bool:
    """Return whether a line contains nothing but white space."""
    return line.content is not None and not line.content.strip()
