"""Adding, changing and deleting records; `dataset_page` shows a record."""

import contextlib
from collections.abc import AsyncGenerator, Mapping
from pathlib import PurePath
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, File, TouchstoneError
from touchstone.core.attributes import ETHICAL
from touchstone.core.comma_lists import split_at_commas
from touchstone.core.errors import Invalid, NotFound, PreconditionFailed, TooLarge
from touchstone.web.addresses import DATASET_PATH, HOME, dataset_address
from touchstone.web.api_queries import load_reader
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import (
    file_field,
    has_chosen_file,
    header_value_field,
    integer_field,
    invalid_field,
    list_field,
    text_field,
)
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint

_NEW: Final = "/app/datasets/new"
_FLAG_VALUES: Final = {"true": True, "false": False}
_MEASURED: Final = "measured"  # the member of the metadata that only the service writes
_NO_VERSION: Final = '"none"'  # an entity tag that no record ever has
# The statuses of errors that the form shows; any other error replaces the page.
_FORM_ERRORS: Final = (Invalid.status, TooLarge.status, PreconditionFailed.status, NotFound.status)


async def new_dataset_page(ctx: PageContext) -> Response:
    """Show the form for a new dataset; on POST, create the record and redirect to its page.

    If the form has an error, it is shown again with what was entered.
    """
    if not ctx.is_post:
        return await _render_form(ctx, FormData({"visibility": "private"}))

    form = await ctx.form()
    try:
        await ctx.require_new_form()
        dataset = await _create_dataset(ctx, form)
    except TouchstoneError as error:
        if error.status not in _FORM_ERRORS:
            raise
        return await _render_form(ctx, form, error)

    return ctx.redirect(dataset_address(dataset.id), done=FlashMessage.CREATED)


async def edit_dataset_page(ctx: PageContext) -> Response:
    """Show the form that changes a record; on POST, save the changes and redirect to the page of the record.

    Only the author of a record and administrators see the form. It contains the version of the record, so that saving
    fails if somebody else has changed the record since then. After an error, the form is shown again with what was
    entered. If the record has been deleted since then, it becomes the form for a new record.
    """
    if not ctx.is_post:
        dataset = await ctx.api.get_dataset(ctx.path_params["dataset_id"])
        await _require_author(ctx, dataset)
        return await _render_form(ctx, FormData(_form_fields(dataset)), dataset=dataset)

    form = await ctx.form()
    saved_dataset: Dataset | None = None
    try:
        saved_dataset = await ctx.api.get_dataset(ctx.path_params["dataset_id"])
        await ctx.require_new_form()
        await _save_changes(ctx, form, saved_dataset)
    except TouchstoneError as error:
        if error.status not in _FORM_ERRORS:
            raise
        if error.status == NotFound.status:
            return await _render_form_of_deleted(ctx, form, error)
        return await _render_form(ctx, form, error, saved_dataset)

    return ctx.redirect(dataset_address(saved_dataset.id), done=FlashMessage.CHANGED)


async def delete_dataset(ctx: PageContext) -> Response:
    """Delete a record and redirect to the ranking."""
    await ctx.api.delete_dataset(ctx.path_params["dataset_id"])
    return ctx.redirect(HOME)


async def _render_form(
    ctx: PageContext, form: FormData, error: TouchstoneError | None = None, dataset: Dataset | None = None
) -> Response:
    """Return the page with the form for a new record, or for changing `dataset`.

    Only the author may add a file to a record, because a record cannot use the uploads of another user.
    """
    is_outdated = error is not None and error.status == PreconditionFailed.status
    accepts_file = dataset is None or await _is_author(ctx, dataset)
    return await ctx.render(
        "dataset_form.html",
        error=error,
        form=form,
        dataset=dataset,
        ethical=ETHICAL,
        limit=ctx.state.settings.upload_max_bytes,
        outdated=is_outdated,
        deleted=error is not None and error.status == NotFound.status,
        accepts_file=accepts_file,
        file_is_lost=has_chosen_file(form, "file"),
    )


async def _render_form_of_deleted(ctx: PageContext, form: FormData, error: TouchstoneError) -> Response:
    """Return the page with the form for a new record, which contains the changes of a record that no longer exists."""
    # The switches of language and theme must lead to a page that exists.
    ctx.page_address = _NEW
    return await _render_form(ctx, form, error)


async def _is_author(ctx: PageContext, dataset: Dataset) -> bool:
    """Return whether the reader has created a record."""
    reader = await load_reader(ctx, await ctx.api.get_evidence(dataset.id))
    return reader.is_creator


async def _create_dataset(ctx: PageContext, form: FormData) -> Dataset:
    """Create a record from the form, after uploading the data file if there is one.

    If the form has no name, the record is named after its file.

    Raises:
        TouchstoneError: the form has neither a file nor a name, or the API refuses it.
    """
    name = text_field(form, "name")
    file = file_field(form, "file")
    if file is None and not name:
        raise invalid_field(ctx.text("new_nothing"), "name")

    attributes = _read_attributes(ctx, form)
    if file is not None and file.filename and not name:
        name = PurePath(file.filename).stem

    description = text_field(form, "description")
    async with _uploaded_file(ctx, form) as upload:
        if upload is not None:
            attributes["file_path"] = upload.file_path
            attributes["file_type"] = upload.file_type
        return await ctx.api.create_dataset(name, description, **attributes)


async def _save_changes(ctx: PageContext, form: FormData, dataset: Dataset) -> None:
    """Save the changes in the form, after uploading the data file if there is one.

    Raises:
        TouchstoneError: the year is not a number, or the API refuses the changes.
    """
    changes: Any = _changed_attributes(ctx, form, dataset)
    version = header_value_field(form, "etag")
    async with _uploaded_file(ctx, form) as upload:
        if upload is not None:
            changes["file_path"] = upload.file_path
            changes["file_type"] = upload.file_type
        await ctx.api.update_dataset(dataset.id, etag=version, **changes)


@contextlib.asynccontextmanager
async def _uploaded_file(ctx: PageContext, form: FormData) -> AsyncGenerator[File | None]:
    """Upload the data file in the form and yield it, or yield None if the form has no file.

    The record is saved within the context. If the API refuses the record, the file is deleted, because the reader has
    to choose it again anyway.
    """
    file = file_field(form, "file")
    if file is None or not file.filename:
        yield None
        return

    upload = await ctx.api.upload_file(file.file, file.filename)
    try:
        yield upload
    except TouchstoneError as error:
        # After any other error, the record may have been saved and may need the file.
        if error.status in _FORM_ERRORS:
            with contextlib.suppress(TouchstoneError):
                await ctx.api.delete_file(upload.id)
        raise


def _read_attributes(ctx: PageContext, form: FormData) -> dict[str, Any]:
    """Read the attributes in the form by their names in the API, with None for each empty field.

    Raises:
        TouchstoneError: the year is not a number.
    """
    year_message = ctx.text("rank_not_a_number", name=ctx.localizer.attribute("year"))
    is_private = "private" in list_field(form, "visibility")

    attributes: dict[str, Any] = {
        "domain": split_at_commas(text_field(form, "domain")) or None,
        "task": split_at_commas(text_field(form, "task")) or None,
        "objective": text_field(form, "objective") or None,
        "year": integer_field(form, "year", year_message),
        "visibility": "private" if is_private else "public",
        "metadata": _read_suggestions(form) or None,
    }
    for name in ETHICAL:
        attributes[name] = _FLAG_VALUES.get(text_field(form, name))
    return attributes


def _read_suggestions(form: FormData) -> dict[str, Any]:
    """Read the target and the sensitive columns that the form suggests for trainings."""
    suggestions: dict[str, Any] = {
        "target": text_field(form, "target"),
        "sensitive_columns": split_at_commas(text_field(form, "sensitive")),
    }
    return {name: value for name, value in suggestions.items() if value}


async def _require_author(ctx: PageContext, dataset: Dataset) -> None:
    """Raise an error if the reader may not change a record, before the form is shown.

    The API has no request that only checks this permission. This function therefore requests a change of a version that
    no record has. The API checks the permission before the version, so the error shows whether the reader has it.

    Raises:
        TouchstoneError: the reader may not change the record.
    """
    try:
        await ctx.api.update_dataset(dataset.id, etag=_NO_VERSION)
    except TouchstoneError as error:
        if error.status != PreconditionFailed.status:
            raise


def _form_fields(dataset: Dataset) -> dict[str, str]:
    """Return the values of a record as fields of the form that changes it, by field name."""
    suggestions = dataset.metadata or {}
    fields = {
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

    flag_texts = {value: text for text, value in _FLAG_VALUES.items()}
    for name in ETHICAL:
        fields[name] = flag_texts.get(getattr(dataset, name), "")
    return fields


def _changed_attributes(ctx: PageContext, form: FormData, dataset: Dataset) -> dict[str, Any]:
    """Return the attributes that the form changes, by their names in the API.

    All other attributes are left out, so that saving never overwrites anything that the form does not show. The form
    cannot represent every value exactly. It is therefore compared with an unchanged form and not with the record
    itself.
    """
    unchanged_form = FormData(_form_fields(dataset))
    before = _read_record(ctx, unchanged_form)
    after = _read_record(ctx, form)
    changes = {name: value for name, value in after.items() if value != before[name]}

    # The API returns hidden records as private, so their form has no field for the visibility.
    if dataset.hidden:
        changes.pop("visibility", None)
    if "metadata" in changes:
        changes["metadata"] = _merge_suggestions(dataset, after["metadata"] or {})
    return changes


def _merge_suggestions(dataset: Dataset, suggestions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a record with new suggestions for trainings.

    The API replaces the metadata as a whole, so the request also contains the members that the form does not show.
    Suggestions that the reader has removed are deleted.
    """
    metadata = dict(dataset.metadata or {})
    metadata["target"] = suggestions.get("target")
    metadata["sensitive_columns"] = suggestions.get("sensitive_columns")

    # The API accepts no measurements, because only the service writes them.
    metadata.pop(_MEASURED, None)
    return {name: value for name, value in metadata.items() if value is not None}


def _read_record(ctx: PageContext, form: FormData) -> dict[str, Any]:
    """Read all attributes in the form, with the name and the description of the record."""
    # Browsers send a line break as two characters, but records contain only one.
    description = "\n".join(text_field(form, "description").splitlines())
    return {"name": text_field(form, "name"), "description": description, **_read_attributes(ctx, form)}


_FORM_METHODS: Final = ["GET", "POST"]
ROUTES: Final = (
    Route(_NEW, page_endpoint(new_dataset_page), methods=_FORM_METHODS),
    Route("/app/datasets/{dataset_id:int}/edit", page_endpoint(edit_dataset_page), methods=_FORM_METHODS),
    Route(
        "/app/datasets/{dataset_id:int}/delete", page_endpoint(delete_dataset, form_page=DATASET_PATH), methods=["POST"]
    ),
)
