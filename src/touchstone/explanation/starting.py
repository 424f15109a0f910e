"""How an explanation is accepted: its training and table are found and checked, then there is a row."""

from typing import Any
from uuid import UUID

from msgspec.structs import replace

from touchstone.core.identity import Caller
from touchstone.explanation.schemas import ExplainWanted
from touchstone.jobs import store
from touchstone.jobs.kinds import EXPLAIN, TRAIN
from touchstone.jobs.models import model_of
from touchstone.jobs.room import Jobs
from touchstone.jobs.starting import Starting, Table, digest_of, ordered, refused
from touchstone.jobs.store import Json, NewJob, Row
from touchstone.learning.errors import LearningError
from touchstone.learning.orders import ExplainOrder, check_explanation


async def start_explanation(
    jobs: Jobs, starting: Starting, wanted: ExplainWanted, *, caller: Caller, key: str | None
) -> UUID:
    """Queue an explanation, or find the one that the same key queued before.

    Raises:
        InvalidJobRequest: the order contradicts itself, the table or the model.
        IdempotencyConflict, JobNotFound, JobNotSucceeded, DatasetNotFound, DataFileUnreadable, ProjectNotFound.
    """
    request = _request(wanted)
    order = ordered(request, ExplainOrder)
    new = NewJob(
        kind=EXPLAIN, owner=caller.id, request=request, digest=digest_of(request), idempotency_key=key, name=wanted.name
    )
    if (known := await store.same_key(jobs.database, new)) is not None:
        return known
    about = await _modelled(jobs, order, caller) if order.job_id else {"dataset_id": order.dataset_id, "source": {}}
    table = await starting.table(about["dataset_id"], caller)
    _check(order, table, about.pop("training", None))
    about |= {"dataset_id": table.dataset_id, "inputs": table.inputs, "source": table.source | about["source"]}
    # What explains a project's model belongs to that project, unless the caller names another one.
    if wanted.project_id is not None:
        about["project_id"] = await starting.project(wanted.project_id, caller)
    job_id, _ = await store.enqueue(jobs.database, replace(new, **about))
    return job_id


async def _modelled(jobs: Jobs, order: ExplainOrder, caller: Caller) -> dict[str, Any]:
    """What an explanation takes over from the training whose model it explains."""
    async with jobs.database.reading() as rows:
        training = await store.owned(rows, str(order.job_id), caller.id, (TRAIN,))
        source = await model_of(rows, training)
    taken = {name: training[name] for name in ("dataset_id", "project_id")}
    return taken | {"parent_job_id": training["id"], "source": source, "training": training}


def _check(order: ExplainOrder, table: Table, training: Row | None) -> None:
    model: Json = training["result"]["model"] if training else {}
    try:
        if training and training["inputs"]["sha256"] != table.facts.sha256:
            raise LearningError("data_changed", field="job_id")
        check_explanation(order, table.facts.columns, rows=table.facts.rows, classes=model.get("classes") or ())
    except LearningError as problem:
        raise refused(problem) from problem


def _request(wanted: ExplainWanted) -> Json:
    # `null` is a class that a table may have: not naming one is something else.
    unnamed = set() if "target_class" in wanted.model_fields_set else {"target_class"}
    return wanted.model_dump(mode="json", exclude=unnamed)
