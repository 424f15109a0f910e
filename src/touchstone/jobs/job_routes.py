"""The HTTP routes for listing, getting, following, cancelling and deleting jobs of all kinds."""

import base64
from typing import Annotated, Final

from fastapi import Query
from starlette.responses import FileResponse, Response, StreamingResponse

from touchstone.core.errors import ArtifactNotFound
from touchstone.http.responses import BINARY_CONTENT, ETAG, FILE_NAME, OCTET_STREAM, JsonResponse
from touchstone.http.routing import strict_router
from touchstone.http.stop_event import stop_event
from touchstone.jobs import job_store
from touchstone.jobs.job_event_stream import HEADERS, parse_last_event_id, stream_events
from touchstone.jobs.job_kinds import DRAW_TASK
from touchstone.jobs.job_records import ArtifactRecord, JobRecord, JobSource
from touchstone.jobs.job_responses import job_list_response, job_response
from touchstone.jobs.job_schemas import LAST_EVENT_ID, JobPage, JobSummary, JobView, OwnJobQuery
from touchstone.jobs.job_states import FINAL_STATES, JobState
from touchstone.jobs.request_context import Context, JobRequestContext
from touchstone.learning.task_interface import MEDIA_TYPES

CHART_CACHE_SECONDS: Final = 86_400  # The result of a job never changes.
CHART_MEDIA_TYPES: Final = {"svg": "image/svg+xml", "png": "image/png"}
_ARTIFACT_CONTENT: Final = {
    **BINARY_CONTENT,
    **{
        media_type.partition(";")[0]: BINARY_CONTENT[OCTET_STREAM]
        for media_type in (*MEDIA_TYPES.values(), *CHART_MEDIA_TYPES.values())
    },
    JsonResponse.media_type: {"schema": {"description": "Any JSON value."}},
}

job_router = strict_router(prefix="/jobs", tags=["jobs"])


@job_router.get(
    "",
    summary="List your jobs",
    response_model=list[JobSummary] | JobPage,
    responses={200: {"headers": {"X-Total-Count": {"schema": {"type": "integer"}}}}},
)
async def list_jobs(ctx: Context, query: Annotated[OwnJobQuery, Query()]) -> Response:
    """List the caller's jobs, newest first and without results, as an array or, on request, as one page."""
    return await job_list_response(ctx, (ctx.service.kind.name,), query, query.requested_project())


@job_router.get("/{job_id}", summary="Get a job", response_model=JobView)
async def get_job(ctx: Context, job_id: str) -> Response:
    """Return one of the caller's jobs, with its result if it has succeeded."""
    return await job_response(ctx, await ctx.load_job(job_id))


@job_router.delete("/{job_id}", status_code=204, summary="Delete a job that has ended")
async def delete_job(ctx: Context, job_id: str) -> Response:
    """Delete a finished job with its events and output files."""
    job = await ctx.load_job(job_id)
    await job_store.delete_job(ctx.database, job.id)
    await ctx.jobs.artifact_store.delete_job(job.id)
    return Response(status_code=204)


@job_router.post("/{job_id}/cancel", summary="Cancel a job", response_model=JobView)
async def cancel_job(ctx: Context, job_id: str) -> Response:
    """Cancel a job, and return it. A job that has ended or is being cancelled does not change."""
    job = await ctx.load_job(job_id)
    await job_store.cancel_job(ctx.database, job.id)

    # The dispatcher stops running jobs. Wake it, so that it does not wait for its next tick.
    ctx.jobs.wake()

    cancelled_job = await ctx.load_job(job_id)
    return await job_response(ctx, cancelled_job)


@job_router.get(
    "/{job_id}/events",
    summary="Follow a job",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events, each with a JSON object. Their name is `progress` or the new state of the job.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        204: {"description": "The job has ended and there is nothing after `Last-Event-ID`."},
    },
    openapi_extra=LAST_EVENT_ID,
)
async def follow_job(ctx: Context, job_id: str) -> Response:
    """Stream the events of a job, after `Last-Event-ID` if that is given, as server-sent events until it has ended."""
    job = await ctx.load_job(job_id)
    last_event_number = parse_last_event_id(ctx.request.headers.get("last-event-id"))

    # A browser reconnects whenever a stream ends, unless the status is 204.
    if job.status in FINAL_STATES:
        async with ctx.database.reading() as connection:
            remaining_events = await job_store.load_events_after(connection, job.id, last_event_number)
        if not remaining_events:
            return Response(status_code=204)

    stop = stop_event(ctx.request.scope) or ctx.jobs.closing
    events = stream_events(ctx.database, job.id, last_event_number, locale=ctx.locale, stop=stop)
    return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)


@job_router.get(
    "/{job_id}/artifacts/{name}",
    summary="Get a file that a job made",
    response_class=FileResponse,
    responses={200: {"headers": ETAG | FILE_NAME, "content": _ARTIFACT_CONTENT}},
)
async def get_artifact(ctx: Context, job_id: str, name: str) -> Response:
    """Return one of the job's files, or a chart of its result as `<chart>.svg` or `<chart>.png`."""
    job = await ctx.load_job(job_id)
    async with ctx.database.reading() as connection:
        artifacts_by_job = await job_store.load_artifacts(connection, [job.id])

    for artifact in artifacts_by_job[job.id]:
        if artifact.name == name:
            return _artifact_response(ctx, artifact)
    return await _chart_response(ctx, job, name)


def _artifact_response(ctx: JobRequestContext, artifact: ArtifactRecord) -> Response:
    """Return the response with a file of a job.

    Raises:
        ArtifactNotFound: the file is recorded, but is no longer in the artifacts folder.
    """
    path = ctx.jobs.artifact_store.folder / artifact.path
    if not path.is_file():
        raise ArtifactNotFound

    # The gateway does not forward the header `Range`, so files are always sent whole.
    headers = {"ETag": f'"{artifact.sha256}"', "Cache-Control": "private, no-cache", "Accept-Ranges": "none"}
    return FileResponse(path, media_type=artifact.media_type, filename=artifact.name, headers=headers)


async def _chart_response(ctx: JobRequestContext, job: JobRecord, file_name: str) -> Response:
    """Draw a chart of a job's result in the caller's language, and return the response with the image.

    `file_name` is the name of the chart with the image format as its suffix, such as `importance.svg`.

    Raises:
        ArtifactNotFound: the job has no result with such a chart, or the format is not supported.
    """
    chart_name, _, image_format = file_name.rpartition(".")
    if job.status != JobState.SUCCEEDED or image_format not in CHART_MEDIA_TYPES:
        raise ArtifactNotFound

    result = job.result or {}
    charts = result.get("charts") or {}
    if chart_name not in charts:
        raise ArtifactNotFound

    # The specification contains its data, so the task needs no files.
    request = {"spec": charts[chart_name]["spec"][ctx.locale], "format": image_format}
    image_in_base64 = await ctx.jobs.synchronous_tasks.run(
        DRAW_TASK, request, owner=ctx.caller.id, source=JobSource(), files_by_role={}
    )
    image = base64.b64decode(image_in_base64)

    headers = {"Cache-Control": f"private, max-age={CHART_CACHE_SECONDS}", "Vary": "Accept-Language"}
    return Response(image, media_type=CHART_MEDIA_TYPES[image_format], headers=headers)
