"""The rules for polling the state of a job or a comparison until it has ended."""

import time
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from touchstone.client.call import Call
from touchstone.client.comparison_calls import get_training_comparison
from touchstone.client.comparison_models import TrainingComparison
from touchstone.client.errors import TouchstoneError
from touchstone.client.identity import Identity
from touchstone.client.job_calls import get_job
from touchstone.client.models import Job
from touchstone.client.retries_and_renewals import MAX_OUTAGE_SECONDS, Pause, Steps, is_temporary, send_with_retries

FIRST_POLL_DELAY_SECONDS: Final = 0.1
MAX_POLL_DELAY_SECONDS: Final = 2.0
POLL_DELAY_GROWTH: Final = 1.5


class LongWork(Protocol):
    """A job or a comparison, which continues after the response that started it."""

    @property
    def done(self) -> bool:
        """Whether the work has ended."""


WorkT = TypeVar("WorkT", bound=LongWork)


def wait_for_job(job: Job, identity: Identity, report: Callable[[Job], None] | None = None) -> Steps[Job]:
    """Poll a job until it is done, and return its final state.

    `report` is called with each state, so that the caller can show the progress.
    """
    return _poll_until_done(get_job(job.kind, job.id), identity, report)


def wait_for_comparison(
    comparison: TrainingComparison,
    identity: Identity,
    report: Callable[[TrainingComparison], None] | None = None,
) -> Steps[TrainingComparison]:
    """Poll a comparison until all its trainings have ended, and return its final state.

    `report` is called with each state, so that the caller can show the progress.
    """
    return _poll_until_done(get_training_comparison(comparison.id), identity, report)


def _poll_until_done(call: Call[WorkT], identity: Identity, report: Callable[[WorkT], None] | None) -> Steps[WorkT]:
    """Repeat a call until the work in its result is done, and return the last result.

    The delay between two requests grows to `MAX_POLL_DELAY_SECONDS`. The work goes on after a restart of the service,
    so temporary failures are ignored for up to `MAX_OUTAGE_SECONDS`. Like `send_with_retries`, this generator yields
    the steps for a client to perform.

    Raises:
        TouchstoneError: the service refused the call or was away for too long.
    """
    delay_seconds = FIRST_POLL_DELAY_SECONDS
    last_success_at = time.monotonic()

    while True:
        try:
            work = yield from send_with_retries(call, identity)
        except TouchstoneError as error:
            outage_seconds = time.monotonic() - last_success_at
            if not is_temporary(error) or outage_seconds > MAX_OUTAGE_SECONDS:
                raise
        else:
            last_success_at = time.monotonic()
            if report is not None:
                report(work)
            if work.done:
                return work

        yield Pause(delay_seconds)
        delay_seconds = min(delay_seconds * POLL_DELAY_GROWTH, MAX_POLL_DELAY_SECONDS)
