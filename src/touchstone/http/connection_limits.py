"""Limits on the number of connections, in total and per client address, and on their minimum rate.

The deadlines for headers and for idle connections are in `connection_deadlines.py`.
"""

import contextlib
import resource
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Self

from touchstone.core.client_address import TrustedProxies, parse_address, rate_limit_key
from touchstone.core.settings import Settings

# The rate of a response, and of a refused body, is measured over this time.
RATE_SECONDS: Final = 4.0
# A connection is slow if it has moved fewer bytes than this within a second.
SLOW_BYTES: Final = 64 * 1024
# The share of the event loop's time for refusals. The real cost is about twice as high, because the time for parsing
# and for the kernel is not measured.
REFUSAL_SHARE: Final = 0.2
REFUSAL_BURST_SECONDS: Final = 0.25
# A burst of new connections from one address is read immediately. Later connections are read at a limited rate, so that
# a flood of connections does not block the event loop for other clients.
CONNECTION_BURST: Final = 200
CONNECTIONS_PER_SECOND: Final = 400.0
_MAX_SCHEDULES: Final = 1000
# The number of file descriptors that are reserved for files, databases and child processes.
_RESERVED_DESCRIPTORS: Final = 256
UNLIMITED: Final = 1 << 30


class Pace:
    """A check that bytes are transferred at a minimum rate while any are outstanding."""

    def __init__(self, minimum_rate: int) -> None:
        self._window_bytes = int(minimum_rate * RATE_SECONDS)
        self._deadline: float | None = None
        self._required_bytes = 0

    def record_progress(self, now: float, *, moved_bytes: int, outstanding_bytes: int) -> bool:
        """Record the progress of a transfer.

        The bytes for each window of `RATE_SECONDS` have one deadline, so that a fast client may pause for a short time.

        Args:
            now: the event loop time.
            moved_bytes: the total number of bytes transferred so far.
            outstanding_bytes: the number of bytes that have yet to be transferred.

        Returns:
            True if the transfer is too slow.
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
    """A token bucket that limits the share of the event loop's time for refusing requests."""

    share: float = REFUSAL_SHARE
    _used_seconds: float = 0.0
    _used_at: float = 0.0

    def charge(self, now: float, seconds: float) -> bool:
        """Deduct the time for a refusal from the budget. Return False if the budget is exceeded."""
        refilled_seconds = self.share * (now - self._used_at)
        self._used_seconds = max(0.0, self._used_seconds - refilled_seconds) + seconds
        self._used_at = now

        return self._used_seconds <= self.share * REFUSAL_BURST_SECONDS


@dataclass(slots=True)
class ConnectionLimits:
    """The limits and the connection counts of one listener.

    Attributes:
        max_per_address: the maximum number of connections per client address, or 0 for no limits per address.
        max_slow_per_address: the maximum number of slow connections per client address, or 0 for no limit.
        max_total: the maximum number of connections of all addresses.
        minimum_rate: the minimum rate of reading a response, in bytes per second.
        proxies: trusted reverse proxies, which have no limits per address.
        refusals: the time budget for refusals. If it is exceeded, clients that retry too early are not read from for a
            while.
    """

    max_per_address: int = 0
    max_slow_per_address: int = 0
    max_total: int = UNLIMITED
    minimum_rate: int = 4096
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    refusals: RefusalBudget = field(default_factory=RefusalBudget)
    _open: Counter[str] = field(default_factory=Counter)
    _slow: Counter[str] = field(default_factory=Counter)
    _next_reads: dict[str, float] = field(default_factory=dict)  # by client key, when to read the next new connection

    @classmethod
    def from_settings(cls, settings: Settings, *, max_total: int) -> Self:
        """Create the limits from the settings, with at most `max_total` connections of all addresses together."""
        return cls(
            max_per_address=settings.connections_per_address,
            max_slow_per_address=settings.slow_connections_per_address,
            max_total=max_total,
            minimum_rate=settings.minimum_rate_bytes,
            proxies=settings.proxies,
        )

    def client_key(self, client: tuple[str, int] | None) -> str | None:
        """Return the key for counting the connections of a client, or None if it has no limits.

        A trusted proxy has no limits, because it forwards the requests of many clients.

        Args:
            client: the address and port of the client, or None if it has no address.
        """
        if client is None or not self.max_per_address:
            return None

        client_host, _port = client
        address = parse_address(client_host)
        if address is not None and self.proxies.contains(address):
            return None
        return rate_limit_key(client_host)

    def add_connection(self, key: str | None) -> bool:
        """Count a new connection and return True, or return False if it must be closed."""
        is_full = self._open.total() >= self.max_total
        is_full_for_address = key is not None and self._open[key] >= self.max_per_address
        if is_full or is_full_for_address:
            return False

        self._open[key or ""] += 1
        return True

    def schedule_first_read(self, key: str | None, now: float) -> float:
        """Schedule the first read of a new connection, and return the delay until then in seconds.

        The connections of one address are scheduled at `CONNECTIONS_PER_SECOND`. They may be read ahead of the schedule
        by the length of a burst, so that only a flood of connections has to wait (generic cell rate algorithm).

        Args:
            key: the client key, or None if the client has no limits.
            now: the event loop time.
        """
        if key is None:
            return 0.0

        if len(self._next_reads) >= _MAX_SCHEDULES:
            self._drop_past_schedules(now)
        scheduled_at = max(now, self._next_reads.get(key, now))
        self._next_reads[key] = scheduled_at + 1 / CONNECTIONS_PER_SECOND

        burst_seconds = CONNECTION_BURST / CONNECTIONS_PER_SECOND
        read_at = scheduled_at - burst_seconds
        return max(0.0, read_at - now)

    def _drop_past_schedules(self, now: float) -> None:
        """Drop the schedules of clients that have not opened a connection recently."""
        self._next_reads = {address: next_read for address, next_read in self._next_reads.items() if next_read > now}

    def remove_connection(self, key: str | None) -> None:
        """Stop counting a connection that has been closed."""
        _decrement(self._open, key or "")

    def add_slow(self, key: str | None) -> bool:
        """Count a connection as slow. Return False if the client has too many slow connections."""
        if key is None or not self.max_slow_per_address:
            return True

        self._slow[key] += 1
        return self._slow[key] <= self.max_slow_per_address

    def remove_slow(self, key: str | None) -> None:
        """Stop counting a connection as slow."""
        if key is not None and self.max_slow_per_address:
            _decrement(self._slow, key)


def _decrement(counter: Counter[str], key: str) -> None:
    """Decrement the count of a key, and delete the key if its count is zero."""
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]


def raise_descriptor_limit() -> int:
    """Raise the limit on open files, and return the number available for connections.

    The remaining file descriptors are reserved for databases, child processes and the service's own files.
    """
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft_limit != hard_limit:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
            soft_limit = hard_limit

    if soft_limit == resource.RLIM_INFINITY:
        return UNLIMITED
    return max(_RESERVED_DESCRIPTORS, soft_limit - _RESERVED_DESCRIPTORS)
