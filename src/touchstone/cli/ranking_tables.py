"""Presentation of rankings on a terminal: tables with one row for each dataset, and sentences below them."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from touchstone.cli.tables import Column, build_table, digits_of, min_width_of
from touchstone.client import ComparedDataset, DatasetStability, Lifts, Ranking, Recommendations, ScoredDataset
from touchstone.client.choice_models import ChoiceRanking
from touchstone.core.attributes import ETHICAL
from touchstone.messages.numbers import limit_to_show

DASH: Final = "–"
SCORE_DIGITS: Final = 3
MIN_TEXT_WIDTH: Final = 16  # names and gates would otherwise make room for many columns of numbers


def format_place(dataset: ScoredDataset | ComparedDataset | DatasetStability | Lifts | ChoiceRanking) -> str:
    """Return the place of a dataset, such as `5`, or `5 =` if other datasets have the same score.

    The result is a dash for a dataset that does not match the filters.
    """
    return format_shared_place(dataset.place or dataset.rank, dataset.tied_with)


def format_shared_place(place: int | None, tied_with: int | None) -> str:
    """Return a place, such as `5`, or `5 =` if it is shared, or a dash if it is None."""
    if place is None:
        return DASH
    return f"{place} =" if tied_with else str(place)


def _format_score(dataset: ScoredDataset | ComparedDataset) -> str:
    """Return the score of a dataset, or a dash if all weighted criteria are unknown."""
    return _score_or_dash(dataset.score, dataset.points or (), dataset.unknown or ())


def format_score_range(lifts: Lifts) -> str:
    """Return the score of a dataset, or a dash if it is unknown, with the highest score that is possible."""
    weighted_criteria = [weight.criterion_name for weight in lifts.effective_weights]
    score = _score_or_dash(lifts.score, weighted_criteria, lifts.unknown)
    return f"{score}, at most {_format_highest_score(lifts)}"


def _score_or_dash(score: float, weighted_criteria: Collection[str], unknown: Collection[str]) -> str:
    """Return a score as a string, or a dash if all weighted criteria are unknown."""
    is_unknown = bool(weighted_criteria) and set(weighted_criteria).issubset(unknown)
    return DASH if is_unknown else f"{score:.{SCORE_DIGITS}f}"


def _format_highest_score(dataset: ScoredDataset | ComparedDataset | Lifts) -> str:
    """Return the highest score that the unknown values allow, rounded up so that it is never too low."""
    limit = None if dataset.best_case is None else limit_to_show(dataset.score, dataset.best_case.score, SCORE_DIGITS)
    highest_score = dataset.score if limit is None else limit
    return f"{highest_score:.{SCORE_DIGITS}f}"


def format_known(dataset: ScoredDataset | ComparedDataset | Lifts) -> str:
    """Return the number of known ethical attributes, such as `5/10`, or a dash without this information."""
    return DASH if dataset.known is None else f"{dataset.known}/{len(ETHICAL)}"


def _known_score(dataset: ScoredDataset, criterion: str, score: float | None) -> float | None:
    """Return one of the three main scores of a dataset, or None if this criterion is unknown."""
    return None if criterion in (dataset.unknown or ()) else score


def _format_gates(dataset: ScoredDataset) -> str:
    """Return the gates that a dataset does not pass, such as `failed: license; unknown: year_min`, or `passed`."""
    outcomes = dataset.gates or {}
    problems = []
    for outcome in ("failed", "unknown"):
        names = [name for name, gate_outcome in outcomes.items() if gate_outcome == outcome]
        if names:
            problems.append(f"{outcome}: {', '.join(names)}")
    return "; ".join(problems) or "passed"


PLACE_COLUMN: Final = Column[Any]("Place", format_place, is_key=True)
ID_COLUMN: Final = Column[Any]("Id", lambda dataset: digits_of(dataset.id), is_number=True)
SCORE_COLUMNS: Final = (
    PLACE_COLUMN,
    Column[Any]("Score", _format_score, is_number=True),
    Column[Any]("Up to", _format_highest_score, is_number=True),
    ID_COLUMN,
    Column[Any]("Name", lambda dataset: dataset.dataset_name, min_width=MIN_TEXT_WIDTH),
    Column[Any]("Known", format_known, is_number=True),
)
"""The first columns of every table of ranked or compared datasets."""
MAIN_SCORE_COLUMNS: Final = (
    Column[ScoredDataset](
        "Ethical", lambda dataset: _known_score(dataset, "ethical_score", dataset.ethical_score), is_number=True
    ),
    Column[ScoredDataset](
        "Tech.", lambda dataset: _known_score(dataset, "technical_score", dataset.technical_score), is_number=True
    ),
    Column[ScoredDataset](
        "Popul.", lambda dataset: _known_score(dataset, "popularity_score", dataset.popularity_score), is_number=True
    ),
)
GATES_COLUMN: Final = Column[ScoredDataset]("Gates", _format_gates, min_width=MIN_TEXT_WIDTH)


def summarize_ranking(ranking: Ranking | Recommendations, title: str) -> list[Table | str]:
    """Return a table with the main scores of each ranked dataset, and notes on the criteria.

    The notes are about criteria that do not distinguish the datasets. If the ranking has gates, the table shows the
    gates that a dataset does not pass instead of the main scores.
    """
    gates_columns = _gates_columns(ranking)
    columns = [*SCORE_COLUMNS, *(gates_columns or MAIN_SCORE_COLUMNS)]
    notes = [note.sentence for note in ranking.notes]
    return [build_table(columns, ranking.datasets, title), *notes]


def explain_ranking(ranking: Ranking | Recommendations, title: str) -> list[Table | str]:
    """Return tables, notes and sentences that explain a ranking.

    The tables contain the points that each weighted criterion adds to the score of a dataset. After the notes on the
    criteria, one sentence explains the rank of each dataset.
    """
    criteria = [weight.criterion_name for weight in ranking.effective_weights]
    tables = build_points_tables(ranking.datasets, criteria, more_columns=_gates_columns(ranking), title=title)
    notes = [note.sentence for note in ranking.notes]
    reasons = [dataset.sentence for dataset in ranking.datasets if dataset.sentence]
    return [*tables, *notes, *reasons]


def _gates_columns(ranking: Ranking | Recommendations) -> list[Column[ScoredDataset]]:
    """Return a list with the column for gates, or an empty list if the ranking has no gates."""
    has_gates = any(dataset.gates for dataset in ranking.datasets)
    return [GATES_COLUMN] if has_gates else []


def build_points_tables(
    datasets: Sequence[ScoredDataset | ComparedDataset],
    criteria: Sequence[str],
    *,
    more_columns: Sequence[Column[Any]] = (),
    title: str | None = None,
) -> list[Table]:
    """Return tables of the scores of datasets and of the points of each weighted criterion.

    Where the terminal is too narrow for all columns, the points are in further tables, which identify each dataset by
    its place and id.
    """
    points_columns = [_build_points_column(criterion) for criterion in criteria]
    whole_table = build_table([*SCORE_COLUMNS, *points_columns, *more_columns], datasets, title)
    terminal_width = Console().width
    if min_width_of(whole_table) <= terminal_width:
        return [whole_table]

    # Add columns of points to a table until the next one would make it too wide, and then begin a new table.
    tables = [build_table([*SCORE_COLUMNS, *more_columns], datasets, title)]
    columns = [PLACE_COLUMN, ID_COLUMN]
    for points_column in points_columns:
        table_with_column = build_table([*columns, points_column], datasets)
        if min_width_of(table_with_column) > terminal_width:
            tables.append(build_table(columns, datasets))
            columns = [PLACE_COLUMN, ID_COLUMN]
        columns.append(points_column)
    return [*tables, build_table(columns, datasets)]


def _build_points_column(criterion: str) -> Column[Any]:
    """Return the column with the points that a criterion adds to the score of each dataset.

    The value is None, which is shown as a question mark, if the criterion is unknown.
    """

    def read_points(dataset: ScoredDataset | ComparedDataset) -> float | None:
        if criterion in (dataset.unknown or ()):
            return None
        points = dataset.points or {}
        return points.get(criterion, 0.0)

    # With one word to a line, the columns of several criteria fit a narrow terminal.
    narrow_title = criterion.replace("_", "\n")
    return Column(f"+ {narrow_title}", read_points, is_number=True)
