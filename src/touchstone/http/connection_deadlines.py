"""Deadlines for request headers and for idle connections.

The deadlines and the minimum rate of request bodies are in `request_bodies.py`.
"""

from dataclasses import dataclass
from typing import Final

# Longer than the 15 s for which our own clients reuse idle connections, so that they never use one being closed.
KEEP_ALIVE_SECONDS: Final = 75
HEADER_SECONDS: Final = 5.0
# While the server stops, an idle connection may be used once more within this time.
STOPPING_IDLE_SECONDS: Final = 2.0
# How long a connection may be idle after a refusal, which asks its client to retry after a second.
REFUSED_IDLE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class AwaitedInput:
    """The input that a connection waits for while no response is in progress.

    All times are event loop times.

    Attributes:
        idle_since: the end of the last response or, before the first response, the start of the connection.
        request_began_at: the start of the request that the client is sending, or None if it is not sending one.
        has_headers: whether the headers of this request are complete.
        was_refused: whether the last request was refused and its client was asked to retry.
        is_stopping: whether the server is stopping.
    """

    idle_since: float
    request_began_at: float | None
    has_headers: bool
    was_refused: bool
    is_stopping: bool

    def overdue_reason(self, now: float) -> str | None:
        """Return "headers" if the headers are late, "idle" if the next request is late, or None otherwise."""
        waiting_since = self.idle_since
        if self.request_began_at is not None:
            waiting_since = max(self.idle_since, self.request_began_at)
        waited_seconds = now - waiting_since

        awaits_headers = self.request_began_at is not None and not self.has_headers
        if awaits_headers:
            return "headers" if waited_seconds >= HEADER_SECONDS else None
        return "idle" if waited_seconds >= self._max_idle_seconds() else None

    def _max_idle_seconds(self) -> float:
        """Return the time for which the connection may be idle."""
        max_seconds = STOPPING_IDLE_SECONDS if self.is_stopping else KEEP_ALIVE_SECONDS
        return min(max_seconds, REFUSED_IDLE_SECONDS) if self.was_refused else max_seconds
