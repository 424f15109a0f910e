"""The HTTP responses of job services for one job, a list of jobs, and a newly accepted job."""

import math
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from starlette.responses import Response

from touchstone.http.query_checks import require_single_values
from touchstone.http.responses import JsonResponse
from touchstone.jobs import job_store
from touchstone.jobs.job_json import job_json, job_summary_json
from touchstone.jobs.job_records import JobFilter, JobRecord, Json
from touchstone.jobs.job_schemas import JobQuery, ListQuery
from touchstone.jobs.request_context import JobRequestContext


async def job_response(
    ctx: JobRequestContext, job: JobRecord, *, status_code: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response with one job as JSON, including its result and the list of its files."""
    async with ctx.database.reading() as connection:
        artifacts_by_job = await job_store.load_artifacts(connection, [job.id])
    body = job_json(job, artifacts_by_job[job.id], ctx.locale)

    # A job changes by itself, so no cache may store this response.
    all_headers = {"Cache-Control": "no-store", **(headers or {})}
    return JsonResponse(body, status_code=status_code, headers=all_headers)


async def accepted_response(ctx: JobRequestContext, job_id: UUID) -> Response:
    """Return the 202 response to a request that has started a job.

    The headers contain the path of the job at this backend, which the gateway translates into the public address, and
    the delay before the client should poll it.
    """
    job = await ctx.load_job(str(job_id))
    headers = {"Location": f"/jobs/{job_id}", "Retry-After": "1"}
    return await job_response(ctx, job, status_code=202, headers=headers)


async def job_list_response(
    ctx: JobRequestContext, kinds: tuple[str, ...], query: JobQuery, project_id: UUID | None
) -> Response:
    """Return the list of the caller's jobs of these kinds, in one project or in all projects.

    The body is an array of jobs, or an object with one page of jobs if the query requests pages. The header
    X-Total-Count contains the total number of matching jobs.

    Raises:
        InvalidValue: a query parameter is repeated.
    """
    require_single_values(ctx.request)
    filters = JobFilter(owner=ctx.caller.id, kinds=kinds, status=query.status, project_id=project_id)

    async with ctx.database.reading() as connection:
        total_count = await job_store.count_jobs(connection, filters)
        jobs = await job_store.list_jobs(connection, filters, skip=query.offset, limit=query.size)
        artifacts_by_job = await job_store.load_artifacts(connection, [job.id for job in jobs])

    summaries = [job_summary_json(job, artifacts_by_job[job.id], ctx.locale) for job in jobs]
    return list_response("jobs", summaries, query, total_count)


def list_response(name: str, items: Sequence[Json], query: ListQuery, total_count: int) -> Response:
    """Return the response with a part of a list, as an array or as an object with one page.

    Args:
        name: the member of the page object that contains the items.
        items: the items of this part.
        query: the query parameters, which determine whether the response is paged.
        total_count: the total number of items.
    """
    body: Any = items
    if query.is_paged:
        body = {
            name: items,
            "total_count": total_count,
            "page": query.page or 1,
            "page_size": query.size,
            "total_pages": math.ceil(total_count / query.size),
        }
    return JsonResponse(body, headers={"X-Total-Count": str(total_count)})
