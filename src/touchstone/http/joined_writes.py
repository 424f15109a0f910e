"""A transport that joins small writes, so that the head of a response and its body are sent by one system call."""

import asyncio
from typing import Any, Final

MAX_HELD_BYTES: Final = 16_384  # a larger piece is sent at once, because a system call hardly adds to its cost


class JoiningTransport:
    """A transport that holds a small piece until the next one is written, and then sends both together.

    If nothing else is written, the piece is sent at the end of the current step of the event loop. All methods that are
    not defined here are those of the transport behind this one.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held_piece: bytes | memoryview = b""
        # Each response asks several times, and finding a method by `__getattr__` takes longer than calling it.
        self.is_closing = transport.is_closing

    def write(self, piece: bytes | memoryview) -> None:
        """Send a piece together with the one that is held, or hold it if none is and it is small."""
        if self._held_piece:
            held_piece, self._held_piece = self._held_piece, b""
            self._transport.writelines([held_piece, piece])
        elif len(piece) > MAX_HELD_BYTES:
            self._transport.write(piece)
        else:
            self._held_piece = piece
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Send the held piece, if there is one."""
        if self._held_piece:
            held_piece, self._held_piece = self._held_piece, b""
            self._transport.write(held_piece)

    def close(self) -> None:
        """Send the held piece and close the connection once everything has been sent."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once, without sending what is held or buffered."""
        self._held_piece = b""
        self._transport.abort()

    def get_write_buffer_size(self) -> int:
        """Return how many bytes have been written but not been handed to the system yet."""
        return len(self._held_piece) + self._transport.get_write_buffer_size()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
