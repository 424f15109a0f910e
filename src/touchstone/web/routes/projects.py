"""The pages of projects, with their needs, recommended datasets, choices, snapshots and jobs.

The need of a project consists of filters, gates, weights and the required level of evidence.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial, wraps
from typing import Any, Final
from uuid import uuid4

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Project, TouchstoneError
from touchstone.core.errors import IdempotencyConflict, Invalid, PreconditionFailed, ProjectQuotaExceeded
from touchstone.core.text import is_blank
from touchstone.messages.labels import METRIC_LABELS
from touchstone.web.addresses import list_page_address
from touchstone.web.api_queries import (
    fetch_lifts,
    fetch_ranked_dataset,
    find_chosen_dataset,
    find_dataset_names,
    list_comparisons,
    list_recent_jobs,
    load_background,
    load_change_describer,
    read_rank_page_state,
)
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import header_value_field, id_field, invalid_field, is_integer, text_field
from touchstone.web.ignored_parameters import describe_ignored_parameters, describe_ignored_settings
from touchstone.web.list_pages import is_beyond_last_page, requested_page
from touchstone.web.localizer import Localizer
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import PageHandler, page_endpoint
from touchstone.web.rank_filters import InvalidFilterValue
from touchstone.web.rank_state import RankState
from touchstone.web.routes.job_start import start_comparison
from touchstone.web.views.choice_history import RECENT_CHOICES, choice_entries
from touchstone.web.views.dataset_view import is_trainable
from touchstone.web.views.filter_form import filter_chips, invalid_filter_message
from touchstone.web.views.gate_badges import GateBadge, gate_badges
from touchstone.web.views.gate_form import gate_chips, invalid_gate_message
from touchstone.web.views.job_view import job_timing
from touchstone.web.views.model_scores import model_scores
from touchstone.web.views.project_timeline import RECENT_EVENTS, project_timeline
from touchstone.web.views.rank_table import build_rank_table
from touchstone.web.views.training_choices import DATASET_OPTIONS
from touchstone.web.views.weighted_criteria import (
    WeightedCriterion,
    criteria_with_weight,
    describe_shares,
    weighted_criteria,
)

_PROJECTS: Final = "/app/projects"
_PROJECT_ROUTE: Final = f"{_PROJECTS}/{{project_id:str}}"
_COMPARISON_ROUTE: Final = f"{_PROJECT_ROUTE}/compare/{{comparison_id:str}}"
_PROJECT_PATH: Final = f"{_PROJECTS}/{{project_id}}"
_SNAPSHOT_PATH: Final = f"{_PROJECT_PATH}/snapshots/{{snapshot_id}}"
_RECOMMENDATIONS: Final = 10
_PROJECTS_PER_PAGE: Final = 48
_FORM_ERRORS: Final = (
    Invalid.status,
    ProjectQuotaExceeded.status,
    PreconditionFailed.status,
    IdempotencyConflict.status,
)
"""The statuses of errors that a page shows above its form, together with what was entered."""
ProjectFormHandler = Callable[[PageContext, FormData, str], Awaitable[Response]]
"""Handles the fields of a form on the page of a project, given the id of the project."""


async def projects_page(ctx: PageContext) -> Response:
    """Show one page of the list of the reader's projects, with their chosen datasets."""
    page = await ctx.api.page_projects(page=requested_page(ctx), page_size=_PROJECTS_PER_PAGE)
    if is_beyond_last_page(page):
        return ctx.redirect(_PROJECTS, page=page.total_pages)

    return await ctx.render(
        "projects.html",
        address_notes=describe_ignored_parameters(ctx, numbers=["page"]),
        projects=page.projects,
        page=page,
        link=partial(list_page_address, _PROJECTS),
    )


async def new_project_page(ctx: PageContext) -> Response:
    """Show the form that saves a ranking in a project; on POST, save it and redirect to the project.

    The address contains the filters, gates and weights of the ranking, which the reader saves in a new or an existing
    project. If the address also names a dataset, the project chooses this dataset, and the reader enters a reason.
    """
    state = await read_rank_page_state(ctx)
    dataset = await _dataset_to_choose(ctx)
    form = FormData()
    form_error: TouchstoneError | None = None

    if ctx.is_post:
        form = await ctx.form()
        try:
            await ctx.require_new_form()
            project = await _save_need(ctx, state, form, dataset)
            return _redirect_to_project(ctx, project.id)
        except InvalidFilterValue as error:
            form_error = invalid_field(_invalid_need_message(state, str(error), ctx.localizer))
        except TouchstoneError as error:
            if error.status not in _FORM_ERRORS:
                raise
            form_error = error

    criteria = weighted_criteria(await ctx.criteria(), state, ctx.localizer)
    return await ctx.render(
        "project_new.html",
        address_notes=await describe_ignored_settings(ctx, ["choose"]),
        error=form_error,
        form=form,
        chosen=dataset,
        projects=await ctx.api.list_projects(),
        **_need_variables(ctx, state, criteria),
    )


async def project_page(ctx: PageContext) -> Response:
    """Show a project with its need, the recommended datasets, its choices, its snapshots and its jobs."""
    return await _render_project(ctx, ctx.path_params["project_id"])


def _project_form(handle_form: ProjectFormHandler) -> PageHandler:
    """Return a page handler for a form on the page of a project, which is shown again if the form has an error."""

    @wraps(handle_form)
    async def handler(ctx: PageContext) -> Response:
        form = await ctx.form()
        # Forms on the pages of datasets name the project in a field.
        project_id = ctx.path_params.get("project_id") or text_field(form, "project")
        try:
            await ctx.require_new_form()
            return await handle_form(ctx, form, project_id)
        except TouchstoneError as error:
            if error.status not in _FORM_ERRORS:
                raise
            return await _render_project(ctx, project_id, form, error)

    return handler


@_project_form
async def change_project(ctx: PageContext, form: FormData, project_id: str) -> Response:
    """Save the name and the description of a project, and redirect to the project.

    The form contains the version of the project, so that saving fails if the project has been changed since then, for
    example in another tab.
    """
    name = text_field(form, "name")
    description = text_field(form, "description") or None
    version = header_value_field(form, "etag")
    await ctx.api.update_project(project_id, etag=version, name=name, description=description)
    return _redirect_to_project(ctx, project_id, FlashMessage.PROJECT_SAVED)


@_project_form
async def choose_dataset(ctx: PageContext, form: FormData, project_id: str) -> Response:
    """Save the chosen dataset of a project and the reason for the choice, and redirect to the project.

    The pages of datasets also have this form, so the project is a field of the form and not part of the address. If the
    reason is missing, the page of the project shows the error. On the page of the project, the form contains its
    version, so that a choice that the reader has not seen is never replaced.
    """
    reason = _require_reason(ctx, form)
    dataset_id = id_field(form, "dataset", ctx.text("choose_which"))
    version = header_value_field(form, "etag")
    await ctx.api.update_project(project_id, etag=version, chosen_dataset_id=dataset_id, choice_reason=reason)
    return _redirect_to_project(ctx, project_id, FlashMessage.DATASET_CHOSEN)


@_project_form
async def change_reason(ctx: PageContext, form: FormData, project_id: str) -> Response:
    """Save a new reason for the choice of a project, and redirect to the project.

    The form contains the version of the project, so that the reason is never saved for a dataset that was chosen in the
    meantime.
    """
    reason = _require_reason(ctx, form)
    version = header_value_field(form, "etag")
    await ctx.api.update_project(project_id, etag=version, choice_reason=reason)
    return _redirect_to_project(ctx, project_id, FlashMessage.DATASET_CHOSEN)


@_project_form
async def take_choice_back(ctx: PageContext, form: FormData, project_id: str) -> Response:
    """Withdraw the choice of a project, with an optional reason, and redirect to the project.

    The form contains the version of the project, so that a choice that the reader has not seen is never withdrawn.
    """
    reason = text_field(form, "reason") or None
    version = header_value_field(form, "etag")
    await ctx.api.update_project(project_id, etag=version, chosen_dataset_id=None, choice_reason=reason)
    return _redirect_to_project(ctx, project_id, FlashMessage.CHOICE_TAKEN_BACK)


def _redirect_to_project(ctx: PageContext, project_id: str, message: FlashMessage | None = None) -> Response:
    """Redirect to the page of a project, which shows the flash message if there is one."""
    return ctx.redirect(_PROJECT_PATH.format(project_id=project_id), done=message)


def _require_reason(ctx: PageContext, form: FormData) -> str:
    """Return the reason for the choice of a dataset.

    Raises:
        TouchstoneError: the reader has not entered a reason.
    """
    reason = text_field(form, "reason")
    if is_blank(reason):
        raise invalid_field(ctx.text("reason_missing"), "reason")
    return reason


@_project_form
async def take_snapshot(ctx: PageContext, form: FormData, project_id: str) -> Response:
    """Create a snapshot of the ranking of a project, and redirect to the page of the snapshot."""
    snapshot = await ctx.api.create_snapshot(project_id, note=text_field(form, "note") or None)
    address = _SNAPSHOT_PATH.format(project_id=project_id, snapshot_id=snapshot.id)
    return ctx.redirect(address, done=FlashMessage.SNAPSHOT_TAKEN)


@_project_form
async def compare_models(ctx: PageContext, form: FormData, project_id: str) -> Response:
    """Train models on the best-ranked tables of a project, and redirect to the project."""
    await start_comparison(ctx, form, project_id)
    return _redirect_to_project(ctx, project_id)


async def cancel_comparison(ctx: PageContext) -> Response:
    """Cancel the trainings of a comparison and redirect to its project."""
    await ctx.api.cancel_training_comparison(ctx.path_params["comparison_id"])
    return _redirect_to_project(ctx, ctx.path_params["project_id"])


async def delete_comparison(ctx: PageContext) -> Response:
    """Delete a comparison, but not its trainings, and redirect to its project."""
    await ctx.api.delete_training_comparison(ctx.path_params["comparison_id"])
    return _redirect_to_project(ctx, ctx.path_params["project_id"])


async def delete_snapshot(ctx: PageContext) -> Response:
    """Delete a snapshot and redirect to its project."""
    project_id = ctx.path_params["project_id"]
    await ctx.api.delete_snapshot(project_id, ctx.path_params["snapshot_id"])
    return _redirect_to_project(ctx, project_id, FlashMessage.SNAPSHOT_DELETED)


async def delete_project(ctx: PageContext) -> Response:
    """Delete a project and redirect to the list of projects."""
    await ctx.api.delete_project(ctx.path_params["project_id"])
    return ctx.redirect(_PROJECTS)


async def _dataset_to_choose(ctx: PageContext) -> Dataset | None:
    """Return the dataset in the address that the project is to choose, or None if there is none."""
    dataset_id = ctx.request.query_params.get("choose", "")
    if not is_integer(dataset_id):
        return None
    return await ctx.api.get_dataset(int(dataset_id))


async def _save_need(ctx: PageContext, state: RankState, form: FormData, dataset: Dataset | None) -> Project:
    """Save a need in the project that the form names, or in a new project, and return the project.

    Args:
        ctx: the request.
        state: the state of the rank page with the need.
        form: the form with the id of the project, or the name and the description of a new project.
        dataset: the dataset that the project is to choose, if any. The form then contains the reason.

    Raises:
        InvalidFilterValue: a filter or a gate has an invalid value.
        TouchstoneError: the reason for the choice is missing, or the API refuses the project.
    """
    fields: dict[str, Any] = {
        "criteria": state.filter_body(),
        "gates": state.gate_body(),
        "weights": state.weight_body(),
        "assurance": state.assurance,
    }
    if dataset is not None:
        fields["chosen_dataset_id"] = dataset.id
        fields["choice_reason"] = _require_reason(ctx, form)

    project_id = text_field(form, "project")
    if project_id:
        return await ctx.api.update_project(project_id, **fields)

    name = text_field(form, "name")
    description = text_field(form, "description") or None
    return await ctx.api.create_project(name, description=description, **fields)


def _invalid_need_message(state: RankState, name: str, localizer: Localizer) -> str:
    """Return the message about the filter or gate with this name, which has an invalid value."""
    if name in state.invalid_filters:
        return invalid_filter_message(name, localizer)
    return invalid_gate_message(name, localizer)


def _need_variables(ctx: PageContext, state: RankState, criteria: tuple[WeightedCriterion, ...]) -> dict[str, Any]:
    """Return the template variables for a need: its filters, gates and weights."""
    used_criteria = criteria_with_weight(criteria)
    return {
        "state": state,
        "used": used_criteria,
        "shares_text": describe_shares(used_criteria, ctx.localizer),
        "chips": filter_chips(state, ctx.localizer),
        "gate_chips": gate_chips(state, ctx.localizer),
    }


async def _render_project(
    ctx: PageContext, project_id: str, form: FormData | None = None, error: TouchstoneError | None = None
) -> Response:
    """Return the page of a project.

    After an error in one of its forms, the page shows the error and what was entered.
    """
    form = form or FormData()

    # After a submitted form, the switches of language and theme must lead back to the project.
    ctx.page_address = _PROJECT_PATH.format(project_id=project_id)

    project = await ctx.api.get_project(project_id)
    recommendations = await ctx.api.get_recommendations(project.id, limit=_RECOMMENDATIONS)
    jobs = await list_recent_jobs(ctx, project.id)
    choices = await ctx.api.list_choices(project.id)
    snapshots = await ctx.api.list_snapshots(project.id)
    comparisons = await list_comparisons(ctx, project.id)
    chosen_dataset = await find_chosen_dataset(ctx, project)
    describer = await load_change_describer(ctx)

    # The need of a project is shown like the state of the rank page.
    state = RankState.from_project(project, await ctx.weight_profiles())
    criteria = weighted_criteria(await ctx.criteria(), state, ctx.localizer)
    background = await load_background(ctx, state, recommendations)

    return await ctx.render(
        "project.html",
        error=error,
        form=form,
        outdated=error is not None and error.status == PreconditionFailed.status,
        project=project,
        ranking=build_rank_table(recommendations, criteria, state, ctx.localizer, background),
        # Choice
        chosen=chosen_dataset,
        choice_gates=await _fetch_choice_gates(ctx, state, chosen_dataset),
        changes=describer.describe(project.chosen_dataset.changes) if project.chosen_dataset else (),
        trainable=chosen_dataset is not None and is_trainable(chosen_dataset),
        history=choice_entries(choices, describer),
        recent_choices=RECENT_CHOICES,
        # Models trained on the best-ranked datasets
        comparisons=comparisons,
        model_scores=model_scores(comparisons, ctx.localizer),
        metrics=METRIC_LABELS,
        dataset_options=DATASET_OPTIONS,
        # With this key, the API starts only one comparison even if the form is submitted twice.
        key=text_field(form, "key") or str(uuid4()),
        # History
        snapshots=snapshots,
        jobs=jobs,
        dataset_names=await find_dataset_names(ctx, jobs),
        timing=partial(job_timing, localizer=ctx.localizer, now=datetime.now(UTC)),
        events=project_timeline(project, jobs, choices, snapshots),
        recent_events=RECENT_EVENTS,
        **_need_variables(ctx, state, criteria),
    )


async def _fetch_choice_gates(ctx: PageContext, state: RankState, dataset: Dataset | None) -> tuple[GateBadge, ...]:
    """Return a badge for each requirement of a project, which shows whether the chosen dataset meets it.

    The chosen dataset is requested separately, because it is not always among the recommended datasets. If it does not
    match the filters of the project, it has no place in the ranking, and there are no badges.
    """
    if dataset is None or not state.gates:
        return ()

    lifts = await fetch_lifts(ctx, state, dataset)
    if lifts is None:
        return ()

    ranked_dataset = await fetch_ranked_dataset(ctx, state, lifts)
    if ranked_dataset is None:
        return ()
    return gate_badges(ranked_dataset, state, ctx.localizer)


ROUTES: Final = (
    Route(_PROJECTS, page_endpoint(projects_page)),
    Route(f"{_PROJECTS}/new", page_endpoint(new_project_page), methods=["GET", "POST"]),
    Route(f"{_PROJECTS}/choose", page_endpoint(choose_dataset, form_page=_PROJECTS), methods=["POST"]),
    Route(_PROJECT_ROUTE, page_endpoint(project_page)),
    Route(f"{_PROJECT_ROUTE}/change", page_endpoint(change_project, form_page=_PROJECT_PATH), methods=["POST"]),
    Route(f"{_PROJECT_ROUTE}/snapshots", page_endpoint(take_snapshot, form_page=_PROJECT_PATH), methods=["POST"]),
    Route(f"{_PROJECT_ROUTE}/compare", page_endpoint(compare_models, form_page=_PROJECT_PATH), methods=["POST"]),
    Route(f"{_COMPARISON_ROUTE}/cancel", page_endpoint(cancel_comparison, form_page=_PROJECT_PATH), methods=["POST"]),
    Route(f"{_COMPARISON_ROUTE}/delete", page_endpoint(delete_comparison, form_page=_PROJECT_PATH), methods=["POST"]),
    Route(f"{_PROJECT_ROUTE}/reason", page_endpoint(change_reason, form_page=_PROJECT_PATH), methods=["POST"]),
    Route(f"{_PROJECT_ROUTE}/take-back", page_endpoint(take_choice_back, form_page=_PROJECT_PATH), methods=["POST"]),
    Route(
        f"{_PROJECT_ROUTE}/snapshots/{{snapshot_id:str}}/delete",
        page_endpoint(delete_snapshot, form_page=_PROJECT_PATH),
        methods=["POST"],
    ),
    Route(f"{_PROJECT_ROUTE}/delete", page_endpoint(delete_project, form_page=_PROJECT_PATH), methods=["POST"]),
)
