"""A channel for JSON messages and opened files over a Unix stream socket.

Each message is four bytes of length followed by JSON; its file descriptors are sent along with the length.
"""

import asyncio
import socket
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec

HEADER: Final = struct.Struct("!I")
MAX_MESSAGE_BYTES: Final = 512 * 2**20
MAX_FILES: Final = 8
CHUNK_BYTES: Final = 2**20


class ChannelClosed(Exception):
    """The other side is gone."""


def send(sock: socket.socket, message: object, files: Sequence[int] = ()) -> None:
    """Send a message, waiting until the other side has room for it. Raises OSError if the other side is gone."""
    body = msgspec.json.encode(message)
    socket.send_fds(sock, [HEADER.pack(len(body))], files)
    sock.sendall(body)


def receive(sock: socket.socket, message_type: Any) -> tuple[Any, list[int]]:
    """Return the next message, of the given type or union, and the file descriptors sent with it.

    Raises:
        ChannelClosed: the other side is gone.
    """
    header, files, _, _ = socket.recv_fds(sock, HEADER.size, MAX_FILES)
    if not header:
        raise ChannelClosed
    header += _receive_exactly(sock, HEADER.size - len(header))

    body = _receive_exactly(sock, _body_length(header))
    return msgspec.json.decode(body, type=message_type), files


def _receive_exactly(sock: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = sock.recv(min(size - len(received), CHUNK_BYTES))
        if not chunk:
            raise ChannelClosed
        received += chunk
    return bytes(received)


async def send_async(sock: socket.socket, message: object, files: Sequence[int] = ()) -> None:
    """Send a message on a non-blocking socket. Raises OSError if the other side is gone."""
    body = msgspec.json.encode(message)
    # Four bytes always fit: the other side has read its previous message before it is sent another.
    socket.send_fds(sock, [HEADER.pack(len(body))], files)
    await asyncio.get_running_loop().sock_sendall(sock, body)


async def receive_async(sock: socket.socket, message_type: Any) -> Any:
    """Return the next message on a non-blocking socket, of the given type or union.

    Raises:
        ChannelClosed: the other side is gone.
    """
    header = await _receive_exactly_async(sock, HEADER.size)
    body = await _receive_exactly_async(sock, _body_length(header))
    return msgspec.json.decode(body, type=message_type)


async def _receive_exactly_async(sock: socket.socket, size: int) -> bytes:
    loop = asyncio.get_running_loop()
    received = bytearray()
    while len(received) < size:
        try:
            chunk = await loop.sock_recv(sock, min(size - len(received), CHUNK_BYTES))
        except OSError as error:
            raise ChannelClosed from error
        if not chunk:
            raise ChannelClosed
        received += chunk
    return bytes(received)


def _body_length(header: bytes) -> int:
    length: int = HEADER.unpack(header)[0]
    if length > MAX_MESSAGE_BYTES:  # Only a broken process announces so much.
        raise ChannelClosed
    return length
