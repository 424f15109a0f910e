"""How an explanation is accepted: its training and table are found and checked, then there is a row."""

from uuid import UUID

from msgspec.structs import replace

from touchstone.core.identity import Caller
from touchstone.jobs import store
from touchstone.jobs.kinds import EXPLAIN, TRAIN
from touchstone.jobs.runtime import Jobs
from touchstone.jobs.start import Starting, digest_of, ordered
from touchstone.jobs.store import Json, NewJob
from touchstone.jobs.trained_models import model_of
from touchstone.learning.requests import ExplanationRequest
from touchstone.services.explanation.schemas import ExplainWanted


async def start_explanation(
    jobs: Jobs, starting: Starting, wanted: ExplainWanted, *, caller: Caller, key: str | None
) -> UUID:
    """Queue an explanation, or find the one that the same key queued before.

    Raises:
        InvalidJobRequest: the order contradicts itself, the table or the model.
        IdempotencyConflict, JobNotFound, JobNotSucceeded, DatasetNotFound, DataFileUnreadable, ProjectNotFound,
            TooManyJobs.
    """
    request = _request(wanted)
    order = ordered(request, ExplanationRequest)
    new = NewJob(
        kind=EXPLAIN, owner=caller.id, request=request, digest=digest_of(request), idempotency_key=key, name=wanted.name
    )
    if (known := await store.same_key(jobs.database, new)) is not None:
        return known
    about, model = await _modelled(jobs, order, caller)
    about |= await starting.subject(new, about["dataset_id"], caller, model=model)
    # What explains a project's model belongs to that project, unless the caller names another one.
    if wanted.project_id is not None:
        about["project_id"] = await starting.project(wanted.project_id, caller)
    job_id, _ = await store.enqueue(
        jobs.database, replace(new, **about), most_waiting=jobs.settings.jobs_waiting_per_user
    )
    return job_id


async def _modelled(jobs: Jobs, order: ExplanationRequest, caller: Caller) -> tuple[Json, Json]:
    """What an explanation takes over from the training whose model it explains, and where that model is."""
    if order.job_id is None:
        return {"dataset_id": order.dataset_id}, {}
    async with jobs.database.reading() as rows:
        training = await store.owned(rows, order.job_id, caller.id, (TRAIN,))
        model = await model_of(rows, training)
    taken = {name: training[name] for name in ("dataset_id", "project_id")}
    return taken | {"parent_job_id": training["id"]}, model


def _request(wanted: ExplainWanted) -> Json:
    # `null` is a class that a table may have: not naming one is something else.
    unnamed = set() if "target_class" in wanted.model_fields_set else {"target_class"}
    return wanted.model_dump(mode="json", exclude=unnamed)
