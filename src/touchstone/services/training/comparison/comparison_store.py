"""The rows of comparisons: storing them together with their jobs, and reading them with the results of these."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import IdempotencyConflict, JobNotFinal, JobNotFound
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader, Writer
from touchstone.database.tables import compared_datasets, comparisons, jobs
from touchstone.jobs import queue_store
from touchstone.jobs.job_states import FINAL_STATES, JobState
from touchstone.jobs.state_transition_store import move_jobs, utc_now
from touchstone.services.training.comparison.records import (
    ComparedDatasetRecord,
    Comparison,
    ComparisonRecord,
    NewComparedDataset,
    NewComparison,
)

_COMPARISON_COLUMNS: Final = tuple(comparisons.c[name] for name in ComparisonRecord.__struct_fields__)
# Of the result of a training, which may be megabytes long, the database returns only what is compared.
_DATASET_COLUMNS: Final = (
    *(column for column in compared_datasets.c if column.name != "position"),
    *(jobs.c[name] for name in ("status", "progress", "error", "inputs", "finished_at")),
    jobs.c.result["metrics"].label("metrics"),
    jobs.c.result["model", "algorithm"].label("algorithm"),
    jobs.c.result["model", "label"].label("algorithm_label"),
    jobs.c.result["warnings"].label("warnings"),
)


async def create_comparison(
    database: Database, comparison: NewComparison, datasets: Sequence[NewComparedDataset], *, waiting_limit: int
) -> UUID:
    """Store a comparison and queue its trainings, all of them or none, and return the id of the comparison.

    If an earlier request with the same idempotency key has created it already, its id is returned.

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
            return await _insert(transaction, comparison, datasets)
    except IntegrityError:
        # Another request has used the same key meanwhile: the database accepts it only once.
        existing_id = await find_by_idempotency_key(database, comparison)
        if existing_id is None:
            raise
        return existing_id


async def find_by_idempotency_key(database: Database, comparison: NewComparison) -> UUID | None:
    """Return the id of the comparison that an earlier, identical request has created, or None.

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
    if row["request_digest"] != comparison.digest:
        raise IdempotencyConflict

    comparison_id: UUID = row["id"]
    return comparison_id


async def _insert(transaction: Writer, comparison: NewComparison, datasets: Sequence[NewComparedDataset]) -> UUID:
    """Insert a comparison with its datasets and their jobs, and return its id.

    Raises:
        IntegrityError: the owner has another comparison under the same idempotency key.
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


async def load_comparison(connection: Reader, comparison_id: str, owner: UUID) -> Comparison:
    """Return the comparison with this id, if it belongs to the owner, with its datasets.

    Raises:
        JobNotFound: the owner has no such comparison, or the id is malformed.
    """
    comparison_uuid = parse_uuid(comparison_id)
    if comparison_uuid is None:
        raise JobNotFound

    query = sa.select(*_COMPARISON_COLUMNS).where(comparisons.c.id == comparison_uuid, comparisons.c.owner == owner)
    row = await connection.first(query)
    if row is None:
        raise JobNotFound
    [comparison] = await _with_datasets(connection, [ComparisonRecord.from_row(row)])
    return comparison


async def list_comparisons(
    connection: Reader, owner: UUID, project_id: UUID | None, *, skip: int, limit: int
) -> list[Comparison]:
    """Return the comparisons of an owner, of one project or of all projects, newest first."""
    query = (
        sa.select(*_COMPARISON_COLUMNS)
        .where(*_list_conditions(owner, project_id))
        .order_by(comparisons.c.created_at.desc(), comparisons.c.id)
        .offset(skip)
        .limit(limit)
    )
    records = [ComparisonRecord.from_row(row) for row in await connection.all(query)]
    return await _with_datasets(connection, records)


async def count_comparisons(connection: Reader, owner: UUID, project_id: UUID | None) -> int:
    """Return how many comparisons an owner has, in one project or in all projects."""
    query = sa.select(sa.func.count()).select_from(comparisons).where(*_list_conditions(owner, project_id))
    return int(await connection.scalar(query))


def _list_conditions(owner: UUID, project_id: UUID | None) -> list[sa.ColumnElement[bool]]:
    """Return the SQL conditions for a list of comparisons."""
    conditions = [comparisons.c.owner == owner]
    if project_id is not None:
        conditions.append(comparisons.c.project_id == project_id)
    return conditions


async def _with_datasets(connection: Reader, records: Sequence[ComparisonRecord]) -> list[Comparison]:
    """Return comparisons with their datasets, in the same order."""
    query = (
        sa.select(*_DATASET_COLUMNS)
        .select_from(compared_datasets.outerjoin(jobs, jobs.c.id == compared_datasets.c.job_id))
        .where(compared_datasets.c.comparison_id.in_([record.id for record in records]))
        .order_by(compared_datasets.c.position)
    )
    datasets_by_comparison: dict[UUID, list[ComparedDatasetRecord]] = {record.id: [] for record in records}
    for row in await connection.all(query):
        dataset = ComparedDatasetRecord.from_row(row)
        datasets_by_comparison[dataset.comparison_id].append(dataset)
    return [Comparison(record=record, datasets=datasets_by_comparison[record.id]) for record in records]


async def cancel_comparison(database: Database, comparison: Comparison) -> None:
    """Cancel all trainings of a comparison that have not ended."""
    job_ids = [dataset.job_id for dataset in comparison.datasets if dataset.job_id is not None]
    async with database.writing(even_if_disk_full=True) as transaction:
        await move_jobs(transaction, JobState.CANCELLED, jobs.c.id.in_(job_ids), jobs.c.status == JobState.QUEUED)
        await move_jobs(transaction, JobState.CANCELLING, jobs.c.id.in_(job_ids))


async def delete_comparison(database: Database, comparison: Comparison) -> None:
    """Delete a comparison that has ended; its trainings stay.

    Raises:
        JobNotFinal: one of the trainings has not ended.
    """
    if comparison.state not in FINAL_STATES:
        raise JobNotFinal
    async with database.writing(even_if_disk_full=True) as transaction:
        await transaction.execute(sa.delete(comparisons).where(comparisons.c.id == comparison.record.id))
