"""Limits on connections: their number in all and per client address, and the rate at which they must progress."""

import contextlib
import ctypes
import fcntl
import resource
import socket
import struct
import termios
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Self

from touchstone.core.client_address import TrustedProxies, address_block, parse_address
from touchstone.core.settings import Settings

# The rate of a response, and of a refused body, is measured over this time.
RATE_SECONDS: Final = 4.0
# A connection is slow if it has moved fewer bytes than this within a second.
SLOW_BYTES: Final = 64 * 1024
# The measured time is about half of what refusals cost; the rest is parsing and the kernel's work.
REFUSAL_SHARE: Final = 0.1
REFUSAL_BURST_SECONDS: Final = 0.25
# New connections of one address are read at once up to a burst, and then at this rate, so that a flood of them does not
# stop the event loop while everybody else waits.
CONNECTION_BURST: Final = 64
CONNECTIONS_PER_SECOND: Final = 400.0
_MAX_SCHEDULES: Final = 1000
# How much of a response may wait in the kernel, beyond what is on its way to the client.
_UNSENT_LIMIT_BYTES: Final = 128 * 1024
# Of the process's file descriptors, those for files, databases and child processes.
_RESERVED_DESCRIPTORS: Final = 256
UNLIMITED: Final = 1 << 30
# A classic BPF program over the TCP header: a segment with SYN and without ACK is dropped, any other passes.
_SO_ATTACH_FILTER: Final = 26
_DROP_SYN: Final = ((0x30, 0, 0, 13), (0x54, 0, 0, 0x12), (0x15, 0, 1, 0x02), (0x06, 0, 0, 0), (0x06, 0, 0, 0x40000))
# Offsets in Linux's `struct tcp_info` (include/uapi/linux/tcp.h): `tcpi_bytes_acked` and, after it, `…_received`.
_TCP_INFO_UNACKNOWLEDGED: Final = 24  # of a listener: how many connections wait in its queue
_TCP_INFO_COUNTERS: Final = 120
_TCP_INFO_SIZE: Final = 136


@dataclass(frozen=True, slots=True)
class Progress:
    """The bytes of a socket: acknowledged by the client, received from it, and not yet sent."""

    acknowledged: int
    received: int
    unsent: int

    @classmethod
    def of(cls, connection: socket.socket) -> Self | None:
        """Return the counters of the kernel, or None if there are none (a unix socket, a system other than Linux)."""
        option = getattr(socket, "TCP_INFO", None)
        if option is None or connection.family == socket.AF_UNIX:
            return None
        try:
            info = connection.getsockopt(socket.IPPROTO_TCP, option, _TCP_INFO_SIZE)
            unsent = struct.unpack("i", fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4)))[0]
        except OSError:
            return None
        if len(info) < _TCP_INFO_SIZE:
            return None
        acknowledged, received = struct.unpack_from("QQ", info, _TCP_INFO_COUNTERS)
        return cls(acknowledged, received, unsent)

    @property
    def moved(self) -> int:
        """The bytes that have reached either end."""
        return self.acknowledged + self.received


class Pace:
    """Checks that bytes move at a minimum rate while some are outstanding."""

    def __init__(self, minimum_rate: int) -> None:
        self._window_bytes = int(minimum_rate * RATE_SECONDS)
        self._deadline: float | None = None
        self._required_bytes = 0

    def is_too_slow(self, now: float, moved: int, outstanding: int) -> bool:
        """Return whether too few of the outstanding bytes have moved since the current window began.

        `moved` counts all bytes so far; a new window begins whenever the bytes of the last one have moved.
        """
        if outstanding <= 0:
            self._deadline = None
            return False

        if self._deadline is None or moved >= self._required_bytes:
            self._deadline = now + RATE_SECONDS
            self._required_bytes = moved + min(outstanding, self._window_bytes)
            return False
        return now >= self._deadline


@dataclass(slots=True)
class RefusalBudget:
    """A limit on the share of the event loop's time that refusing requests may take (a token bucket)."""

    share: float = REFUSAL_SHARE
    _used_seconds: float = 0.0
    _used_at: float = 0.0

    def use(self, now: float, seconds: float) -> bool:
        """Deduct the time that a refusal has taken, and return whether the budget is not exhausted."""
        refilled = self.share * (now - self._used_at)
        self._used_seconds = max(0.0, self._used_seconds - refilled) + seconds
        self._used_at = now
        return self._used_seconds <= self.share * REFUSAL_BURST_SECONDS


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of one listener, whose connections are counted by client address; trusted proxies have no limits.

    Attributes:
        per_address: connections of one address; 0 for no limits per address.
        slow_per_address: how many of them may be slow at once; 0 for no limit.
        total: connections of all addresses.
        minimum_rate: bytes per second at which a response must be read.
        proxies: reverse proxies, to which no limit per address applies.
        refusals: time that refusals may take before refused connections are no longer read for a while.
    """

    per_address: int = 0
    slow_per_address: int = 0
    total: int = UNLIMITED
    minimum_rate: int = 4096
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    refusals: RefusalBudget = field(default_factory=RefusalBudget)
    _open: Counter[str] = field(default_factory=Counter)
    _slow: Counter[str] = field(default_factory=Counter)
    _next_reads: dict[str, float] = field(default_factory=dict)  # by address: the earliest time for the next connection

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits from the settings and the number of file descriptors of the process."""
        return cls(
            per_address=settings.connections_per_address,
            slow_per_address=settings.slow_connections_per_address,
            total=_raise_descriptor_limit() // 2,
            minimum_rate=settings.minimum_rate_bytes,
            proxies=settings.proxies,
        )

    def key(self, client: tuple[str, int] | None) -> str | None:
        """Return the key by which connections of this client are counted, or None if they are not counted."""
        if client is None or not self.per_address:
            return None
        address = parse_address(client[0])
        if address is not None and self.proxies.trust(address):
            return None
        return address_block(client[0])

    def open(self, key: str | None) -> bool:
        """Count a new connection, and return whether it may stay open."""
        if self._open.total() >= self.total or (key is not None and self._open[key] >= self.per_address):
            return False
        self._open[key or ""] += 1
        return True

    def read_delay(self, key: str | None, now: float) -> float:
        """Return the seconds to wait before a new connection is read: 0, or more during a flood from its address.

        The schedule of each address is a virtual one (generic cell rate algorithm), which a burst may run ahead of.
        """
        if key is None:
            return 0.0
        if len(self._next_reads) >= _MAX_SCHEDULES:
            self._next_reads = {address: time for address, time in self._next_reads.items() if time > now}

        read_at = max(now, self._next_reads.get(key, now))
        self._next_reads[key] = read_at + 1 / CONNECTIONS_PER_SECOND
        return max(0.0, read_at - now - CONNECTION_BURST / CONNECTIONS_PER_SECOND)

    def close(self, key: str | None) -> None:
        """Stop counting a connection that has been closed."""
        _decrement(self._open, key or "")

    def add_slow(self, key: str | None) -> bool:
        """Count a connection as slow, and return whether it may stay open."""
        if key is None or not self.slow_per_address:
            return True
        self._slow[key] += 1
        return self._slow[key] <= self.slow_per_address

    def remove_slow(self, key: str | None) -> None:
        """Stop counting a connection as slow."""
        if key is not None and self.slow_per_address:
            _decrement(self._slow, key)


def limit_unsent_bytes(connection: socket.socket) -> None:
    """Make the kernel take only a part of a response that its client does not read, where it supports that."""
    if connection.family != socket.AF_UNIX and (option := getattr(socket, "TCP_NOTSENT_LOWAT", None)) is not None:
        connection.setsockopt(socket.IPPROTO_TCP, option, _UNSENT_LIMIT_BYTES)


def has_input(connection: socket.socket) -> bool:
    """Return whether the client has sent something that has not been read."""
    result = fcntl.ioctl(connection.fileno(), termios.FIONREAD, bytes(4))
    unread_bytes: int = struct.unpack("i", result)[0]
    return unread_bytes > 0


def refuse_new_connections(listener: socket.socket) -> None:
    """Make the kernel drop packets that begin a connection, while connections that have begun are still accepted.

    The client tries again after a second and then finds the listener closed, or that of the next server.

    Raises:
        OSError: the system has no such filter.
    """
    if listener.family == socket.AF_UNIX:
        return
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in _DROP_SYN))
    listener.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", len(_DROP_SYN), ctypes.addressof(program))
    )


def waiting_connections(listener: socket.socket) -> int:
    """Return the number of connections in the queue of a listener; 0 where the kernel does not tell."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None or listener.family == socket.AF_UNIX:
        return 0
    info = listener.getsockopt(socket.IPPROTO_TCP, option, _TCP_INFO_SIZE)
    waiting: int = struct.unpack_from("I", info, _TCP_INFO_UNACKNOWLEDGED)[0]
    return waiting


def _decrement(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]


def _raise_descriptor_limit() -> int:
    """Raise the limit on file descriptors as far as possible, and return how many of them connections may use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard

    if soft == resource.RLIM_INFINITY:
        return UNLIMITED
    return max(_RESERVED_DESCRIPTORS, soft - _RESERVED_DESCRIPTORS)
