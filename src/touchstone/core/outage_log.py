"""OutageLog that lasts, in the log: a line when it begins, a reminder now and then, a line when it is over."""

from time import monotonic
from typing import Final

import structlog

REMIND_SECONDS: Final = 30.0
log = structlog.get_logger("touchstone.database")


class OutageLog:
    """One kind of trouble with something, told apart from its many occurrences.

    `begins` and `ends` are the events that are logged. OutageLog that comes back soon after its end is the same one.
    """

    def __init__(self, begins: str, ends: str) -> None:
        self._begins = begins
        self._ends = ends
        self._is_on = False
        self._is_logged = False
        self._since = self._spoken = float("-inf")
        self._occurrences = 0

    def occurred(self, problem: BaseException | None) -> None:
        """Note one occurrence; most leave no line."""
        now = monotonic()
        if not self._is_on:
            self._is_on, self._since, self._occurrences = True, now, 0
        self._occurrences += 1
        if now - self._spoken < REMIND_SECONDS:
            return

        self._spoken = now
        if self._is_logged:
            log.error(f"still {self._begins}", seconds=round(now - self._since), times=self._occurrences)
        else:
            self._is_logged = True
            log.error(self._begins, problem=first_line(problem))

    def over(self) -> None:
        """Note that all is well."""
        if not self._is_on:
            return
        self._is_on = False
        if self._is_logged:
            self._is_logged = False
            log.warning(self._ends, seconds=round(monotonic() - self._since, 1), times=self._occurrences)


def first_line(problem: BaseException | None) -> str:
    """Return what a driver says went wrong, in one line."""
    return str(getattr(problem, "orig", problem)).partition("\n")[0]
