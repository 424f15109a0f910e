"""The forms that start a training or an explanation."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Job, TouchstoneError
from touchstone.client.models import Kind
from touchstone.core.comma_lists import split_at_commas
from touchstone.core.errors import IdempotencyConflict, Invalid, NotFound
from touchstone.messages.labels import ALGORITHM_LABELS, METHOD_LABELS, METRIC_LABELS, MITIGATION_LABELS
from touchstone.web.addresses import build_address
from touchstone.web.api_queries import find_dataset, find_dataset_names, find_dataset_of_job, list_recent_jobs
from touchstone.web.forms import (
    header_value_field,
    id_field,
    integer_field,
    is_integer,
    list_field,
    parse_integers,
    text_field,
)
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.repeated_requests import OTHER_OPTIONS, explanation_fields, training_fields
from touchstone.web.routes.jobs import job_address
from touchstone.web.training_options import (
    read_dataset_options,
    read_other_options,
    read_training_options,
    without_empty,
)
from touchstone.web.views import dataset_view
from touchstone.web.views.job_view import localized_text
from touchstone.web.views.training_choices import CHOICES, DEFAULTS

_MAX_DATASETS: Final = 500  # datasets that the training form lists
# The dataset or the project may have been deleted while the form was open.
_FORM_ERRORS: Final = (Invalid.status, IdempotencyConflict.status, NotFound.status)

Variables = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StartForm:
    """A page with a form that starts a job, either a training or an explanation.

    Attributes:
        kind: the kind of the job.
        template: the template of the page.
        address: the address of the page.
        address_fields: the fields that may be prefilled through the address of the page.
        start: starts the job that the form describes.
        repeated_fields: converts the request of an earlier job to fields of the form.
        load_choices: returns the template variables for the choices in the form.
        preview: returns a preview of the job; None if the form has no button for it.
    """

    kind: Kind
    template: str
    address: str
    address_fields: tuple[str, ...]
    start: Callable[[PageContext, FormData], Awaitable[Job]]
    repeated_fields: Callable[[Mapping[str, Any]], list[tuple[str, str]]]
    load_choices: Callable[[PageContext, FormData], Awaitable[Variables]]
    preview: Callable[[PageContext, FormData], Awaitable[Variables]] | None = None


async def start_page(ctx: PageContext, start_form: StartForm) -> Response:
    """Show a form that starts a job; on POST, start the job and redirect to its page.

    Links on other pages prefill fields through the address, for example the dataset to train on. If the address names
    an earlier job in the parameter `like`, all fields are prefilled from its request. If the form has errors, or the
    reader has only requested a preview, the form is shown again with what was entered.
    """
    if not ctx.is_post:
        return await _render_start_form(ctx, start_form, await _initial_form(ctx, start_form))

    form = await ctx.form()
    try:
        if start_form.preview is not None and text_field(form, "action") == "preview":
            preview = await start_form.preview(ctx, form)
            return await _render_start_form(ctx, start_form, form, preview=preview)

        await ctx.require_new_form()
        job = await start_form.start(ctx, form)
    except TouchstoneError as error:
        if error.status not in _FORM_ERRORS:
            raise
        return await _render_start_form(ctx, start_form, form, error)

    return ctx.redirect(job_address(job))


async def _initial_form(ctx: PageContext, start_form: StartForm) -> FormData:
    """Return the prefilled form, with the fields in the address or the request of an earlier job."""
    form = FormData(dict(ctx.query_pairs))
    job_id = text_field(form, "like")
    if not job_id:
        return form

    job = await ctx.api.get_job(start_form.kind, job_id)
    return FormData([("like", job_id), *start_form.repeated_fields(job.request)])


async def _render_start_form(
    ctx: PageContext,
    start_form: StartForm,
    form: FormData,
    error: TouchstoneError | None = None,
    preview: Variables | None = None,
) -> Response:
    """Return the page with a form that starts a job.

    Args:
        ctx: the request.
        start_form: the form to show.
        form: the values of its fields.
        error: the error in the submitted fields, if any.
        preview: the preview of the job, if the reader has requested it.
    """
    # After switching the language or the theme, the form is still about the same dataset or training.
    address_fields = {name: text_field(form, name) or None for name in start_form.address_fields}
    ctx.page_address = build_address(start_form.address, **address_fields)

    # With this key, the API starts only one job even if the form is submitted twice.
    idempotency_key = text_field(form, "key") or str(uuid4())
    choices = await start_form.load_choices(ctx, form)
    return await ctx.render(
        start_form.template,
        error=error,
        preview=preview,
        form=form,
        is_unsaved=ctx.is_post,
        key=idempotency_key,
        projects=await ctx.api.list_projects(),
        **choices,
    )


async def start_training(ctx: PageContext, form: FormData) -> Job:
    """Start the training that the form describes.

    Empty fields are not sent, so that the service chooses their values.

    Raises:
        TouchstoneError: a field is invalid, or the service refuses the training.
    """
    dataset_id = id_field(form, "dataset_id", ctx.text("choose_which"))
    options: Any = read_training_options(ctx, form)
    target = text_field(form, "target")
    idempotency_key = header_value_field(form, "key")
    return await ctx.api.train(dataset_id, target, idempotency_key=idempotency_key, **options)


async def preview_training(ctx: PageContext, form: FormData) -> Variables:
    """Return the table and the split of the training that the form describes, without starting it.

    Raises:
        TouchstoneError: a field is invalid, or the service would refuse the training.
    """
    dataset_id = id_field(form, "dataset_id", ctx.text("choose_which"))
    options: Any = read_training_options(ctx, form)
    return await ctx.api.preview_training(dataset_id, text_field(form, "target"), **options)


async def start_comparison(ctx: PageContext, form: FormData, project_id: str) -> None:
    """Start a comparison of models with the values of the form on the page of a project.

    The service chooses the values of empty fields.

    Raises:
        TouchstoneError: a field is invalid, or the service refuses the comparison.
    """
    limit = integer_field(form, "limit", ctx.text("not_whole", name=ctx.text("models_limit")))
    max_trials = integer_field(form, "max_trials", ctx.text("not_whole", name=ctx.text("trials")))
    options: Any = without_empty(
        {
            "target": text_field(form, "target"),
            "limit": limit,
            "task": text_field(form, "task"),
            "metric": text_field(form, "metric"),
            "budget": None if max_trials is None else {"max_trials": max_trials},
            "project_id": project_id,
            "by_dataset": read_dataset_options(form),
        }
    )
    await ctx.api.compare_trainings(idempotency_key=header_value_field(form, "key"), **options)


async def load_training_choices(ctx: PageContext, form: FormData) -> Variables:
    """Return the template variables of the training form.

    If no dataset has been chosen yet, they list the available datasets. Otherwise they describe the columns of the
    dataset, and suggest a column as the target.
    """
    dataset = await _find_trainable_dataset(ctx, form)
    available_datasets: list[Dataset] = []
    columns: Sequence[dataset_view.ColumnSummary] = ()
    target = text_field(form, "target") or None
    suggestions: Mapping[str, Any] = {}

    if dataset is None:
        available_datasets = await _list_trainable_datasets(ctx)
    else:
        columns = dataset_view.column_summaries(dataset)
        target = target or dataset_view.suggested_target(dataset)
        suggestions = dataset.metadata or {}

    return {
        "dataset": dataset,
        "datasets": available_datasets,
        "columns": columns,
        "target": target,
        "suggested": suggestions,
        "algorithms": ALGORITHM_LABELS,
        "metrics": METRIC_LABELS,
        "localized_text": localized_text,
        "mitigations": MITIGATION_LABELS,
        "choices": CHOICES,
        "defaults": DEFAULTS,
    }


async def start_explanation(ctx: PageContext, form: FormData) -> Job:
    """Start the explanation that the form describes.

    Empty fields are not sent, so that the service chooses their values.

    Raises:
        TouchstoneError: a field is invalid, or the service refuses the explanation.
    """
    dataset_id_text = text_field(form, "dataset_id")
    dataset_id = int(dataset_id_text) if is_integer(dataset_id_text) else None
    row_texts = split_at_commas(text_field(form, "rows"))
    rows = parse_integers(row_texts, ctx.text("not_row_numbers", name=ctx.text("rows")), "rows")

    # Fields of the form override options of an earlier job: row numbers replace rows that were given by their values.
    options: Any = read_other_options(ctx, form) | without_empty(
        {
            "job_id": text_field(form, "job_id"),
            "dataset_id": dataset_id,
            "scope": text_field(form, "scope"),
            "method": text_field(form, "method"),
            "instances": {"rows": rows} if rows else None,
            "target_class": text_field(form, "target_class"),
            "immutable": list_field(form, "immutable"),
            "target": text_field(form, "target"),
            "sensitive_features": list_field(form, "sensitive"),
            "project_id": text_field(form, "project_id"),
            "name": text_field(form, "name"),
        }
    )
    idempotency_key = header_value_field(form, "key")
    return await ctx.api.explain(idempotency_key=idempotency_key, **options)


async def load_explanation_choices(ctx: PageContext, form: FormData) -> Variables:
    """Return the template variables of the form that starts an explanation.

    An explanation is about the model of an earlier training or about a dataset. For a dataset, the form initially
    selects the target and the sensitive columns that its record suggests, unless it repeats an earlier job. Models can
    only be explained as long as their dataset exists.
    """
    job_id = text_field(form, "job_id")
    training = await ctx.api.get_job("train", job_id) if job_id else None
    is_training_data_gone = training is not None and await find_dataset_of_job(ctx, training) is None
    dataset = await _find_trainable_dataset(ctx, form)

    if dataset is None or ctx.is_post or text_field(form, "like"):
        target = text_field(form, "target")
        sensitive_columns = list_field(form, "sensitive")
    else:
        target = dataset_view.suggested_target(dataset) or ""
        sensitive_columns = dataset_view.suggestion(dataset, "sensitive_columns") or []

    jobs = await list_recent_jobs(ctx)
    successful_trainings = [job for job in jobs if job.kind == "train" and job.status == "succeeded"]
    dataset_names = await find_dataset_names(ctx, successful_trainings)
    return {
        "training": None if is_training_data_gone else training,
        "is_training_data_gone": is_training_data_gone,
        "trained": [job for job in successful_trainings if job.id in dataset_names],
        "dataset_names": dataset_names,
        "dataset": dataset,
        "columns": dataset_view.column_summaries(dataset) if dataset else (),
        "target": target,
        "sensitive": sensitive_columns,
        "immutable": list_field(form, "immutable"),
        "methods": METHOD_LABELS,
        "other_options": text_field(form, OTHER_OPTIONS),
    }


async def _find_trainable_dataset(ctx: PageContext, form: FormData) -> Dataset | None:
    """Return the dataset in the form, or None if the form names none or the dataset has no table.

    In a submitted form, the dataset may also no longer exist, which an error above the form says.
    """
    dataset_id = text_field(form, "dataset_id")
    if not is_integer(dataset_id):
        return None

    if ctx.is_post:
        dataset = await find_dataset(ctx, dataset_id)
    else:
        dataset = await ctx.api.get_dataset(int(dataset_id))
    return dataset if dataset is not None and dataset_view.is_trainable(dataset) else None


async def _list_trainable_datasets(ctx: PageContext) -> list[Dataset]:
    """Return the datasets with a table for the training form, in the order of their names."""
    file_types = list(dataset_view.TABLE_FILE_TYPES)
    page = await ctx.api.page_datasets(file_type=file_types, page_size=_MAX_DATASETS, sort_by="name")
    return [dataset for dataset in page.datasets if dataset_view.is_trainable(dataset)]


TRAINING: Final = StartForm(
    kind="train",
    template="train.html",
    address="/app/jobs/train",
    address_fields=("dataset_id", "project_id", "target", "like"),
    start=start_training,
    repeated_fields=training_fields,
    load_choices=load_training_choices,
    preview=preview_training,
)
EXPLANATION: Final = StartForm(
    kind="explain",
    template="explain.html",
    address="/app/jobs/explain",
    address_fields=("dataset_id", "project_id", "job_id", "like"),
    start=start_explanation,
    repeated_fields=explanation_fields,
    load_choices=load_explanation_choices,
)


async def training_page(ctx: PageContext) -> Response:
    """Show the form that starts a training, or start it."""
    return await start_page(ctx, TRAINING)


async def explanation_page(ctx: PageContext) -> Response:
    """Show the form that starts an explanation, or start it."""
    return await start_page(ctx, EXPLANATION)


_FORM_METHODS: Final = ["GET", "POST"]
ROUTES: Final = (
    Route(TRAINING.address, page_endpoint(training_page), methods=_FORM_METHODS),
    Route(EXPLANATION.address, page_endpoint(explanation_page), methods=_FORM_METHODS),
)
