"""Log lines about an outage, at its beginning, at intervals while it lasts, and at its end."""

from time import monotonic
from typing import Final

import structlog

REMINDER_SECONDS: Final = 30.0
log = structlog.get_logger("touchstone.database")


class OutageLog:
    """A log of one kind of outage, with a limited number of lines even if many attempts fail.

    Attributes:
        begin_event: the log event at the beginning of an outage.
        end_event: the log event at its end.
    """

    def __init__(self, begin_event: str, end_event: str) -> None:
        self.begin_event = begin_event
        self.end_event = end_event
        self._last_line_at = float("-inf")

        # The state of the current outage. Its beginning is not logged if the last line is too recent.
        self._is_ongoing = False
        self._is_beginning_logged = False
        self._began_at = float("-inf")
        self._failure_count = 0

    def record_failure(self, error: BaseException | None) -> None:
        """Count a failed attempt, and log it unless a line has been logged within `REMINDER_SECONDS`.

        The first line of an outage contains the error. Later lines contain the duration of the outage and the number of
        failed attempts.
        """
        now = monotonic()
        if not self._is_ongoing:
            self._is_ongoing = True
            self._began_at = now
            self._failure_count = 0
        self._failure_count += 1

        if now - self._last_line_at < REMINDER_SECONDS:
            return
        self._last_line_at = now

        if not self._is_beginning_logged:
            self._is_beginning_logged = True
            log.error(self.begin_event, problem=first_line_of_driver_error(error))
            return

        reminder_event = f"still {self.begin_event}"  # for example "still database away"
        elapsed_seconds = round(now - self._began_at)
        log.error(reminder_event, seconds=elapsed_seconds, times=self._failure_count)

    def record_success(self) -> None:
        """End the outage, if there is one, and log its duration if its beginning was logged."""
        if not self._is_ongoing:
            return

        self._is_ongoing = False
        if self._is_beginning_logged:
            self._is_beginning_logged = False
            seconds = round(monotonic() - self._began_at, 1)
            log.warning(self.end_event, seconds=seconds, times=self._failure_count)


def first_line_of_driver_error(error: BaseException | None) -> str:
    """Return the first line of the database driver's message, without the additions of SQLAlchemy."""
    driver_error = getattr(error, "orig", error)
    return str(driver_error).partition("\n")[0]
