"""The states of a job, and which may follow which."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class JobState(StrEnum):
    """Where a job stands. A final state never changes."""

    QUEUED = "queued"  # accepted, or given back after its worker stopped or was lost
    RUNNING = "running"  # claimed by a worker, which holds a lease
    CANCELLING = "cancelling"  # its owner wants it ended, and its worker has not ended it yet
    SUCCEEDED = "succeeded"  # its result and artefacts are kept
    FAILED = "failed"  # refused by its own data, out of its limits, or out of attempts
    CANCELLED = "cancelled"  # ended by its owner


Q, R, C = JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING

MOVES: Final[Mapping[JobState, frozenset[JobState]]] = {
    Q: frozenset({R, JobState.CANCELLED}),
    R: frozenset({Q, C, JobState.SUCCEEDED, JobState.FAILED}),
    C: frozenset({JobState.CANCELLED}),
    JobState.SUCCEEDED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}
FINAL: Final = frozenset(state for state, following in MOVES.items() if not following)
HELD: Final = frozenset({R, C})  # states in which a worker holds the job


def sources(target: JobState) -> frozenset[JobState]:
    """The states from which `target` can be reached in one move."""
    return frozenset(state for state, following in MOVES.items() if target in following)
