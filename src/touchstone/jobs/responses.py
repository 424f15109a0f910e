"""The HTTP responses of job services: one job, a list of jobs, and a job that has just been accepted."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from starlette.responses import Response

from touchstone.http.responses import JsonResponse
from touchstone.jobs import store
from touchstone.jobs.job_json import job_json, job_summary_json
from touchstone.jobs.records import JobFilter, JobRecord
from touchstone.jobs.request_context import JobRequestContext
from touchstone.jobs.schemas import JobQuery


async def job_response(
    ctx: JobRequestContext, job: JobRecord, *, status_code: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response that shows one job."""
    async with ctx.database.reading() as rows:
        artifacts = await store.load_artifacts(rows, [job.id])

    body = job_json(job, artifacts[job.id], ctx.locale)
    # A job changes by itself, so nothing on the way may store this response.
    return JsonResponse(body, status_code=status_code, headers={"Cache-Control": "no-store", **(headers or {})})


async def accepted_response(ctx: JobRequestContext, job_id: UUID) -> Response:
    """Wake the dispatcher, and return the response to a start: the job, its address, and when to ask again."""
    ctx.jobs.wake()
    job = await ctx.load_job(str(job_id))
    headers = {"Location": f"{ctx.service.kind.address}/{job_id}", "Retry-After": "1"}
    return await job_response(ctx, job, status_code=202, headers=headers)


async def job_list_response(
    ctx: JobRequestContext, kinds: tuple[str, ...], query: JobQuery, project_id: UUID | None
) -> Response:
    """Return the response that lists the caller's jobs of these kinds.

    Raises:
        InvalidValue: a parameter is given twice.
    """
    ctx.require_single_values()
    filters = JobFilter(owner=ctx.caller.id, kinds=kinds, status=query.status, project_id=project_id)

    async with ctx.database.reading() as rows:
        total = await store.count_jobs(rows, filters)
        jobs = await store.list_jobs(rows, filters, skip=query.offset, limit=query.size)
        artifacts = await store.load_artifacts(rows, [job.id for job in jobs])

    items = [job_summary_json(job, artifacts[job.id], ctx.locale) for job in jobs]
    body: Any = items
    if query.is_paged:
        body = {
            "jobs": items,
            "total_count": total,
            "page": query.page or 1,
            "page_size": query.size,
            "total_pages": -(-total // query.size),
        }
    return JsonResponse(body, headers={"X-Total-Count": str(total)})
