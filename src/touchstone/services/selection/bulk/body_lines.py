"""Splitting a request body that arrives in chunks into lines."""

import codecs
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

_NEWLINE: Final = b"\n"


class BodyLine(NamedTuple):
    """One line of a body.

    Attributes:
        number: the line number, starting at 1.
        content: the line without its newline; None if it is longer than allowed.
    """

    number: int
    content: bytes | None


class LineSplitter:
    """Splits the chunks of a body into lines, without holding lines in memory that are too long.

    A byte order mark, which some editors write at the beginning of a UTF-8 file, is removed from the first line.
    """

    def __init__(self, max_bytes: int) -> None:
        """Create a splitter for a body whose lines may have at most `max_bytes` bytes each."""
        self._max_bytes = max_bytes
        self._line_count = 0
        # The beginning of the line whose newline has not arrived yet, and whether the line is already too long.
        self._unfinished_line = b""
        self._is_too_long = False

    def split(self, chunk: bytes) -> list[BodyLine]:
        """Return the lines that end in the next chunk of the body, except blank ones."""
        *complete_lines, unfinished_line = (self._unfinished_line + chunk).split(_NEWLINE)
        lines = self._number_lines(complete_lines)

        if len(unfinished_line) > self._max_bytes:
            self._is_too_long = True
            unfinished_line = b""
        self._unfinished_line = unfinished_line
        return lines

    def last_line(self) -> list[BodyLine]:
        """Return the last line of the body if it is neither blank nor terminated by a newline, or an empty list."""
        return self._number_lines([self._unfinished_line])

    def _number_lines(self, contents: Sequence[bytes]) -> list[BodyLine]:
        """Return the lines with their numbers, except blank ones."""
        if self._line_count == 0 and contents:
            contents = [contents[0].removeprefix(codecs.BOM_UTF8), *contents[1:]]

        lines: list[BodyLine] = []
        for number, content in enumerate(contents, start=self._line_count + 1):
            if self._is_too_long or len(content) > self._max_bytes:
                self._is_too_long = False  # The line that was too long ends here.
                lines.append(BodyLine(number, None))
            elif content.strip():
                lines.append(BodyLine(number, content))

        self._line_count += len(contents)
        return lines


async def split_lines(chunks: AsyncIterator[bytes], max_bytes: int) -> AsyncIterator[list[BodyLine]]:
    """Yield the lines of each chunk of a body, except blank ones."""
    splitter = LineSplitter(max_bytes)
    async for chunk in chunks:
        yield splitter.split(chunk)

    yield splitter.last_line()
