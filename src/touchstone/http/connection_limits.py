"""Limits on connections: their number in all and per client address, and the rate at which they must progress.

The deadlines for headers and for idle connections are in `connection_deadlines.py`.
"""

import contextlib
import resource
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
# Of the process's file descriptors, those for files, databases and child processes.
_RESERVED_DESCRIPTORS: Final = 256
UNLIMITED: Final = 1 << 30


class Pace:
    """A check that bytes move at a minimum rate, in bytes per second, while some are outstanding."""

    def __init__(self, minimum_rate: int) -> None:
        self._window_bytes = int(minimum_rate * RATE_SECONDS)
        self._deadline: float | None = None
        self._required_bytes = 0

    def is_too_slow(self, now: float, *, moved_bytes: int, outstanding_bytes: int) -> bool:
        """Return whether too few of the outstanding bytes have moved since the current window began.

        This is called again and again with the time, all the bytes that have moved so far, and those that should still
        move. Whenever the bytes of a window have moved, the next window begins, so that a fast client is never too slow
        after a short pause.
        """
        if outstanding_bytes <= 0:
            self._deadline = None
            return False

        if self._deadline is None or moved_bytes >= self._required_bytes:
            self._deadline = now + RATE_SECONDS
            self._required_bytes = moved_bytes + min(outstanding_bytes, self._window_bytes)
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
        refilled_seconds = self.share * (now - self._used_at)
        self._used_seconds = max(0.0, self._used_seconds - refilled_seconds) + seconds
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
        """Return the limits in the settings, and as many connections in all as the process can have files open.

        Half of the file descriptors are left for what requests need: each may open a file or another connection. As a
        side effect, the process's own limit on file descriptors is raised as far as the system permits.
        """
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

        client_host, _port = client
        address = parse_address(client_host)
        if address is not None and self.proxies.contains(address):
            return None
        return address_block(client_host)

    def open(self, key: str | None) -> bool:
        """Count a new connection, and return whether it may stay open; one that may not is not counted."""
        is_full = self._open.total() >= self.total
        is_full_for_address = key is not None and self._open[key] >= self.per_address
        if is_full or is_full_for_address:
            return False

        self._open[key or ""] += 1
        return True

    def read_delay_seconds(self, key: str | None, now: float) -> float:
        """Return how long to wait before a new connection is read: 0, or more during a flood from its address.

        Each address has a schedule at the permitted rate (the generic cell rate algorithm), and a burst of connections
        may be read ahead of it.
        """
        if key is None:
            return 0.0
        if len(self._next_reads) >= _MAX_SCHEDULES:
            self._next_reads = {address: time for address, time in self._next_reads.items() if time > now}

        scheduled_at = max(now, self._next_reads.get(key, now))
        self._next_reads[key] = scheduled_at + 1 / CONNECTIONS_PER_SECOND

        burst_seconds = CONNECTION_BURST / CONNECTIONS_PER_SECOND
        return max(0.0, scheduled_at - now - burst_seconds)

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


def _decrement(counter: Counter[str], key: str) -> None:
    """Count one less under this key, and forget keys whose count is zero."""
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]


def _raise_descriptor_limit() -> int:
    """Raise the limit on file descriptors as far as possible, and return how many of them connections may use."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft_limit != hard_limit:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
            soft_limit = hard_limit

    if soft_limit == resource.RLIM_INFINITY:
        return UNLIMITED
    return max(_RESERVED_DESCRIPTORS, soft_limit - _RESERVED_DESCRIPTORS)
