"""The routes of projects. Who is asking comes first, then whether the project is theirs, then what they send."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.conditional import is_not_modified, parse_if_match, parse_version_tags
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.datasets.ranked_response import facts, ranked, sent
from touchstone.services.selection.datasets.scoring_request import RECOMMENDATION_PARAMETERS
from touchstone.services.selection.datasets.sort_and_page import PAGE_PARAMETERS, window_of
from touchstone.services.selection.openapi import ETAG, LOCATION, TOTAL_COUNT, UNCHANGED, described
from touchstone.services.selection.projects.editor import etag_of, scoring_for, shown
from touchstone.services.selection.request_context import ProjectKey, owner_of, parts_of, query_values, weighted_body_of
from touchstone.services.selection.schemas import (
    ProjectChange,
    ProjectPageView,
    ProjectView,
    ProjectWanted,
    RecommendationsView,
)
from touchstone.services.selection.store import Found

projects = strict_router(prefix="/projects", tags=["projects"])


@projects.get(
    "",
    summary="List one's projects",
    response_model=list[ProjectView] | ProjectPageView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=described(PAGE_PARAMETERS),
)
async def list_projects(request: Request) -> Response:
    """Newest change first; a bare array, or an object when `page` or `page_size` is given."""
    owner, window = owner_of(request), window_of(query_values(request, PAGE_PARAMETERS))
    found, total = await parts_of(request).projects.page(owner, window)
    body = found if window.page is None else {"projects": found, **window.numbers(total)}
    return JsonResponse(body, headers={"X-Total-Count": str(total)})


@projects.post(
    "",
    status_code=201,
    summary="Create a project",
    response_model=ProjectView,
    responses={201: {"headers": LOCATION | ETAG}},
    openapi_extra=described(body="ProjectWanted"),
)
async def create_project(request: Request) -> Response:
    """A project of the caller's, with the criteria and weights that it calls for."""
    owner = owner_of(request)
    made = await parts_of(request).projects.create(await weighted_body_of(request, ProjectWanted), owner)
    return _project(made, status=201, location=True)


@projects.get(
    "/{project_id}",
    summary="Get a project",
    response_model=ProjectView,
    responses={200: {"headers": ETAG}, 304: UNCHANGED},
    openapi_extra=described(conditional="If-None-Match"),
)
async def get_project(request: Request, project_id: ProjectKey) -> Response:
    """One of the caller's projects."""
    found = await _own(request, project_id)
    if is_not_modified(request, etag_of(found)):
        return Response(status_code=304, headers={"ETag": etag_of(found)})
    return _project(found)


@projects.put(
    "/{project_id}",
    summary="Change a project",
    response_model=ProjectView,
    responses={200: {"headers": ETAG}},
    openapi_extra=described(body="ProjectChange", conditional="If-Match"),
)
async def change_project(request: Request, project_id: ProjectKey) -> Response:
    """Replaces what it is given: a field left out stays, null clears."""
    found = await _own(request, project_id)
    wanted, versions = await weighted_body_of(request, ProjectChange), parse_version_tags(parse_if_match(request))
    return _project(await parts_of(request).projects.change(found, wanted, versions=versions))


@projects.delete(
    "/{project_id}",
    status_code=204,
    summary="Delete a project",
    openapi_extra=described(conditional="If-Match"),
)
async def delete_project(request: Request, project_id: ProjectKey) -> Response:
    """One of the caller's projects."""
    found, versions = await _own(request, project_id), parse_version_tags(parse_if_match(request))
    await parts_of(request).projects.remove(found["id"], found["user_id"], versions=versions)
    return Response(status_code=204)


@projects.get(
    "/{project_id}/recommendations",
    summary="Recommend datasets for a project",
    response_model=RecommendationsView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=described(RECOMMENDATION_PARAMETERS),
)
async def get_recommendations(request: Request, project_id: ProjectKey) -> Response:
    """The datasets that fit its criteria, ranked by its weights and explained."""
    found = await _own(request, project_id)
    scoring, values = scoring_for(found), query_values(request, RECOMMENDATION_PARAMETERS)
    asked = {"limit": 20, **values, "explain": True}
    ranking = await ranked(parts_of(request).catalog, scoring, asked, found["user_id"])
    about = facts(ranking, scoring)
    before = b'{"project":' + msgspec.json.encode(shown(found)) + b',"datasets":['
    headers = {"X-Total-Count": str(about["total_count"])}
    return await sent(ranking, before, b"]," + msgspec.json.encode(about)[1:], headers)


async def _own(request: Request, project_id: str) -> Found:
    """The caller's project. Raises InvalidUserId, ProjectNotFound."""
    return await parts_of(request).projects.get(project_id, owner_of(request))


def _project(found: Found, *, status: int = 200, location: bool = False) -> Response:
    headers = {"ETag": etag_of(found)}
    if location:
        headers["Location"] = f"/projects/{found['id']}"
    return JsonResponse(shown(found), status_code=status, headers=headers)
