"""The routes of jobs, the same for every kind: list, get, follow, cancel, delete, and fetch artifacts."""

import base64
from typing import Annotated, Final

from fastapi import Query
from starlette.responses import FileResponse, Response, StreamingResponse

from touchstone.core.errors import ArtifactNotFound
from touchstone.http.responses import BINARY_CONTENT, OCTET_STREAM
from touchstone.http.routing import strict_router
from touchstone.http.shutdown import stop_event
from touchstone.jobs import store
from touchstone.jobs.event_stream import HEADERS, parse_last_event_id, stream_events
from touchstone.jobs.kinds import DRAW_TASK
from touchstone.jobs.records import JobRecord, JobSource
from touchstone.jobs.request_context import Context, JobRequestContext
from touchstone.jobs.responses import job_list_response, job_response
from touchstone.jobs.schemas import LAST_EVENT_ID, JobPage, JobSummary, JobView, OwnJobQuery
from touchstone.jobs.states import FINAL, JobState
from touchstone.learning.interfaces import MEDIA_TYPES

CHART_TYPES: Final = {"svg": "image/svg+xml", "png": "image/png"}
_ARTIFACT_CONTENT: Final = BINARY_CONTENT | {
    media_type.partition(";")[0]: BINARY_CONTENT[OCTET_STREAM]
    for media_type in (*MEDIA_TYPES.values(), *CHART_TYPES.values())
}

jobs = strict_router(prefix="/jobs", tags=["jobs"])


@jobs.get(
    "",
    summary="List one's jobs",
    response_model=list[JobSummary] | JobPage,
    responses={200: {"headers": {"X-Total-Count": {"schema": {"type": "integer"}}}}},
)
async def list_jobs(ctx: Context, query: Annotated[OwnJobQuery, Query()]) -> Response:
    """Newest first, without results; a bare array, or an object when `page` or `page_size` is given."""
    return await job_list_response(ctx, (ctx.service.kind.name,), query, query.requested_project())


@jobs.get("/{job_id}", summary="Get a job", response_model=JobView)
async def get_job(ctx: Context, job_id: str) -> Response:
    """One of one's jobs, with its result when it has succeeded."""
    return await job_response(ctx, await ctx.load_job(job_id))


@jobs.delete("/{job_id}", status_code=204, summary="Delete a job that has ended")
async def delete_job(ctx: Context, job_id: str) -> Response:
    """With its events and everything that it made."""
    job = await ctx.load_job(job_id)
    await store.delete(ctx.database, job.id)
    await ctx.jobs.artifact_store.delete_job(job.id)
    return Response(status_code=204)


@jobs.post("/{job_id}/cancel", summary="Cancel a job", response_model=JobView)
async def cancel_job(ctx: Context, job_id: str) -> Response:
    """Ends the work, if it has not ended; doing so again changes nothing."""
    job = await ctx.load_job(job_id)
    await store.cancel(ctx.database, job.id)
    ctx.jobs.wake()
    return await job_response(ctx, await ctx.load_job(job_id))


@jobs.get(
    "/{job_id}/events",
    summary="Follow a job",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        204: {"description": "The job has ended and there is nothing after `Last-Event-ID`."},
    },
    openapi_extra=LAST_EVENT_ID,
)
async def follow_job(ctx: Context, job_id: str) -> Response:
    """Server-sent events until the job has ended; `Last-Event-ID` goes on after that event."""
    job = await ctx.load_job(job_id)
    last = parse_last_event_id(ctx.request.headers.get("last-event-id"))

    if job.status in FINAL:
        async with ctx.database.reading() as rows:
            if not await store.events_after(rows, job.id, last):
                return Response(status_code=204)

    stop = stop_event(ctx.request.scope) or ctx.jobs.closing
    events = stream_events(ctx.database, job.id, last, locale=ctx.locale, stop=stop)
    return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)


@jobs.get(
    "/{job_id}/artifacts/{name}",
    summary="Get a file that a job made",
    response_class=FileResponse,
    responses={200: {"content": _ARTIFACT_CONTENT}},
)
async def get_artifact(ctx: Context, job_id: str, name: str) -> Response:
    """One of the job's artefacts, or a chart of its result as `<chart>.svg` or `<chart>.png`."""
    job = await ctx.load_job(job_id)
    async with ctx.database.reading() as rows:
        artifacts = await store.load_artifacts(rows, [job.id])

    for artifact in artifacts[job.id]:
        if artifact.name == name:
            path = ctx.jobs.artifact_store.folder / artifact.path
            if not path.is_file():
                raise ArtifactNotFound
            headers = {"ETag": f'"{artifact.sha256}"', "Cache-Control": "private, no-cache"}
            return FileResponse(path, media_type=artifact.media_type, filename=name, headers=headers)

    return await _chart_response(ctx, job, name)


async def _chart_response(ctx: JobRequestContext, job: JobRecord, name: str) -> Response:
    """Render a chart of a job's result. Raises ArtifactNotFound."""
    chart_name, _, image_format = name.rpartition(".")
    charts = (job.result or {}).get("charts") or {}
    if job.status != JobState.SUCCEEDED or image_format not in CHART_TYPES or chart_name not in charts:
        raise ArtifactNotFound

    request = {"spec": charts[chart_name]["spec"][ctx.locale], "format": image_format}
    image = await ctx.jobs.synchronous_tasks.run(DRAW_TASK, request, source=JobSource(), files={})
    headers = {"Cache-Control": "private, max-age=86400", "Vary": "Accept-Language"}
    return Response(base64.b64decode(image), media_type=CHART_TYPES[image_format], headers=headers)
