"""Jobs: starting trainings and explanations, following them, reading what came out, asking what if."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, cast
from uuid import uuid4

import anyio.to_thread
import msgspec
import vl_convert
from starlette.datastructures import FormData
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from touchstone.client import Dataset, Job, TouchstoneError
from touchstone.client.job_calls import follow_job, stream_artifact
from touchstone.client.models import Kind
from touchstone.core.errors import IdempotencyConflict, Invalid, NotFound
from touchstone.messages.labels import ALGORITHM_LABELS, METHOD_LABELS, METRIC_LABELS
from touchstone.web.error_texts import worded
from touchstone.web.forms import listed, parted, whole, wholes, written
from touchstone.web.page_context import Visit, page
from touchstone.web.rendering import address
from touchstone.web.routes.projects import jobs_of
from touchstone.web.views import dataset_view, job_view, what_if

_ALL: Final = "/app/jobs"
_ONE: Final = _ALL + "/{kind:str}/{job_id:str}"
_PAGE: Final = _ALL + "/{kind}/{job_id}"  # the address of the page, to fill in
_READABLE: Final = 500  # datasets offered in a start form
_CHOICES: Final = ("train", "explain")
_BAD_ORDER: Final = (Invalid.status, IdempotencyConflict.status)


async def _jobs(visit: Visit) -> Response:
    return await visit.page("jobs.html", jobs=await jobs_of(visit, None), timing=_timing(visit))


def _timing(visit: Visit) -> Callable[[Job], job_view.Timing]:
    """Return what tells how long a job takes, as of now."""
    return partial(job_view.timing, speech=visit.speech, now=datetime.now(UTC))


async def _train(visit: Visit) -> Response:
    given = await _given(visit)
    problem = None
    if visit.request.method == "POST":
        try:
            await visit.check_sent()
            return _started(visit, await _start_training(visit, given))
        except TouchstoneError as refusal:
            if refusal.status not in _BAD_ORDER:
                raise
            problem = refusal
    dataset = await _subject(visit, given)
    visit.place = address(f"{_ALL}/train", **_kept(given, "dataset_id", "project_id", "target"))
    return await visit.page(
        "train.html",
        status=problem.status if problem else 200,
        problem=problem,
        form=given,
        dataset=dataset,
        datasets=[] if dataset else await _trainable(visit),
        columns=dataset_view.columns(dataset) if dataset else (),
        target=written(given, "target") or (dataset_view.suggested_target(dataset) if dataset else None),
        suggested=dict((dataset.metadata or {}) if dataset else {}),
        algorithms=ALGORITHM_LABELS,
        metrics=METRIC_LABELS,
        projects=await visit.api.list_projects(),
        key=written(given, "key") or str(uuid4()),
    )


def _kept(form: FormData, *names: str) -> dict[str, str]:
    """The fields of a form that its address may hold."""
    return {name: text for name in names if (text := written(form, name))}


async def _given(visit: Visit) -> FormData:
    return await visit.form() if visit.request.method == "POST" else FormData(dict(visit.pairs))


async def _subject(visit: Visit, given: FormData) -> Dataset | None:
    """The dataset that the form is about, if it has a table."""
    chosen = written(given, "dataset_id")
    if not (chosen.isascii() and chosen.isdigit()):
        return None
    dataset = await visit.api.get_dataset(int(chosen))
    return dataset if dataset_view.trainable(dataset) else None


async def _trainable(visit: Visit) -> list[Dataset]:
    found = await visit.api.page_datasets(file_type=list(dataset_view.READABLE), page_size=_READABLE, sort_by="name")
    return [one for one in found.datasets if dataset_view.trainable(one)]


def _started(visit: Visit, job: Job) -> Response:
    return visit.go(f"{_ALL}/{job.kind}/{job.id}")


async def _start_training(visit: Visit, form: FormData) -> Job:
    (dataset_id,) = wholes([written(form, "dataset_id")], visit.speech.text("choose_which"))
    return await visit.api.train(
        dataset_id, written(form, "target"), idempotency_key=written(form, "key") or None, **_order(visit, form)
    )


def _order(visit: Visit, form: FormData) -> Any:
    """The training order of the form; what was left open is left to the service."""
    strategy = written(form, "strategy") or "holdout"
    split: dict[str, Any] = {"strategy": strategy}
    if strategy == "time":
        split["time_column"] = written(form, "time_column") or None
    trials = whole(form, "max_trials", visit.speech.text("not_whole", name=visit.speech.text("trials")))
    seed = whole(form, "seed", visit.speech.text("not_whole", name=visit.speech.text("seed")))
    chosen = {
        "task": written(form, "task"),
        "features": {"exclude": listed(form, "exclude")},
        "sensitive_features": listed(form, "sensitive"),
        "algorithms": listed(form, "algorithm"),
        "metric": written(form, "metric"),
        "split": split,
        "budget": {"max_trials": trials} if trials is not None else None,
        "seed": seed,
        "project_id": written(form, "project_id"),
        "name": written(form, "name"),
    }
    return {name: value for name, value in chosen.items() if value not in (None, "", [])}


async def _explain(visit: Visit) -> Response:
    given = await _given(visit)
    problem = None
    if visit.request.method == "POST":
        try:
            await visit.check_sent()
            return _started(visit, await _start_explaining(visit, given))
        except TouchstoneError as refusal:
            if refusal.status not in _BAD_ORDER:
                raise
            problem = refusal
    job_id = written(given, "job_id")
    training = await visit.api.get_job("train", job_id) if job_id else None
    dataset = await _subject(visit, given)
    trained = [job for job in await jobs_of(visit, None) if job.kind == "train" and job.status == "succeeded"]
    visit.place = address(f"{_ALL}/explain", **_kept(given, "dataset_id", "project_id", "job_id"))
    return await visit.page(
        "explain.html",
        status=problem.status if problem else 200,
        problem=problem,
        form=given,
        training=training,
        dataset=dataset,
        trained=trained,
        columns=dataset_view.columns(dataset) if dataset else (),
        **_prefilled(given, dataset, again=problem is not None),
        methods=METHOD_LABELS,
        projects=await visit.api.list_projects(),
        key=written(given, "key") or str(uuid4()),
    )


def _prefilled(given: FormData, dataset: Dataset | None, *, again: bool) -> dict[str, Any]:
    """The columns that the form has ticked: those that were sent, else those that the record suggests."""
    if again or dataset is None:
        return {"target": written(given, "target"), "sensitive": listed(given, "sensitive")}
    sensitive = dataset_view.suggested(dataset, "sensitive_columns") or []
    return {"target": dataset_view.suggested_target(dataset), "sensitive": sensitive}


async def _start_explaining(visit: Visit, form: FormData) -> Job:
    dataset_id = written(form, "dataset_id")
    rows = wholes(parted(written(form, "rows")), visit.speech.text("not_whole", name=visit.speech.text("rows")), "rows")
    classes = written(form, "target_class")
    chosen = {
        "job_id": written(form, "job_id"),
        "dataset_id": int(dataset_id) if dataset_id.isascii() and dataset_id.isdigit() else None,
        "scope": written(form, "scope"),
        "method": written(form, "method"),
        "instances": {"rows": rows} if rows else None,
        "target_class": _literal(classes) if classes else None,
        "target": written(form, "target"),
        "sensitive_features": listed(form, "sensitive"),
        "project_id": written(form, "project_id"),
        "name": written(form, "name"),
    }
    order: Any = {name: value for name, value in chosen.items() if value not in (None, "", [])}
    return await visit.api.explain(idempotency_key=written(form, "key") or None, **order)


def _literal(text: str) -> Any:
    """A class or a cell as JSON would have it: a number where it is one."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return found if isinstance(found, int | float | bool) else text


async def _job(visit: Visit) -> Response:
    job = await _found(visit)
    if job.kind == "train":
        return await visit.page("training.html", **await _common(visit, job), **_trained(visit, job))
    return await visit.page("explanation.html", **await _common(visit, job), **await _explained(visit, job))


async def _found(visit: Visit) -> Job:
    return await visit.api.get_job(_kind(visit), visit.request.path_params["job_id"])


def _kind(visit: Visit) -> Kind:
    kind = visit.request.path_params["kind"]
    if kind not in _CHOICES:
        raise NotFound
    return cast(Kind, kind)


async def _common(visit: Visit, job: Job) -> dict[str, Any]:
    dataset_id = (job.inputs or {}).get("dataset_id") or job.request.get("dataset_id")
    dataset = None
    if dataset_id is not None:
        try:
            dataset = await visit.api.get_dataset(dataset_id)
        except TouchstoneError as problem:
            if problem.status != NotFound.status:
                raise
    return {
        "job": job,
        "dataset": dataset,
        "phase": job_view.progress_text(job, visit.speech),
        "timing": _timing(visit)(job),
        "charts": job_view.charts(job, visit.speech),
        "said": job_view.said,
    }


def _trained(visit: Visit, job: Job) -> dict[str, Any]:
    result = job.result or {}
    return {"scores": job_view.scores(result, visit.speech), "groups": job_view.group_tables(result, visit.speech)}


async def _explained(visit: Visit, job: Job) -> dict[str, Any]:
    result = job.result or {}
    rows = result.get("local") or []
    place = visit.request.query_params.get("row", "0")
    number = min(int(place), len(rows) - 1) if place.isascii() and place.isdigit() and rows else 0
    entry = rows[number] if rows else None
    features = await _features(visit, job) if entry else ()
    is_asked = visit.request.method == "POST"
    return {
        "influences": job_view.influences(result),
        "rows": rows,
        "number": number,
        "entry": entry,
        "contributions": job_view.contributions(entry) if entry else (),
        "features": features,
        "what_if": await _what_if(visit, job, entry, features) if is_asked and entry else None,
        "tried": await visit.form() if is_asked else FormData(),
    }


async def _features(visit: Visit, job: Job) -> tuple[Mapping[str, Any], ...]:
    """The columns that the explained model learned from."""
    if job.parent_job_id is None:
        return ()
    training = await visit.api.get_job("train", str(job.parent_job_id))
    return tuple(((training.result or {}).get("model") or {}).get("features") or ())


async def _what_if(
    visit: Visit, job: Job, entry: Mapping[str, Any], features: tuple[Mapping[str, Any], ...]
) -> what_if.WhatIf:
    """What the model says about the values in the form, beside what it says about the row as it is."""
    form = await visit.form()
    changed = {one["name"]: written(form, f"v.{one['name']}") for one in features}
    if errors := what_if.field_errors(features, changed, visit.speech):
        return what_if.WhatIf(errors=errors)

    cells = entry.get("values") or {}
    original = {one["name"]: str(cells.get(one["name"], "")) for one in features}
    asked = what_if.rows_asked(features, original, changed)
    try:
        answer = await visit.api.predict(str(job.parent_job_id), asked)
    except TouchstoneError as problem:
        return what_if.WhatIf(problem=worded(problem, visit.speech).detail)
    return what_if.compared(original, changed, asked, answer, visit.speech)


async def _chart(visit: Visit) -> Response:
    name, _, ending = visit.request.path_params["chart"].rpartition(".")
    spec = job_view.spec_of(await _found(visit), name, visit.locale)
    if spec is None or ending not in ("json", "svg"):
        raise NotFound
    if ending == "json":
        return Response(msgspec.json.encode(spec), media_type="application/json")
    drawn = await anyio.to_thread.run_sync(vl_convert.vegalite_to_svg, dict(spec))
    return Response(drawn, media_type="image/svg+xml")


async def _artifact(visit: Visit) -> Response:
    params = visit.request.path_params
    found = await visit.api.run(stream_artifact(_kind(visit), params["job_id"], params["name"]))
    media_type = found.headers.get("content-type", "application/octet-stream")
    # Whatever a job wrote is a file to keep, never a page of this site.
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{params['name']}"}
    return StreamingResponse(found.aiter_bytes(), media_type=media_type, headers=headers)


async def _events(visit: Visit) -> Response:
    after = visit.request.headers.get("last-event-id")
    found = await visit.api.run(follow_job(_kind(visit), visit.request.path_params["job_id"], after=after))
    return StreamingResponse(found.aiter_raw(), media_type="text/event-stream")


async def _cancel(visit: Visit) -> Response:
    return _started(visit, await visit.api.cancel_job(_kind(visit), visit.request.path_params["job_id"]))


async def _delete(visit: Visit) -> Response:
    await visit.api.delete_job(_kind(visit), visit.request.path_params["job_id"])
    return visit.go(_ALL)


_FORM: Final = ["GET", "POST"]
ROUTES: Final = (
    Route(_ALL, page(_jobs)),
    Route(f"{_ALL}/train", page(_train), methods=_FORM),
    Route(f"{_ALL}/explain", page(_explain), methods=_FORM),
    Route(_ONE, page(_job), methods=_FORM),
    Route(f"{_ONE}/events", page(_events)),
    Route(f"{_ONE}/charts/{{chart:str}}", page(_chart)),
    Route(f"{_ONE}/artifacts/{{name:str}}", page(_artifact)),
    Route(f"{_ONE}/cancel", page(_cancel, back=_PAGE), methods=["POST"]),
    Route(f"{_ONE}/delete", page(_delete, back=_PAGE), methods=["POST"]),
)
