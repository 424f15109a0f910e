"""Messages over a Unix stream socket, each with the opened files it speaks of: four bytes of length, then JSON."""

import asyncio
import socket
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec

HEADER: Final = struct.Struct("!I")
MAX_MESSAGE: Final = 512 * 2**20
MAX_FILES: Final = 8


class ChannelClosed(Exception):
    """The other side is gone."""


def send(sock: socket.socket, message: object, files: Sequence[int] = ()) -> None:
    """Send a message, waiting until the other side has room. Raises OSError when it is gone."""
    body = msgspec.json.encode(message)
    socket.send_fds(sock, [HEADER.pack(len(body))], files)
    sock.sendall(body)


def receive(sock: socket.socket, kind: Any) -> tuple[Any, list[int]]:
    """The next message, of one of the types of `kind`, and its files.

    Raises:
        ChannelClosed: the other side is gone.
    """
    header, files, _, _ = socket.recv_fds(sock, HEADER.size, MAX_FILES)
    header += _exactly(sock, HEADER.size - len(header)) if header else b""
    if not header:
        raise ChannelClosed
    return msgspec.json.decode(_exactly(sock, _length(header)), type=kind), files


def _exactly(sock: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = sock.recv(min(size - len(parts), 2**20))
        if not part:
            raise ChannelClosed
        parts += part
    return bytes(parts)


async def send_async(sock: socket.socket, message: object, files: Sequence[int] = ()) -> None:
    """Send a message on a socket that does not block. Raises OSError when the other side is gone."""
    body = msgspec.json.encode(message)
    # Four bytes always find room: a side has read its previous message before it is sent another.
    socket.send_fds(sock, [HEADER.pack(len(body))], files)
    await asyncio.get_running_loop().sock_sendall(sock, body)


async def receive_async(sock: socket.socket, kind: Any) -> Any:
    """The next message, of one of the types of `kind`, on a socket that does not block.

    Raises:
        ChannelClosed: the other side is gone.
    """
    header = await _exactly_async(sock, HEADER.size)
    return msgspec.json.decode(await _exactly_async(sock, _length(header)), type=kind)


async def _exactly_async(sock: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        try:
            part = await asyncio.get_running_loop().sock_recv(sock, min(size - len(parts), 2**20))
        except OSError as problem:
            raise ChannelClosed from problem
        if not part:
            raise ChannelClosed
        parts += part
    return bytes(parts)


def _length(header: bytes) -> int:
    length: int = HEADER.unpack(header)[0]
    if length > MAX_MESSAGE:  # only a broken process sends this
        raise ChannelClosed
    return length
