"""Deadlines of a connection whose client has to send something: the headers of a request, or the next request.

The deadlines and the minimum rate of request bodies are in `request_bodies.py`.
"""

from dataclasses import dataclass
from typing import Final

# Longer than our own clients keep an idle connection (15 s), so that they never reuse one that is being closed.
KEEP_ALIVE_SECONDS: Final = 75
HEADER_SECONDS: Final = 5.0
# While the server stops, an idle connection may be used once more within this time.
STOPPING_IDLE_SECONDS: Final = 2.0
# How long a connection may idle after a refusal, which asks its client to come back after a second.
REFUSED_IDLE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class AwaitedInput:
    """What a connection waits for while no request on it is being answered. Times are those of the event loop.

    Attributes:
        idle_since: when the last response ended or, before the first one, the connection was made.
        request_began_at: when the request began that the client is sending, or None if it is not sending one.
        has_headers: whether the headers of that request are complete.
        is_refused: whether the last request was refused and its client asked to come back.
        is_stopping: whether the server is stopping.
    """

    idle_since: float
    request_began_at: float | None
    has_headers: bool
    is_refused: bool
    is_stopping: bool

    def overdue_reason(self, now: float) -> str | None:
        """Return "headers" if the client is late with these, "idle" if with its next request, and None otherwise."""
        waiting_since = self.idle_since
        if self.request_began_at is not None:
            waiting_since = max(self.idle_since, self.request_began_at)
        waited_seconds = now - waiting_since

        awaits_headers = self.request_began_at is not None and not self.has_headers
        if awaits_headers:
            return "headers" if waited_seconds >= HEADER_SECONDS else None
        return "idle" if waited_seconds >= self._max_idle_seconds() else None

    def _max_idle_seconds(self) -> float:
        """Return for how long the connection is kept for another request."""
        max_seconds = STOPPING_IDLE_SECONDS if self.is_stopping else KEEP_ALIVE_SECONDS
        return min(max_seconds, REFUSED_IDLE_SECONDS) if self.is_refused else max_seconds
