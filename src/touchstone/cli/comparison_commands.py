"""`touchstone compare-models`: the same training on several datasets, to find out which of them trains best."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, end_with_advice, server_command
from touchstone.cli.job_commands import WaitOption
from touchstone.cli.job_options import TRAIN_PATHS, TRAINING, training_request
from touchstone.cli.option_groups import Option, OptionGroup, parse_assignments
from touchstone.cli.ranking_tables import format_shared_place
from touchstone.cli.tables import UNKNOWN, Column, build_table, digits_of
from touchstone.client import ComparedTraining, LeftOutDataset, TrainingComparison
from touchstone.client.fields import DatasetOptions


def _format_score(item: ComparedTraining) -> str:
    """Return the score of a dataset with its interval, such as `0.8312 (0.8011 to 0.8604)`, or `?` without one."""
    score = item.score
    if score is None:
        return UNKNOWN
    if score.low is None or score.high is None:
        return f"{score.value:.4f}"
    return f"{score.value:.4f} ({score.low:.4f} to {score.high:.4f})"


def _format_baseline(item: ComparedTraining) -> str:
    """Return the score of a model that ignores every column, or `?` if it is unknown."""
    if item.score is None or item.score.baseline is None:
        return UNKNOWN
    return f"{item.score.baseline:.4f}"


TRAINING_COLUMNS: Final = (
    Column[ComparedTraining]("Place", lambda item: format_shared_place(item.place, item.tied_with), is_number=True),
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
    """Convert the options of a comparison to keyword arguments of `Touchstone.compare_trainings`.

    Raises:
        typer.BadParameter: both `--target` and `--target-of` are given, or an option for a single dataset is not
            written as `dataset=value`.
    """
    options = dict(given_options)

    targets = options.pop("target_of", None)
    if targets is not None:
        if "target" in options:
            raise typer.BadParameter("--target and --target-of cannot be combined")
        options["target"] = parse_assignments(targets, "dataset")

    values_by_option = {option: options.pop(_name_for_one_dataset(option), []) for option in _OPTIONS_OF_DATASETS}
    by_dataset = _read_dataset_options(values_by_option)

    request = training_request(options)
    if by_dataset:
        return request | {"by_dataset": by_dataset}
    return request


def _read_dataset_options(values_by_option: Mapping[Option, Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Return the options of single datasets as the member `by_dataset` of a request.

    For example, `--group-column-of 12=country` becomes `{"12": {"group_column": "country"}}`.

    Raises:
        typer.BadParameter: a value is not written as `dataset=value`.
    """
    by_dataset: dict[str, dict[str, Any]] = {}
    for option, assignments in values_by_option.items():
        *parent_keys, last_key = _path_for_one_dataset(option)

        for assignment in assignments:
            [(dataset, value)] = parse_assignments([assignment], "dataset").items()

            parent = by_dataset.setdefault(dataset, {})
            for key in parent_keys:
                parent = parent.setdefault(key, {})

            if option.is_repeatable:
                parent.setdefault(last_key, []).append(value)
            else:
                parent[last_key] = value
    return by_dataset


def _path_for_one_dataset(option: Option) -> tuple[str, ...]:
    """Return the path of an option in `by_dataset`, or an empty path if all datasets share the option.

    Unlike in the request of a single training, the columns that divide the rows are not nested in `split`.
    """
    path = TRAIN_PATHS.get(option.name, (option.name,))
    if path[0] in DatasetOptions.__annotations__:
        return path
    return path[-1:] if path[-1] in DatasetOptions.__annotations__ else ()


def _name_for_one_dataset(option: Option) -> str:
    """Return the name of the variant of an option for one dataset, such as `group_column_of`."""
    return f"{option.name}_of"


_TRAINING_OPTIONS: Final = tuple(option for option in TRAINING.options if option.name != "target")
_OPTIONS_OF_DATASETS: Final = tuple(option for option in _TRAINING_OPTIONS if _path_for_one_dataset(option))
COMPARING: Final = OptionGroup(
    (
        Option("limit", int, "How many of the first tables of the project's ranking to train on (default: 3)."),
        Option("target", str, "The column to predict (default: the one that the record of a dataset suggests)."),
        Option(
            "target_of", str, "The column to predict of one dataset: 12=income; may be repeated.", is_repeatable=True
        ),
        *_TRAINING_OPTIONS,
        *(
            Option(
                _name_for_one_dataset(option),
                str,
                f"As --{option.name.replace('_', '-')}, for one dataset: 12=value; may be repeated.",
                is_repeatable=True,
            )
            for option in _OPTIONS_OF_DATASETS
        ),
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

    Ctrl-C and an unreachable server end the command, but not the trainings.

    Raises:
        typer.Exit: the user has pressed Ctrl-C, or the service refused the call or was away for too long.
    """
    advice = "To see the trainings, run: touchstone jobs list train"
    total = len(comparison.datasets)
    with end_with_advice(advice), progress_bar("Trainings", total=total) as (progress, task_id):

        def show_progress(polled: TrainingComparison) -> None:
            done_count = sum(1 for item in polled.datasets if item.done)
            progress.update(task_id, completed=done_count)

        return context.client.wait_for_comparison(comparison, report=show_progress)


def _comparison_tables(comparison: TrainingComparison) -> list[Table]:
    """Return a table of the trainings, best first, and a table of any datasets that were left out."""
    best_first = sorted(comparison.datasets, key=lambda item: (item.place is None, item.place or 0))
    tables = [build_table(TRAINING_COLUMNS, best_first, title=f"Comparison {comparison.id}")]
    if comparison.left_out:
        tables.append(build_table(LEFT_OUT_COLUMNS, comparison.left_out, title="Left out"))
    return tables


def register(app: typer.Typer) -> None:
    """Add `compare-models` to the application."""
    server_command(app, "compare-models", request=COMPARING)(compare_models)
