"""Two to five datasets side by side: what they share, where they differ, and which is best in what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from touchstone.client import Dataset, ScoredDataset
from touchstone.core.attributes import ATTRIBUTES
from touchstone.web.rendering import Speech
from touchstone.web.views.rank_table import Cell, Criterion, cells, score_text, weighing

Scored: TypeAlias = ScoredDataset


@dataclass(frozen=True, slots=True)
class Row:
    """One attribute of all datasets; `differs` when they do not agree."""

    name: str
    values: tuple[Any, ...]
    differs: bool


@dataclass(frozen=True, slots=True)
class Measure:
    """One criterion of all datasets (None: not scored); `best` are the places of the highest values."""

    criterion: Criterion
    cells: tuple[Cell | None, ...]
    best: frozenset[int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole table, with the scores as they are shown."""

    datasets: tuple[Dataset, ...]
    scores: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]


def compare(
    datasets: Sequence[Dataset], scored: Sequence[Scored | None], criteria: Sequence[Criterion], speech: Speech
) -> Comparison:
    """The datasets side by side, under the weights of the criteria."""
    used = weighing(criteria)
    columns = [cells(one, used, speech) if one else () for one in scored]
    return Comparison(
        datasets=tuple(datasets),
        scores=tuple(score_text(one, used, speech) for one in scored),
        measures=tuple(_measure(index, one, columns) for index, one in enumerate(used)),
        rows=tuple(_row(one.name, datasets) for one in ATTRIBUTES if one.name != "dataset_name"),
    )


def _measure(index: int, criterion: Criterion, columns: Sequence[tuple[Cell, ...]]) -> Measure:
    found = tuple(column[index] if column else None for column in columns)
    known = [cell.value for cell in found if cell and not cell.unknown]
    top = max(known, default=None)
    alike = len(set(known)) < 2
    best = () if alike else (i for i, cell in enumerate(found) if cell and not cell.unknown and cell.value == top)
    return Measure(criterion, found, frozenset(best))


def _row(name: str, datasets: Sequence[Dataset]) -> Row:
    values = tuple(getattr(one, name) for one in datasets)
    return Row(name, values, any(value != values[0] for value in values))
