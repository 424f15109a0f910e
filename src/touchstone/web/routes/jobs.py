"""The pages of jobs, with their progress, results, charts and files, and the what-if form."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from touchstone.client import Job, TouchstoneError
from touchstone.client.job_calls import follow_job, stream_artifact
from touchstone.client.models import Kind
from touchstone.core.errors import NotFound
from touchstone.learning.request_choices import COUNTING_METRICS
from touchstone.web.addresses import list_page_address
from touchstone.web.api_queries import find_dataset_names, find_dataset_of_job, page_jobs
from touchstone.web.forms import is_integer, text_field
from touchstone.web.ignored_parameters import describe_ignored_parameters
from touchstone.web.list_pages import is_beyond_last_page, requested_page
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.readable_errors import localize_error
from touchstone.web.views import job_view, training_headline
from touchstone.web.views.mitigation_view import mitigation_table
from touchstone.web.views.what_if import Feature, WhatIfResult, WhatIfRows, entered_text, restore_line_ends

_JOBS: Final = "/app/jobs"
_JOB_ROUTE: Final = f"{_JOBS}/{{kind:str}}/{{job_id:str}}"
_JOB_PATH: Final = f"{_JOBS}/{{kind}}/{{job_id}}"
_KINDS: Final = ("train", "explain")


def job_address(job: Job) -> str:
    """Return the address of a job's page."""
    return _JOB_PATH.format(kind=job.kind, job_id=job.id)


async def jobs_page(ctx: PageContext) -> Response:
    """Show one page of the list of the reader's jobs."""
    page = await page_jobs(ctx, requested_page(ctx))
    if is_beyond_last_page(page):
        return ctx.redirect(_JOBS, page=page.total_pages)

    return await ctx.render(
        "jobs.html",
        address_notes=describe_ignored_parameters(ctx, numbers=["page"]),
        page=page,
        link=partial(list_page_address, _JOBS),
        dataset_names=await find_dataset_names(ctx, page.jobs),
        timing=partial(job_view.job_timing, localizer=ctx.localizer, now=datetime.now(UTC)),
    )


async def job_page(ctx: PageContext) -> Response:
    """Show a job with its progress or its result; on POST, also show the result of the what-if form."""
    job = await _load_job(ctx)
    if job.kind == "train":
        template = "training.html"
        result_variables = _training_variables(ctx, job)
    else:
        template = "explanation.html"
        result_variables = await _explanation_variables(ctx, job)

    return await ctx.render(
        template,
        job=job,
        dataset=await find_dataset_of_job(ctx, job),
        phase=job_view.progress_text(job, ctx.localizer),
        timing=job_view.job_timing(job, localizer=ctx.localizer, now=datetime.now(UTC)),
        charts=job_view.job_charts(job, ctx.localizer),
        localized_text=job_view.localized_text,
        **result_variables,
    )


async def job_events(ctx: PageContext) -> Response:
    """Forward the event stream of a job, which tells the script of the page when the job has changed.

    A browser that reconnects sends the id of the last event that it has received, and the stream continues after it.
    If the job has ended and no event is left, the status is 204, because a browser reconnects after any other response.
    """
    last_event_id = ctx.request.headers.get("last-event-id")
    events = await ctx.api.run(follow_job(_job_kind(ctx), ctx.path_params["job_id"], after=last_event_id))
    if events.status_code == HTTPStatus.NO_CONTENT:
        await events.aclose()
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return StreamingResponse(events.aiter_raw(), media_type="text/event-stream")


async def chart_spec(ctx: PageContext) -> Response:
    """Return the Vega-Lite specification of a chart, so that the browser can draw it."""
    spec = job_view.chart_spec(await _load_job(ctx), ctx.path_params["chart"], ctx.locale)
    if spec is None:
        raise NotFound
    return Response(msgspec.json.encode(spec), media_type="application/json")


async def chart_picture(ctx: PageContext) -> Response:
    """Return a chart as SVG, drawn by the sandboxed renderer of the API."""
    name = f"{ctx.path_params['chart']}.svg"
    svg = await ctx.api.get_artifact(_job_kind(ctx), ctx.path_params["job_id"], name)
    return Response(svg, media_type="image/svg+xml")


async def job_artifact(ctx: PageContext) -> Response:
    """Forward a file that a job has written.

    It is sent as a download, so that a browser never shows it as a page of this site.
    """
    name = ctx.path_params["name"]
    artifact = await ctx.api.run(stream_artifact(_job_kind(ctx), ctx.path_params["job_id"], name))
    media_type = artifact.headers.get("content-type", "application/octet-stream")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
    return StreamingResponse(artifact.aiter_bytes(), media_type=media_type, headers=headers)


async def cancel_job(ctx: PageContext) -> Response:
    """Cancel a job and redirect to its page."""
    job = await ctx.api.cancel_job(_job_kind(ctx), ctx.path_params["job_id"])
    return ctx.redirect(job_address(job))


async def delete_job(ctx: PageContext) -> Response:
    """Delete a job and redirect to the list."""
    await ctx.api.delete_job(_job_kind(ctx), ctx.path_params["job_id"])
    return ctx.redirect(_JOBS)


def _job_kind(ctx: PageContext) -> Kind:
    """Return the kind of the job in the address.

    Raises:
        NotFound: the kind is unknown.
    """
    kind = ctx.path_params["kind"]
    if kind not in _KINDS:
        raise NotFound
    return cast(Kind, kind)


async def _load_job(ctx: PageContext) -> Job:
    """Return the job in the address."""
    return await ctx.api.get_job(_job_kind(ctx), ctx.path_params["job_id"])


def _training_variables(ctx: PageContext, job: Job) -> dict[str, Any]:
    """Return the template variables for the scores and the files of a training."""
    result = job.result or {}
    return {
        "headline": training_headline.headline(result, ctx.localizer),
        "notes": training_headline.evaluation_notes(result, ctx.localizer),
        "scores": job_view.metric_rows(result, ctx.localizer),
        "groups": job_view.group_tables(result, ctx.localizer),
        "mitigation": mitigation_table(result, ctx.localizer),
        # These metrics only count correct decisions, so models are chosen by the Brier score instead.
        "chosen_by_brier": (result.get("metrics") or {}).get("metric") in COUNTING_METRICS,
        "files": job_view.job_files(job, ctx.localizer),
    }


async def _explanation_variables(ctx: PageContext, job: Job) -> dict[str, Any]:
    """Return the template variables for the result of an explanation.

    An explanation is about the model as a whole and about a few rows. The page shows one of these rows at a time, with
    a what-if form for changing its values.
    """
    result = job.result or {}
    rows = result.get("local") or []
    row_index = _selected_row_index(ctx, rows)
    row = rows[row_index] if rows else None

    variables = {
        "influences": job_view.influential_columns(result),
        "rows": rows,
        "row_index": row_index,
        "explained_row": row,
        "contributions": job_view.contribution_bars(row) if row else (),
        "decimals": job_view.shown_decimals(row) if row else None,
    }
    what_if_variables = await _what_if_variables(ctx, job, row)
    return variables | what_if_variables


async def _what_if_variables(ctx: PageContext, job: Job, row: job_view.JsonObject | None) -> dict[str, Any]:
    """Return the template variables for the what-if form, and for its result after it was submitted.

    The form shows what the model would predict if values of an explained row were different. It has a field for each
    column that the model uses, in the variable `features`. If no row was explained, the page has no form.
    """
    form = await ctx.form()
    features: Sequence[Feature] = ()
    what_if: WhatIfResult | None = None

    if row is not None:
        features = await _load_features(ctx, job)
        if ctx.is_post:
            what_if_rows = _read_what_if_form(form, row, features)
            what_if = await _predict_what_if(ctx, str(job.parent_job_id), what_if_rows)

    shown_texts = _initial_what_if_texts(row or {}, features)
    return {"features": features, "what_if": what_if, "tried": form, "shown_texts": shown_texts}


def _selected_row_index(ctx: PageContext, rows: Sequence[Any]) -> int:
    """Return the index of the explained row that the address selects, which is 0 by default."""
    text = ctx.request.query_params.get("row", "0")
    if not rows or not is_integer(text):
        return 0
    return min(int(text), len(rows) - 1)


async def _load_features(ctx: PageContext, job: Job) -> Sequence[Feature]:
    """Return the columns that the explained model uses.

    The result is empty if a dataset was explained instead of the model of an earlier training.
    """
    if job.parent_job_id is None:
        return ()

    training = await ctx.api.get_job("train", str(job.parent_job_id))
    model = (training.result or {}).get("model") or {}
    return tuple(model.get("features") or ())


def _initial_what_if_texts(row: job_view.JsonObject, features: Sequence[Feature]) -> dict[str, str]:
    """Return what the fields of the what-if form show before they are changed, by column."""
    values = row.get("values") or {}
    return {feature["name"]: entered_text(feature, str(values.get(feature["name"], ""))) for feature in features}


def _read_what_if_form(form: FormData, row: job_view.JsonObject, features: Sequence[Feature]) -> WhatIfRows:
    """Return an explained row before and after the changes in the what-if form.

    The form has a field `v.NAME` for each column that the model uses.
    """
    explained_values = row.get("values") or {}
    original: dict[str, str] = {}
    changed: dict[str, str] = {}

    for feature in features:
        name = feature["name"]
        original[name] = str(explained_values.get(name, ""))
        changed[name] = restore_line_ends(text_field(form, f"v.{name}"), original[name])

    return WhatIfRows(features, original, changed)


async def _predict_what_if(ctx: PageContext, training_id: str, rows: WhatIfRows) -> WhatIfResult:
    """Compare the predictions of a model for the original and the changed row.

    If the reader has entered invalid values, the result has a message about each of them instead. If the prediction
    fails, the result has the reason.
    """
    field_errors = rows.field_errors(ctx.localizer)
    if field_errors:
        return WhatIfResult(field_errors=field_errors)

    try:
        predictions = await ctx.api.predict(training_id, rows.to_api_rows())
    except TouchstoneError as error:
        reason = localize_error(error, ctx.localizer).detail
        return WhatIfResult(failure=reason)

    return rows.compare_predictions(predictions, ctx.localizer)


ROUTES: Final = (
    Route(_JOBS, page_endpoint(jobs_page)),
    Route(_JOB_ROUTE, page_endpoint(job_page), methods=["GET", "POST"]),
    Route(f"{_JOB_ROUTE}/events", page_endpoint(job_events)),
    Route(f"{_JOB_ROUTE}/charts/{{chart:str}}.json", page_endpoint(chart_spec)),
    Route(f"{_JOB_ROUTE}/charts/{{chart:str}}.svg", page_endpoint(chart_picture)),
    Route(f"{_JOB_ROUTE}/artifacts/{{name:str}}", page_endpoint(job_artifact)),
    Route(f"{_JOB_ROUTE}/cancel", page_endpoint(cancel_job, form_page=_JOB_PATH), methods=["POST"]),
    Route(f"{_JOB_ROUTE}/delete", page_endpoint(delete_job, form_page=_JOB_PATH), methods=["POST"]),
)
