"""The pages of projects: a need as filters, gates and weights, recommended datasets, choices, snapshots, and jobs."""

from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from uuid import uuid4

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Project, TouchstoneError
from touchstone.core.errors import IdempotencyConflict, Invalid, PreconditionFailed, ProjectQuotaExceeded
from touchstone.core.text import is_blank
from touchstone.messages.labels import METRIC_LABELS
from touchstone.web.addresses import page_address
from touchstone.web.api_queries import (
    find_chosen_dataset,
    find_dataset_names,
    list_comparisons,
    list_recent_jobs,
    load_background,
    load_change_describer,
    read_rank_page_state,
)
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import id_field, invalid_field, is_integer, text_field
from touchstone.web.ignored_parameters import describe_ignored_parameters, describe_ignored_settings
from touchstone.web.localizer import Localizer
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_filters import InvalidFilterValue
from touchstone.web.rank_state import RankState, parse_small_integer
from touchstone.web.routes.job_start import start_comparison
from touchstone.web.views.choice_history import RECENT_CHOICES, choice_entries
from touchstone.web.views.dataset_view import is_trainable
from touchstone.web.views.filter_form import filter_chips, invalid_filter_message
from touchstone.web.views.gate_form import gate_chips, invalid_gate_message
from touchstone.web.views.job_view import job_timing
from touchstone.web.views.model_scores import model_scores
from touchstone.web.views.project_timeline import project_timeline
from touchstone.web.views.rank_table import build_rank_table
from touchstone.web.views.training_choices import DATASET_OPTIONS
from touchstone.web.views.weighted_criteria import (
    WeightedCriterion,
    criteria_with_weight,
    describe_shares,
    weighted_criteria,
)

_PROJECTS: Final = "/app/projects"
_PROJECT: Final = f"{_PROJECTS}/{{project_id}}"
_SNAPSHOT: Final = f"{_PROJECT}/snapshots/{{snapshot_id}}"
_COMPARISON_ROUTE: Final = f"{_PROJECTS}/{{project_id:str}}/compare/{{comparison_id:str}}"
_RECOMMENDATIONS: Final = 10
_PROJECTS_PER_PAGE: Final = 48
_REFUSED_INPUT: Final = (
    Invalid.status,
    ProjectQuotaExceeded.status,
    PreconditionFailed.status,
    IdempotencyConflict.status,
)
"""The statuses of errors that the page of a project shows together with what was entered."""


async def projects_page(ctx: PageContext) -> Response:
    """Show a page of the reader's projects with the datasets that they have chosen."""
    page_number = parse_small_integer(ctx.request.query_params.get("page", "")) or 1
    page = await ctx.api.page_projects(page=page_number, page_size=_PROJECTS_PER_PAGE)
    return await ctx.render(
        "projects.html",
        address_notes=describe_ignored_parameters(ctx, numbers=["page"]),
        projects=page.projects,
        page=page,
        link=partial(page_address, _PROJECTS),
    )


async def new_project_page(ctx: PageContext) -> Response:
    """Show the form that saves a ranking in a project; on POST, save it and redirect to the project.

    The filters, gates and weights of the ranking are in the address. The reader saves them in a new or an existing
    project. If the address also names a dataset, it becomes the chosen dataset of that project, and the reader gives a
    reason.
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
            return ctx.redirect(_PROJECT.format(project_id=project.id))
        except InvalidFilterValue as error:
            form_error = invalid_field(_invalid_need_message(state, str(error), ctx.localizer))
        except TouchstoneError as error:
            if error.status not in _REFUSED_INPUT:
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
    """Show a project: its need, the datasets that suit it best, every choice, its snapshots, and its jobs."""
    return await _render_project(ctx, ctx.path_params["project_id"])


async def change_project(ctx: PageContext) -> Response:
    """Save the name and the description of a project and show it again; an error is shown with what was entered.

    The form holds the version of the project, so that saving fails if the project has been changed since then, for
    example in another tab.
    """
    form = await ctx.form()
    project_id = ctx.path_params["project_id"]
    name = text_field(form, "name")
    description = text_field(form, "description") or None

    try:
        await ctx.require_new_form()
        version = text_field(form, "etag") or None
        await ctx.api.update_project(project_id, etag=version, name=name, description=description)
    except TouchstoneError as error:
        if error.status not in _REFUSED_INPUT:
            raise
        return await _render_project(ctx, project_id, form, error)

    return ctx.redirect(_PROJECT.format(project_id=project_id), done=FlashMessage.PROJECT_SAVED)


async def choose_dataset(ctx: PageContext) -> Response:
    """Save which dataset a project has chosen and why, and redirect to the project.

    The pages of projects and of datasets both have this form, so the form and not the address names the project. If the
    reason is missing, the page of the project shows the error.
    """
    form = await ctx.form()
    project_id = text_field(form, "project")

    try:
        await ctx.require_new_form()
        reason = _require_reason(ctx, form)
        dataset_id = id_field(form, "dataset", ctx.text("choose_which"))
        await ctx.api.update_project(project_id, chosen_dataset_id=dataset_id, choice_reason=reason)
    except TouchstoneError as error:
        if error.status not in _REFUSED_INPUT:
            raise
        return await _render_project(ctx, project_id, form, error)

    return ctx.redirect(_PROJECT.format(project_id=project_id), done=FlashMessage.DATASET_CHOSEN)


async def change_reason(ctx: PageContext) -> Response:
    """Save another reason for the choice of a project, and redirect to the project.

    Like that of the description, the form holds the version of the project, because the reason that was entered does
    not belong to a dataset that has been chosen since.
    """
    form = await ctx.form()
    project_id = ctx.path_params["project_id"]

    try:
        await ctx.require_new_form()
        reason = _require_reason(ctx, form)
        version = text_field(form, "etag") or None
        await ctx.api.update_project(project_id, etag=version, choice_reason=reason)
    except TouchstoneError as error:
        if error.status not in _REFUSED_INPUT:
            raise
        return await _render_project(ctx, project_id, form, error)

    return ctx.redirect(_PROJECT.format(project_id=project_id), done=FlashMessage.DATASET_CHOSEN)


async def take_choice_back(ctx: PageContext) -> Response:
    """Save that a project no longer has a chosen dataset, perhaps with a reason, and redirect to the project.

    The form holds the version of the project, so that a choice which the reader has not seen is not taken back.
    """
    form = await ctx.form()
    project_id = ctx.path_params["project_id"]

    try:
        await ctx.require_new_form()
        reason = text_field(form, "reason") or None
        version = text_field(form, "etag") or None
        await ctx.api.update_project(project_id, etag=version, chosen_dataset_id=None, choice_reason=reason)
    except TouchstoneError as error:
        if error.status not in _REFUSED_INPUT:
            raise
        return await _render_project(ctx, project_id, form, error)

    return ctx.redirect(_PROJECT.format(project_id=project_id), done=FlashMessage.CHOICE_TAKEN_BACK)


def _require_reason(ctx: PageContext, form: FormData) -> str:
    """Return the reason for the choice of a dataset.

    Raises:
        TouchstoneError: The reader has not given any.
    """
    reason = text_field(form, "reason")
    if is_blank(reason):
        raise invalid_field(ctx.text("reason_missing"), "reason")
    return reason


async def take_snapshot(ctx: PageContext) -> Response:
    """Freeze the ranking of a project, and redirect to the page of the snapshot; an error is shown with the note."""
    form = await ctx.form()
    project_id = ctx.path_params["project_id"]

    try:
        await ctx.require_new_form()
        snapshot = await ctx.api.create_snapshot(project_id, note=text_field(form, "note") or None)
    except TouchstoneError as error:
        if error.status not in _REFUSED_INPUT:
            raise
        return await _render_project(ctx, project_id, form, error)

    address = _SNAPSHOT.format(project_id=project_id, snapshot_id=snapshot.id)
    return ctx.redirect(address, done=FlashMessage.SNAPSHOT_TAKEN)


async def compare_models(ctx: PageContext) -> Response:
    """Start a comparison of the first tables of a project's ranking; an error is shown with what was entered."""
    form = await ctx.form()
    project_id = ctx.path_params["project_id"]

    try:
        await ctx.require_new_form()
        await start_comparison(ctx, form, project_id)
    except TouchstoneError as error:
        if error.status not in _REFUSED_INPUT:
            raise
        return await _render_project(ctx, project_id, form, error)

    return ctx.redirect(_PROJECT.format(project_id=project_id))


async def cancel_comparison(ctx: PageContext) -> Response:
    """Stop the trainings of a comparison and redirect to its project."""
    await ctx.api.cancel_training_comparison(ctx.path_params["comparison_id"])
    return ctx.redirect(_PROJECT.format(project_id=ctx.path_params["project_id"]))


async def delete_comparison(ctx: PageContext) -> Response:
    """Delete a comparison, but not its trainings, and redirect to its project."""
    await ctx.api.delete_training_comparison(ctx.path_params["comparison_id"])
    return ctx.redirect(_PROJECT.format(project_id=ctx.path_params["project_id"]))


async def delete_snapshot(ctx: PageContext) -> Response:
    """Delete a snapshot and redirect to its project."""
    project_id = ctx.path_params["project_id"]
    await ctx.api.delete_snapshot(project_id, ctx.path_params["snapshot_id"])
    return ctx.redirect(_PROJECT.format(project_id=project_id), done=FlashMessage.SNAPSHOT_DELETED)


async def delete_project(ctx: PageContext) -> Response:
    """Delete a project and redirect to the list."""
    await ctx.api.delete_project(ctx.path_params["project_id"])
    return ctx.redirect(_PROJECTS)


async def _dataset_to_choose(ctx: PageContext) -> Dataset | None:
    """Return the dataset that the address names as the choice to keep, or None if it names none."""
    dataset_id = ctx.request.query_params.get("choose", "")
    if not is_integer(dataset_id):
        return None
    return await ctx.api.get_dataset(int(dataset_id))


async def _save_need(ctx: PageContext, state: RankState, form: FormData, dataset: Dataset | None) -> Project:
    """Save a need in the project that the form names, or in a new one, and return the project.

    A need consists of filters, gates, weights and the required level of evidence and, if the reader has chosen one, a
    dataset with the reason for the choice.

    Raises:
        InvalidFilterValue: A filter or a gate does not accept its value.
        TouchstoneError: The reason for the choice is missing, or the API refuses the project.
    """
    need: dict[str, Any] = {
        "criteria": state.filter_body(),
        "gates": state.gate_body(),
        "weights": state.weight_body(),
        "assurance": state.assurance,
    }
    if dataset is not None:
        need["chosen_dataset_id"] = dataset.id
        need["choice_reason"] = _require_reason(ctx, form)

    project_id = text_field(form, "project")
    if project_id:
        return await ctx.api.update_project(project_id, **need)

    name = text_field(form, "name")
    description = text_field(form, "description") or None
    return await ctx.api.create_project(name, description=description, **need)


def _invalid_need_message(state: RankState, name: str, localizer: Localizer) -> str:
    """Return the message about the filter or the gate of this name, which does not accept its value."""
    if name in state.invalid_filters:
        return invalid_filter_message(name, localizer)
    return invalid_gate_message(name, localizer)


def _need_variables(ctx: PageContext, state: RankState, criteria: tuple[WeightedCriterion, ...]) -> dict[str, Any]:
    """Return the template variables that show a need, which consists of filters, gates and weights."""
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
    """Return the page of a project; after an error in one of its forms, with the error and what was entered."""
    # The request may have submitted a form, but the switches of language and theme lead back to the project.
    ctx.page_address = _PROJECT.format(project_id=project_id)

    project = await ctx.api.get_project(project_id)
    recommendations = await ctx.api.get_recommendations(project.id, limit=_RECOMMENDATIONS)
    jobs = await list_recent_jobs(ctx, project.id)
    choices = await ctx.api.list_choices(project.id)
    snapshots = await ctx.api.list_snapshots(project.id)
    comparisons = await list_comparisons(ctx, project.id)
    chosen_dataset = await find_chosen_dataset(ctx, project)
    describer = await load_change_describer(ctx)

    # The project's need is shown in the same way as those of the rank page.
    state = RankState.of_project(project, await ctx.weight_profiles())
    criteria = weighted_criteria(await ctx.criteria(), state, ctx.localizer)
    background = await load_background(ctx, state, recommendations)

    return await ctx.render(
        "project.html",
        error=error,
        form=form if form is not None else FormData(),
        outdated=error is not None and error.status == PreconditionFailed.status,
        project=project,
        ranking=build_rank_table(recommendations, criteria, state, ctx.localizer, background),
        # The choice.
        chosen=chosen_dataset,
        changes=describer.describe(project.chosen_dataset.changes) if project.chosen_dataset else (),
        trainable=chosen_dataset is not None and is_trainable(chosen_dataset),
        history=choice_entries(choices, describer),
        recent_choices=RECENT_CHOICES,
        # The models trained on the first datasets of the ranking.
        comparisons=comparisons,
        model_scores=model_scores(comparisons, ctx.localizer),
        metrics=METRIC_LABELS,
        dataset_options=DATASET_OPTIONS,
        key=(form and text_field(form, "key")) or str(uuid4()),
        # What has happened.
        snapshots=snapshots,
        jobs=jobs,
        dataset_names=await find_dataset_names(ctx, jobs),
        timing=partial(job_timing, localizer=ctx.localizer, now=datetime.now(UTC)),
        events=project_timeline(project, jobs, choices, snapshots),
        **_need_variables(ctx, state, criteria),
    )


ROUTES: Final = (
    Route(_PROJECTS, page_endpoint(projects_page)),
    Route(f"{_PROJECTS}/new", page_endpoint(new_project_page), methods=["GET", "POST"]),
    Route(f"{_PROJECTS}/choose", page_endpoint(choose_dataset, form_page=_PROJECTS), methods=["POST"]),
    Route(f"{_PROJECTS}/{{project_id:str}}", page_endpoint(project_page)),
    Route(
        f"{_PROJECTS}/{{project_id:str}}/change", page_endpoint(change_project, form_page=_PROJECT), methods=["POST"]
    ),
    Route(
        f"{_PROJECTS}/{{project_id:str}}/snapshots", page_endpoint(take_snapshot, form_page=_PROJECT), methods=["POST"]
    ),
    Route(
        f"{_PROJECTS}/{{project_id:str}}/compare", page_endpoint(compare_models, form_page=_PROJECT), methods=["POST"]
    ),
    Route(f"{_COMPARISON_ROUTE}/cancel", page_endpoint(cancel_comparison, form_page=_PROJECT), methods=["POST"]),
    Route(f"{_COMPARISON_ROUTE}/delete", page_endpoint(delete_comparison, form_page=_PROJECT), methods=["POST"]),
    Route(f"{_PROJECTS}/{{project_id:str}}/reason", page_endpoint(change_reason, form_page=_PROJECT), methods=["POST"]),
    Route(
        f"{_PROJECTS}/{{project_id:str}}/take-back",
        page_endpoint(take_choice_back, form_page=_PROJECT),
        methods=["POST"],
    ),
    Route(
        f"{_PROJECTS}/{{project_id:str}}/snapshots/{{snapshot_id:str}}/delete",
        page_endpoint(delete_snapshot, form_page=_PROJECT),
        methods=["POST"],
    ),
    Route(
        f"{_PROJECTS}/{{project_id:str}}/delete", page_endpoint(delete_project, form_page=_PROJECT), methods=["POST"]
    ),
)
