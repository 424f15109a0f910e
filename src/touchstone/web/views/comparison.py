"""Pinned datasets side by side: what they share, where they differ, and which one is best in what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.client import Dataset, ScoredDataset
from touchstone.core.attributes import ATTRIBUTES
from touchstone.web.localization import Localizer
from touchstone.web.views.rank_table import (
    CriterionCell,
    WeightedCriterion,
    criterion_cells,
    score_text,
    used_criteria,
)


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """The values of one attribute; `differs` if they are not all equal."""

    name: str
    values: tuple[Any, ...]
    differs: bool


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """The cells of one criterion (None for a dataset without a score), and the positions of the highest values."""

    criterion: WeightedCriterion
    cells: tuple[CriterionCell | None, ...]
    best: frozenset[int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Datasets side by side."""

    datasets: tuple[Dataset, ...]
    scores: tuple[str, ...]
    criterion_rows: tuple[CriterionRow, ...]
    attribute_rows: tuple[AttributeRow, ...]


def compare(
    datasets: Sequence[Dataset],
    scores: Sequence[ScoredDataset | None],
    criteria: Sequence[WeightedCriterion],
    localizer: Localizer,
) -> Comparison:
    """Return the datasets with their scores side by side."""
    used = used_criteria(criteria)
    columns = [criterion_cells(score, used, localizer) if score else None for score in scores]

    criterion_rows = []
    for index, criterion in enumerate(used):
        cells = tuple(column[index] if column else None for column in columns)
        criterion_rows.append(CriterionRow(criterion, cells, _best_positions(cells)))

    attribute_rows = [
        _attribute_row(attribute.name, datasets) for attribute in ATTRIBUTES if attribute.name != "dataset_name"
    ]
    return Comparison(
        datasets=tuple(datasets),
        scores=tuple(score_text(score, used, localizer) for score in scores),
        criterion_rows=tuple(criterion_rows),
        attribute_rows=tuple(attribute_rows),
    )


def _best_positions(cells: Sequence[CriterionCell | None]) -> frozenset[int]:
    """Return the positions of the highest known value; none if all known values are equal."""
    known = {position: cell.value for position, cell in enumerate(cells) if cell and not cell.unknown}
    if len(set(known.values())) < 2:
        return frozenset()

    highest = max(known.values())
    return frozenset(position for position, value in known.items() if value == highest)


def _attribute_row(name: str, datasets: Sequence[Dataset]) -> AttributeRow:
    values = tuple(getattr(dataset, name) for dataset in datasets)
    return AttributeRow(name, values, any(value != values[0] for value in values))
