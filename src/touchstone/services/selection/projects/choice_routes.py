"""The route of the history of choices. The handler checks the caller first, then the project."""

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.routing import strict_router
from touchstone.services.selection.context import ProjectKey, RequestContext
from touchstone.services.selection.openapi import TOTAL_COUNT, describe_operation
from touchstone.services.selection.paging import PAGE_PARAMETERS, list_response, parse_page_window
from touchstone.services.selection.projects.choice_schemas import ChoicePageView, ChoiceView, choice_json

router = strict_router(prefix="/projects/{project_id}/choices", tags=["projects"])


@router.get(
    "",
    summary="List the choices for a project",
    response_model=list[ChoiceView] | ChoicePageView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(PAGE_PARAMETERS),
)
async def list_choices(request: Request, project_id: ProjectKey) -> Response:
    """Return the history of the choices for a project of the caller, the newest choice first.

    Each choice has the reason, and the rank and the content of the dataset at that time, even if the dataset has been
    deleted since. If the query has `page` or `page_size`, the response is an object with the choices and the
    position of the page. Otherwise it is a bare array.
    """
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)
    window = parse_page_window(PAGE_PARAMETERS.parse_query(ctx.query_string))

    history = await ctx.services.projects.load_history(project, skip=window.skip, limit=window.limit)

    choices = [choice_json(choice, history.visible_ids, history.pseudos) for choice in history.choices]
    return list_response("choices", choices, window, history.total_count)
