"""The limit on the bytes of one response."""

from typing import Final

# The limit for the records of one response; further records are sent without their `metadata`.
PAGE_BYTES: Final = 4 * 1024 * 1024


class ByteBudget:
    """The number of bytes that remain for the records of one response."""

    def __init__(self, limit: int = PAGE_BYTES) -> None:
        self._remaining_bytes = limit

    def share(self, record_count: int) -> int:
        """Return the size in bytes that each of `record_count` records may have if they share the budget equally."""
        return self._remaining_bytes // max(record_count, 1)

    def take(self, byte_count: int) -> bool:
        """Reserve this many bytes and return True, or return False and reserve nothing if fewer remain."""
        if byte_count > self._remaining_bytes:
            return False

        self._remaining_bytes -= byte_count
        return True
