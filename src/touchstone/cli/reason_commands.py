"""`touchstone compare`, `lifts` and `stability`: why datasets rank as they do, and what would change that."""

from typing import Annotated, Any, Final

import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import server_command
from touchstone.cli.filter_options import RANKING
from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.cli.tables import Column, build_table, digits_of
from touchstone.client import ComparedDataset, Comparison, DatasetStability, Lift, Lifts
from touchstone.core.attributes import BY_NAME

COMPARED_COLUMNS: Final = (
    Column[ComparedDataset]("Rank", lambda dataset: digits_of(dataset.rank), is_number=True),
    Column[ComparedDataset]("Score", lambda dataset: f"{dataset.score:.4f}", is_number=True),
    Column[ComparedDataset]("Id", lambda dataset: digits_of(dataset.id), is_number=True),
    Column[ComparedDataset]("Name", lambda dataset: dataset.dataset_name),
)
LIFT_COLUMNS: Final = (
    Column[Lift]("If established", lambda lift: BY_NAME[lift.attribute].label_en),
    Column[Lift]("As", lambda lift: lift.value),
    Column[Lift]("Known", lambda lift: lift.current),
    Column[Lift]("Gain", lambda lift: lift.gain, is_number=True),
    Column[Lift]("Score", lambda lift: f"{lift.score:.4f}", is_number=True),
    Column[Lift]("Rank", lambda lift: lift.rank, is_number=True),
)
STABILITY_COLUMNS: Final = (
    Column[DatasetStability]("Rank", lambda dataset: dataset.rank, is_number=True),
    Column[DatasetStability]("Id", lambda dataset: digits_of(dataset.id), is_number=True),
    Column[DatasetStability]("Name", lambda dataset: dataset.dataset_name),
    Column[DatasetStability]("Share", lambda dataset: f"{dataset.share:.0%}", is_number=True),
    Column[DatasetStability]("Verdict", lambda dataset: dataset.verdict, is_key=True),
)

LIFT_OPTIONS: Final = OptionGroup((Option("rank", int, "The rank to be reached by as few attributes as possible."),))
STABILITY_OPTIONS: Final = OptionGroup(
    (
        Option("k", int, "How many ranks (default: 10)."),
        Option("samples", int, "How many variations of the weights (default: 100)."),
        Option("spread", float, "By what share each weight varies at most (default: 0.2)."),
        Option("seed", int, "Seed of the random numbers (default: 0)."),
    )
)


def compare(
    datasets: Annotated[list[str], typer.Argument(help="Ids or UUIDs of two to five datasets.")],
    *,
    context: CommandContext,
    ranking: dict[str, Any],
) -> None:
    """Say why one dataset ranks above another, and which change of a single weight would reverse that.

    For example: touchstone compare 12 34 --profile ethical
    """
    ids = [_id_or_uuid(dataset) for dataset in datasets]
    comparison = context.client.compare_datasets(ids, **ranking)
    sentences = [pair.sentence for pair in comparison.pairs]
    context.show(comparison, _comparison_table(comparison), *sentences)


def _comparison_table(comparison: Comparison) -> Table:
    """Return the table that shows the compared datasets, best first, with the points of each weighted criterion."""
    points_columns = [_points_column(weight.criterion_name) for weight in comparison.effective_weights]
    return build_table((*COMPARED_COLUMNS, *points_columns), comparison.datasets)


def _points_column(criterion: str) -> Column[ComparedDataset]:
    """Return a column with the points that a criterion contributes to the score of each dataset."""

    def read_points(dataset: ComparedDataset) -> float:
        return dataset.points.get(criterion, 0.0)

    title = criterion.replace("_", "\n")  # as narrow as the terminal may be
    return Column(f"+ {title}", read_points, is_number=True)


def lifts(
    dataset: Annotated[str, typer.Argument(help="Id or UUID.")],
    *,
    context: CommandContext,
    options: dict[str, Any],
    ranking: dict[str, Any],
) -> None:
    """Say what would raise a dataset in a ranking if somebody established it.

    For example: touchstone lifts 12 --rank 3 --profile ethical
    """
    dataset_lifts = context.client.get_lifts(dataset, **options, **ranking)
    context.show(dataset_lifts, _lifts_table(dataset_lifts), *_lifts_sentences(dataset_lifts))


def _lifts_table(dataset_lifts: Lifts) -> Table:
    """Return the table that shows what a dataset would gain by each attribute, leaving out those that gain nothing."""
    title = f"{dataset_lifts.dataset_name}: rank {dataset_lifts.rank} of {dataset_lifts.total_count}"
    gains = [lift for lift in dataset_lifts.lifts if lift.gain > 0]
    return build_table(LIFT_COLUMNS, gains, title)


def _lifts_sentences(dataset_lifts: Lifts) -> list[str]:
    """Return what would bring the dataset to the requested rank, as a list of one sentence or none."""
    return [dataset_lifts.sentence] if dataset_lifts.sentence else []


def stability(
    *,
    context: CommandContext,
    options: dict[str, Any],
    ranking: dict[str, Any],
) -> None:
    """Say how robust the first ranks are against changes of the weights.

    For example: touchstone stability --domain health --profile balanced --k 5
    """
    result = context.client.get_stability(**options, **ranking)
    title = f"The first {result.k} of {result.total_count}, {result.samples} variations by ±{result.spread:.0%}"
    sentences = [dataset.sentence for dataset in result.datasets]
    context.show(result, build_table(STABILITY_COLUMNS, result.datasets, title), *sentences)


def _id_or_uuid(text: str) -> int | str:
    """Return an id as a number, and a UUID as it is."""
    return int(text) if text.isdecimal() else text


def register(app: typer.Typer) -> None:
    """Add `compare`, `lifts` and `stability` to the application."""
    server_command(app, "compare", ranking=RANKING)(compare)
    server_command(app, "lifts", options=LIFT_OPTIONS, ranking=RANKING)(lifts)
    server_command(app, "stability", options=STABILITY_OPTIONS, ranking=RANKING)(stability)
