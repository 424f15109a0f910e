"""Facts about sockets that only the kernel knows, and a filter against new connections; most of it needs Linux."""

import ctypes
import fcntl
import socket
import struct
import termios
from dataclasses import dataclass
from typing import Final, Self

# A classic BPF program over the TCP header: a segment with SYN and without ACK is dropped, any other passes.
_SO_ATTACH_FILTER: Final = 26
_DROP_SYN: Final = ((0x30, 0, 0, 13), (0x54, 0, 0, 0x12), (0x15, 0, 1, 0x02), (0x06, 0, 0, 0), (0x06, 0, 0, 0x40000))
# Offsets in Linux's `struct tcp_info` (include/uapi/linux/tcp.h): `tcpi_bytes_acked` and, after it, `…_received`.
_TCP_INFO_UNACKNOWLEDGED: Final = 24  # of a listener: how many connections wait in its queue
_TCP_INFO_COUNTERS: Final = 120
_TCP_INFO_SIZE: Final = 136
# The part of a response that the kernel buffers beyond the client's window, so that clients that never read cost
# little memory.
UNSENT_BYTES: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class SocketCounters:
    """The bytes of a connection: acknowledged by the client, received from it, and not yet sent by the kernel."""

    acknowledged_bytes: int
    received_bytes: int
    unsent_bytes: int

    @classmethod
    def read(cls, connection: socket.socket) -> Self | None:
        """Return the bytes that the kernel has counted on a connection so far.

        Returns None for a unix socket or a closed one, and on systems other than Linux, which count nothing.
        """
        tcp_info_option = getattr(socket, "TCP_INFO", None)
        if tcp_info_option is None or connection.family == socket.AF_UNIX:
            return None

        try:
            tcp_info = connection.getsockopt(socket.IPPROTO_TCP, tcp_info_option, _TCP_INFO_SIZE)
            queue_size = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        except OSError:
            return None

        is_old_kernel = len(tcp_info) < _TCP_INFO_SIZE
        if is_old_kernel:
            return None

        acknowledged_bytes, received_bytes = struct.unpack_from("QQ", tcp_info, _TCP_INFO_COUNTERS)
        (unsent_bytes,) = struct.unpack("i", queue_size)
        return cls(acknowledged_bytes, received_bytes, unsent_bytes)

    @property
    def moved_bytes(self) -> int:
        """The bytes that have reached either end."""
        return self.acknowledged_bytes + self.received_bytes


def limit_unsent_bytes(connection: socket.socket) -> None:
    """Make the kernel take only a small part of a response that its client does not read, if the system can do so."""
    option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
    if option is not None and connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, option, UNSENT_BYTES)


def has_input(connection: socket.socket) -> bool:
    """Return whether the client has sent something that has not been read."""
    unread_size = fcntl.ioctl(connection.fileno(), termios.FIONREAD, bytes(4))
    unread_bytes: int = struct.unpack("i", unread_size)[0]
    return unread_bytes > 0


def refuse_new_connections(listener: socket.socket) -> None:
    """Make the kernel ignore new clients of a listener, while it can still accept those that have connected.

    A server calls this before it closes a listener, because closing resets the connections that are not accepted yet.
    An ignored client tries again after a second, and may then find the next server.

    Raises:
        OSError: the system has no such filter.
    """
    if listener.family == socket.AF_UNIX:
        return

    # The filter is a small program that the kernel runs for every packet.
    instructions = [struct.pack("HBBI", *instruction) for instruction in _DROP_SYN]
    program = ctypes.create_string_buffer(b"".join(instructions))
    # The kernel expects a `struct sock_fprog`: the number of instructions, and the address of the first one.
    program_header = struct.pack("HL", len(instructions), ctypes.addressof(program))
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program_header)


def waiting_connections(listener: socket.socket) -> int:
    """Return the number of connections in the queue of a listener; 0 where the kernel does not tell."""
    tcp_info_option = getattr(socket, "TCP_INFO", None)
    if tcp_info_option is None or listener.family == socket.AF_UNIX:
        return 0

    tcp_info = listener.getsockopt(socket.IPPROTO_TCP, tcp_info_option, _TCP_INFO_SIZE)
    waiting_count: int = struct.unpack_from("I", tcp_info, _TCP_INFO_UNACKNOWLEDGED)[0]
    return waiting_count
