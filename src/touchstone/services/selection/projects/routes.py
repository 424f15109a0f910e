"""Routes of projects. Each handler checks the caller first, then the project, and only then the body."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.conditional import is_not_modified, parse_if_match, parse_version_tags
from touchstone.http.json_body import parse_json_allowing_infinity
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.context import ProjectKey, RequestContext
from touchstone.services.selection.datasets.ranking_response import RankingResult, recommendations_response
from touchstone.services.selection.datasets.scoring_request import (
    RECOMMENDATION_PARAMETERS,
    parse_recommendation_options,
    parse_scoring_request,
)
from touchstone.services.selection.openapi import ETAG, LOCATION, NOT_MODIFIED, TOTAL_COUNT, describe_operation
from touchstone.services.selection.paging import PAGE_PARAMETERS, parse_page_window
from touchstone.services.selection.projects.schemas import (
    ProjectChange,
    ProjectCreate,
    ProjectPageView,
    ProjectView,
    RecommendationsView,
)
from touchstone.services.selection.projects.store import ProjectRecord

router = strict_router(prefix="/projects", tags=["projects"])


@router.get(
    "",
    summary="List one's projects",
    response_model=list[ProjectView] | ProjectPageView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(PAGE_PARAMETERS),
)
async def list_projects(request: Request) -> Response:
    """Newest change first; a bare array, or an object when `page` or `page_size` is given."""
    ctx = RequestContext(request)
    owner = ctx.require_owner()
    window = parse_page_window(PAGE_PARAMETERS.parse_query(ctx.query_string))

    records, total_count = await ctx.services.projects.load_window(owner, skip=window.skip, limit=window.limit)

    projects = [_project_json(record) for record in records]
    page_info = window.page_info(total_count)
    content = projects if page_info is None else {"projects": projects, **msgspec.structs.asdict(page_info)}
    return JsonResponse(content, headers={"X-Total-Count": str(total_count)})


@router.post(
    "",
    status_code=201,
    summary="Create a project",
    response_model=ProjectView,
    responses={201: {"headers": LOCATION | ETAG}},
    openapi_extra=describe_operation(body="ProjectCreate"),
)
async def create_project(request: Request) -> Response:
    """Create a project of the caller with its criteria and weights."""
    ctx = RequestContext(request)
    owner = ctx.require_owner()
    # Infinite numbers are allowed here because the parser of the weights names the criterion that has one.
    body = await ctx.body(ProjectCreate, parse_json_allowing_infinity)

    project = await ctx.services.projects.create(body, owner)

    headers = {"ETag": _etag(project), "Location": f"/projects/{project.id}"}
    return JsonResponse(_project_json(project), status_code=201, headers=headers)


@router.get(
    "/{project_id}",
    summary="Get a project",
    response_model=ProjectView,
    responses={200: {"headers": ETAG}, 304: NOT_MODIFIED},
    openapi_extra=describe_operation(conditional_header="If-None-Match"),
)
async def get_project(request: Request, project_id: ProjectKey) -> Response:
    """One of the caller's projects."""
    ctx = RequestContext(request)
    project = await ctx.services.projects.load(project_id, ctx.require_owner())

    if is_not_modified(request, _etag(project)):
        return Response(status_code=304, headers={"ETag": _etag(project)})
    return JsonResponse(_project_json(project), headers={"ETag": _etag(project)})


@router.put(
    "/{project_id}",
    summary="Change a project",
    response_model=ProjectView,
    responses={200: {"headers": ETAG}},
    openapi_extra=describe_operation(body="ProjectChange", conditional_header="If-Match"),
)
async def change_project(request: Request, project_id: ProjectKey) -> Response:
    """Replaces what it is given: a field left out stays, null clears."""
    ctx = RequestContext(request)
    project = await ctx.services.projects.load(project_id, ctx.require_owner())
    body = await ctx.body(ProjectChange, parse_json_allowing_infinity)

    versions = parse_version_tags(parse_if_match(request))
    changed = await ctx.services.projects.change(project, body, versions=versions)

    return JsonResponse(_project_json(changed), headers={"ETag": _etag(changed)})


@router.delete(
    "/{project_id}",
    status_code=204,
    summary="Delete a project",
    openapi_extra=describe_operation(conditional_header="If-Match"),
)
async def delete_project(request: Request, project_id: ProjectKey) -> Response:
    """One of the caller's projects."""
    ctx = RequestContext(request)
    project = await ctx.services.projects.load(project_id, ctx.require_owner())

    await ctx.services.projects.delete(project, versions=parse_version_tags(parse_if_match(request)))

    return Response(status_code=204)


@router.get(
    "/{project_id}/recommendations",
    summary="Recommend datasets for a project",
    response_model=RecommendationsView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(RECOMMENDATION_PARAMETERS),
)
async def get_recommendations(request: Request, project_id: ProjectKey) -> Response:
    """Rank the datasets that match the criteria of the project by its weights, with explanations."""
    ctx = RequestContext(request)
    project = await ctx.services.projects.load(project_id, ctx.require_owner())
    weights = [msgspec.structs.asdict(weight) for weight in project.weights]
    scoring = parse_scoring_request({"criteria": project.criteria, "weights": weights})
    options = parse_recommendation_options(ctx.query_string)

    query = build_query(scoring.filters, project.user_id)
    view, ranked = await ctx.catalog.rank(query, scoring.weights, skip=options.skip, limit=options.limit)

    result = RankingResult(view, ranked, scoring.weights, options)
    return await recommendations_response(result, scoring, _project_json(project))


def _etag(project: ProjectRecord) -> str:
    return f'"{project.version}"'


def _project_json(project: ProjectRecord) -> dict[str, Any]:
    """Return a project as its owner sees it; the version is only in its entity tag."""
    fields = msgspec.structs.asdict(project)
    del fields["version"]
    return fields
