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
REFUSAL_SHARE: Final = 0.2
REFUSAL_BURST_SECONDS: Final = 0.25
# New connections of one address are read at once up to a burst, and then at this rate, so that a flood of them does not
# stop the event loop while everybody else waits.
CONNECTION_BURST: Final = 200
CONNECTIONS_PER_SECOND: Final = 400.0
_MAX_SCHEDULES: Final = 1000
# Of the process's file descriptors, those for files, databases and child processes.
_RESERVED_DESCRIPTORS: Final = 256
UNLIMITED: Final = 1 << 30


class Pace:
    """A check that bytes move at a minimum rate, in bytes per second, while there are any left to move."""

    def __init__(self, minimum_rate: int) -> None:
        self._window_bytes = int(minimum_rate * RATE_SECONDS)
        self._deadline: float | None = None
        self._required_bytes = 0

    def record_progress(self, now: float, *, moved_bytes: int, outstanding_bytes: int) -> bool:
        """Record how many bytes have moved so far, and return whether that is too slow.

        `outstanding_bytes` have yet to move. Each time a few seconds' worth of bytes has moved, the next bytes get a
        new deadline, so that a fast client may pause for a moment.
        """
        if outstanding_bytes <= 0:
            self._deadline = None
            return False

        has_reached_target = moved_bytes >= self._required_bytes
        if self._deadline is None or has_reached_target:
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

    def spend(self, now: float, seconds: float) -> bool:
        """Deduct the time that a refusal has taken, and return whether the budget suffices."""
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
    def of(cls, settings: Settings, *, total: int) -> Self:
        """Return the limits in the settings, with at most `total` connections of all addresses together."""
        return cls(
            per_address=settings.connections_per_address,
            slow_per_address=settings.slow_connections_per_address,
            total=total,
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

    def add_connection(self, key: str | None) -> bool:
        """Count a new connection and return True, or return False if it is one too many and must be closed."""
        is_full = self._open.total() >= self.total
        is_full_for_address = key is not None and self._open[key] >= self.per_address
        if is_full or is_full_for_address:
            return False

        self._open[key or ""] += 1
        return True

    def schedule_first_read(self, key: str | None, now: float) -> float:
        """Schedule when a new connection is read, and return for how many seconds it has to wait until then.

        The connections of one address are scheduled one after another, at the permitted rate. Those of a short burst
        are read ahead of the schedule, so that only a flood of connections has to wait (generic cell rate algorithm).
        """
        if key is None:
            return 0.0

        if len(self._next_reads) >= _MAX_SCHEDULES:
            self._forget_past_schedules(now)
        scheduled_at = max(now, self._next_reads.get(key, now))
        self._next_reads[key] = scheduled_at + 1 / CONNECTIONS_PER_SECOND

        burst_seconds = CONNECTION_BURST / CONNECTIONS_PER_SECOND
        read_at = scheduled_at - burst_seconds
        return max(0.0, read_at - now)

    def _forget_past_schedules(self, now: float) -> None:
        """Free the memory of addresses that have not opened a connection lately."""
        self._next_reads = {address: next_read for address, next_read in self._next_reads.items() if next_read > now}

    def remove_connection(self, key: str | None) -> None:
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


def raise_descriptor_limit() -> int:
    """Raise the limit on open files of this process as far as the system permits, and return how many clients may use.

    The rest is left for databases, child processes and files of the service itself.
    """
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft_limit != hard_limit:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
            soft_limit = hard_limit

    if soft_limit == resource.RLIM_INFINITY:
        return UNLIMITED
    return max(_RESERVED_DESCRIPTORS, soft_limit - _RESERVED_DESCRIPTORS)
