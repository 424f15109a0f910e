"""Projects: a need with its weights, what the catalog offers for it, the choice and its reason, the work done."""

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Job, Project, TouchstoneError
from touchstone.client.models import Kind
from touchstone.core.errors import Invalid, NotFound
from touchstone.web.forms import misfit, wholes, written
from touchstone.web.page_context import Visit, page
from touchstone.web.rank_state import Misfit, RankState, stored
from touchstone.web.views import filter_form, job_view
from touchstone.web.views import rank_table as view
from touchstone.web.views.dataset_view import trainable
from touchstone.web.views.project_timeline import timeline

_ALL: Final = "/app/projects"
_ONE: Final = _ALL + "/{project_id}"  # the address of the page, to fill in
_OFFERED: Final = 10
_JOBS: Final = 50
_UNTOUCHED: Final = FormData()


async def _projects(visit: Visit) -> Response:
    projects = await visit.api.list_projects()
    chosen = await asyncio.gather(*(chosen_dataset(visit, one) for one in projects))
    return await visit.page("projects.html", projects=list(zip(projects, chosen, strict=True)))


async def chosen_dataset(visit: Visit, project: Project) -> Dataset | None:
    """The dataset that a project has chosen, unless it is gone by now."""
    if project.chosen_dataset_id is None:
        return None
    try:
        return await visit.api.get_dataset(project.chosen_dataset_id)
    except TouchstoneError as problem:
        if problem.status != NotFound.status:
            raise
        return None


async def _new(visit: Visit) -> Response:
    state = RankState.read(visit.pairs, await visit.vocabulary())
    chosen = await _named_dataset(visit)
    problem = None
    form = _UNTOUCHED
    if visit.request.method == "POST":
        form = await visit.form()
        try:
            await visit.check_sent()
            return visit.go(f"{_ALL}/{await _kept(visit, state, form, chosen)}")
        except Misfit as wrong:
            problem = misfit(filter_form.misfit_said(str(wrong), visit.speech))
        except TouchstoneError as refusal:
            if refusal.status != Invalid.status:
                raise
            problem = refusal
    return await visit.page(
        "project_new.html",
        status=problem.status if problem else 200,
        problem=problem,
        form=form,
        chosen=chosen,
        projects=await visit.api.list_projects(),
        **await _need(visit, state),
    )


async def _named_dataset(visit: Visit) -> Dataset | None:
    """Return the dataset that the address names as the choice to keep, if it names one."""
    number = visit.request.query_params.get("choose", "")
    return await visit.api.get_dataset(int(number)) if number.isascii() and number.isdigit() else None


async def _kept(visit: Visit, state: RankState, form: FormData, chosen: Dataset | None) -> str:
    """Keep filters and weights, and a choice with its reason, in a new project or an existing one; return its id."""
    fields: dict[str, Any] = {"criteria": state.filter_body(), "weights": state.weight_body()}
    if chosen is not None:
        if not written(form, "reason"):
            raise misfit(visit.speech.text("reason_missing"), "reason")
        fields |= {"chosen_dataset_id": chosen.id, "choice_reason": written(form, "reason")}

    if project_id := written(form, "project"):
        return (await visit.api.update_project(project_id, **fields)).id
    description = written(form, "description") or None
    return (await visit.api.create_project(written(form, "name"), description=description, **fields)).id


async def _need(visit: Visit, state: RankState) -> dict[str, Any]:
    weighed = view.criteria(await visit.criteria(), state, visit.speech)
    return {
        "state": state,
        "used": (used := view.weighing(weighed)),
        "shares_said": view.shares_said(used, visit.speech),
        "chips": filter_form.chips(state, visit.speech),
    }


async def _project(visit: Visit) -> Response:
    return await _shown(visit, visit.request.path_params["project_id"])


async def _shown(
    visit: Visit, project_id: str, problem: TouchstoneError | None = None, form: FormData = _UNTOUCHED
) -> Response:
    """The page of a project; after a refusal, with what was written in its form."""
    visit.place = f"{_ALL}/{project_id}"
    project = await visit.api.get_project(project_id)
    weights = {one.criterion_name: one.weight for one in project.weights}
    state = stored(project.criteria, weights, await visit.vocabulary())
    offered = await visit.api.get_recommendations(project.id, limit=_OFFERED)
    weighed = view.criteria(await visit.criteria(), state, visit.speech)
    jobs = await jobs_of(visit, project.id)
    chosen = await chosen_dataset(visit, project)
    return await visit.page(
        "project.html",
        status=problem.status if problem else 200,
        project=project,
        problem=problem,
        ranking=view.ranking(offered, weighed, state, visit.speech),
        chosen=chosen,
        trainable=chosen is not None and trainable(chosen),
        jobs=jobs,
        timing=partial(job_view.timing, speech=visit.speech, now=datetime.now(UTC)),
        events=timeline(project, jobs),
        form=form,
        done=visit.request.query_params.get("done"),
        **await _need(visit, state),
    )


async def jobs_of(visit: Visit, project_id: str | None) -> list[Job]:
    """One's trainings and explanations, newest first; those of a backend that is away are left out."""
    found = await asyncio.gather(*(_page_of(visit, kind, project_id) for kind in ("train", "explain")))
    return sorted((job for jobs in found for job in jobs), key=lambda job: job.created_at, reverse=True)


async def _page_of(visit: Visit, kind: Kind, project_id: str | None) -> list[Job]:
    try:
        return (await visit.api.page_jobs(kind, project_id=project_id, page_size=_JOBS)).jobs
    except TouchstoneError as problem:
        if problem.status < Invalid.status:
            raise
        return []


async def _change(visit: Visit) -> Response:
    form, project_id = await visit.form(), visit.request.path_params["project_id"]
    try:
        await visit.check_sent()
        await visit.api.update_project(
            project_id, name=written(form, "name"), description=written(form, "description") or None
        )
    except TouchstoneError as problem:
        if problem.status != Invalid.status:
            raise
        return await _shown(visit, project_id, problem, form)
    return visit.go(f"{_ALL}/{project_id}", done="project")


async def _choose(visit: Visit) -> Response:
    form = await visit.form()
    project_id, reason = written(form, "project"), written(form, "reason")
    try:
        await visit.check_sent()
        if not reason:
            raise misfit(visit.speech.text("reason_missing"), "reason")
        (dataset_id,) = wholes([written(form, "dataset")], visit.speech.text("choose_which"), "dataset")
        await visit.api.update_project(project_id, chosen_dataset_id=dataset_id, choice_reason=reason)
    except TouchstoneError as problem:
        if problem.status != Invalid.status:
            raise
        return await _shown(visit, project_id, problem, form)
    return visit.go(f"{_ALL}/{project_id}", done="chosen")


async def _delete(visit: Visit) -> Response:
    await visit.api.delete_project(visit.request.path_params["project_id"])
    return visit.go(_ALL)


ROUTES: Final = (
    Route(_ALL, page(_projects)),
    Route(f"{_ALL}/new", page(_new), methods=["GET", "POST"]),
    Route(f"{_ALL}/choose", page(_choose, back=_ALL), methods=["POST"]),
    Route(f"{_ALL}/{{project_id:str}}", page(_project)),
    Route(f"{_ALL}/{{project_id:str}}/change", page(_change, back=_ONE), methods=["POST"]),
    Route(f"{_ALL}/{{project_id:str}}/delete", page(_delete, back=_ONE), methods=["POST"]),
)
