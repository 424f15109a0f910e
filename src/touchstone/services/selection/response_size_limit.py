"""The limit on the bytes of one response."""

from typing import Final

# The records of one response take at most so many bytes; further ones come without their `metadata`.
PAGE_BYTES: Final = 4 * 1024 * 1024


class ByteBudget:
    """The bytes that the records of one response may still take."""

    def __init__(self, limit: int = PAGE_BYTES) -> None:
        self._remaining_bytes = limit

    def share(self, record_count: int) -> int:
        """Return the size in bytes up to which `record_count` records fit, whichever of them are that large."""
        return self._remaining_bytes // max(record_count, 1)

    def take(self, byte_count: int) -> bool:
        """Reserve this many bytes and return True, or return False and reserve nothing if fewer remain."""
        if byte_count > self._remaining_bytes:
            return False

        self._remaining_bytes -= byte_count
        return True
