"""Pinned datasets side by side: what they share, where they differ, and which one is best in what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.client import Dataset, ScoredDataset
from touchstone.core.attributes import ATTRIBUTES
from touchstone.web.localizer import Localizer
from touchstone.web.views.rank_table import (
    CriterionCell,
    WeightedCriterion,
    criteria_with_weight,
    criterion_cells,
    score_text,
)


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """One attribute of the compared datasets.

    Attributes:
        name: The name of the attribute.
        values: The value of each dataset.
        differs: Whether the values are not all equal.
    """

    name: str
    values: tuple[Any, ...]
    differs: bool


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """One criterion of the compared datasets.

    Attributes:
        criterion: The criterion.
        cells: The cell of each dataset; None for a dataset without a score.
        best: The positions of the datasets with the highest value.
    """

    criterion: WeightedCriterion
    cells: tuple[CriterionCell | None, ...]
    best: frozenset[int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Datasets side by side; each dataset has the same position in every row."""

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
    """Return the datasets side by side, for the table of the comparison page.

    Args:
        datasets: The datasets in the order of the columns.
        scores: The score of each dataset; None for a dataset without one.
        criteria: All criteria with their weights; the table has a row for each that has one.
        localizer: The reader's language.
    """
    used_criteria = criteria_with_weight(criteria)

    # The names of the datasets are the headings of the columns.
    attribute_names = [attribute.name for attribute in ATTRIBUTES if attribute.name != "dataset_name"]

    return Comparison(
        datasets=tuple(datasets),
        scores=tuple(score_text(score, used_criteria, localizer) for score in scores),
        criterion_rows=_criterion_rows(scores, used_criteria, localizer),
        attribute_rows=tuple(_attribute_row(name, datasets) for name in attribute_names),
    )


def _criterion_rows(
    scores: Sequence[ScoredDataset | None], used_criteria: Sequence[WeightedCriterion], localizer: Localizer
) -> tuple[CriterionRow, ...]:
    """Return one row for each criterion, with a cell for each dataset."""
    no_cells = (None,) * len(used_criteria)
    columns = [criterion_cells(score, used_criteria, localizer) if score else no_cells for score in scores]

    rows = []
    for index, criterion in enumerate(used_criteria):
        cells = tuple(column[index] for column in columns)
        rows.append(CriterionRow(criterion, cells, _best_positions(cells)))
    return tuple(rows)


def _best_positions(cells: Sequence[CriterionCell | None]) -> frozenset[int]:
    """Return the positions of the cells that the page marks as the best: those with the highest known value.

    None is marked if all known values are equal, because then no dataset is better than another.
    """
    known_values = {}
    for position, cell in enumerate(cells):
        if cell is not None and not cell.unknown:
            known_values[position] = cell.value

    all_are_equal = len(set(known_values.values())) <= 1
    if all_are_equal:
        return frozenset()

    highest_value = max(known_values.values())
    return frozenset(position for position, value in known_values.items() if value == highest_value)


def _attribute_row(name: str, datasets: Sequence[Dataset]) -> AttributeRow:
    """Return the row of one attribute."""
    values = tuple(getattr(dataset, name) for dataset in datasets)
    differs = any(value != values[0] for value in values)
    return AttributeRow(name, values, differs)
