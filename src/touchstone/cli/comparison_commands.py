"""`touchstone compare-models`: training on several datasets in the same way, to learn which of them trains best."""

from typing import Annotated, Any, Final

import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, exit_with_error, server_command
from touchstone.cli.job_commands import WaitOption
from touchstone.cli.job_options import TRAINING, training_request
from touchstone.cli.option_groups import Option, OptionGroup, parse_assignments
from touchstone.cli.tables import UNKNOWN, Column, build_table, digits_of
from touchstone.client import ComparedTraining, LeftOutDataset, TrainingComparison


def _format_score(item: ComparedTraining) -> str:
    """Return the score of a dataset with its interval, such as `0.8312 (0.8011 to 0.8604)`; `?` without a score."""
    score = item.score
    if score is None:
        return UNKNOWN
    if score.low is None or score.high is None:
        return f"{score.value:.4f}"
    return f"{score.value:.4f} ({score.low:.4f} to {score.high:.4f})"


def _format_baseline(item: ComparedTraining) -> str:
    """Return the score of a model that ignores every column; `?` if it is not known."""
    if item.score is None or item.score.baseline is None:
        return UNKNOWN
    return f"{item.score.baseline:.4f}"


TRAINING_COLUMNS: Final = (
    Column[ComparedTraining]("Place", lambda item: digits_of(item.place), is_number=True),
    Column[ComparedTraining]("Score", _format_score, is_number=True),
    Column[ComparedTraining]("Baseline", _format_baseline, is_number=True),
    Column[ComparedTraining]("Warnings", lambda item: len(item.warnings), is_number=True),
    Column[ComparedTraining]("Rank", lambda item: digits_of(item.rank), is_number=True),
    Column[ComparedTraining]("Id", lambda item: digits_of(item.dataset_id), is_number=True),
    Column[ComparedTraining]("Dataset", lambda item: item.dataset_name),
    Column[ComparedTraining]("Target", lambda item: item.target),
    Column[ComparedTraining]("Training", lambda item: item.status or "deleted", is_key=True),
)
LEFT_OUT_COLUMNS: Final = (
    Column[LeftOutDataset]("Rank", lambda item: digits_of(item.rank), is_number=True),
    Column[LeftOutDataset]("Id", lambda item: digits_of(item.dataset_id), is_number=True),
    Column[LeftOutDataset]("Dataset", lambda item: item.dataset_name),
    Column[LeftOutDataset]("Why", lambda item: item.message),
)


def _comparison_request(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a comparison for the client.

    Raises:
        typer.BadParameter: Both one target for all datasets and targets of single datasets are given, or one of the
            latter is not written as `dataset=column`.
    """
    options = dict(given_options)
    targets = options.pop("target_of", None)
    if targets is not None:
        if "target" in options:
            raise typer.BadParameter("--target and --target-of cannot be combined")
        options["target"] = parse_assignments(targets, "dataset")
    return training_request(options)


_TRAINING_OPTIONS: Final = tuple(option for option in TRAINING.options if option.name != "target")
COMPARING: Final = OptionGroup(
    (
        Option("limit", int, "How many of the first tables of the project's ranking to train on (default: 3)."),
        Option("target", str, "The column to predict (default: the one that the record of a dataset suggests)."),
        Option(
            "target_of", str, "The column to predict of one dataset: 12=income; may be repeated.", is_repeatable=True
        ),
        *_TRAINING_OPTIONS,
    ),
    build=_comparison_request,
    help_panel="Comparison",
)


def compare_models(
    datasets: Annotated[list[str] | None, typer.Argument(help="Ids of two to ten datasets.")] = None,
    wait: WaitOption = True,
    *,
    context: CommandContext,
    request: dict[str, Any],
) -> None:
    """Train on several datasets in the same way, and set the results side by side.

    The datasets are those that you name, or the first tables of the ranking of a project. For example:
    touchstone compare-models --project 5f0c… --limit 3 --task classification
    """
    dataset_ids = [int(text) if text.isdigit() else text for text in datasets or ()]
    comparison = context.client.compare_trainings(dataset_ids, **request)
    if wait:
        comparison = _wait_with_progress(context, comparison)

    context.show(comparison, *_comparison_tables(comparison), comparison.summary)
    if comparison.done and comparison.status != "succeeded":
        raise typer.Exit(ExitStatus.REFUSED)


def _wait_with_progress(context: CommandContext, comparison: TrainingComparison) -> TrainingComparison:
    """Show a progress bar until all trainings of a comparison have ended, and return the comparison.

    Ctrl-C ends the command, but not the trainings.
    """
    try:
        with progress_bar("Trainings", total=len(comparison.datasets)) as (progress, task_id):

            def show_progress(polled: TrainingComparison) -> None:
                done_count = sum(1 for item in polled.datasets if item.done)
                progress.update(task_id, completed=done_count)

            return context.client.wait_for_comparison(comparison, report=show_progress)
    except KeyboardInterrupt:
        exit_with_error("the trainings go on; follow them with: touchstone jobs list train", ExitStatus.REFUSED)


def _comparison_tables(comparison: TrainingComparison) -> list[Table]:
    """Return a table of the trainings, best first, and one of the datasets that were left out if there are any."""
    best_first = sorted(comparison.datasets, key=lambda item: (item.place is None, item.place or 0))
    tables = [build_table(TRAINING_COLUMNS, best_first, title=f"Comparison {comparison.id}")]
    if comparison.left_out:
        tables.append(build_table(LEFT_OUT_COLUMNS, comparison.left_out, title="Left out"))
    return tables


def register(app: typer.Typer) -> None:
    """Add `compare-models` to the application."""
    server_command(app, "compare-models", request=COMPARING)(compare_models)
