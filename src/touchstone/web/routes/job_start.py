"""The forms that start a training or an explanation."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Job, TouchstoneError
from touchstone.core.errors import IdempotencyConflict, Invalid
from touchstone.messages.labels import ALGORITHM_LABELS, METHOD_LABELS, METRIC_LABELS
from touchstone.web.addresses import build_address
from touchstone.web.api_queries import list_recent_jobs
from touchstone.web.forms import integer_field, is_integer, list_field, parse_integers, split_at_commas, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page
from touchstone.web.routes.jobs import job_address
from touchstone.web.views import dataset_view

_MAX_DATASETS: Final = 500  # offered in the training form
_FORM_ERRORS: Final = (Invalid.status, IdempotencyConflict.status)

Variables = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StartForm:
    """A form that starts a job.

    Attributes:
        template: The template of the page.
        address: The address of the page.
        address_fields: The fields that the address of the page may hold.
        start: Starts the job that the form describes.
        load_choices: Returns the variables of the template that do not depend on the outcome of the form.
    """

    template: str
    address: str
    address_fields: tuple[str, ...]
    start: Callable[[PageContext, FormData], Awaitable[Job]]
    load_choices: Callable[[PageContext, FormData], Awaitable[Variables]]


async def start_page(ctx: PageContext, start_form: StartForm) -> Response:
    """Show a start form, filled in from the address; on POST, start the job and redirect to its page."""
    form = await ctx.form() if ctx.is_post else FormData(dict(ctx.query_pairs))
    problem: TouchstoneError | None = None

    if ctx.is_post:
        try:
            await ctx.require_new_form()
            job = await start_form.start(ctx, form)
            return ctx.redirect(job_address(job))
        except TouchstoneError as error:
            if error.status not in _FORM_ERRORS:
                raise
            problem = error  # shown above the form, which keeps what was entered

    address_fields = {name: text_field(form, name) or None for name in start_form.address_fields}
    ctx.page_address = build_address(start_form.address, **address_fields)
    return await ctx.render(
        start_form.template,
        problem=problem,
        form=form,
        key=text_field(form, "key") or str(uuid4()),
        projects=await ctx.api.list_projects(),
        **await start_form.load_choices(ctx, form),
    )


async def start_training(ctx: PageContext, form: FormData) -> Job:
    """Start the training that the form describes; the service decides what is left open."""
    (dataset_id,) = parse_integers([text_field(form, "dataset_id")], ctx.text("choose_which"))
    trials = integer_field(form, "max_trials", ctx.text("not_whole", name=ctx.text("trials")))
    split: dict[str, str | None] = {"strategy": text_field(form, "strategy") or "holdout"}
    if split["strategy"] == "time":
        split["time_column"] = text_field(form, "time_column") or None

    options: Any = _without_empty(
        {
            "task": text_field(form, "task"),
            "features": {"exclude": list_field(form, "exclude")},
            "sensitive_features": list_field(form, "sensitive"),
            "algorithms": list_field(form, "algorithm"),
            "metric": text_field(form, "metric"),
            "split": split,
            "budget": None if trials is None else {"max_trials": trials},
            "seed": integer_field(form, "seed", ctx.text("not_whole", name=ctx.text("seed"))),
            "project_id": text_field(form, "project_id"),
            "name": text_field(form, "name"),
        }
    )
    idempotency_key = text_field(form, "key") or None
    return await ctx.api.train(dataset_id, text_field(form, "target"), idempotency_key=idempotency_key, **options)


async def load_training_choices(ctx: PageContext, form: FormData) -> Variables:
    """Return the dataset of the training with its columns, or the datasets to choose from."""
    dataset = await _find_trainable_dataset(ctx, form)
    suggested_target = dataset_view.suggested_target(dataset) if dataset else None
    return {
        "dataset": dataset,
        "datasets": [] if dataset else await _list_trainable_datasets(ctx),
        "columns": dataset_view.column_summaries(dataset) if dataset else (),
        "target": text_field(form, "target") or suggested_target,
        "suggested": (dataset.metadata or {}) if dataset else {},
        "algorithms": ALGORITHM_LABELS,
        "metrics": METRIC_LABELS,
    }


async def start_explanation(ctx: PageContext, form: FormData) -> Job:
    """Start the explanation that the form describes; the service decides what is left open."""
    dataset_id = text_field(form, "dataset_id")
    row_texts = split_at_commas(text_field(form, "rows"))
    rows = parse_integers(row_texts, ctx.text("not_whole", name=ctx.text("rows")), "rows")
    target_class = text_field(form, "target_class")

    options: Any = _without_empty(
        {
            "job_id": text_field(form, "job_id"),
            "dataset_id": int(dataset_id) if is_integer(dataset_id) else None,
            "scope": text_field(form, "scope"),
            "method": text_field(form, "method"),
            "instances": {"rows": rows} if rows else None,
            "target_class": _parse_class(target_class) if target_class else None,
            "target": text_field(form, "target"),
            "sensitive_features": list_field(form, "sensitive"),
            "project_id": text_field(form, "project_id"),
            "name": text_field(form, "name"),
        }
    )
    return await ctx.api.explain(idempotency_key=text_field(form, "key") or None, **options)


async def load_explanation_choices(ctx: PageContext, form: FormData) -> Variables:
    """Return the training or the dataset to explain, or the trainings to choose from."""
    job_id = text_field(form, "job_id")
    dataset = await _find_trainable_dataset(ctx, form)

    if dataset is None or ctx.is_post:
        target, sensitive = text_field(form, "target"), list_field(form, "sensitive")
    else:
        target = dataset_view.suggested_target(dataset) or ""
        sensitive = dataset_view.suggestion(dataset, "sensitive_columns") or []

    jobs = await list_recent_jobs(ctx)
    return {
        "training": await ctx.api.get_job("train", job_id) if job_id else None,
        "trained": [job for job in jobs if job.kind == "train" and job.status == "succeeded"],
        "dataset": dataset,
        "columns": dataset_view.column_summaries(dataset) if dataset else (),
        "target": target,
        "sensitive": sensitive,
        "methods": METHOD_LABELS,
    }


async def _find_trainable_dataset(ctx: PageContext, form: FormData) -> Dataset | None:
    """Return the dataset that the form is about; None if the form names none or the dataset has no table."""
    dataset_id = text_field(form, "dataset_id")
    if not is_integer(dataset_id):
        return None
    dataset = await ctx.api.get_dataset(int(dataset_id))
    return dataset if dataset_view.is_trainable(dataset) else None


async def _list_trainable_datasets(ctx: PageContext) -> list[Dataset]:
    file_types = list(dataset_view.TABLE_FILE_TYPES)
    datasets = await ctx.api.page_datasets(file_type=file_types, page_size=_MAX_DATASETS, sort_by="name")
    return [dataset for dataset in datasets.datasets if dataset_view.is_trainable(dataset)]


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def _parse_class(text: str) -> str | int | float | bool:
    """Return a class as JSON has it: a number or a truth value where the text is one."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, int | float | bool) else text


TRAINING: Final = StartForm(
    template="train.html",
    address="/app/jobs/train",
    address_fields=("dataset_id", "project_id", "target"),
    start=start_training,
    load_choices=load_training_choices,
)
EXPLANATION: Final = StartForm(
    template="explain.html",
    address="/app/jobs/explain",
    address_fields=("dataset_id", "project_id", "job_id"),
    start=start_explanation,
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
    Route(TRAINING.address, page(training_page), methods=_FORM_METHODS),
    Route(EXPLANATION.address, page(explanation_page), methods=_FORM_METHODS),
)
