"""Storing comparisons and queueing their trainings atomically, once per idempotency key."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import IdempotencyConflict, TooManyJobs
from touchstone.database.engine import Database, Writer
from touchstone.database.tables import compared_datasets, comparisons
from touchstone.jobs import queue_store
from touchstone.jobs.comparisons.comparison_records import NewComparedDataset, NewComparison
from touchstone.jobs.state_transition_store import utc_now


async def create_comparison(
    database: Database, comparison: NewComparison, datasets: Sequence[NewComparedDataset], *, waiting_limit: int
) -> UUID:
    """Store a comparison, queue all of its trainings atomically, and return the id of the comparison.

    If an earlier request with the same idempotency key has already created it, the existing id is returned.

    Raises:
        IdempotencyConflict: the key was used for a different request.
        TooManyJobs: the owner would have more than `waiting_limit` queued jobs.
    """
    job_count = sum(1 for dataset in datasets if dataset.training is not None)
    try:
        async with database.writing() as transaction:
            await queue_store.require_room_in_queue(
                transaction, comparison.owner, waiting_limit, new_job_count=job_count
            )
            return await _insert_comparison(transaction, comparison, datasets)
    except (IntegrityError, TooManyJobs):
        # A concurrent request may have inserted a comparison with the same key, which is unique, and its jobs may be
        # the last ones that fit into the queue.
        existing_id = await find_id_by_idempotency_key(database, comparison)
        if existing_id is None:
            raise
        return existing_id


async def find_id_by_idempotency_key(database: Database, comparison: NewComparison) -> UUID | None:
    """Return the id of the comparison that an earlier, identical request created, or None.

    Raises:
        IdempotencyConflict: the key was used for a different request.
    """
    if comparison.idempotency_key is None:
        return None

    query = sa.select(comparisons.c.id, comparisons.c.request_digest).where(
        comparisons.c.owner == comparison.owner, comparisons.c.idempotency_key == comparison.idempotency_key
    )
    async with database.reading() as connection:
        row = await connection.first(query)

    if row is None:
        return None

    existing_id: UUID = row["id"]
    if row["request_digest"] != comparison.digest:
        raise IdempotencyConflict
    return existing_id


async def _insert_comparison(
    transaction: Writer, comparison: NewComparison, datasets: Sequence[NewComparedDataset]
) -> UUID:
    """Insert a comparison with its datasets and their jobs, and return its id.

    Raises:
        IntegrityError: the owner has another comparison with the same idempotency key.
    """
    comparison_id = uuid4()
    values = {
        "id": comparison_id,
        "owner": comparison.owner,
        "name": comparison.name,
        "project_id": comparison.project_id,
        "idempotency_key": comparison.idempotency_key,
        "request": comparison.request,
        "request_digest": comparison.digest,
        "created_at": utc_now(),
    }
    await transaction.execute(sa.insert(comparisons).values(values))

    for position, dataset in enumerate(datasets):
        job_id = None
        if dataset.training is not None:
            job_id = await queue_store.insert_job(transaction, dataset.training)
        row = _dataset_row(dataset, comparison_id, position, job_id)
        await transaction.execute(sa.insert(compared_datasets).values(row))
    return comparison_id


def _dataset_row(
    dataset: NewComparedDataset, comparison_id: UUID, position: int, job_id: UUID | None
) -> Mapping[str, Any]:
    """Return the row of a dataset of a comparison."""
    return {
        "comparison_id": comparison_id,
        "position": position,
        "dataset_id": dataset.dataset_id,
        "dataset_name": dataset.dataset_name,
        "rank": dataset.rank,
        "target": dataset.target,
        "job_id": job_id,
        "refusal": msgspec.to_builtins(dataset.refusal),
    }
