"""How a training is accepted: what can be known beforehand is checked, then there is a row."""

from uuid import UUID

from msgspec.structs import replace

from touchstone.core.identity import Caller
from touchstone.jobs import store
from touchstone.jobs.kinds import TRAIN
from touchstone.jobs.runtime import Jobs
from touchstone.jobs.start import Starting, digest_of, ordered
from touchstone.jobs.store import NewJob
from touchstone.learning.requests import TrainingRequest
from touchstone.services.training.schemas import TrainWanted


async def start_training(
    jobs: Jobs, starting: Starting, wanted: TrainWanted, *, caller: Caller, key: str | None
) -> UUID:
    """Queue a training, or find the one that the same key queued before.

    Raises:
        InvalidJobRequest: the order contradicts itself or the table.
        IdempotencyConflict, DatasetNotFound, DataFileUnreadable, ProjectNotFound, TooManyJobs.
    """
    request = wanted.model_dump(mode="json")
    ordered(request, TrainingRequest)
    new = NewJob(
        kind=TRAIN, owner=caller.id, request=request, digest=digest_of(request), idempotency_key=key, name=wanted.name
    )
    if (known := await store.same_key(jobs.database, new)) is not None:
        return known
    project_id = await starting.project(wanted.project_id, caller)
    subject = await starting.subject(new, wanted.dataset_id, caller, model={})
    job_id, _ = await store.enqueue(
        jobs.database, replace(new, project_id=project_id, **subject), most_waiting=jobs.settings.jobs_waiting_per_user
    )
    return job_id
