"""The routes of jobs, the same for every kind: list, look, follow, cancel, delete, fetch what was made."""

import base64
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from touchstone.core.errors import ArtifactNotFound, FieldError, InvalidValue
from touchstone.http.backend_auth import require_caller
from touchstone.http.error_responses import request_locale
from touchstone.http.responses import BINARY_CONTENT, OCTET_STREAM, JsonResponse
from touchstone.http.routing import strict_router
from touchstone.http.shutdown import stop_event
from touchstone.jobs import store
from touchstone.jobs.event_stream import HEADERS, last_event_id, stream
from touchstone.jobs.job_view import shown
from touchstone.jobs.kinds import DRAW
from touchstone.jobs.runtime import Jobs
from touchstone.jobs.schemas import LAST_EVENT_ID, JobPage, JobQuery, JobSummary, JobView, OwnJobQuery
from touchstone.jobs.states import FINAL, JobState
from touchstone.jobs.store import Filter, Row
from touchstone.learning.interfaces import MEDIA_TYPES

PICTURES: Final = {"svg": "image/svg+xml", "png": "image/png"}
_ANSWERED: Final = BINARY_CONTENT | {
    media.partition(";")[0]: BINARY_CONTENT[OCTET_STREAM] for media in (*MEDIA_TYPES.values(), *PICTURES.values())
}


@dataclass(frozen=True, slots=True)
class Desk:
    """What the routes of one backend work with: its jobs, their kind, and where the public finds them."""

    jobs: Jobs
    kind: str
    address: str


async def signed_in(request: Request) -> None:
    """Refuse whoever does not say who they are. Raises InvalidUserId."""
    require_caller(request.scope)


def desk_of(request: Request) -> Desk:
    """What the backend was opened with."""
    desk: Desk = request.app.state.desk
    return desk


jobs = strict_router(prefix="/jobs", tags=["jobs"], dependencies=[Depends(signed_in)])


@jobs.get(
    "",
    summary="List one's jobs",
    response_model=list[JobSummary] | JobPage,
    responses={200: {"headers": {"X-Total-Count": {"schema": {"type": "integer"}}}}},
)
async def list_jobs(request: Request, query: Annotated[OwnJobQuery, Query()]) -> Response:
    """Newest first, without results; a bare array, or an object when `page` or `page_size` is given."""
    return await listed(request, (desk_of(request).kind,), query, query.wanted_project())


@jobs.get("/{job_id}", summary="Get a job", response_model=JobView)
async def get_job(request: Request, job_id: str) -> Response:
    """One of one's jobs, with its result when it has succeeded."""
    return await answer(request, await _own(request, job_id))


@jobs.delete("/{job_id}", status_code=204, summary="Delete a job that has ended")
async def delete_job(request: Request, job_id: str) -> Response:
    """With its events and everything that it made."""
    found, room = await _own(request, job_id), desk_of(request).jobs
    await store.delete(room.database, found["id"])
    await room.shelf.delete(found["id"])
    return Response(status_code=204)


@jobs.post("/{job_id}/cancel", summary="Cancel a job", response_model=JobView)
async def cancel_job(request: Request, job_id: str) -> Response:
    """Ends the work, if it has not ended; doing so again changes nothing."""
    found, room = await _own(request, job_id), desk_of(request).jobs
    await store.cancel(room.database, found["id"])
    room.wake()
    return await answer(request, await _own(request, job_id))


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
async def follow_job(request: Request, job_id: str) -> Response:
    """Server-sent events until the job has ended; `Last-Event-ID` goes on after that event."""
    found, room = await _own(request, job_id), desk_of(request).jobs
    last = last_event_id(request.headers.get("last-event-id"))
    async with room.database.reading() as rows:
        news = await store.events_after(rows, found["id"], last)
    if found["status"] in FINAL and not news:
        return Response(status_code=204)
    stop = stop_event(request.scope) or room.closing
    events = stream(room.database, found["id"], last, locale=request_locale(request.scope), stop=stop)
    return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)


@jobs.get(
    "/{job_id}/artifacts/{name}",
    summary="Get a file that a job made",
    response_class=FileResponse,
    responses={200: {"content": _ANSWERED}},
)
async def get_artifact(request: Request, job_id: str, name: str) -> Response:
    """One of the job's artefacts, or a chart of its result as `<chart>.svg` or `<chart>.png`."""
    found, room = await _own(request, job_id), desk_of(request).jobs
    async with room.database.reading() as rows:
        kept = {file["name"]: file for file in (await store.artifacts(rows, [found["id"]]))[found["id"]]}
    if name not in kept:
        return await _picture(request, found, name)
    file = kept[name]
    path = room.shelf.folder / file["path"]
    if not path.is_file():
        raise ArtifactNotFound
    headers = {"ETag": f'"{file["sha256"]}"', "Cache-Control": "private, no-cache"}
    return FileResponse(path, media_type=file["media_type"], filename=name, headers=headers)


async def listed(request: Request, kinds: tuple[str, ...], query: JobQuery, project_id: UUID | None) -> Response:
    """The answer of a list of the caller's jobs of some kinds.

    Raises:
        InvalidValue: a parameter is given twice.
    """
    _check_each_once(request.query_params)
    owner, database = require_caller(request.scope).id, desk_of(request).jobs.database
    wanted = Filter(owner=owner, kinds=kinds, status=query.status, project_id=project_id)
    skip, limit = query.window
    async with database.reading() as rows:
        total = await store.counted(rows, wanted)
        found = await store.listed(rows, wanted, skip=skip, limit=limit)
        files = await store.artifacts(rows, [row["id"] for row in found])
    locale = request_locale(request.scope)
    items: Any = [shown(row, files[row["id"]], locale) for row in found]
    if query.in_pages:
        numbers = {"page": query.page or 1, "page_size": limit, "total_pages": -(-total // limit)}
        items = {"jobs": items, "total_count": total, **numbers}
    return JsonResponse(items, headers={"X-Total-Count": str(total)})


def _check_each_once(given: QueryParams) -> None:
    for name in given:
        if len(given.getlist(name)) > 1:
            count = len(given.getlist(name))
            raise InvalidValue(FieldError(("query", name), "given_twice", {"count": count}))


async def answer(
    request: Request, found: Row, *, status_code: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """The answer that shows one job."""
    async with desk_of(request).jobs.database.reading() as rows:
        files = (await store.artifacts(rows, [found["id"]]))[found["id"]]
    body = shown(found, files, request_locale(request.scope))
    # A job moves on by itself: nothing on the way may keep this answer.
    return JsonResponse(body, status_code=status_code, headers={"Cache-Control": "no-store"} | (headers or {}))


async def accepted(request: Request, job_id: UUID) -> Response:
    """The answer to a start: the job, where to find it, and when to ask again."""
    desk = desk_of(request)
    desk.jobs.wake()
    headers = {"Location": f"{desk.address}/{job_id}", "Retry-After": "1"}
    return await answer(request, await _own(request, str(job_id)), status_code=202, headers=headers)


async def _own(request: Request, job_id: str) -> Row:
    """One of the caller's jobs of this backend. Raises JobNotFound."""
    desk, caller = desk_of(request), require_caller(request.scope)
    async with desk.jobs.database.reading() as rows:
        return await store.owned(rows, job_id, caller.id, (desk.kind,))


async def _picture(request: Request, found: Row, name: str) -> Response:
    """A chart of a result, drawn when somebody wants to see it."""
    chart, _, form = name.rpartition(".")
    charts = (found["result"] or {}).get("charts") or {}
    if found["status"] != JobState.SUCCEEDED or form not in PICTURES or chart not in charts:
        raise ArtifactNotFound
    order = {"spec": charts[chart]["spec"][request_locale(request.scope)], "format": form}
    picture = await desk_of(request).jobs.errands.run(DRAW, order, source={}, files={})
    headers = {"Cache-Control": "private, max-age=86400", "Vary": "Accept-Language"}
    return Response(base64.b64decode(picture), media_type=PICTURES[form], headers=headers)
