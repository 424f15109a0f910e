"""Rankings as people read them: a table, what its criteria do not distinguish, and why each dataset has its place."""

from collections.abc import Sequence
from typing import Final

from rich.table import Table

from touchstone.cli.tables import Column, build_table, digits_of
from touchstone.client import Ranking, Recommendations, ScoredDataset, Weight


def _format_place(dataset: ScoredDataset) -> str:
    """Return the place of a dataset, followed by `=` if others share it."""
    place = dataset.place or dataset.rank
    return f"{place} =" if dataset.tied_with else str(place)


def _format_gates(dataset: ScoredDataset) -> str:
    """Return which gates a dataset does not pass, such as `failed: license; unknown: year_min`, or else `passed`."""
    outcomes = dataset.gates or {}
    problems = []
    for outcome in ("failed", "unknown"):
        names = [name for name, gate_outcome in outcomes.items() if gate_outcome == outcome]
        if names:
            problems.append(f"{outcome}: {', '.join(names)}")
    return "; ".join(problems) or "passed"


RANKING_COLUMNS: Final = (
    Column[ScoredDataset]("Place", _format_place, is_key=True),
    Column[ScoredDataset]("Score", lambda dataset: f"{dataset.score:.4f}", is_number=True),
    Column[ScoredDataset]("Id", lambda dataset: digits_of(dataset.id), is_number=True),
    Column[ScoredDataset]("Name", lambda dataset: dataset.dataset_name),
)
SUMMARY_COLUMNS: Final = (
    Column[ScoredDataset]("Known", lambda dataset: dataset.known, is_number=True),
    Column[ScoredDataset]("Ethical", lambda dataset: dataset.ethical_score, is_number=True),
    Column[ScoredDataset]("Tech.", lambda dataset: dataset.technical_score, is_number=True),
    Column[ScoredDataset]("Popul.", lambda dataset: dataset.popularity_score, is_number=True),
)
GATES_COLUMN: Final = Column[ScoredDataset]("Gates", _format_gates)


def build_ranking_table(ranking: Ranking | Recommendations, title: str, *, show_points: bool) -> Table:
    """Return the table that shows a ranking, best dataset first.

    With `show_points`, it has a column for each criterion of the ranking, with the points that the criterion adds to
    the score. Otherwise it has the number of ethical attributes that are known of each dataset, and its ethical,
    technical and popularity scores. If the ranking has gates, the last column says which of them are not passed.
    """
    columns = [*RANKING_COLUMNS]
    if show_points:
        columns += _points_columns(ranking.effective_weights)
    else:
        columns += SUMMARY_COLUMNS
    if any(dataset.gates for dataset in ranking.datasets):
        columns.append(GATES_COLUMN)

    return build_table(columns, ranking.datasets, title)


def _points_columns(weights: Sequence[Weight]) -> list[Column[ScoredDataset]]:
    """Return a column for each weighted criterion with the points that it contributes to each score."""
    return [_points_column(weight.criterion_name) for weight in weights]


def _points_column(criterion: str) -> Column[ScoredDataset]:
    """Return a column with the points that a criterion contributes to the score of each dataset."""

    def read_points(dataset: ScoredDataset) -> float:
        points = dataset.points or {}
        return points.get(criterion, 0.0)

    title = criterion.replace("_", "\n")  # as narrow as the terminal may be
    return Column(f"+ {title}", read_points, is_number=True)


def ranking_sentences(ranking: Ranking | Recommendations, *, explain: bool) -> list[str]:
    """Return the sentences below a ranking: what its criteria do not distinguish, and if asked for, each place."""
    sentences = [note.sentence for note in ranking.notes]
    if explain:
        sentences += [dataset.sentence for dataset in ranking.datasets if dataset.sentence]
    return sentences
