"""Socket statistics from the kernel, and a kernel filter against new connections.

Most of this is only available on Linux.
"""

import ctypes
import fcntl
import socket
import struct
import termios
from dataclasses import dataclass
from typing import Final, Self

_SO_ATTACH_FILTER: Final = 26
# A classic BPF program for the TCP header, which drops requests for new connections (SYN without ACK). Each instruction
# has an operation code, two relative jumps for true and false, and an operand.
_DROP_SYN: Final = (
    (0x30, 0, 0, 13),  # load byte 13, which contains the flags
    (0x54, 0, 0, 0x12),  # keep only the flags SYN and ACK
    (0x15, 0, 1, 0x02),  # skip the next instruction unless only SYN is set
    (0x06, 0, 0, 0),  # drop the segment
    (0x06, 0, 0, 0x40000),  # pass the segment on
)
# Offsets in Linux's `struct tcp_info` (include/uapi/linux/tcp.h).
_TCP_INFO_UNACKNOWLEDGED: Final = 24  # `tcpi_unacked`: for a listener, the number of connections that wait in its queue
_TCP_INFO_COUNTERS: Final = 120  # `tcpi_bytes_acked`, which is followed by `tcpi_bytes_received`
_TCP_INFO_SIZE: Final = 136
# The maximum size of unsent data in the kernel's buffer, so that clients that never read need little memory.
UNSENT_BYTES: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class SocketCounters:
    """The kernel's byte counters of a connection.

    Attributes:
        acknowledged_bytes: sent bytes that the client has acknowledged.
        received_bytes: bytes received from the client.
        unsent_bytes: bytes in the kernel's buffer that the client has not acknowledged yet.
    """

    acknowledged_bytes: int
    received_bytes: int
    unsent_bytes: int

    @classmethod
    def read(cls, connection: socket.socket) -> Self | None:
        """Return the counters of a connection, or None if there are none.

        Unix sockets, closed sockets and operating systems other than Linux have no counters.
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
        """The number of bytes that have reached the client or the server."""
        return self.acknowledged_bytes + self.received_bytes


def limit_unsent_bytes(connection: socket.socket) -> None:
    """Limit the unsent data in the kernel's buffer, if the operating system supports this."""
    option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
    if option is not None and connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, option, UNSENT_BYTES)


def has_input(connection: socket.socket) -> bool:
    """Return whether there are received bytes that have not been read."""
    unread_size = fcntl.ioctl(connection.fileno(), termios.FIONREAD, bytes(4))
    unread_bytes: int = struct.unpack("i", unread_size)[0]
    return unread_bytes > 0


def refuse_new_connections(listener: socket.socket) -> None:
    """Make the kernel ignore new clients of a listener, but keep waiting connections.

    A server calls this before it closes a listener, because closing resets connections that are not accepted yet. An
    ignored client retries after a second, and may then connect to the next server.

    Raises:
        OSError: the operating system has no such filter.
    """
    if listener.family == socket.AF_UNIX:
        return

    # The filter is a small program that the kernel runs for every packet.
    instructions = [struct.pack("HBBI", *instruction) for instruction in _DROP_SYN]
    program = ctypes.create_string_buffer(b"".join(instructions))
    # The kernel expects a `struct sock_fprog`: the number of instructions, and the address of the first one.
    program_header = struct.pack("HL", len(instructions), ctypes.addressof(program))
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program_header)


def count_waiting_connections(listener: socket.socket) -> int:
    """Return the number of connections in the queue of a listener, or 0 if it is unknown."""
    tcp_info_option = getattr(socket, "TCP_INFO", None)
    if tcp_info_option is None or listener.family == socket.AF_UNIX:
        return 0

    tcp_info = listener.getsockopt(socket.IPPROTO_TCP, tcp_info_option, _TCP_INFO_SIZE)
    waiting_count: int = struct.unpack_from("I", tcp_info, _TCP_INFO_UNACKNOWLEDGED)[0]
    return waiting_count
