"""Small writes to a connection are joined in order, and no data remains pending for long."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import uvloop

from touchstone.http.joined_writes import MAX_PENDING_BYTES, JoiningTransport


class Connection(NamedTuple):
    """A joining transport with the one that it wraps, and the socket at the other end of its connection."""

    transport: JoiningTransport
    wrapped_transport: asyncio.Transport
    peer: socket.socket

    async def receive(self, byte_count: int) -> bytes:
        """Return this many bytes, or fewer if the connection ends earlier, as the peer receives them."""
        loop = asyncio.get_running_loop()
        received_bytes = b""
        while len(received_bytes) < byte_count:
            chunk = await asyncio.wait_for(loop.sock_recv(self.peer, byte_count - len(received_bytes)), timeout=10)
            if not chunk:
                break
            received_bytes += chunk
        return received_bytes

    def receive_at_once(self) -> bytes:
        """Return what has already arrived at the peer, without letting the event loop run."""
        try:
            return self.peer.recv(1 << 20)
        except BlockingIOError:
            return b""


@asynccontextmanager
async def connected() -> AsyncIterator[Connection]:
    """Connect a joining transport with a socket."""
    near_end, peer = socket.socketpair()
    peer.setblocking(False)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(asyncio.Protocol, sock=near_end)
    with peer:
        yield Connection(JoiningTransport(transport, loop), transport, peer)
        transport.abort()


async def test_a_small_chunk_is_sent_together_with_the_next_one() -> None:
    async with connected() as connection:
        connection.transport.write(b"head ")
        assert connection.receive_at_once() == b""
        assert connection.transport.get_write_buffer_size() == len(b"head ")

        connection.transport.write(b"body")
        assert await connection.receive(9) == b"head body"
        assert connection.transport.get_write_buffer_size() == 0


async def test_a_small_chunk_is_sent_soon_even_if_nothing_follows() -> None:
    async with connected() as connection:
        for chunk in (b"one event", b"another one"):
            connection.transport.write(chunk)
            assert await connection.receive(len(chunk)) == chunk


async def test_the_order_of_small_and_large_chunks_is_kept() -> None:
    chunks = [b"a", b"b" * (MAX_PENDING_BYTES + 1), b"c" * (2 * MAX_PENDING_BYTES), b"d", b"e", b"f"]
    async with connected() as connection:
        for chunk in chunks:
            connection.transport.write(chunk)
        expected = b"".join(chunks)
        assert await connection.receive(len(expected)) == expected


async def test_closing_sends_pending_data() -> None:
    async with connected() as connection:
        connection.transport.write(b"last words")
        connection.transport.close()
        assert connection.transport.is_closing()
        assert await connection.receive(1000) == b"last words"


async def test_aborting_drops_pending_data() -> None:
    async with connected() as connection:
        connection.transport.write(b"never sent")
        connection.transport.abort()
        assert await connection.receive(1000) == b""


def test_writing_to_a_lost_connection_is_no_error() -> None:
    """Clients that go away leave no errors in the log of a server, which uses uvloop."""
    errors: list[dict[str, Any]] = []

    async def lose_connection() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: errors.append(context))
        async with connected() as connection:
            connection.wrapped_transport.abort()
            connection.transport.write(b"never sent")
            await asyncio.sleep(0.01)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(lose_connection())
    assert errors == []
