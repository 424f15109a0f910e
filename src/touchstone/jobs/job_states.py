"""The states of a job and the moves between them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class JobState(StrEnum):
    """The state of a job. A final state never changes."""

    QUEUED = "queued"  # accepted, or returned to the queue after its worker stopped or was lost
    RUNNING = "running"  # claimed by a worker, which has to renew its lease on the job
    CANCELLING = "cancelling"  # cancelled by its owner, but not yet stopped by its worker
    SUCCEEDED = "succeeded"  # its result and artifacts are stored
    FAILED = "failed"  # rejected by its own data, over its limits, or out of attempts
    CANCELLED = "cancelled"  # cancelled by its owner


MOVES: Final[Mapping[JobState, frozenset[JobState]]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.CANCELLED}),
    JobState.RUNNING: frozenset({JobState.QUEUED, JobState.CANCELLING, JobState.SUCCEEDED, JobState.FAILED}),
    JobState.CANCELLING: frozenset({JobState.CANCELLED}),
    JobState.SUCCEEDED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}
FINAL_STATES: Final = frozenset(state for state, successors in MOVES.items() if not successors)
HELD_STATES: Final = frozenset({JobState.RUNNING, JobState.CANCELLING})  # states in which a worker holds the job


def predecessors(target: JobState) -> frozenset[JobState]:
    """Return the states with a move to `target`."""
    return frozenset(state for state, successors in MOVES.items() if target in successors)
