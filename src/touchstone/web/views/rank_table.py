"""The ranking as it is shown: criteria with their weights, one row for each dataset, one cell for each criterion.

All texts are written here, in the reader's language, so that the templates and the live updates show the same ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, Final

from touchstone.client import Ranking, Recommendations, ScoredDataset
from touchstone.core.text import replace_control_characters
from touchstone.web.localization import Localizer
from touchstone.web.rank_filters import COMPOSITES
from touchstone.web.rank_state import PAGE_SIZE, RankState
from touchstone.web.views.color_scale import shade

CRITERIA_WIDTH: Final = 50  # percent of the heat map that the columns of the criteria share
# The smallest shares of the score whose columns have room for a horizontal label, horizontal numbers, a percentage.
_HORIZONTAL_LABEL_MIN: Final = 0.18
_HORIZONTAL_NUMBER_MIN: Final = 0.065
_PERCENTAGE_MIN: Final = 0.05
# The CSS class of a heat map whose narrowest column has a smaller share than this: phones then show it wider.
_NARROW_COLUMN_CLASSES: Final = {"finest": 0.06, "fine": 0.1, "middling": 0.17}
_MAX_OBJECTIVE_LENGTH: Final = 110


@dataclass(frozen=True, slots=True)
class WeightedCriterion:
    """A criterion with its weight.

    Attributes:
        name: The name in the API.
        label: The name for readers.
        formula: How the value of a dataset is computed, for readers.
        kind: `composite` or `attribute`.
        position: The position of the slider in 0-100.
        share: The share of the score in 0-1.
        start: The sum of the shares before this one.
        number: The position among all criteria, which determines the colour.
        percent: The share as a percentage.
        precise: The share as a percentage with one decimal.
        said: The description of the slider's position for screen readers.
    """

    name: str
    label: str
    formula: str
    kind: str
    position: float
    share: float
    start: float
    number: int
    percent: str
    precise: str
    said: str

    @property
    def x(self) -> str:
        """Return where the segment in the bar of all shares begins."""
        return _css_percentage(self.start)

    @property
    def width(self) -> str:
        """Return the width of the segment in the bar of all shares."""
        return _css_percentage(self.share)

    @property
    def title(self) -> str:
        """Return the tooltip of the segment."""
        return f"{self.label} {self.precise}"

    @property
    def upright(self) -> bool:
        """Return whether the column is too narrow for a horizontal label."""
        return self.share < _HORIZONTAL_LABEL_MIN

    @property
    def thin(self) -> bool:
        """Return whether the column is too narrow for horizontal numbers."""
        return self.share < _HORIZONTAL_NUMBER_MIN

    @property
    def hides_percentage(self) -> bool:
        """Return whether the column is too narrow for its percentage."""
        return self.share < _PERCENTAGE_MIN


@dataclass(frozen=True, slots=True)
class CriterionCell:
    """The value of one criterion for one dataset.

    Attributes:
        criterion: The criterion.
        value: The value in 0-1.
        points: What it adds to the score; the points of all cells add up to the score.
        start: The sum of the points of the cells before this one.
        unknown: Whether the dataset has no value for the criterion.
        localizer: The reader's language.
    """

    criterion: WeightedCriterion
    value: float
    points: float
    start: float
    unknown: bool
    localizer: Localizer

    @property
    def text(self) -> str:
        """Return the value as text."""
        return "?" if self.unknown else self.localizer.number(self.value, 2)

    @property
    def points_text(self) -> str:
        """Return the points as text."""
        return self.localizer.text("unknown") if self.unknown else self.localizer.number(self.points, 3)

    @property
    def title(self) -> str:
        """Return the tooltip: how the points follow from the value."""
        if self.unknown:
            return self.points_text
        return f"{self.text} × {self.criterion.precise} = {self.points_text}"

    @property
    def x(self) -> str:
        """Return where the segment in the bar of the score begins."""
        return _css_percentage(self.start)

    @property
    def width(self) -> str:
        """Return the width of the segment in the bar of the score."""
        return _css_percentage(self.points)

    @property
    def shade(self) -> int:
        """Return the shade of the value in the sequential palette."""
        return shade(self.value)

    @property
    def css_classes(self) -> str:
        """Return the CSS classes of the cell in the heat map."""
        background = "hatched" if self.unknown else f"q{self.shade}"
        return f"cell {background} thin" if self.criterion.thin else f"cell {background}"


@dataclass(frozen=True, slots=True)
class RankChange:
    """How a dataset's rank has changed: its kind (`new`, `up`, `down` or empty), as a sign, and for screen readers."""

    kind: str = ""
    text: str = ""
    said: str = ""


_UNCHANGED: Final = RankChange()


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One dataset of the ranking."""

    dataset: ScoredDataset
    cells: tuple[CriterionCell, ...]
    pinned: bool
    change: RankChange
    rank: str
    score: str
    localizer: Localizer

    @property
    def objective(self) -> str:
        """Return the beginning of the dataset's objective."""
        return shorten(self.dataset.objective or "", _MAX_OBJECTIVE_LENGTH, placeholder="…")

    @property
    def facts(self) -> tuple[str | None, ...]:
        """Return what the table view shows beside the score: composite scores, instances and features.

        An unknown composite score is None.
        """
        number = self.localizer.number
        unknown = set(self.dataset.unknown or ())
        composites = [None if name in unknown else number(getattr(self.dataset, name), 2) for name in COMPOSITES]
        return (*composites, number(self.dataset.instances_number), number(self.dataset.features_number))


@dataclass(frozen=True, slots=True)
class RankTable:
    """One page of the ranking.

    Attributes:
        rows: The datasets of the page.
        total: The number of datasets in the ranking.
        pages: The number of pages.
        first: The rank of the first row.
    """

    rows: tuple[RankedRow, ...]
    total: int
    pages: int
    first: int

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of the datasets, for comparing the next ranking with this one."""
        return tuple(row.dataset.id for row in self.rows)


def weighted_criteria(
    description: Mapping[str, Any], state: RankState, localizer: Localizer
) -> tuple[WeightedCriterion, ...]:
    """Return all criteria that the API describes, in their order, with the weights of the state."""
    criteria = []
    shares = state.shares
    start = 0.0
    for number, entry in enumerate(description["criteria"]):
        name = entry["name"]
        position = state.weights.get(name, 0.0)
        share = shares.get(name, 0.0)
        percent = localizer.percent(share)

        criterion = WeightedCriterion(
            name=name,
            label=localized_label(entry, "label", localizer.locale),
            formula=localized_label(entry, "formula", localizer.locale),
            kind=entry["kind"],
            position=position,
            share=share,
            start=start,
            number=number,
            percent=percent,
            precise=localizer.percent(share, 1),
            said=f"{localizer.number(position)}, {localizer.text('share_of_score', share=percent)}",
        )
        criteria.append(criterion)
        start += share
    return tuple(criteria)


def localized_label(entry: Mapping[str, Any], key: str, locale: str) -> str:
    """Return a text that the API describes in both languages, as `{key: {fr, en}}` or as `key_fr` and `key_en`."""
    texts = entry.get(key)
    if isinstance(texts, Mapping):
        return str(texts[locale])
    return str(entry.get(f"{key}_{locale}", texts or entry["name"]))


def used_criteria(criteria: Sequence[WeightedCriterion]) -> tuple[WeightedCriterion, ...]:
    """Return the criteria with a weight above zero."""
    return tuple(criterion for criterion in criteria if criterion.share > 0)


def describe_shares(used: Sequence[WeightedCriterion], localizer: Localizer) -> str:
    """Return the text of the bar of all shares for screen readers."""
    if not used:
        return localizer.text("weights_none")
    shares = ", ".join(f"{criterion.label} {criterion.percent}" for criterion in used)
    return f"{localizer.text('shares_label')} {shares}"


def narrow_column_class(used: Sequence[WeightedCriterion]) -> str:
    """Return the CSS class for the narrowest column: `finest`, `fine`, `middling`, or empty."""
    narrowest = min((criterion.share for criterion in used), default=1.0)
    for name, limit in _NARROW_COLUMN_CLASSES.items():
        if narrowest < limit:
            return name
    return ""


def build_rank_table(
    ranking: Ranking | Recommendations, criteria: Sequence[WeightedCriterion], state: RankState, localizer: Localizer
) -> RankTable:
    """Return a page of a ranking, with each dataset's change of rank since the previous one."""
    used = used_criteria(criteria)
    offset = (state.page - 1) * PAGE_SIZE
    previous_places = {dataset_id: place for place, dataset_id in enumerate(state.previous_ids, start=1)}

    rows = []
    for dataset in ranking.datasets:
        change = _UNCHANGED
        if previous_places:
            change = _rank_change(previous_places.get(dataset.id), dataset.rank - offset, localizer)
        row = RankedRow(
            dataset=dataset,
            cells=criterion_cells(dataset, used, localizer),
            pinned=dataset.id in state.pins,
            change=change,
            rank=localizer.number(dataset.rank),
            score=score_text(dataset, used, localizer),
            localizer=localizer,
        )
        rows.append(row)
    return RankTable(tuple(rows), ranking.total_count, count_pages(ranking), offset + 1)


def describe_result(table: RankTable, state: RankState, localizer: Localizer) -> str:
    """Return the sentence that tells screen readers what the ranking has become."""
    if not state.weights:
        return localizer.text("weights_none")
    if not table.rows:
        return localizer.text("rank_empty")

    first = table.rows[0]
    name = replace_control_characters(first.dataset.dataset_name)
    return localizer.counted("announcement", table.total, name=name, score=first.score)


def _rank_change(previous: int | None, place: int, localizer: Localizer) -> RankChange:
    if previous is None:
        return RankChange("new", localizer.text("moved_new"))

    places = abs(previous - place)
    if place < previous:
        return RankChange("up", f"▲{places}", localizer.text("moved_up", count=places))
    if place > previous:
        return RankChange("down", f"▼{places}", localizer.text("moved_down", count=places))
    return _UNCHANGED


def count_pages(ranking: Ranking | Recommendations) -> int:
    """Return the number of pages of a ranking; 0 if it is empty."""
    return -(-ranking.total_count // PAGE_SIZE)


def criterion_cells(
    dataset: ScoredDataset, used: Sequence[WeightedCriterion], localizer: Localizer
) -> tuple[CriterionCell, ...]:
    """Return one cell for each criterion with a weight, in their order."""
    values = dataset.criterion_scores or {}
    points_by_name = dataset.points or {}
    unknown = set(dataset.unknown or ())

    cells = []
    start = 0.0
    for criterion in used:
        name = criterion.name
        points = points_by_name.get(name, 0.0)
        cell = CriterionCell(criterion, values.get(name, 0.0), points, start, name in unknown, localizer)
        cells.append(cell)
        start += points
    return tuple(cells)


def score_text(dataset: ScoredDataset | None, used: Sequence[WeightedCriterion], localizer: Localizer) -> str:
    """Return a score as every page shows it: a dash if there is none or all weighted criteria are unknown."""
    if dataset is None:
        return localizer.number(None)
    unknown = set(dataset.unknown or ())
    is_unknown = all(criterion.name in unknown for criterion in used)
    return localizer.number(None if is_unknown else dataset.score, 3)


def _css_percentage(share: float) -> str:
    return f"{100 * share:.3f}%"
