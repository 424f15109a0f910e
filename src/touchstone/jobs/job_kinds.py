"""The kinds of jobs, and the names of the tasks that worker processes run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# Short tasks that a request waits for (see `execution/synchronous_tasks.py`).
PREDICT_TASK: Final = "predict"
DRAW_TASK: Final = "draw"
PREVIEW_TASK: Final = "preview_train"


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job.

    Attributes:
        name: the `kind` of its jobs in the database, and also the name of the task that executes them.
        service: the backend that starts and reports its jobs.
        preflight_task: the task that checks a request against its data before a job is queued.
    """

    name: str
    service: str
    preflight_task: str


TRAINING: Final = JobKind(
    name="train",
    service="training",
    preflight_task="preflight_train",
)
EXPLANATION: Final = JobKind(
    name="explain",
    service="explanation",
    preflight_task="preflight_explain",
)

JOB_KINDS: Final = (TRAINING, EXPLANATION)
JOB_KIND_NAMES: Final = tuple(kind.name for kind in JOB_KINDS)
JOB_KIND_BY_SERVICE: Final[Mapping[str, JobKind]] = {kind.service: kind for kind in JOB_KINDS}
