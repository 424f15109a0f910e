"""The ranking as it is shown: one row for each dataset, one cell for each criterion.

All texts are written here, in the reader's language, so that the templates and the live updates show the same ones.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from touchstone.client import Ranking, Recommendations, ScoredDataset
from touchstone.client.evidence_models import Person
from touchstone.core.text import replace_control_characters
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import COMPOSITES
from touchstone.web.rank_state import PAGE_SIZE, RankState
from touchstone.web.views.color_scale import shade
from touchstone.web.views.ranked_evidence import (
    RankingBackground,
    describe_declarer,
    describe_known_criteria,
    describe_lowered,
)
from touchstone.web.views.weighted_criteria import WeightedCriterion, criteria_with_weight, css_percentage

_MAX_OBJECTIVE_LENGTH: Final = 110
_NO_BACKGROUND: Final = RankingBackground()


@dataclass(frozen=True, slots=True)
class CriterionCell:
    """The value of one criterion for one dataset.

    Attributes:
        criterion: The criterion.
        value: The value in 0-1.
        points: What the value adds to the score; the points of all cells add up to the score.
        preceding_points: The sum of the points of the cells before this one.
        unknown: Whether the dataset has no value for the criterion.
        localizer: The reader's language.
    """

    criterion: WeightedCriterion
    value: float
    points: float
    preceding_points: float
    unknown: bool
    localizer: Localizer

    @property
    def text(self) -> str:
        """Return the value as text; a question mark if it is unknown."""
        return "?" if self.unknown else self.localizer.number(self.value, digits=2)

    @property
    def points_text(self) -> str:
        """Return the points as text; the word for "unknown" if the value is unknown."""
        return self.localizer.text("unknown") if self.unknown else self.localizer.number(self.points, digits=3)

    @property
    def title(self) -> str:
        """Return the tooltip: how the points follow from the value."""
        if self.unknown:
            return self.points_text
        return f"{self.text} × {self.criterion.precise_share_text} = {self.points_text}"

    @property
    def x(self) -> str:
        """Return the SVG attribute `x` of the segment in the bar of the score."""
        return css_percentage(self.preceding_points)

    @property
    def width(self) -> str:
        """Return the SVG attribute `width` of the segment in the bar of the score."""
        return css_percentage(self.points)

    @property
    def shade(self) -> int:
        """Return the shade of the value in the sequential palette."""
        return shade(self.value)

    @property
    def css_classes(self) -> str:
        """Return the CSS classes of the cell in the heat map."""
        background = "hatched" if self.unknown else f"q{self.shade}"
        if self.criterion.has_vertical_numbers:
            return f"cell {background} thin"
        return f"cell {background}"


@dataclass(frozen=True, slots=True)
class RankChange:
    """How a dataset has moved since the ranking that was shown before.

    Attributes:
        kind: `new`, `up` or `down`, which is also a CSS class; empty if the dataset has not moved.
        text: The sign beside the rank, such as `▲3`.
        label: The same in words, for screen readers.
    """

    kind: str = ""
    text: str = ""
    label: str = ""


_UNCHANGED: Final = RankChange()


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One dataset of the ranking.

    Attributes:
        dataset: The dataset with its score, as the API returned it.
        cells: One cell for each criterion with a weight.
        pinned: Whether the dataset is among those to compare.
        change: How the dataset has moved since the previous ranking.
        rank: The rank as text.
        score: The score as text.
        declared_by: Who has declared the record; None for a record of the service.
        localizer: The reader's language.
    """

    dataset: ScoredDataset
    cells: tuple[CriterionCell, ...]
    pinned: bool
    change: RankChange
    rank: str
    score: str
    declared_by: Person | None
    localizer: Localizer

    @property
    def objective(self) -> str:
        """Return the beginning of the dataset's objective."""
        return shorten(self.dataset.objective or "", _MAX_OBJECTIVE_LENGTH, placeholder="…")

    @property
    def facts(self) -> tuple[str | None, ...]:
        """Return the columns of the table view after the score: the composite scores, instances and features.

        A composite score that is unknown is None.
        """
        facts = [self._composite_text(name) for name in COMPOSITES]
        facts.append(self.localizer.number(self.dataset.instances_number))
        facts.append(self.localizer.number(self.dataset.features_number))
        return tuple(facts)

    @property
    def evidence(self) -> str:
        """Return in words how many ethical criteria are known, and how many of them are met or may still be."""
        return describe_known_criteria(self.dataset, self.localizer)

    @property
    def declarer(self) -> str:
        """Return who has declared the record; empty for records of the service."""
        return describe_declarer(self.declared_by, self.localizer)

    def _composite_text(self, name: str) -> str | None:
        """Return a composite score as text; None if it is unknown."""
        if self.dataset.unknown and name in self.dataset.unknown:
            return None
        return self.localizer.number(getattr(self.dataset, name), digits=2)


@dataclass(frozen=True, slots=True)
class RankTable:
    """One page of the ranking.

    Attributes:
        rows: The datasets of the page.
        total: The number of datasets in the ranking.
        pages: The number of pages.
        first: The rank of the first row.
        lowered: The sentence about datasets that would be on this page if their declarations counted; else empty.
    """

    rows: tuple[RankedRow, ...]
    total: int
    pages: int
    first: int
    lowered: str

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of the datasets, with which the next ranking is compared."""
        return tuple(row.dataset.id for row in self.rows)


def build_rank_table(
    ranking: Ranking | Recommendations,
    criteria: Sequence[WeightedCriterion],
    state: RankState,
    localizer: Localizer,
    background: RankingBackground = _NO_BACKGROUND,
) -> RankTable:
    """Return one page of a ranking with all the texts that the templates show.

    If the state holds the ids of the previous ranking, each row also says how its dataset has moved since then.

    Args:
        ranking: The datasets of the page with their scores.
        criteria: All criteria; the rows have a cell for each criterion with a weight.
        state: The state of the rank page: the number of the page, the pinned datasets and the previous ranking.
        localizer: The reader's language.
        background: What else the page shows about the evidence behind the ranking.
    """
    used_criteria = criteria_with_weight(criteria)
    ranks_before_page = (state.page - 1) * PAGE_SIZE
    changes = _rank_changes(ranking, state.previous_ids, ranks_before_page, localizer)

    rows = []
    for dataset in ranking.datasets:
        row = RankedRow(
            dataset=dataset,
            cells=criterion_cells(dataset, used_criteria, localizer),
            pinned=dataset.id in state.pins,
            change=changes.get(dataset.id, _UNCHANGED),
            rank=localizer.number(dataset.rank),
            score=score_text(dataset, used_criteria, localizer),
            declared_by=background.declarers.get(dataset.id),
            localizer=localizer,
        )
        rows.append(row)

    return RankTable(
        rows=tuple(rows),
        total=ranking.total_count,
        pages=count_pages(ranking),
        first=ranks_before_page + 1,
        lowered=describe_lowered(ranking, background.declared_ranking, localizer),
    )


def _rank_changes(
    ranking: Ranking | Recommendations, previous_ids: Sequence[int], ranks_before_page: int, localizer: Localizer
) -> dict[int, RankChange]:
    """Return how each dataset of a page has moved, by its id; empty if the previous ranking is unknown."""
    if not previous_ids:
        return {}

    previous_places = {dataset_id: place for place, dataset_id in enumerate(previous_ids, start=1)}
    changes = {}
    for dataset in ranking.datasets:
        place = dataset.rank - ranks_before_page
        changes[dataset.id] = _describe_rank_change(previous_places.get(dataset.id), place, localizer)
    return changes


def describe_result(table: RankTable, state: RankState, localizer: Localizer) -> str:
    """Return the sentence that tells screen readers what a new ranking shows: how many datasets, and the first one."""
    if not state.weights:
        return localizer.text("weights_none")
    if not table.rows:
        return localizer.text("rank_empty")

    best_row = table.rows[0]
    best_name = replace_control_characters(best_row.dataset.dataset_name)
    return localizer.counted("announcement", table.total, name=best_name, score=best_row.score)


def _describe_rank_change(previous_place: int | None, place: int, localizer: Localizer) -> RankChange:
    """Return how a dataset has moved from its previous place on the page (None: it was not there)."""
    if previous_place is None:
        return RankChange(kind="new", text=localizer.text("moved_new"))

    distance = abs(previous_place - place)
    if place < previous_place:
        return RankChange(kind="up", text=f"▲{distance}", label=localizer.text("moved_up", count=distance))
    if place > previous_place:
        return RankChange(kind="down", text=f"▼{distance}", label=localizer.text("moved_down", count=distance))
    return _UNCHANGED


def count_pages(ranking: Ranking | Recommendations) -> int:
    """Return the number of pages of a ranking; 0 if it is empty."""
    return math.ceil(ranking.total_count / PAGE_SIZE)


def criterion_cells(
    dataset: ScoredDataset, used_criteria: Sequence[WeightedCriterion], localizer: Localizer
) -> tuple[CriterionCell, ...]:
    """Return what each criterion with a weight adds to the score of a dataset, in the order of the criteria.

    A criterion that is unknown for the dataset has a cell too, because it takes part in the score as 0.
    """
    values = dataset.criterion_scores or {}
    points_by_name = dataset.points or {}
    unknown_names = set(dataset.unknown or ())

    cells = []
    preceding_points = 0.0
    for criterion in used_criteria:
        points = points_by_name.get(criterion.name, 0.0)
        cell = CriterionCell(
            criterion=criterion,
            value=values.get(criterion.name, 0.0),
            points=points,
            preceding_points=preceding_points,
            unknown=criterion.name in unknown_names,
            localizer=localizer,
        )
        cells.append(cell)
        preceding_points += points

    return tuple(cells)


def score_text(dataset: ScoredDataset | None, used_criteria: Sequence[WeightedCriterion], localizer: Localizer) -> str:
    """Return the score of a dataset as every page shows it.

    A dash stands for a missing score. It also replaces the 0 of a dataset for which every weighted criterion is
    unknown, because that number would look like a judgement.
    """
    if dataset is None:
        return localizer.number(None)

    unknown_names = set(dataset.unknown or ())
    is_unknown = all(criterion.name in unknown_names for criterion in used_criteria)
    return localizer.number(None if is_unknown else dataset.score, digits=3)
