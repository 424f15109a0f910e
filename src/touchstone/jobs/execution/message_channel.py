"""A channel for JSON messages and open files over a Unix stream socket.

Each message consists of a four-byte header with the length of the body, and a JSON body. File descriptors are sent
along with the header. There are functions for blocking sockets and for asyncio.
"""

import asyncio
import socket
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec

HEADER: Final = struct.Struct("!I")
MAX_BODY_BYTES: Final = 512 * 2**20
MAX_DESCRIPTORS: Final = 8
CHUNK_BYTES: Final = 2**20


class ChannelClosed(Exception):
    """The process at the other end has closed the channel or is gone."""


def send(sock: socket.socket, message: object, descriptors: Sequence[int] = ()) -> None:
    """Send a message with file descriptors, and block until the socket has accepted it.

    Raises:
        OSError: the other end is gone.
    """
    body = msgspec.json.encode(message)
    socket.send_fds(sock, [HEADER.pack(len(body))], descriptors)
    sock.sendall(body)


def receive(sock: socket.socket, message_type: Any) -> tuple[Any, list[int]]:
    """Wait for the next message and return it with its file descriptors.

    Args:
        sock: the blocking socket.
        message_type: the expected type, or a union of types.

    Raises:
        ChannelClosed: the other end is gone.
    """
    header, descriptors, _, _ = socket.recv_fds(sock, HEADER.size, MAX_DESCRIPTORS)
    if not header:
        raise ChannelClosed

    # A stream socket may deliver fewer bytes than requested.
    header += _receive_exactly(sock, HEADER.size - len(header))

    body = _receive_exactly(sock, _body_size(header))
    return msgspec.json.decode(body, type=message_type), descriptors


def _receive_exactly(sock: socket.socket, byte_count: int) -> bytes:
    """Wait for exactly this many bytes and return them, or raise ChannelClosed."""
    received = bytearray()
    while len(received) < byte_count:
        remaining_bytes = byte_count - len(received)
        chunk = sock.recv(min(remaining_bytes, CHUNK_BYTES))
        if not chunk:
            raise ChannelClosed
        received += chunk
    return bytes(received)


async def send_async(sock: socket.socket, message: object, descriptors: Sequence[int] = ()) -> None:
    """Send a message with file descriptors on a non-blocking socket.

    Raises:
        OSError: the other end is gone.
    """
    body = msgspec.json.encode(message)
    # This does not block, because the other end has read the previous message before the next one is sent.
    socket.send_fds(sock, [HEADER.pack(len(body))], descriptors)
    await asyncio.get_running_loop().sock_sendall(sock, body)


async def receive_async(sock: socket.socket, message_type: Any) -> Any:
    """Wait for the next message on a non-blocking socket and return it.

    Args:
        sock: the non-blocking socket.
        message_type: the expected type, or a union of types.

    Raises:
        ChannelClosed: the other end is gone.
    """
    header = await _receive_exactly_async(sock, HEADER.size)
    body = await _receive_exactly_async(sock, _body_size(header))
    return msgspec.json.decode(body, type=message_type)


async def _receive_exactly_async(sock: socket.socket, byte_count: int) -> bytes:
    """Wait for exactly this many bytes on a non-blocking socket and return them.

    Raises:
        ChannelClosed: the other end is gone.
    """
    event_loop = asyncio.get_running_loop()
    received = bytearray()
    while len(received) < byte_count:
        remaining_bytes = byte_count - len(received)
        try:
            chunk = await event_loop.sock_recv(sock, min(remaining_bytes, CHUNK_BYTES))
        except OSError as error:
            raise ChannelClosed from error

        if not chunk:
            raise ChannelClosed
        received += chunk
    return bytes(received)


def _body_size(header: bytes) -> int:
    """Return the body size in bytes from a header, or raise ChannelClosed if it is too large."""
    size_in_bytes: int = HEADER.unpack(header)[0]
    if size_in_bytes > MAX_BODY_BYTES:  # Only a broken process sends a larger size.
        raise ChannelClosed
    return size_in_bytes
