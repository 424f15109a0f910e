"""The commands that explain a ranking.

`touchstone compare` explains why one dataset ranks above another. `touchstone lifts` lists the attributes of a dataset
whose verification would improve its rank. `touchstone stability` tests whether the first datasets would keep their
ranks if the weights were slightly different.
"""

from typing import Annotated, Final

import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import server_command
from touchstone.cli.filter_options import RANKING, RankingOptions
from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.cli.ranking_tables import (
    build_points_tables,
    format_known,
    format_place,
    format_score_range,
)
from touchstone.cli.tables import Column, build_table, digits_of
from touchstone.client import DatasetStability, Lift, Lifts, Stability
from touchstone.client.fields import StabilityOptions
from touchstone.core.attributes import BY_NAME


def _sampled_ranks(dataset: DatasetStability) -> str:
    """Return the best and the worst rank of a dataset in the samples, such as `2 to 5`."""
    best_rank = _format_sampled_rank(dataset.best_place)
    worst_rank = _format_sampled_rank(dataset.worst_place)
    return best_rank if best_rank == worst_rank else f"{best_rank} to {worst_rank}"


def _format_sampled_rank(rank: int | None) -> str:
    """Return a rank as a string, or `beyond` for a rank that the service does not determine exactly."""
    return "beyond" if rank is None else str(rank)


LIFT_COLUMNS: Final = (
    Column[Lift]("If established", lambda lift: BY_NAME[lift.attribute].label_en),
    Column[Lift]("As", lambda lift: lift.value),
    Column[Lift]("Known", lambda lift: lift.current),
    Column[Lift]("Gain", lambda lift: lift.gain, is_number=True),
    Column[Lift]("Score", lambda lift: f"{lift.score:.3f}", is_number=True),
    Column[Lift]("Rank", lambda lift: lift.rank, is_number=True),
)
STABILITY_COLUMNS_WITHOUT_VERDICT: Final = (
    Column[DatasetStability]("Place", format_place, is_key=True),
    Column[DatasetStability]("Id", lambda dataset: digits_of(dataset.id), is_number=True),
    Column[DatasetStability]("Name", lambda dataset: dataset.dataset_name),
    Column[DatasetStability]("Ranks", _sampled_ranks, is_number=True),
)
STABILITY_COLUMNS: Final = (
    *STABILITY_COLUMNS_WITHOUT_VERDICT,
    Column[DatasetStability]("Share", lambda dataset: f"{dataset.share:.0%}", is_number=True),
    Column[DatasetStability]("Verdict", lambda dataset: dataset.verdict, is_key=True),
)

STABILITY_OPTIONS: Final = OptionGroup(
    (
        Option("k", int, "How many datasets are tested, best first (default: 10)."),
        Option("samples", int, "How many times the ranking is repeated with other weights (default: 100)."),
        Option("spread", float, "Largest relative change of a weight (default: 0.2)."),
        Option("seed", int, "Seed of the random numbers (default: 0)."),
    )
)


def compare(
    datasets: Annotated[list[str], typer.Argument(help="Ids or UUIDs of two to five datasets.")],
    *,
    context: CommandContext,
    ranking: RankingOptions,
) -> None:
    """Explain why one dataset ranks above another, and which change of a single weight would reverse their order.

    For example: touchstone compare 12 34 --profile ethical
    """
    ids = [_id_or_uuid(dataset) for dataset in datasets]
    comparison = context.client.compare_datasets(
        ids, filters=ranking.filters, weights=ranking.weights, **ranking.requirements
    )
    sentences = [pair.sentence for pair in comparison.pairs]
    criteria = [weight.criterion_name for weight in comparison.effective_weights]
    context.show(comparison, *build_points_tables(comparison.datasets, criteria), *sentences)


def lifts(
    dataset: Annotated[str, typer.Argument(help="Id or UUID.")],
    rank: Annotated[
        int | None, typer.Option(help="A rank that the dataset is to reach by as few attributes as possible.")
    ] = None,
    *,
    context: CommandContext,
    ranking: RankingOptions,
) -> None:
    """List the attributes of a dataset whose verification would improve its rank.

    For example: touchstone lifts 12 --rank 3 --profile ethical
    """
    dataset_lifts = context.client.get_lifts(
        dataset, rank=rank, filters=ranking.filters, weights=ranking.weights, **ranking.requirements
    )
    sentences = [dataset_lifts.sentence] if dataset_lifts.sentence else []
    context.show(dataset_lifts, _lifts_table(dataset_lifts), *sentences)


def _lifts_table(dataset_lifts: Lifts) -> Table:
    """Return a table with the score and the rank of a dataset if one of its attributes were verified.

    Attributes that would not raise the score are left out.
    """
    rank_text = f"place {format_place(dataset_lifts)} of {dataset_lifts.total_count}"
    score_text = f"score {format_score_range(dataset_lifts)}"
    title = f"{dataset_lifts.dataset_name}: {rank_text}, {score_text}, known {format_known(dataset_lifts)}"
    raising_lifts = [lift for lift in dataset_lifts.lifts if lift.gain > 0]
    return build_table(LIFT_COLUMNS, raising_lifts, title)


def stability(
    *,
    context: CommandContext,
    options: StabilityOptions,
    ranking: RankingOptions,
) -> None:
    """Test whether the first datasets of a ranking would keep their ranks if the weights were slightly different.

    For example: touchstone stability --domain health --profile balanced --k 5
    """
    result = context.client.get_stability(ranking.filters, weights=ranking.weights, **ranking.requirements, **options)
    sentences = [dataset.sentence for dataset in result.datasets]
    context.show(result, _stability_table(result), *sentences)


def _stability_table(result: Stability) -> Table:
    """Return a table with the stability of the first datasets.

    The verdicts are left out if all datasets are among the first k, because no dataset could leave them.
    """
    variations = f"{result.samples} variations by ±{result.spread:.0%}"
    title = f"The first {len(result.datasets)} of {result.total_count}, {variations}"
    columns = STABILITY_COLUMNS if result.total_count > result.k else STABILITY_COLUMNS_WITHOUT_VERDICT
    return build_table(columns, result.datasets, title)


def _id_or_uuid(text: str) -> int | str:
    """Convert an id to a number, and return a UUID unchanged."""
    return int(text) if text.isdecimal() else text


def register(app: typer.Typer) -> None:
    """Add `compare`, `lifts` and `stability` to the application."""
    server_command(app, "compare", ranking=RANKING)(compare)
    server_command(app, "lifts", ranking=RANKING)(lifts)
    server_command(app, "stability", options=STABILITY_OPTIONS, ranking=RANKING)(stability)
