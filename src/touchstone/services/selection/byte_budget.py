"""The limit on the bytes of one response."""

from typing import Final

# The records of one response take at most so many bytes; further ones come without their `metadata`.
PAGE_BYTES: Final = 4 * 1024 * 1024


class ByteBudget:
    """The bytes that the records of one response may still take."""

    def __init__(self, limit: int = PAGE_BYTES) -> None:
        self._remaining_bytes = limit

    def take(self, byte_count: int) -> bool:
        """Reserve this many bytes and return True, or return False and reserve nothing if fewer remain."""
        if byte_count > self._remaining_bytes:
            return False

        self._remaining_bytes -= byte_count
        return True
