"""Rankings as people see them on a terminal: a table with one row for each dataset, and sentences below it."""

from typing import Any, Final

from rich.table import Table

from touchstone.cli.tables import Column, build_table, digits_of
from touchstone.client import ComparedDataset, Ranking, Recommendations, ScoredDataset


def _format_place(dataset: ScoredDataset) -> str:
    """Return the place of a dataset, such as `5`, or `5 =` if other datasets have the same score and share it."""
    place = dataset.place or dataset.rank
    return f"{place} =" if dataset.tied_with else str(place)


def _format_gates(dataset: ScoredDataset) -> str:
    """Return the requirements that a dataset does not pass, such as `failed: license; unknown: year_min`.

    If it passes all of them, the result is `passed`.
    """
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


def summarize_ranking(ranking: Ranking | Recommendations, title: str) -> list[Table | str]:
    """Return what a person sees of a ranking: a table with the main scores of each dataset, and sentences below it.

    The sentences note which criteria do not distinguish the datasets. If the ranking has requirements (gates), the last
    column of the table has those that a dataset does not pass.
    """
    columns = [*RANKING_COLUMNS, *SUMMARY_COLUMNS, *_gates_columns(ranking)]
    notes = [note.sentence for note in ranking.notes]
    return [build_table(columns, ranking.datasets, title), *notes]


def explain_ranking(ranking: Ranking | Recommendations, title: str) -> list[Table | str]:
    """Return what a person sees of a ranking that was requested with explanations.

    Instead of the main scores, the table has the points that each weighted criterion adds to the score of a dataset.
    After the notes on the criteria, there is one sentence for each dataset, which explains its rank.
    """
    points_columns = [build_points_column(weight.criterion_name) for weight in ranking.effective_weights]
    columns = [*RANKING_COLUMNS, *points_columns, *_gates_columns(ranking)]
    notes = [note.sentence for note in ranking.notes]
    reasons = [dataset.sentence for dataset in ranking.datasets if dataset.sentence]
    return [build_table(columns, ranking.datasets, title), *notes, *reasons]


def _gates_columns(ranking: Ranking | Recommendations) -> list[Column[ScoredDataset]]:
    """Return the column for requirements as a list, which is empty if the ranking has no requirements."""
    has_gates = any(dataset.gates for dataset in ranking.datasets)
    return [GATES_COLUMN] if has_gates else []


def build_points_column(criterion: str) -> Column[Any]:
    """Return the column with the points that a criterion adds to the score of each ranked or compared dataset."""

    def read_points(dataset: ScoredDataset | ComparedDataset) -> float:
        points = dataset.points or {}
        return points.get(criterion, 0.0)

    # With one word to a line, the columns of several criteria fit a narrow terminal.
    narrow_title = criterion.replace("_", "\n")
    return Column(f"+ {narrow_title}", read_points, is_number=True)
