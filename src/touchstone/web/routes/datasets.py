"""One dataset with everything that is known about it, and the form that brings one's own."""

from pathlib import PurePath
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, TouchstoneError
from touchstone.core.attributes import ETHICAL
from touchstone.core.errors import Invalid, PreconditionFailed, TooLarge
from touchstone.web.forms import listed, misfit, parted, sent_file, whole, written
from touchstone.web.page_context import Visit, page
from touchstone.web.routes.ranking import place_of, read_state
from touchstone.web.views import dataset_view
from touchstone.web.views import rank_table as view

_NEW: Final = "/app/datasets/new"
_FLAGS: Final = {"true": True, "false": False}
_MEASURED: Final = "measured"  # the part of a record's metadata that the service writes
_NO_VERSION: Final = '"none"'
_BAD_INPUT: Final = (Invalid.status, TooLarge.status)


async def _dataset(visit: Visit) -> Response:
    dataset = await visit.api.get_dataset(visit.request.path_params["dataset_id"])
    state = await read_state(visit)
    weighed = view.criteria(await visit.criteria(), state, visit.speech)
    place = await place_of(visit, state, dataset)
    return await visit.page(
        "dataset.html",
        dataset=dataset,
        state=state,
        criteria=weighed,
        place=place,
        score=view.score_text(place, view.weighing(weighed), visit.speech),
        cells=view.cells(place, weighed, visit.speech) if place else (),
        pairs=dataset_view.pairs(dataset),
        ethics=dataset_view.ethics(dataset),
        columns=dataset_view.columns(dataset),
        measured=dataset_view.measured(dataset),
        unmeasured=dataset_view.unmeasured(dataset),
        trainable=dataset_view.trainable(dataset),
        projects=await visit.api.list_projects(),
        done=visit.request.query_params.get("done"),
    )


async def _new(visit: Visit) -> Response:
    form = FormData({"visibility": "private"})
    problem = None
    if visit.request.method == "POST":
        form = await visit.form()
        try:
            await visit.check_sent()
            made = await _create(visit, form)
            return visit.go(f"/app/datasets/{made.id}", done="created")
        except TouchstoneError as refusal:
            if refusal.status not in _BAD_INPUT:
                raise
            problem = refusal
    return await visit.page(
        "dataset_form.html",
        dataset=None,
        status=problem.status if problem else 200,
        problem=problem,
        form=form,
        ethical=ETHICAL,
        limit=visit.desk.settings.upload_max_bytes,
        outdated=False,
    )


async def _create(visit: Visit, form: FormData) -> Dataset:
    name, sent = written(form, "name"), sent_file(form, "file")
    if sent is None and not name:
        raise misfit(visit.speech.text("new_nothing"), "name")
    where: Any = {}
    if sent is not None and sent.filename:
        kept = await visit.api.upload_file(sent.file, sent.filename)
        where = {"file_path": kept.file_path, "file_type": kept.file_type}
        name = name or PurePath(sent.filename).stem
    return await visit.api.create_dataset(name, written(form, "description"), **where, **_attributes(visit, form))


def _attributes(visit: Visit, form: FormData) -> Any:
    """What the form declares: what was left open stays not assessed."""
    flags = {name: _FLAGS.get(written(form, name)) for name in ETHICAL}
    words = {name: parted(written(form, name)) or None for name in ("domain", "task")}
    suggestions = {"target": written(form, "target"), "sensitive_columns": parted(written(form, "sensitive"))}
    year = whole(form, "year", visit.speech.text("rank_not_a_number", name=visit.speech.attribute("year")))
    return {
        **flags,
        **words,
        "objective": written(form, "objective") or None,
        "year": year,
        "visibility": "private" if "private" in listed(form, "visibility") else "public",
        "metadata": {name: value for name, value in suggestions.items() if value} or None,
    }


async def _edit(visit: Visit) -> Response:
    dataset = await visit.api.get_dataset(visit.request.path_params["dataset_id"])
    form = FormData({**_shown(dataset), "etag": dataset.etag or ""})
    problem = None
    if visit.request.method == "GET":
        await _check_author(visit, dataset)
    else:
        form = await visit.form()
        try:
            await visit.check_sent()
            await visit.api.update_dataset(
                dataset.id, etag=written(form, "etag") or None, **_changes(visit, form, dataset)
            )
            return visit.go(f"/app/datasets/{dataset.id}", done="changed")
        except TouchstoneError as refusal:
            if refusal.status not in (*_BAD_INPUT, PreconditionFailed.status):
                raise
            problem = refusal
    return await visit.page(
        "dataset_form.html",
        status=problem.status if problem else 200,
        dataset=dataset,
        problem=problem,
        form=form,
        ethical=ETHICAL,
        outdated=problem is not None and problem.status == PreconditionFailed.status,
    )


async def _check_author(visit: Visit, dataset: Dataset) -> None:
    """Whether the visitor may change the record: asked with a version that it never has, so that nothing changes."""
    try:
        await visit.api.update_dataset(dataset.id, etag=_NO_VERSION)
    except TouchstoneError as problem:
        if problem.status != PreconditionFailed.status:
            raise


def _shown(dataset: Dataset) -> dict[str, str]:
    """The record as the form shows it."""
    flags = {value: text for text, value in _FLAGS.items()}
    suggestions = dataset.metadata or {}
    return {
        **{name: flags.get(getattr(dataset, name), "") for name in ETHICAL},
        "name": dataset.dataset_name,
        "description": dataset.description,
        "objective": dataset.objective or "",
        "domain": ", ".join(dataset.domain or ()),
        "task": ", ".join(dataset.task or ()),
        "year": "" if dataset.year is None else str(dataset.year),
        "visibility": dataset.visibility,
        "target": str(suggestions.get("target") or ""),
        "sensitive": ", ".join(suggestions.get("sensitive_columns") or ()),
    }


def _changes(visit: Visit, form: FormData, dataset: Dataset) -> Any:
    """What the form says otherwise than the record: the rest is not sent, and so stays as it is."""
    before, after = (
        {"name": written(one, "name"), "description": _lines(one), **_attributes(visit, one)}
        for one in (FormData(_shown(dataset)), form)
    )
    changed = {name: value for name, value in after.items() if value != before[name]}
    if "metadata" in changed:
        suggestions = {"target": None, "sensitive_columns": None, **(after["metadata"] or {})}
        kept = {**(dataset.metadata or {}), **suggestions}
        changed["metadata"] = {name: value for name, value in kept.items() if value is not None and name != _MEASURED}
    return changed


def _lines(form: FormData) -> str:
    # Browsers send the ends of lines as two characters.
    return "\n".join(written(form, "description").splitlines())


async def _delete(visit: Visit) -> Response:
    await visit.api.delete_dataset(visit.request.path_params["dataset_id"])
    return visit.go("/app/")


ROUTES: Final = (
    Route(_NEW, page(_new), methods=["GET", "POST"]),
    Route("/app/datasets/{dataset_id:int}", page(_dataset)),
    Route("/app/datasets/{dataset_id:int}/edit", page(_edit), methods=["GET", "POST"]),
    Route("/app/datasets/{dataset_id:int}/delete", page(_delete, back="/app/datasets/{dataset_id}"), methods=["POST"]),
)
