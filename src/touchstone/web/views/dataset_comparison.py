"""The comparison of pinned datasets by their scores, criteria and attributes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.client import Dataset, Evidence, ScoredDataset
from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.evidence import EvidenceLevel
from touchstone.web.localizer import Localizer
from touchstone.web.views.criterion_cell import CriterionCell, criterion_cells
from touchstone.web.views.score_range import ScoreRange, score_range
from touchstone.web.views.weighted_criteria import WeightedCriterion, criteria_with_weight


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """One attribute of the compared datasets.

    Attributes:
        name: the name of the attribute.
        values: the value in the record of each dataset.
        levels: the level of the evidence for each value; None if nothing is claimed about it.
        differs: whether the values are not all equal.
    """

    name: str
    values: tuple[Any, ...]
    levels: tuple[EvidenceLevel | None, ...]
    differs: bool


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """One criterion of the compared datasets.

    Attributes:
        criterion: the criterion.
        cells: the cell of each dataset; None for a dataset without a score.
        best: the positions of the datasets with the highest value; empty if all known values are equal.
    """

    criterion: WeightedCriterion
    cells: tuple[CriterionCell | None, ...]
    best: frozenset[int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of several datasets; each dataset has the same position in every row."""

    datasets: tuple[Dataset, ...]
    scores: tuple[ScoreRange, ...]
    criterion_rows: tuple[CriterionRow, ...]
    attribute_rows: tuple[AttributeRow, ...]


@dataclass(frozen=True, slots=True)
class ComparedDataset:
    """A dataset to compare, with its evidence and its score, which may be None."""

    dataset: Dataset
    evidence: Evidence
    score: ScoredDataset | None


def compare(
    compared_datasets: Sequence[ComparedDataset],
    criteria: Sequence[WeightedCriterion],
    localizer: Localizer,
) -> Comparison:
    """Compare the scores, the criteria and the attributes of datasets.

    Args:
        compared_datasets: the datasets in the order of the columns.
        criteria: all criteria with their weights. Criteria without a weight are left out of the comparison.
        localizer: the reader's language.
    """
    used_criteria = criteria_with_weight(criteria)
    scores = [compared.score for compared in compared_datasets]

    # The column headings already show the names of the datasets.
    attribute_names = [attribute.name for attribute in ATTRIBUTES if attribute.name != "dataset_name"]

    return Comparison(
        datasets=tuple(compared.dataset for compared in compared_datasets),
        scores=tuple(score_range(score, used_criteria, localizer) for score in scores),
        criterion_rows=_criterion_rows(scores, used_criteria, localizer),
        attribute_rows=tuple(_attribute_row(name, compared_datasets) for name in attribute_names),
    )


def _criterion_rows(
    scores: Sequence[ScoredDataset | None], used_criteria: Sequence[WeightedCriterion], localizer: Localizer
) -> tuple[CriterionRow, ...]:
    """Return one row for each criterion, in which a dataset without a score has None instead of a cell."""
    columns: list[Sequence[CriterionCell | None]] = []
    for score in scores:
        if score:
            columns.append(criterion_cells(score, used_criteria, localizer))
        else:
            columns.append([None] * len(used_criteria))

    rows = []
    for index, criterion in enumerate(used_criteria):
        cells = tuple(column[index] for column in columns)
        rows.append(CriterionRow(criterion, cells, _best_positions(cells)))
    return tuple(rows)


def _best_positions(cells: Sequence[CriterionCell | None]) -> frozenset[int]:
    """Return the positions of the cells with the highest known value.

    If all known values are equal, no cell is marked.
    """
    known_values = {}
    for position, cell in enumerate(cells):
        if cell is not None and not cell.is_unknown:
            known_values[position] = cell.value

    distinct_values = set(known_values.values())
    if len(distinct_values) <= 1:
        return frozenset()

    highest_value = max(distinct_values)
    return frozenset(position for position, value in known_values.items() if value == highest_value)


def _attribute_row(name: str, compared_datasets: Sequence[ComparedDataset]) -> AttributeRow:
    """Return the row of one attribute."""
    values = tuple(getattr(compared.dataset, name) for compared in compared_datasets)
    levels = tuple(_evidence_level(name, compared.evidence) for compared in compared_datasets)
    differs = any(value != values[0] for value in values)
    return AttributeRow(name, values, levels, differs)


def _evidence_level(name: str, evidence: Evidence) -> EvidenceLevel | None:
    """Return the level of the evidence for an attribute, or None if nothing is claimed about it."""
    state = evidence.attributes.get(name)
    return state.level if state is not None else None
