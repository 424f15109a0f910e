"""Reading, cancelling and deleting comparisons on behalf of their owners."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import sqlalchemy as sa

from touchstone.core.errors import JobNotFinal, JobNotFound
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader
from touchstone.database.tables import compared_datasets, comparisons, jobs
from touchstone.jobs.comparisons.comparison_records import (
    ComparedDatasetRecord,
    Comparison,
    ComparisonRecord,
)
from touchstone.jobs.job_states import FINAL_STATES, JobState
from touchstone.jobs.state_transition_store import move_jobs

_COMPARISON_COLUMNS: Final = tuple(comparisons.c[name] for name in ComparisonRecord.__struct_fields__)
# The result of a training may be several megabytes long, so load only the compared parts.
_DATASET_COLUMNS: Final = (
    *(column for column in compared_datasets.c if column.name != "position"),
    *(jobs.c[name] for name in ("status", "progress", "error", "inputs", "finished_at")),
    jobs.c.result["metrics"].label("metrics"),
    jobs.c.result["model", "algorithm"].label("algorithm"),
    jobs.c.result["model", "label"].label("algorithm_label"),
    jobs.c.result["model", "classes"].label("classes"),
    jobs.c.result["split", "strategy"].label("split_strategy"),
    jobs.c.result["warnings"].label("warnings"),
)


async def load_comparison(connection: Reader, comparison_id: str, owner: UUID) -> Comparison:
    """Return one of the owner's comparisons with its datasets.

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

    record = ComparisonRecord.from_row(row)
    [comparison] = await _load_datasets(connection, [record])
    return comparison


async def list_comparisons(
    connection: Reader, owner: UUID, project_id: UUID | None, *, skip: int, limit: int
) -> list[Comparison]:
    """Return the comparisons of an owner, in one project or in all projects, newest first."""
    query = (
        sa.select(*_COMPARISON_COLUMNS)
        .where(*_list_conditions(owner, project_id))
        .order_by(comparisons.c.created_at.desc(), comparisons.c.id)
        .offset(skip)
        .limit(limit)
    )
    records = [ComparisonRecord.from_row(row) for row in await connection.all(query)]
    return await _load_datasets(connection, records)


async def count_comparisons(connection: Reader, owner: UUID, project_id: UUID | None) -> int:
    """Return the number of comparisons of an owner, in one project or in all projects."""
    query = sa.select(sa.func.count()).select_from(comparisons).where(*_list_conditions(owner, project_id))
    return int(await connection.scalar(query))


def _list_conditions(owner: UUID, project_id: UUID | None) -> list[sa.ColumnElement[bool]]:
    """Return the SQL conditions for a list of comparisons."""
    conditions = [comparisons.c.owner == owner]
    if project_id is not None:
        conditions.append(comparisons.c.project_id == project_id)
    return conditions


async def _load_datasets(connection: Reader, records: Sequence[ComparisonRecord]) -> list[Comparison]:
    """Load the datasets of several comparisons in one query, and return the comparisons in the same order."""
    comparison_ids = [record.id for record in records]
    datasets_and_jobs = compared_datasets.outerjoin(jobs, jobs.c.id == compared_datasets.c.job_id)
    query = (
        sa.select(*_DATASET_COLUMNS)
        .select_from(datasets_and_jobs)
        .where(compared_datasets.c.comparison_id.in_(comparison_ids))
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
    """Delete a comparison that has ended, but keep its trainings.

    Raises:
        JobNotFinal: one of the trainings has not ended.
    """
    if comparison.state not in FINAL_STATES:
        raise JobNotFinal
    async with database.writing(even_if_disk_full=True) as transaction:
        await transaction.execute(sa.delete(comparisons).where(comparisons.c.id == comparison.record.id))
