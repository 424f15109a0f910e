"""Rankings as people see them on a terminal: a table with one row for each dataset, and sentences below it."""

from typing import Any, Final

from rich.table import Table

from touchstone.cli.tables import Column, build_table, digits_of
from touchstone.client import ComparedDataset, DatasetStability, Lifts, Ranking, Recommendations, ScoredDataset
from touchstone.core.attributes import ETHICAL

DASH: Final = "–"


def format_place(dataset: ScoredDataset | ComparedDataset | DatasetStability | Lifts) -> str:
    """Return the place of a dataset, such as `5`, or `5 =` if other datasets have the same score and share it.

    A dataset that does not match the filters has none, which is a dash.
    """
    place = dataset.place or dataset.rank
    if place is None:
        return DASH
    return f"{place} =" if dataset.tied_with else str(place)


def _format_score(dataset: ScoredDataset | ComparedDataset) -> str:
    """Return the score of a dataset, or a dash if nothing is known about any weighted criterion."""
    weighted_criteria = set(dataset.points or ())
    is_unknown = bool(weighted_criteria) and weighted_criteria.issubset(dataset.unknown or ())
    return DASH if is_unknown else f"{dataset.score:.3f}"


def format_score_range(lifts: Lifts) -> str:
    """Return the score of a dataset with the highest one that the unknown values allow; a dash if nothing is known."""
    weighted_criteria = {weight.criterion_name for weight in lifts.effective_weights}
    score = DASH if weighted_criteria and weighted_criteria.issubset(lifts.unknown) else f"{lifts.score:.3f}"
    return f"{score}, at most {_format_highest_score(lifts)}"


def _format_highest_score(dataset: ScoredDataset | ComparedDataset | Lifts) -> str:
    """Return the highest score that the unknown values allow."""
    highest = dataset.score if dataset.best_case is None else dataset.best_case.score
    return f"{highest:.3f}"


def format_known(dataset: ScoredDataset | ComparedDataset | Lifts) -> str:
    """Return how many of the ten ethical attributes are known, such as `5/10`."""
    return DASH if dataset.known is None else f"{dataset.known}/{len(ETHICAL)}"


def _known_score(dataset: ScoredDataset, composite: str) -> float | None:
    """Return one of the three main scores of a dataset; None if nothing is known about it."""
    if composite in (dataset.unknown or ()):
        return None
    scores = {
        "ethical_score": dataset.ethical_score,
        "technical_score": dataset.technical_score,
        "popularity_score": dataset.popularity_score,
    }
    return scores[composite]


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


KNOWN_COLUMN: Final = Column[Any]("Known", format_known, is_number=True)
RANKING_COLUMNS: Final = (
    Column[ScoredDataset]("Place", format_place, is_key=True),
    Column[ScoredDataset]("Score", _format_score, is_number=True),
    Column[ScoredDataset]("Up to", _format_highest_score, is_number=True),
    Column[ScoredDataset]("Id", lambda dataset: digits_of(dataset.id), is_number=True),
    Column[ScoredDataset]("Name", lambda dataset: dataset.dataset_name),
)
COMPARED_COLUMNS: Final = (
    Column[ComparedDataset]("Place", format_place, is_key=True),
    Column[ComparedDataset]("Score", _format_score, is_number=True),
    Column[ComparedDataset]("Up to", _format_highest_score, is_number=True),
    Column[ComparedDataset]("Id", lambda dataset: digits_of(dataset.id), is_number=True),
    Column[ComparedDataset]("Name", lambda dataset: dataset.dataset_name),
)
MAIN_SCORE_COLUMNS: Final = (
    Column[ScoredDataset]("Ethical", lambda item: _known_score(item, "ethical_score"), is_number=True),
    Column[ScoredDataset]("Tech.", lambda item: _known_score(item, "technical_score"), is_number=True),
    Column[ScoredDataset]("Popul.", lambda item: _known_score(item, "popularity_score"), is_number=True),
)
GATES_COLUMN: Final = Column[ScoredDataset]("Gates", _format_gates)


def summarize_ranking(ranking: Ranking | Recommendations, title: str) -> list[Table | str]:
    """Return what a person sees of a ranking: a table with the main scores of each dataset, and sentences below it.

    The sentences note which criteria do not distinguish the datasets. If the ranking has requirements (gates), a column
    of the table has those that a dataset does not pass, for which the main scores make room.
    """
    gates_columns = _gates_columns(ranking)
    columns = [*RANKING_COLUMNS, KNOWN_COLUMN, *(gates_columns or MAIN_SCORE_COLUMNS)]
    notes = [note.sentence for note in ranking.notes]
    return [build_table(columns, ranking.datasets, title), *notes]


def explain_ranking(ranking: Ranking | Recommendations, title: str) -> list[Table | str]:
    """Return what a person sees of a ranking that was requested with explanations.

    Instead of the main scores, the table has the points that each weighted criterion adds to the score of a dataset.
    After the notes on the criteria, there is one sentence for each dataset, which explains its rank.
    """
    points_columns = [build_points_column(weight.criterion_name) for weight in ranking.effective_weights]
    columns = [*RANKING_COLUMNS, KNOWN_COLUMN, *points_columns, *_gates_columns(ranking)]
    notes = [note.sentence for note in ranking.notes]
    reasons = [dataset.sentence for dataset in ranking.datasets if dataset.sentence]
    return [build_table(columns, ranking.datasets, title), *notes, *reasons]


def _gates_columns(ranking: Ranking | Recommendations) -> list[Column[ScoredDataset]]:
    """Return the column for requirements as a list, which is empty if the ranking has no requirements."""
    has_gates = any(dataset.gates for dataset in ranking.datasets)
    return [GATES_COLUMN] if has_gates else []


def build_points_column(criterion: str) -> Column[Any]:
    """Return the column with the points that a criterion adds to the score of each ranked or compared dataset.

    Where nothing is known about the criterion, it has a question mark.
    """

    def read_points(dataset: ScoredDataset | ComparedDataset) -> float | None:
        if criterion in (dataset.unknown or ()):
            return None
        points = dataset.points or {}
        return points.get(criterion, 0.0)

    # With one word to a line, the columns of several criteria fit a narrow terminal.
    narrow_title = criterion.replace("_", "\n")
    return Column(f"+ {narrow_title}", read_points, is_number=True)
