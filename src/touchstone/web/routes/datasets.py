"""The page of a dataset, and the form that adds or changes a record."""

from pathlib import PurePath
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, TouchstoneError
from touchstone.core.attributes import ETHICAL
from touchstone.core.errors import Invalid, PreconditionFailed, TooLarge
from touchstone.web.addresses import HOME
from touchstone.web.api_queries import fetch_score, read_rank_state
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import file_field, integer_field, invalid_field, list_field, split_at_commas, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page
from touchstone.web.views import dataset_view
from touchstone.web.views.rank_table import criterion_cells, score_text, used_criteria, weighted_criteria

_NEW: Final = "/app/datasets/new"
_DATASET: Final = "/app/datasets/{dataset_id}"
_FLAGS: Final = {"true": True, "false": False}
_MEASURED: Final = "measured"  # the part of the metadata that only the service writes
_NO_VERSION: Final = '"none"'  # an entity tag that no record ever has
# Errors that the form shows; every other one has a page of its own.
_FORM_ERRORS: Final = (Invalid.status, TooLarge.status, PreconditionFailed.status)


async def dataset_page(ctx: PageContext) -> Response:
    """Show everything that is known about a dataset, with its score under the weights in the address."""
    dataset = await ctx.api.get_dataset(ctx.path_params["dataset_id"])
    state = await read_rank_state(ctx)
    score = await fetch_score(ctx, state, dataset)
    used = used_criteria(weighted_criteria(await ctx.criteria(), state, ctx.localizer))

    return await ctx.render(
        "dataset.html",
        dataset=dataset,
        state=state,
        scored=score is not None,
        score=score_text(score, used, ctx.localizer),
        cells=criterion_cells(score, used, ctx.localizer) if score else (),
        figures=dataset_view.measured_figures(dataset),
        ethics=dataset_view.ethical_assessments(dataset),
        columns=dataset_view.column_summaries(dataset),
        measured=dataset_view.measurement(dataset),
        unmeasured=dataset_view.measurement_failure(dataset),
        trainable=dataset_view.is_trainable(dataset),
        projects=await ctx.api.list_projects(),
    )


async def new_dataset_page(ctx: PageContext) -> Response:
    """Show the form for a new dataset; on POST, create the record and redirect to its page."""
    form = FormData({"visibility": "private"})
    problem: TouchstoneError | None = None

    if ctx.is_post:
        form = await ctx.form()
        try:
            await ctx.require_new_form()
            dataset = await _create_dataset(ctx, form)
            return ctx.redirect(_DATASET.format(dataset_id=dataset.id), done=FlashMessage.CREATED)
        except TouchstoneError as error:
            if error.status not in _FORM_ERRORS:
                raise
            problem = error

    return await _render_form(ctx, form, problem)


async def edit_dataset_page(ctx: PageContext) -> Response:
    """Show the form that changes a record; on POST, save the changes and redirect to the record's page."""
    dataset = await ctx.api.get_dataset(ctx.path_params["dataset_id"])
    if not ctx.is_post:
        await _require_author(ctx, dataset)
        return await _render_form(ctx, FormData(_form_fields(dataset)), dataset=dataset)

    form = await ctx.form()
    try:
        await ctx.require_new_form()
        changes: Any = _changed_attributes(ctx, form, dataset)
        await ctx.api.update_dataset(dataset.id, etag=text_field(form, "etag") or None, **changes)
    except TouchstoneError as error:
        if error.status not in _FORM_ERRORS:
            raise
        return await _render_form(ctx, form, error, dataset)
    return ctx.redirect(_DATASET.format(dataset_id=dataset.id), done=FlashMessage.CHANGED)


async def delete_dataset(ctx: PageContext) -> Response:
    """Delete a record and redirect to the ranking."""
    await ctx.api.delete_dataset(ctx.path_params["dataset_id"])
    return ctx.redirect(HOME)


async def _render_form(
    ctx: PageContext, form: FormData, problem: TouchstoneError | None = None, dataset: Dataset | None = None
) -> Response:
    """Return the form for a new record, or for changing `dataset`."""
    return await ctx.render(
        "dataset_form.html",
        problem=problem,
        form=form,
        dataset=dataset,
        ethical=ETHICAL,
        limit=ctx.state.settings.upload_max_bytes,
        outdated=problem is not None and problem.status == PreconditionFailed.status,
    )


async def _create_dataset(ctx: PageContext, form: FormData) -> Dataset:
    """Upload the file of the form, if there is one, and create the record.

    Raises:
        TouchstoneError: The form has neither a file nor a name, or the API refuses it.
    """
    name = text_field(form, "name")
    file = file_field(form, "file")
    if file is None and not name:
        raise invalid_field(ctx.text("new_nothing"), "name")

    attributes = _read_attributes(ctx, form)
    if file is not None and file.filename:
        upload = await ctx.api.upload_file(file.file, file.filename)
        attributes["file_path"] = upload.file_path
        attributes["file_type"] = upload.file_type
        name = name or PurePath(file.filename).stem
    return await ctx.api.create_dataset(name, text_field(form, "description"), **attributes)


def _read_attributes(ctx: PageContext, form: FormData) -> dict[str, Any]:
    """Return the attributes in the form; those that are left open are None, which means not assessed."""
    year = integer_field(form, "year", ctx.text("rank_not_a_number", name=ctx.localizer.attribute("year")))
    suggestions = {
        "target": text_field(form, "target"),
        "sensitive_columns": split_at_commas(text_field(form, "sensitive")),
    }
    return {
        **{name: _FLAGS.get(text_field(form, name)) for name in ETHICAL},
        "domain": split_at_commas(text_field(form, "domain")) or None,
        "task": split_at_commas(text_field(form, "task")) or None,
        "objective": text_field(form, "objective") or None,
        "year": year,
        "visibility": "private" if "private" in list_field(form, "visibility") else "public",
        "metadata": {name: value for name, value in suggestions.items() if value} or None,
    }


async def _require_author(ctx: PageContext, dataset: Dataset) -> None:
    """Check that the reader may change a record.

    The change is requested for a version that the record never has. For its author that is the only error.

    Raises:
        TouchstoneError: The reader may not change the record.
    """
    try:
        await ctx.api.update_dataset(dataset.id, etag=_NO_VERSION)
    except TouchstoneError as error:
        if error.status != PreconditionFailed.status:
            raise


def _form_fields(dataset: Dataset) -> dict[str, str]:
    """Return the record as the fields of the form."""
    flag_texts = {value: text for text, value in _FLAGS.items()}
    suggestions = dataset.metadata or {}
    return {
        **{name: flag_texts.get(getattr(dataset, name), "") for name in ETHICAL},
        "etag": dataset.etag or "",
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


def _changed_attributes(ctx: PageContext, form: FormData, dataset: Dataset) -> dict[str, Any]:
    """Return the attributes that the form changes; all others are not sent, and so stay as they are."""
    before = _read_record(ctx, FormData(_form_fields(dataset)))
    after = _read_record(ctx, form)
    changes = {name: value for name, value in after.items() if value != before[name]}

    if "metadata" in changes:
        # The form holds only two entries of the metadata; the others must be sent along.
        suggestions = {"target": None, "sensitive_columns": None, **(after["metadata"] or {})}
        metadata = {**(dataset.metadata or {}), **suggestions}
        changes["metadata"] = {
            name: value for name, value in metadata.items() if value is not None and name != _MEASURED
        }
    return changes


def _read_record(ctx: PageContext, form: FormData) -> dict[str, Any]:
    # Browsers send line breaks as two characters.
    description = "\n".join(text_field(form, "description").splitlines())
    return {"name": text_field(form, "name"), "description": description, **_read_attributes(ctx, form)}


_FORM_METHODS: Final = ["GET", "POST"]
ROUTES: Final = (
    Route(_NEW, page(new_dataset_page), methods=_FORM_METHODS),
    Route("/app/datasets/{dataset_id:int}", page(dataset_page)),
    Route("/app/datasets/{dataset_id:int}/edit", page(edit_dataset_page), methods=_FORM_METHODS),
    Route("/app/datasets/{dataset_id:int}/delete", page(delete_dataset, shown_on=_DATASET), methods=["POST"]),
)
