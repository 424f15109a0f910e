"""`touchstone train`, `explain` and `jobs`: starting and following trainings and explanations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, end_with_advice, server_command
from touchstone.cli.file_output import STANDARD_STREAM, open_output
from touchstone.cli.job_options import EXPLAINING, TRAINING
from touchstone.cli.option_groups import PAGE, Option, OptionGroup
from touchstone.cli.tables import UNKNOWN, Column, build_facts_table, build_table, format_value
from touchstone.client import Artifact, Job
from touchstone.client.models import Kind

jobs = typer.Typer(help="Your trainings and explanations: list, show, watch, cancel and delete them.")

JOB_COLUMNS: Final = (
    Column[Job]("Id", lambda job: job.id, is_key=True),
    Column[Job]("Status", lambda job: job.status, is_key=True),
    Column[Job]("Name", lambda job: job.name or _describe_unnamed(job)),
    Column[Job]("Started", lambda job: job.started_at),
)
ARTIFACT_COLUMNS: Final = (
    Column[Artifact]("File", lambda artifact: artifact.name),
    Column[Artifact]("Bytes", lambda artifact: artifact.bytes, is_number=True),
    Column[Artifact]("Type", lambda artifact: artifact.media_type),
)


class MetricRow(NamedTuple):
    """The estimates of a metric for a trained model and for the baseline, as text."""

    metric: str
    model: str
    baseline: str


class Attribution(NamedTuple):
    """The contribution of a column of the dataset to a prediction."""

    column: str
    points: float


METRIC_COLUMNS: Final = (
    Column[MetricRow]("Metric", lambda row: row.metric),
    Column[MetricRow]("Model", lambda row: row.model, is_number=True),
    Column[MetricRow]("Baseline", lambda row: row.baseline, is_number=True),
)
ATTRIBUTION_COLUMNS: Final = (
    Column[Attribution]("Column", lambda attribution: attribution.column),
    Column[Attribution]("Attribution", lambda attribution: f"{attribution.points:+.4f}", is_number=True),
)
WaitOption = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the result, or only start.")]
KindArgument = Annotated[Kind, typer.Argument(help="train or explain.")]
JobId = Annotated[str, typer.Argument(help="Id of the job.")]
LIST_OPTIONS: Final = OptionGroup(
    (
        Option("status", str, "Only jobs in this state."),
        Option("project_id", str, "Only jobs of this project.", flags="--project"),
    )
)


def train(
    dataset: Annotated[int, typer.Argument(help="Id of the dataset.")],
    wait: WaitOption = True,
    *,
    context: CommandContext,
    request: dict[str, Any],
) -> None:
    """Train models that predict a column of a dataset, and measure the best of them.

    For example: touchstone train 12 --target income --exclude id --sensitive sex --folds 5
    """
    job = context.client.train(dataset, **request)
    _show_job(context, job, wait=wait)


def explain(wait: WaitOption = True, *, context: CommandContext, request: dict[str, Any]) -> None:
    """Explain the model of a training, or a dataset alone.

    For example: touchstone explain --job 5f0c… --row 0 --row 7
    """
    job = context.client.explain(**request)
    _show_job(context, job, wait=wait)


def _show_job(context: CommandContext, job: Job, *, wait: bool) -> None:
    """Show a job to the user; with `wait`, first wait until it is done.

    Raises:
        typer.Exit: the job failed or was cancelled, which the exit status reports to scripts.
    """
    if wait and not job.done:
        job = wait_with_progress(context, job)

    _print_job(context, job)
    if job.done and job.status != "succeeded":
        raise typer.Exit(ExitStatus.REFUSED)


def wait_with_progress(context: CommandContext, job: Job) -> Job:
    """Show a progress bar until a job is done, and return the job in its final state.

    Ctrl-C and an unreachable server end the command, but not the job. A message then tells the user how to resume
    waiting.

    Raises:
        typer.Exit: the user has pressed Ctrl-C, or the service refused the call or was away for too long.
    """
    advice = f"To wait for the job again, run: touchstone jobs watch {job.kind} {job.id}"
    with end_with_advice(advice), progress_bar(f"{job.kind} {job.id}", total=100) as (progress, task_id):

        def show_progress(polled_job: Job) -> None:
            percent = polled_job.progress.percent if polled_job.progress else 0
            progress.update(task_id, completed=percent, description=_describe_progress(polled_job))

        return context.client.wait(job, report=show_progress)


def _describe_progress(job: Job) -> str:
    """Return the message of a job, or its phase or status if it has no message."""
    activity: str = job.status
    if job.progress is not None:
        activity = job.progress.message or job.progress.phase or job.status
    return f"{job.kind}: {activity}"


def _print_job(context: CommandContext, job: Job) -> None:
    """Print the state of a job, its result if there is one, and a list of its files."""
    context.show(job, _state_table(job), *_result_tables(job), *_result_remarks(job), *_file_tables(job))


def _describe_unnamed(job: Job) -> str:
    """Return what distinguishes a job without a name from others: its dataset, and the column that it predicts."""
    target = job.request.get("target")
    parts = [f"dataset {_dataset_id(job)}", *([target] if target else [])]
    return ", ".join(parts)


def _dataset_id(job: Job) -> str:
    """Return the id of the dataset of a job, or a question mark if the service does not state it."""
    return str((job.inputs or {}).get("dataset_id", UNKNOWN))


def _state_table(job: Job) -> Table:
    """Return a table with the status, the dataset, the target, the times and any error of a job."""
    error_text = f"{job.error.message} ({job.error.code})" if job.error else None
    values_by_label = {
        "Id": job.id,
        "Name": job.name,
        "Status": job.status,
        "Error": error_text,
        "Dataset": _dataset_id(job),
        "Target": job.request.get("target"),
        "Started": job.started_at,
        "Finished": job.finished_at,
    }
    return build_facts_table(values_by_label, title=f"{job.kind} job")


def _result_tables(job: Job) -> list[Table]:
    """Return the tables of a job's result: the quality of a trained model, or each explained prediction."""
    if not job.result:
        return []
    if job.kind == "train":
        return [_quality_table(job.result)]

    explained_predictions = job.result.get("local") or []
    return [_attribution_table(explanation) for explanation in explained_predictions]


def _result_remarks(job: Job) -> list[str]:
    """Return the warnings about a trained model, or the summary of an explanation, as lines of text."""
    if not job.result:
        return []
    if job.kind == "train":
        return [_warning_line(warning) for warning in job.result.get("warnings") or []]

    summary = job.result.get("narrative")
    return [english_text(summary)] if summary else []


def _file_tables(job: Job) -> list[Table]:
    """Return a list with a table of the files of a job, or an empty list if there are none."""
    if not job.artifacts:
        return []
    return [build_table(ARTIFACT_COLUMNS, job.artifacts, title="Files: touchstone jobs download")]


def _quality_table(result: Mapping[str, Any]) -> Table:
    """Return a table that compares the quality metrics of a trained model with a trivial baseline."""
    model_name = _model_name(result.get("model") or {})
    metric_rows = _metric_rows(result.get("metrics") or {})
    return build_table(METRIC_COLUMNS, metric_rows, title=f"Quality of {model_name}")


def _model_name(model: Mapping[str, Any]) -> str:
    """Return the label of a trained model, or the name of its algorithm if there is no label."""
    if "label" in model:
        return english_text(model["label"])
    if "algorithm" in model:
        return english_text(model["algorithm"])
    return "the model"


def _warning_line(warning: Mapping[str, Any]) -> str:
    """Return a warning about a trained model as a line of text, with its code if it has no text."""
    text = warning["text"] if "text" in warning else warning.get("code")
    return f"Warning: {english_text(text)}"


def _metric_rows(metrics: Mapping[str, Any]) -> list[MetricRow]:
    """Return a row for each metric with its estimates for the trained model and for the baseline.

    A cross-validated model has estimates in `folds`, which are means over the folds. Any other model has estimates in
    `holdout`, from rows that were not used for the training.
    """
    model_estimates = metrics.get("folds") or metrics.get("holdout") or {}
    baseline_estimates = metrics.get("baseline") or {}

    rows = []
    for metric, estimate in model_estimates.items():
        baseline_estimate = baseline_estimates.get(metric)
        rows.append(MetricRow(metric, _format_estimate(estimate), _format_estimate(baseline_estimate)))
    return rows


def _attribution_table(explanation: Mapping[str, Any]) -> Table:
    """Return a table of the contributions of the columns to a prediction, the strongest first."""
    points_by_column = explanation.get("attributions") or {}
    attributions = [Attribution(column, points) for column, points in points_by_column.items()]
    strongest_first = sorted(attributions, key=lambda attribution: abs(attribution.points), reverse=True)

    row_number = format_value(explanation.get("row"))
    prediction = format_value(explanation.get("prediction"))
    return build_table(ATTRIBUTION_COLUMNS, strongest_first, title=f"Row {row_number}: prediction {prediction}")


def _format_estimate(estimate: Any) -> str:
    """Return an estimate of a metric as text, such as `0.8312 (0.8011 to 0.8604)`, or `?` if it is missing.

    The service sends an estimate as a number, or as an object with the member `mean` or `value`. The object may also
    contain a confidence interval as `low` and `high`.
    """
    members = estimate if isinstance(estimate, dict) else {"value": estimate}
    value = members["mean"] if "mean" in members else members.get("value")
    if not isinstance(value, int | float):
        return UNKNOWN

    low = members.get("low")
    high = members.get("high")
    if low is None or high is None:
        return f"{value:.4f}"
    return f"{value:.4f} ({low:.4f} to {high:.4f})"


def english_text(text: Any) -> str:
    """Return the English version of a bilingual message of the service, or a plain message unchanged."""
    if isinstance(text, dict):
        return str(text.get("en", text))
    return str(text)


@server_command(jobs, "list", filters=LIST_OPTIONS, page=PAGE)
def list_jobs(kind: KindArgument, *, context: CommandContext, filters: dict[str, Any], page: dict[str, Any]) -> None:
    """List your trainings (train) or explanations (explain), newest first."""
    job_page = context.client.page_jobs(kind, **filters, **page)
    context.show(job_page, build_table(JOB_COLUMNS, job_page.jobs, title=f"Jobs: {job_page.total_count}"))


@server_command(jobs, "show")
def show(kind: KindArgument, job_id: JobId, *, context: CommandContext) -> None:
    """Show a job, with its result when it has one."""
    job = context.client.get_job(kind, job_id)
    _print_job(context, job)


@server_command(jobs, "watch")
def watch(kind: KindArgument, job_id: JobId, *, context: CommandContext) -> None:
    """Wait for a job and show its result."""
    job = context.client.get_job(kind, job_id)
    _show_job(context, job, wait=True)


@server_command(jobs, "cancel")
def cancel(kind: KindArgument, job_id: JobId, *, context: CommandContext) -> None:
    """Stop a job."""
    job = context.client.cancel_job(kind, job_id)
    context.show(job, f"Job {job.id} is {job.status}.")


@server_command(jobs, "delete")
def delete(kind: KindArgument, job_id: JobId, *, context: CommandContext) -> None:
    """Delete a finished job with its files."""
    context.client.delete_job(kind, job_id)
    context.show(None, f"Job {job_id} is deleted.")


@server_command(jobs, "download")
def download(
    kind: KindArgument,
    job_id: JobId,
    name: Annotated[str, typer.Argument(help="Name of the file, as `jobs show` lists it.")],
    into: Annotated[
        Path | None,
        typer.Option("--to", help="Where to write it, or - for the standard output (default: its name, here)."),
    ] = None,
    *,
    context: CommandContext,
) -> None:
    """Download a file that a job has made."""
    job = context.client.get_job(kind, job_id)
    # Only the last part of the name is used, so that the file is in the working directory.
    path = into or Path(Path(name).name)

    with open_output(path) as file:
        byte_count = context.client.download(job, name, file)

    if path != STANDARD_STREAM:
        context.show({"file": str(path), "bytes": byte_count}, f"{byte_count} bytes written to {path}")


def register(app: typer.Typer) -> None:
    """Add `train`, `explain` and `jobs` to the application."""
    server_command(app, "train", request=TRAINING)(train)
    server_command(app, "explain", request=EXPLAINING)(explain)
    app.add_typer(jobs, name="jobs")
