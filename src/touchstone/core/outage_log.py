"""Log lines about an outage: one when it begins, a reminder now and then, and one when it is over."""

from time import monotonic
from typing import Final

import structlog

REMIND_SECONDS: Final = 30.0
log = structlog.get_logger("touchstone.database")


class OutageLog:
    """Logs an outage once instead of once for each failed attempt.

    `begins` and `ends` are the logged events. An outage that returns soon after its end counts as the same one.
    """

    def __init__(self, begins: str, ends: str) -> None:
        self._begins = begins
        self._ends = ends
        self._is_ongoing = False
        self._is_logged = False
        self._began_at = float("-inf")
        self._logged_at = float("-inf")
        self._failures = 0

    def record_failure(self, error: BaseException | None) -> None:
        """Count a failed attempt, and log it if it begins an outage or a reminder is due."""
        now = monotonic()
        if not self._is_ongoing:
            self._is_ongoing = True
            self._began_at = now
            self._failures = 0

        self._failures += 1
        if now - self._logged_at < REMIND_SECONDS:
            return

        self._logged_at = now
        if self._is_logged:
            log.error(f"still {self._begins}", seconds=round(now - self._began_at), times=self._failures)
        else:
            self._is_logged = True
            log.error(self._begins, problem=first_line(error))

    def record_success(self) -> None:
        """End the outage, if there is one, and log its length if its beginning was logged."""
        if not self._is_ongoing:
            return

        self._is_ongoing = False
        if self._is_logged:
            self._is_logged = False
            log.warning(self._ends, seconds=round(monotonic() - self._began_at, 1), times=self._failures)


def first_line(error: BaseException | None) -> str:
    """Return the first line of what the database driver reports."""
    return str(getattr(error, "orig", error)).partition("\n")[0]
