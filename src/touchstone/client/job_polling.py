"""The rules by which a client requests the state of a job again and again until the job has ended."""

from collections.abc import Callable
from typing import Final

from touchstone.client.identity import Identity
from touchstone.client.job_calls import get_job
from touchstone.client.models import Job
from touchstone.client.retries_and_renewals import Pause, Steps, send_with_retries

FIRST_POLL_DELAY_SECONDS: Final = 0.1
MAX_POLL_DELAY_SECONDS: Final = 2.0
POLL_DELAY_GROWTH: Final = 1.5


def wait_for_job(job: Job, identity: Identity, report: Callable[[Job], None] | None = None) -> Steps[Job]:
    """Return a job in its final state, after requesting its state again and again until it is done.

    `report` is called with each state, so that the caller can show the progress. The delay between two requests grows
    up to `MAX_POLL_DELAY_SECONDS`. Like `send_with_retries`, this generator yields the steps for a client to perform.
    """
    delay_seconds = FIRST_POLL_DELAY_SECONDS

    while True:
        job = yield from send_with_retries(get_job(job.kind, job.id), identity)
        if report is not None:
            report(job)
        if job.done:
            return job

        yield Pause(delay_seconds)
        delay_seconds = min(delay_seconds * POLL_DELAY_GROWTH, MAX_POLL_DELAY_SECONDS)
