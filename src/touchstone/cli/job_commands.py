"""`touchstone train`, `explain` and `jobs`: starting and following trainings and explanations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, exit_with_error, server_command
from touchstone.cli.option_groups import PAGE, Option, OptionGroup
from touchstone.cli.tables import UNKNOWN, Column, build_facts_table, build_table, format_value
from touchstone.client import Artifact, Job
from touchstone.client.models import Kind

jobs = typer.Typer(help="Your trainings and explanations: list, show, watch, cancel and delete them.")

JOB_COLUMNS: Final = (
    Column[Job]("Id", lambda job: job.id, is_key=True),
    Column[Job]("Status", lambda job: job.status),
    Column[Job]("Name", lambda job: job.name or ""),
    Column[Job]("Started", lambda job: job.started_at),
)
ARTIFACT_COLUMNS: Final = (
    Column[Artifact]("File", lambda artifact: artifact.name),
    Column[Artifact]("Bytes", lambda artifact: artifact.bytes, is_number=True),
    Column[Artifact]("Type", lambda artifact: artifact.media_type),
)
# The name of a metric, its estimate for the model, and its estimate for the baseline.
METRIC_COLUMNS: Final = (
    Column[tuple[str, str, str]]("Metric", lambda row: row[0]),
    Column[tuple[str, str, str]]("Model", lambda row: row[1], is_number=True),
    Column[tuple[str, str, str]]("Baseline", lambda row: row[2], is_number=True),
)
# The name of a column of the dataset, and its attribution.
ATTRIBUTION_COLUMNS: Final = (
    Column[tuple[str, float]]("Column", lambda row: row[0]),
    Column[tuple[str, float]]("Attribution", lambda row: f"{row[1]:+.4f}", is_number=True),
)
# The place of each option in the body of the request; an option without an entry is a member of the body itself.
TRAIN_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "include": ("features", "include"),
    "exclude": ("features", "exclude"),
    "sensitive": ("sensitive_features",),
    "algorithm": ("algorithms",),
    "split": ("split", "strategy"),
    "folds": ("split", "folds"),
    "test_size": ("split", "test_size"),
    "time_column": ("split", "time_column"),
    "trials": ("budget", "max_trials"),
    "seconds": ("budget", "max_runtime_seconds"),
    "project": ("project_id",),
}
EXPLAIN_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "job": ("job_id",),
    "dataset": ("dataset_id",),
    "row": ("instances", "rows"),
    "values": ("instances", "values"),
    "background": ("background", "size"),
    "sensitive": ("sensitive_features",),
    "project": ("project_id",),
}


def _nest(options: Mapping[str, Any], paths: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the body of a request with the value of each option at its path.

    For example, with the path `("split", "folds")` the option `folds` becomes `{"split": {"folds": 5}}`. An option
    without a path becomes a member of the body itself.
    """
    body: dict[str, Any] = {}
    for option_name, value in options.items():
        *parent_keys, last_key = paths.get(option_name, (option_name,))

        parent = body
        for key in parent_keys:
            parent = parent.setdefault(key, {})
        parent[last_key] = value
    return body


def _training_request(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a training request; a number of folds or a time column implies how the rows are split."""
    options = dict(given_options)
    if "folds" in options:
        options.setdefault("split", "kfold")
    if "time_column" in options:
        options.setdefault("split", "time")
    return _nest(options, TRAIN_PATHS)


def _explanation_request(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an explanation request, in which the JSON texts of `--values` have become objects.

    Raises:
        typer.BadParameter: One of these texts is not a JSON object.
    """
    options = dict(given_options)
    if "values" in options:
        try:
            options["values"] = [msgspec.json.decode(text, type=dict[str, Any]) for text in options["values"]]
        except msgspec.DecodeError as error:
            raise typer.BadParameter(f"--values takes a JSON object: {error}") from error
    return _nest(options, EXPLAIN_PATHS)


TRAINING: Final = OptionGroup(
    (
        Option("target", str, "The column to predict.", is_required=True),
        Option("task", str, "classification, regression or auto (the default)."),
        Option("include", str, "Learn from this column; may be repeated (default: all).", is_repeatable=True),
        Option("exclude", str, "Do not learn from this column; may be repeated.", is_repeatable=True),
        Option("sensitive", str, "Report quality for each group of this column; may be repeated.", is_repeatable=True),
        Option("algorithm", str, "Try this algorithm; may be repeated (default: a selection).", is_repeatable=True),
        Option("metric", str, "What to be good at, such as balanced_accuracy or r2."),
        Option("split", str, "How to measure: holdout, kfold or time."),
        Option("folds", int, "Number of folds (kfold)."),
        Option("test_size", float, "Share of the rows kept for measuring (holdout, time)."),
        Option("time_column", str, "The column that orders the rows (time)."),
        Option("trials", int, "How many settings to try."),
        Option("seconds", int, "Stop trying after this many seconds."),
        Option("seed", int, "The same seed gives the same result."),
        Option("project", str, "Id of the project it belongs to."),
        Option("name", str, "A name to find it by."),
    ),
    build=_training_request,
    help_panel="Training",
)
EXPLAINING: Final = OptionGroup(
    (
        Option("job", str, "Explain the model of this training."),
        Option("dataset", int, "Explain this dataset alone."),
        Option("scope", str, "global, local or both (the default)."),
        Option("method", str, "How, such as shap or permutation_importance (default: auto)."),
        Option(
            "row", int, "Explain the prediction for this row of the file, from 0; may be repeated.", is_repeatable=True
        ),
        Option(
            "values",
            str,
            "Explain the prediction for these values, a JSON object; may be repeated.",
            is_repeatable=True,
        ),
        Option("background", int, "How many rows stand for an average case."),
        Option("target_class", str, "The class whose probability is explained."),
        Option("target", str, "The column that matters (dataset alone)."),
        Option(
            "sensitive", str, "Look for proxies of this column (dataset alone); may be repeated.", is_repeatable=True
        ),
        Option("seed", int, "The same seed gives the same result."),
        Option("project", str, "Id of the project it belongs to."),
        Option("name", str, "A name to find it by."),
    ),
    build=_explanation_request,
    help_panel="Explanation",
)
WaitOption = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the result, or only start.")]
KindArgument = Annotated[Kind, typer.Argument(help="train or explain.")]
JobId = Annotated[str, typer.Argument(help="Id of the job.")]
LIST_OPTIONS: Final = OptionGroup(
    (
        Option("status", str, "Only jobs in this state."),
        Option("project_id", str, "Only jobs of this project.", spelling="--project"),
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
    """Show a job, after waiting until it is done if `wait` is true.

    Raises:
        typer.Exit: The job failed or was cancelled.
    """
    if wait and not job.done:
        job = wait_with_progress(context, job)

    context.show(job, *_job_tables(job))
    if job.done and job.status != "succeeded":
        raise typer.Exit(ExitStatus.REFUSED)


def wait_with_progress(context: CommandContext, job: Job) -> Job:
    """Wait behind a progress bar until a job is done, and return it in its final state.

    Interrupting the command with Ctrl-C does not cancel the job. The command then ends with a message that says how
    to wait again.
    """
    try:
        with progress_bar(f"{job.kind} {job.id}", total=100) as (progress, task_id):

            def show_progress(polled_job: Job) -> None:
                percent = polled_job.progress.percent if polled_job.progress else 0
                progress.update(task_id, completed=percent, description=_describe_progress(polled_job))

            return context.client.wait(job, report=show_progress)
    except KeyboardInterrupt:
        command = f"touchstone jobs watch {job.kind} {job.id}"
        exit_with_error(f"the job goes on; look again with: {command}", ExitStatus.REFUSED)


def _describe_progress(job: Job) -> str:
    """Return what a job is doing: its own message, or else its phase or its status."""
    activity: str = job.status
    if job.progress is not None:
        activity = job.progress.message or job.progress.phase or job.status
    return f"{job.kind}: {activity}"


def _job_tables(job: Job) -> list[Table | str]:
    """Return the tables and lines that show a job to a person: its state, its result, and its files."""
    facts = {
        "Id": job.id,
        "Status": job.status,
        "Name": job.name,
        "Started": job.started_at,
        "Why": f"{job.error.message} ({job.error.code})" if job.error else None,
        "Finished": job.finished_at,
    }
    tables: list[Table | str] = [build_facts_table(facts, title=f"{job.kind} job")]

    if job.result:
        result_tables = _training_tables if job.kind == "train" else _explanation_tables
        tables += result_tables(job.result)
    if job.artifacts:
        tables.append(build_table(ARTIFACT_COLUMNS, job.artifacts, title="Files: touchstone jobs download"))
    return tables


def _training_tables(result: Mapping[str, Any]) -> list[Table | str]:
    """Return the result of a training as a table of metrics, beside those of the baseline, and one line per warning.

    The metrics are the means over the folds if there are any, and otherwise those of the held-out rows.
    """
    metrics = result.get("metrics") or {}
    model_metrics = metrics.get("folds") or metrics.get("holdout") or {}
    baseline_metrics = metrics.get("baseline") or {}
    rows = [
        (metric, _format_estimate(estimate), _format_estimate(baseline_metrics.get(metric)))
        for metric, estimate in model_metrics.items()
    ]
    model = result.get("model") or {}
    model_name = english_text(model.get("label", model.get("algorithm", "the model")))
    tables: list[Table | str] = [build_table(METRIC_COLUMNS, rows, title=f"Quality of {model_name}")]

    for warning in result.get("warnings") or []:
        warning_text = english_text(warning.get("text", warning.get("code")))
        tables.append(f"Warning: {warning_text}")
    return tables


def _explanation_tables(result: Mapping[str, Any]) -> list[Table | str]:
    """Return an explanation as one table of attributions for each explained row, and the narrative as a line.

    The columns that contribute most to a prediction come first.
    """
    tables: list[Table | str] = []
    for explanation in result.get("local") or []:
        attributions = explanation.get("attributions") or {}
        strongest_first = sorted(attributions.items(), key=lambda item: abs(item[1]), reverse=True)

        row_number = format_value(explanation.get("row"))
        prediction = format_value(explanation.get("prediction"))
        title = f"Row {row_number}: prediction {prediction}"
        tables.append(build_table(ATTRIBUTION_COLUMNS, strongest_first, title))

    narrative = result.get("narrative")
    if narrative:
        tables.append(english_text(narrative))
    return tables


def _format_estimate(estimate: Any) -> str:
    """Return the estimate of a metric with four decimals, and with its confidence interval if it has one.

    An estimate is a number, or an object with the members `mean` or `value`, and `low` and `high`. A metric without
    an estimate is shown as `?`.
    """
    if not isinstance(estimate, dict):
        estimate = {"value": estimate}

    value = estimate.get("mean", estimate.get("value"))
    if not isinstance(value, int | float):
        return UNKNOWN

    low = estimate.get("low")
    high = estimate.get("high")
    if low is None or high is None:
        return f"{value:.4f}"
    return f"{value:.4f} ({low:.4f} to {high:.4f})"


def english_text(text: Any) -> str:
    """Return the English version of a text that the service has in two languages, or the text itself."""
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
    context.show(job, *_job_tables(job))


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
    into: Annotated[Path | None, typer.Option("--to", help="Where to write it (default: its name, here).")] = None,
    *,
    context: CommandContext,
) -> None:
    """Download a file that a job has made."""
    job = context.client.get_job(kind, job_id)
    # Only the last part of the name is used, so that a name cannot lead out of the working directory.
    path = into or Path(Path(name).name)

    try:
        with path.open("wb") as file:
            byte_count = context.client.download(job, name, file)
    except OSError as error:
        exit_with_error(f"{path}: {error.strerror}", ExitStatus.USAGE)
    context.show({"file": str(path), "bytes": byte_count}, f"{byte_count} bytes written to {path}")


def register(app: typer.Typer) -> None:
    """Add `train`, `explain` and `jobs` to the application."""
    server_command(app, "train", request=TRAINING)(train)
    server_command(app, "explain", request=EXPLAINING)(explain)
    app.add_typer(jobs, name="jobs")
