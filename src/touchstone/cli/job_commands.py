"""`touchstone train`, `explain` and `jobs`: long work, started, followed and looked at."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from touchstone.cli.command_context import Session, progress
from touchstone.cli.command_runner import Exit, command, fail
from touchstone.cli.option_groups import PAGE, Flag, Group
from touchstone.cli.tables import Column, facts, shown, table
from touchstone.client import Artifact, Job
from touchstone.client.models import Kind

jobs = typer.Typer(help="Your trainings and explanations: list, show, watch, cancel and delete them.")

JOBS: Final = (
    Column[Job]("Id", lambda one: one.id, is_key=True),
    Column[Job]("Status", lambda one: one.status),
    Column[Job]("Name", lambda one: one.name or ""),
    Column[Job]("Started", lambda one: one.started_at),
)
ARTIFACTS: Final = (
    Column[Artifact]("File", lambda one: one.name),
    Column[Artifact]("Bytes", lambda one: one.bytes, is_number=True),
    Column[Artifact]("Type", lambda one: one.media_type),
)
# Where each option of the command line goes in the body of the request.
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


def nested(given: Mapping[str, Any], paths: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the body of a request with each value at its path; a name without a path is a top-level key."""
    body: dict[str, Any] = {}
    for name, value in given.items():
        *above, last = paths.get(name, (name,))
        place = body
        for part in above:
            place = place.setdefault(part, {})
        place[last] = value
    return body


def _train_order(given: dict[str, Any]) -> dict[str, Any]:
    if "folds" in given:
        given.setdefault("split", "kfold")
    if "time_column" in given:
        given.setdefault("split", "time")
    return nested(given, TRAIN_PATHS)


def _explain_order(given: dict[str, Any]) -> dict[str, Any]:
    try:
        given["values"] = [msgspec.json.decode(text, type=dict[str, Any]) for text in given.get("values", [])]
    except msgspec.DecodeError as problem:
        raise typer.BadParameter(f"--values takes a JSON object: {problem}") from problem
    return nested({name: value for name, value in given.items() if value != []}, EXPLAIN_PATHS)


TRAINING: Final = Group(
    (
        Flag("target", str, "The column to predict.", needed=True),
        Flag("task", str, "classification, regression or auto (the default)."),
        Flag("include", str, "Learn from this column; may be repeated (default: all).", many=True),
        Flag("exclude", str, "Do not learn from this column; may be repeated.", many=True),
        Flag("sensitive", str, "Report quality for each group of this column; may be repeated.", many=True),
        Flag("algorithm", str, "Try this algorithm; may be repeated (default: a selection).", many=True),
        Flag("metric", str, "What to be good at, such as balanced_accuracy or r2."),
        Flag("split", str, "How to measure: holdout, kfold or time."),
        Flag("folds", int, "Number of folds (kfold)."),
        Flag("test_size", float, "Share of the rows kept for measuring (holdout, time)."),
        Flag("time_column", str, "The column that orders the rows (time)."),
        Flag("trials", int, "How many settings to try."),
        Flag("seconds", int, "Stop trying after this many seconds."),
        Flag("seed", int, "The same seed gives the same result."),
        Flag("project", str, "Id of the project it belongs to."),
        Flag("name", str, "A name to find it by."),
    ),
    build=_train_order,
    panel="Training",
)
EXPLAINING: Final = Group(
    (
        Flag("job", str, "Explain the model of this training."),
        Flag("dataset", int, "Explain this dataset alone."),
        Flag("scope", str, "global, local or both (the default)."),
        Flag("method", str, "How, such as shap or permutation_importance (default: auto)."),
        Flag("row", int, "Explain the prediction for this row of the file, from 0; may be repeated.", many=True),
        Flag("values", str, "Explain the prediction for these values, a JSON object; may be repeated.", many=True),
        Flag("background", int, "How many rows stand for an average case."),
        Flag("target_class", str, "The class whose probability is explained."),
        Flag("target", str, "The column that matters (dataset alone)."),
        Flag("sensitive", str, "Look for proxies of this column (dataset alone); may be repeated.", many=True),
        Flag("seed", int, "The same seed gives the same result."),
        Flag("project", str, "Id of the project it belongs to."),
        Flag("name", str, "A name to find it by."),
    ),
    build=_explain_order,
    panel="Explanation",
)
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the result, or only start.")]


def train(
    dataset: Annotated[int, typer.Argument(help="Id of the dataset.")],
    wait: Wait = True,
    *,
    session: Session,
    order: dict[str, Any],
) -> None:
    """Train models that predict a column of a dataset, and measure the best of them.

    For example: touchstone train 12 --target income --exclude id --sensitive sex --folds 5
    """
    finish(session, session.client.train(dataset, **order), wait=wait)


def explain(wait: Wait = True, *, session: Session, order: dict[str, Any]) -> None:
    """Explain the model of a training, or a dataset alone.

    For example: touchstone explain --job 5f0c… --row 0 --row 7
    """
    finish(session, session.client.explain(**order), wait=wait)


def finish(session: Session, job: Job, *, wait: bool) -> None:
    """Wait for a job with a progress bar and show what came out.

    Raises:
        typer.Exit: the job did not succeed.
    """
    if wait and not job.done:
        job = follow(session, job)
    session.show(job, *pictures(job))
    if job.done and job.status != "succeeded":
        raise typer.Exit(Exit.REFUSED)


def follow(session: Session, job: Job) -> Job:
    """Wait for a job; leaving early leaves the job alone."""
    try:
        with progress(f"{job.kind} {job.id}", 100) as (bar, task):

            def report(seen: Job) -> None:
                known = seen.progress
                bar.update(task, completed=known.percent if known else 0, description=_phase(seen))

            return session.client.wait(job, report=report)
    except KeyboardInterrupt:
        fail(f"the job goes on; look again with: touchstone jobs watch {job.kind} {job.id}", Exit.REFUSED)
        raise


def _phase(job: Job) -> str:
    known = job.progress
    return f"{job.kind}: {known.message or known.phase or job.status}" if known else f"{job.kind}: {job.status}"


def pictures(job: Job) -> list[Any]:
    """Return the tables that show a job's state, its error and its result."""
    failure = None if job.error is None else f"{job.error.message} ({job.error.code})"
    head = {"Id": job.id, "Status": job.status, "Name": job.name, "Started": job.started_at, "Why": failure}
    drawn: list[Any] = [facts({**head, "Finished": job.finished_at}, f"{job.kind} job")]
    if job.result:
        show = _training_pictures if job.kind == "train" else _explanation_pictures
        drawn += show(job.result)
    if job.artifacts:
        drawn.append(table(ARTIFACTS, job.artifacts, "Files: touchstone jobs download"))
    return drawn


def _training_pictures(result: Mapping[str, Any]) -> list[Any]:
    metrics = result.get("metrics") or {}
    measured = metrics.get("folds") or metrics.get("holdout") or {}
    baseline = metrics.get("baseline") or {}
    rows = [(name, _estimate(value), _estimate(baseline.get(name))) for name, value in measured.items()]
    columns = (
        Column[tuple[str, str, str]]("Metric", lambda row: row[0]),
        Column[tuple[str, str, str]]("Model", lambda row: row[1], is_number=True),
        Column[tuple[str, str, str]]("Baseline", lambda row: row[2], is_number=True),
    )
    warnings = [
        f"Warning: {english(warning.get('text', warning.get('code')))}" for warning in result.get("warnings") or []
    ]
    return [table(columns, rows, f"Quality of {_algorithm(result)}"), *warnings]


def _algorithm(result: Mapping[str, Any]) -> str:
    model = result.get("model") or {}
    return english(model.get("label", model.get("algorithm", "the model")))


def _estimate(value: Any) -> str:
    if not isinstance(value, dict):
        return f"{value:.4f}" if isinstance(value, int | float) else "?"
    middle, low, high = value.get("mean", value.get("value")), value.get("low"), value.get("high")
    if not isinstance(middle, int | float):
        return "?"
    between = f" ({low:.4f} to {high:.4f})" if low is not None and high is not None else ""
    return f"{middle:.4f}{between}"


def english(said: Any) -> str:
    """Return the English version of a sentence that the service has in both languages."""
    return str(said.get("en", said)) if isinstance(said, dict) else str(said)


def _explanation_pictures(result: Mapping[str, Any]) -> list[Any]:
    drawn: list[Any] = []
    for local in result.get("local") or []:
        parts = local.get("attributions") or {}
        rows = sorted(parts.items(), key=lambda pair: -abs(pair[1]))
        columns = (
            Column[tuple[str, float]]("Column", lambda row: row[0]),
            Column[tuple[str, float]]("Attribution", lambda row: f"{row[1]:+.4f}", is_number=True),
        )
        drawn.append(
            table(columns, rows, f"Row {shown(local.get('row'))}: prediction {shown(local.get('prediction'))}")
        )
    narrative = result.get("narrative")
    return [*drawn, english(narrative)] if narrative else drawn


KindArgument = Annotated[Kind, typer.Argument(help="train or explain.")]
Id = Annotated[str, typer.Argument(help="Id of the job.")]


@command(
    jobs,
    "list",
    chosen=Group(
        (
            Flag("status", str, "Only jobs in this state."),
            Flag("project_id", str, "Only jobs of this project.", spelling="--project"),
        )
    ),
    page=PAGE,
)
def list_jobs(kind: KindArgument, *, session: Session, chosen: dict[str, Any], page: dict[str, Any]) -> None:
    """List your trainings (train) or explanations (explain), newest first."""
    page_of_jobs = session.client.page_jobs(kind, **chosen, **{"page_size": 20, **page})
    session.show(page_of_jobs, table(JOBS, page_of_jobs.jobs, f"Jobs: {page_of_jobs.total_count}"))


@command(jobs, "show")
def show(kind: KindArgument, job_id: Id, *, session: Session) -> None:
    """Show a job, with its result when it has one."""
    job = session.client.get_job(kind, job_id)
    session.show(job, *pictures(job))


@command(jobs, "watch")
def watch(kind: KindArgument, job_id: Id, *, session: Session) -> None:
    """Wait for a job and show its result."""
    finish(session, session.client.get_job(kind, job_id), wait=True)


@command(jobs, "cancel")
def cancel(kind: KindArgument, job_id: Id, *, session: Session) -> None:
    """Stop a job."""
    job = session.client.cancel_job(kind, job_id)
    session.show(job, f"Job {job.id} is {job.status}.")


@command(jobs, "delete")
def delete(kind: KindArgument, job_id: Id, *, session: Session) -> None:
    """Delete a finished job with its files."""
    session.client.delete_job(kind, job_id)
    session.show(None, f"Job {job_id} is deleted.")


@command(jobs, "download")
def download(
    kind: KindArgument,
    job_id: Id,
    name: Annotated[str, typer.Argument(help="Name of the file, as `jobs show` lists it.")],
    into: Annotated[Path | None, typer.Option("--to", help="Where to write it (default: its name, here).")] = None,
    *,
    session: Session,
) -> None:
    """Download a file that a job has made."""
    job = session.client.get_job(kind, job_id)
    path = into or Path(Path(name).name)
    try:
        with path.open("wb") as file:
            count = session.client.download(job, name, file)
    except OSError as problem:
        fail(f"{path}: {problem.strerror}", Exit.USAGE)
    session.show({"file": str(path), "bytes": count}, f"{count} bytes written to {path}")


def register(app: typer.Typer) -> None:
    """Put `train`, `explain` and `jobs` into the main application."""
    command(app, "train", order=TRAINING)(train)
    command(app, "explain", order=EXPLAINING)(explain)
    app.add_typer(jobs, name="jobs")
