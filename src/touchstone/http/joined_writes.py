"""A transport that joins small writes, such as the headers and the body of a response."""

import asyncio
from typing import Any, Final

MAX_PENDING_BYTES: Final = 16_384  # larger data is sent immediately, because one more system call hardly matters


class JoiningTransport:
    """A transport that delays a small write, and sends it together with the next one.

    Pending data is sent in the next iteration of the event loop at the latest. All other methods are delegated to the
    wrapped transport.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pending: bytes | memoryview = b""
        # This method is called several times per response, and a look-up by `__getattr__` is slower than the call.
        self.is_closing = transport.is_closing

    def write(self, data: bytes | memoryview) -> None:
        """Send the data together with pending data, or delay small data if there is none."""
        if self._pending:
            pending, self._pending = self._pending, b""
            self._transport.writelines([pending, data])
        elif len(data) > MAX_PENDING_BYTES:
            self._transport.write(data)
        else:
            self._pending = data
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Send the pending data, if there is any and the connection has not been lost in the meantime."""
        pending, self._pending = self._pending, b""
        if pending and not self._transport.is_closing():
            self._transport.write(pending)

    def close(self) -> None:
        """Send the pending data, and close the connection once everything has been sent."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection immediately, without sending pending or buffered data."""
        self._pending = b""
        self._transport.abort()

    def get_write_buffer_size(self) -> int:
        """Return the number of written bytes that have not been passed to the operating system yet."""
        return len(self._pending) + self._transport.get_write_buffer_size()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
