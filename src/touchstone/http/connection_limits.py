"""What the connections of a listener may use: how many of them, by client address, and how slowly they may go."""

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

# The rate of an answer, and of a body that nobody wants any more, is looked at over this long.
RATE_SECONDS: Final = 4.0
# A connection that has moved less than this since it was looked at, a second ago, is slow.
SLOW_BYTES: Final = 64 * 1024
# Half of what refusals cost is seen where they are timed; the rest is parsing and the kernel's.
REFUSAL_SHARE: Final = 0.05
REFUSAL_BURST_SECONDS: Final = 0.25
# Kept for files, databases and children, of the descriptors that a process may have.
_RESERVED_DESCRIPTORS: Final = 256
# A classic BPF program over the TCP header: a segment with SYN and without ACK is dropped, any other passes.
_SO_ATTACH_FILTER: Final = 26
_DROP_SYN: Final = ((0x30, 0, 0, 13), (0x54, 0, 0, 0x12), (0x15, 0, 1, 0x02), (0x06, 0, 0, 0), (0x06, 0, 0, 0x40000))
# Places in Linux's `struct tcp_info` (include/uapi/linux/tcp.h): `tcpi_bytes_acked` and, after it, `…_received`.
_TCP_INFO_UNACKNOWLEDGED: Final = 24  # of a listener: how many connections wait in its queue
_TCP_INFO_COUNTERS: Final = 120
_TCP_INFO_SIZE: Final = 136


@dataclass(frozen=True, slots=True)
class Progress:
    """What a socket has moved so far, in bytes: acknowledged by the client, received from it, and not yet sent."""

    acknowledged: int
    received: int
    unsent: int

    @classmethod
    def of(cls, connection: socket.socket) -> Self | None:
        """Ask the kernel; None where it cannot tell (a unix socket, a system other than Linux)."""
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


class Pace:
    """Whether bytes move at a minimum rate while some are due. It is told now and then how far they have come."""

    def __init__(self, minimum_rate: int) -> None:
        self._window_bytes = int(minimum_rate * RATE_SECONDS)
        self._due: tuple[float, int] | None = None

    def is_too_slow(self, now: float, moved: int, outstanding: int) -> bool:
        """Return whether fewer bytes than the rate demands have moved, of those that were due."""
        if outstanding <= 0:
            self._due = None
        elif self._due is None or moved >= self._due[1]:
            self._due = (now + RATE_SECONDS, moved + min(outstanding, self._window_bytes))
        else:
            return now >= self._due[0]
        return False


@dataclass(slots=True)
class RefusalBudget:
    """A limit on the share of the event loop's time that refusing requests may take (a token bucket)."""

    share: float = REFUSAL_SHARE
    _used_seconds: float = 0.0
    _used_at: float = 0.0

    def use(self, now: float, seconds: float) -> bool:
        """Count the time that a refusal has taken; return whether the budget still holds."""
        refilled = self.share * (now - self._used_at)
        self._used_seconds = max(0.0, self._used_seconds - refilled) + seconds
        self._used_at = now
        return self._used_seconds <= self.share * REFUSAL_BURST_SECONDS


@dataclass(slots=True)
class ConnectionLimits:
    """The connections of one listener, counted by client address. Trusted proxies speak for many, and have no limits.

    Attributes:
        per_address: connections of one address; 0: no limits per address.
        slow_per_address: how many of them may be slow at once; 0: no limit.
        total: connections of all addresses.
        minimum_rate: bytes a second that an answer has to be read at.
        proxies: whom no limit per address holds for.
        refusals: how much of the time refusals may take before connections that were refused are made to wait.
    """

    per_address: int = 0
    slow_per_address: int = 0
    total: int = 1 << 30
    minimum_rate: int = 4096
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    refusals: RefusalBudget = field(default_factory=RefusalBudget)
    _open: Counter[str] = field(default_factory=Counter)
    _slow: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that the settings and the process's own descriptors allow."""
        return cls(
            per_address=settings.connections_per_address,
            slow_per_address=settings.slow_connections_per_address,
            total=_descriptors() // 2,
            minimum_rate=settings.minimum_rate_bytes,
            proxies=settings.proxies,
        )

    def key(self, client: tuple[str, int] | None) -> str | None:
        """Return what the connections of this client are counted under; None when they are not counted."""
        if client is None or not self.per_address:
            return None
        address = parse_address(client[0])
        if address is not None and self.proxies.trust(address):
            return None
        return address_block(client[0])

    def open(self, key: str | None) -> bool:
        """Count a connection; whether it may stay."""
        if self._open.total() >= self.total or (key is not None and self._open[key] >= self.per_address):
            return False
        self._open[key or ""] += 1
        return True

    def close(self, key: str | None) -> None:
        """Count a connection no more."""
        _decrement(self._open, key or "")

    def slow_down(self, key: str | None) -> bool:
        """Count a connection as slow; whether it may stay."""
        if key is None or not self.slow_per_address:
            return True
        self._slow[key] += 1
        return self._slow[key] <= self.slow_per_address

    def speed_up(self, key: str | None) -> None:
        """Count a connection as slow no more."""
        if key is not None and self.slow_per_address:
            _decrement(self._slow, key)


def has_input(connection: socket.socket) -> bool:
    """Return whether the client has sent something that has not been read."""
    return bool(struct.unpack("i", fcntl.ioctl(connection.fileno(), termios.FIONREAD, bytes(4)))[0])


def refuse_new_connections(listener: socket.socket) -> None:
    """Let the kernel drop what would begin a connection, while those that have begun are still accepted.

    A client tries again after a second, and then finds the listener closed, or the one that follows it.

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
    """Return how many connections the kernel has accepted that nobody has taken yet; 0 where it cannot tell."""
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


def _descriptors() -> int:
    """Take as many descriptors as the system lets this process have, and return how many connections may use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    return max(_RESERVED_DESCRIPTORS, soft - _RESERVED_DESCRIPTORS) if soft != resource.RLIM_INFINITY else 1 << 30
