"""The limit on the size of one response."""

from typing import Final

PAGE_BYTES: Final = 4 * 1024 * 1024
"""The maximum size of the complete records in one response. Further records are sent without their `metadata`."""


class ByteBudget:
    """Keeps track of the number of bytes that remain for the records of one response."""

    def __init__(self, limit: int = PAGE_BYTES) -> None:
        self._remaining_bytes = limit

    def share(self, record_count: int) -> int:
        """Return the number of bytes per record if `record_count` records share the remaining bytes equally."""
        return self._remaining_bytes // max(record_count, 1)

    def try_reserve(self, byte_count: int) -> bool:
        """Reserve a number of bytes and return True, or return False if fewer bytes remain."""
        if byte_count > self._remaining_bytes:
            return False

        self._remaining_bytes -= byte_count
        return True
