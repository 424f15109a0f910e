"""Routes of projects. Each handler checks the caller first, then the project, and only then the body."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.conditional import is_not_modified, parse_if_match, parse_version_tags
from touchstone.http.json_body import parse_json_allowing_infinity
from touchstone.http.responses import ETAG, NOT_MODIFIED, JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.catalog_query import build_ranking_query
from touchstone.services.selection.context import ProjectKey, RequestContext
from touchstone.services.selection.datasets.ranking_response import RankingResult, recommendations_response
from touchstone.services.selection.datasets.scoring_request import (
    RECOMMENDATION_PARAMETERS,
    parse_recommendation_options,
)
from touchstone.services.selection.openapi import LOCATION, TOTAL_COUNT, describe_operation
from touchstone.services.selection.paging import PAGE_PARAMETERS, list_response, parse_page_window
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetView
from touchstone.services.selection.projects.project_ranking import ProjectNeed
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
    summary="List your projects",
    response_model=list[ProjectView] | ProjectPageView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(PAGE_PARAMETERS),
)
async def list_projects(request: Request) -> Response:
    """Return the caller's projects, the most recently changed one first.

    If the query has `page` or `page_size`, the response is an object with the projects and the position of the page.
    Otherwise it is a bare array.
    """
    ctx = RequestContext(request)
    owner = ctx.require_owner()
    window = parse_page_window(PAGE_PARAMETERS.parse_query(ctx.query_string))

    records, total_count = await ctx.services.projects.load_window(owner, skip=window.skip, limit=window.limit)
    chosen_datasets = await ctx.services.projects.load_chosen_datasets(records, owner)
    projects = [project_json(record, chosen_datasets.get(record.id)) for record in records]
    return list_response("projects", projects, window, total_count)


@router.post(
    "",
    status_code=201,
    summary="Create a project",
    response_model=ProjectView,
    responses={201: {"headers": LOCATION | ETAG}},
    openapi_extra=describe_operation(body="ProjectCreate"),
)
async def create_project(request: Request) -> Response:
    """Create a project that belongs to the caller, and return it with its address and its version."""
    ctx = RequestContext(request)
    owner = ctx.require_owner()

    # Infinite numbers are accepted here, so that the validation of the weights can reject them with a better message.
    body = await ctx.body(ProjectCreate, parse_json_allowing_infinity)
    project = await ctx.services.projects.create(body, owner)

    chosen_dataset = await ctx.services.projects.load_chosen_dataset(project)
    headers = {"ETag": _etag(project, chosen_dataset), "Location": f"/projects/{project.id}"}
    return JsonResponse(project_json(project, chosen_dataset), status_code=201, headers=headers)


@router.get(
    "/{project_id}",
    summary="Get a project",
    response_model=ProjectView,
    responses={200: {"headers": ETAG}, 304: NOT_MODIFIED},
    openapi_extra=describe_operation(conditional_header="If-None-Match"),
)
async def get_project(request: Request, project_id: ProjectKey) -> Response:
    """Return one of the caller's projects, or status 304 if the caller already has its current version."""
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)
    chosen_dataset = await ctx.services.projects.load_chosen_dataset(project)

    etag = _etag(project, chosen_dataset)
    if is_not_modified(request, etag):
        return Response(status_code=304, headers={"ETag": etag})
    return JsonResponse(project_json(project, chosen_dataset), headers={"ETag": etag})


@router.put(
    "/{project_id}",
    summary="Change a project",
    response_model=ProjectView,
    responses={200: {"headers": ETAG}},
    openapi_extra=describe_operation(body="ProjectChange", conditional_header="If-Match"),
)
async def change_project(request: Request, project_id: ProjectKey) -> Response:
    """Change the fields of a project that the body contains. The value null clears a field.

    With the header If-Match, the project is only changed if its version is still the given one.
    """
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)

    # Infinite numbers are accepted here, so that the validation of the weights can reject them with a better message.
    body = await ctx.body(ProjectChange, parse_json_allowing_infinity)
    expected_versions = parse_version_tags(parse_if_match(request))
    changed_project = await ctx.services.projects.change(project, body, versions=expected_versions)

    # The entity tag also depends on the chosen dataset.
    chosen_dataset = await ctx.services.projects.load_chosen_dataset(changed_project)
    headers = {"ETag": _etag(changed_project, chosen_dataset)}
    return JsonResponse(project_json(changed_project, chosen_dataset), headers=headers)


@router.delete(
    "/{project_id}",
    status_code=204,
    summary="Delete a project",
    openapi_extra=describe_operation(conditional_header="If-Match"),
)
async def delete_project(request: Request, project_id: ProjectKey) -> Response:
    """Delete one of the caller's projects.

    With the header If-Match, the project is only deleted if its version is still the given one.
    """
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)

    expected_versions = parse_version_tags(parse_if_match(request))
    await ctx.services.projects.delete(project, versions=expected_versions)

    return Response(status_code=204)


@router.get(
    "/{project_id}/recommendations",
    summary="Recommend datasets for a project",
    response_model=RecommendationsView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(RECOMMENDATION_PARAMETERS),
)
async def get_recommendations(request: Request, project_id: ProjectKey) -> Response:
    """Rank the datasets that match the criteria of the project by its weights, with explanations.

    The assurance of the project is used unless the request gives another one. Each item has the outcomes of the
    project's gates. With `gate=pass`, only datasets that pass all gates are ranked.
    """
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)

    scoring = ProjectNeed.from_project(project).scoring()
    options = parse_recommendation_options(ctx.query_string)

    query = build_ranking_query(scoring, options, project.user_id)
    assurance = options.assurance or project.assurance
    view, ranked = await ctx.catalog.rank(
        query, scoring.weights, skip=options.skip, limit=options.limit, assurance=assurance
    )

    result = RankingResult(view, ranked, scoring.weights, options, scoring.gates, ctx.locale)
    chosen_dataset = await ctx.services.projects.load_chosen_dataset(project)
    return await recommendations_response(result, scoring, project_json(project, chosen_dataset))


def project_json(project: ProjectRecord, chosen_dataset: ChosenDatasetView | None) -> dict[str, Any]:
    """Return the JSON object of a project, with the changes to its chosen dataset since the choice.

    It lacks the version of the project, which is in the entity tag.
    """
    fields = msgspec.structs.asdict(project)
    del fields["version"]
    return {**fields, "chosen_dataset": chosen_dataset}


def _etag(project: ProjectRecord, chosen_dataset: ChosenDatasetView | None) -> str:
    """Return the entity tag of a project, which combines its version with the changes to its chosen dataset."""
    suffix = chosen_dataset.version_suffix if chosen_dataset else ""
    return f'"{project.version}{suffix}"'
