"""Routes of snapshots. Each handler checks the caller first, then the project, and then the other input."""

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.json_body import parse_json
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import ProjectKey, RequestContext
from touchstone.services.selection.openapi import LOCATION, TOTAL_COUNT, describe_operation
from touchstone.services.selection.paging import PAGE_PARAMETERS, list_response, parse_page_window
from touchstone.services.selection.projects.snapshot_schemas import (
    ReplayView,
    SnapshotCreate,
    SnapshotPageView,
    SnapshotSummaryView,
    SnapshotView,
    replay_json,
    snapshot_json,
    snapshot_summary_json,
)

router = strict_router(prefix="/projects/{project_id}/snapshots", tags=["projects"])


@router.post(
    "",
    status_code=201,
    summary="Create a snapshot of the recommendations for a project",
    response_model=SnapshotView,
    responses={201: {"headers": LOCATION}},
    openapi_extra=describe_operation(body="SnapshotCreate", is_body_required=False),
)
async def create_snapshot(request: Request, project_id: ProjectKey) -> Response:
    """Store the first recommendations with the present contents of the datasets, and return them with their digest."""
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)
    body = await ctx.body(SnapshotCreate, _parse_optional_json)

    snapshot = await ctx.services.snapshots.create(project, note=body.note, limit=body.limit)

    pseudos = await ctx.services.snapshots.load_pseudos(snapshot)
    headers = {"Location": f"/projects/{project.id}/snapshots/{snapshot.id}"}
    content = snapshot_json(snapshot, ctx.services.catalog_tokens, pseudos)
    return JsonResponse(content, status_code=201, headers=headers)


@router.get(
    "",
    summary="List the snapshots of a project",
    response_model=list[SnapshotSummaryView] | SnapshotPageView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(PAGE_PARAMETERS),
)
async def list_snapshots(request: Request, project_id: ProjectKey) -> Response:
    """Return the snapshots of one of the caller's projects, the newest first. Their contents are left out.

    The response is an array of snapshots. If the query has `page` or `page_size`, it is an object with the snapshots
    and the position of the page instead.
    """
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)
    window = parse_page_window(PAGE_PARAMETERS.parse_query(ctx.query_string))

    page = await ctx.services.snapshots.load_page(project, skip=window.skip, limit=window.limit)

    catalog_tokens = ctx.services.catalog_tokens
    snapshots = [snapshot_summary_json(snapshot, catalog_tokens, page.pseudos) for snapshot in page.snapshots]
    return list_response("snapshots", snapshots, window, page.total_count)


@router.get("/{snapshot_id}", summary="Get a snapshot", response_model=SnapshotView)
async def get_snapshot(request: Request, project_id: ProjectKey, snapshot_id: ProjectKey) -> Response:
    """Return a snapshot of a project of the caller."""
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)

    snapshot = await ctx.services.snapshots.load(project, snapshot_id)

    pseudos = await ctx.services.snapshots.load_pseudos(snapshot)
    return JsonResponse(snapshot_json(snapshot, ctx.services.catalog_tokens, pseudos))


@router.delete("/{snapshot_id}", status_code=204, summary="Delete a snapshot")
async def delete_snapshot(request: Request, project_id: ProjectKey, snapshot_id: ProjectKey) -> Response:
    """Delete a snapshot of a project of the caller. The choices of the project are not affected."""
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)

    await ctx.services.snapshots.delete(project, snapshot_id)

    return Response(status_code=204)


@router.get("/{snapshot_id}/replay", summary="Compare a snapshot with the present", response_model=ReplayView)
async def replay_snapshot(request: Request, project_id: ProjectKey, snapshot_id: ProjectKey) -> Response:
    """Rank the datasets again as for the snapshot, and return the differences with their reasons."""
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)
    snapshot = await ctx.services.snapshots.load(project, snapshot_id)

    replay = await ctx.services.replayer.replay(project, snapshot)

    return JsonResponse(replay_json(replay, ctx.services.catalog_tokens))


def _parse_optional_json(raw_body: bytes) -> object:
    """Return the JSON value of a body, or an empty object if there is no body."""
    return parse_json(raw_body) if raw_body else {}
