"""The rank page: columns as wide as their weight, cells that know what is unknown, bars that add up to the score.

Whatever a picture says is written here, in the reader's language: the templates and the figures alike take it as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, Final

from touchstone.client import Ranking, Recommendations, ScoredDataset
from touchstone.core.text import replace_control_characters
from touchstone.web.rank_state import COMPOSITES, SHOWN, RankState
from touchstone.web.rendering import Speech
from touchstone.web.views.color_scale import shade

BREADTH: Final = 50  # percent of the heat map that the criteria share
# Shares below which a label does not fit lying, a figure stands as well, and the share is not said.
_UPRIGHT: Final = 0.18
_THIN: Final = 0.065
_UNSAID: Final = 0.05
# A phone gives the table more room, so that its figures can be read.
_NARROW: Final = {"finest": 0.06, "fine": 0.1, "middling": 0.17}
_OBJECTIVE: Final = 110  # characters


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion with its weight: `position` of the slider in 0-100, `share` of the score in 0-1.

    Its part of the bar of all shares begins at `x` and is `width` wide.
    """

    name: str
    label: str
    formula: str
    kind: str
    position: float
    share: float
    start: float
    number: int  # its place among the twelve, which gives it its colour
    percent: str
    precise: str  # with a tenth
    said: str  # what the slider says to who cannot see it

    @property
    def x(self) -> str:
        """Where its part begins, in percent."""
        return _percent(self.start)

    @property
    def width(self) -> str:
        """How wide its part is, in percent."""
        return _percent(self.share)

    @property
    def title(self) -> str:
        """What its part tells when pointed at."""
        return f"{self.label} {self.precise}"

    @property
    def upright(self) -> bool:
        """Whether its column is too narrow for a label that lies."""
        return self.share < _UPRIGHT

    @property
    def thin(self) -> bool:
        """Whether its column is too narrow for figures that lie."""
        return self.share < _THIN

    @property
    def unsaid(self) -> bool:
        """Whether its column is too narrow to say the share."""
        return self.share < _UNSAID


@dataclass(frozen=True, slots=True)
class Cell:
    """One criterion of one dataset; `points` of all cells add up to the score.

    Its part of the bar of contributions begins at `x` and is `width` wide.
    """

    criterion: Criterion
    value: float
    points: float
    start: float  # points of the cells before it
    unknown: bool
    speech: Speech

    @property
    def text(self) -> str:
        """Its value."""
        return "?" if self.unknown else self.speech.number(self.value, 2)

    @property
    def part(self) -> str:
        """Its points."""
        return self.speech.text("unknown") if self.unknown else self.speech.number(self.points, 3)

    @property
    def title(self) -> str:
        """What it tells when pointed at."""
        return self.part if self.unknown else f"{self.text} × {self.criterion.precise} = {self.part}"

    @property
    def x(self) -> str:
        """Where its part begins, in percent."""
        return _percent(self.start)

    @property
    def width(self) -> str:
        """How wide its part is, in percent."""
        return _percent(self.points)

    @property
    def shade(self) -> int:
        """The colour of its value in the sequential palette."""
        return shade(self.value)

    @property
    def look(self) -> str:
        """Its classes in the heat map."""
        colour = "hatched" if self.unknown else f"q{self.shade}"
        return f"cell {colour} thin" if self.criterion.thin else f"cell {colour}"


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a dataset came since the picture before: `new`, `up`, `down` or neither, written and said."""

    kind: str = ""
    text: str = ""
    said: str = ""


_STAYED: Final = Moved()


@dataclass(frozen=True, slots=True)
class Line:
    """One dataset of the ranking."""

    dataset: ScoredDataset
    cells: tuple[Cell, ...]
    pinned: bool
    moved: Moved
    rank: str
    score: str
    speech: Speech

    @property
    def objective(self) -> str:
        """What the dataset is for, in short."""
        return shorten(self.dataset.objective or "", _OBJECTIVE, placeholder="…")

    @property
    def facts(self) -> tuple[str | None, ...]:
        """What the table shows beside the score; None: unknown."""
        one, number = self.dataset, self.speech.number
        composites = (None if name in (one.unknown or ()) else number(getattr(one, name), 2) for name in COMPOSITES)
        return *composites, number(one.instances_number), number(one.features_number)


@dataclass(frozen=True, slots=True)
class RankingView:
    """What the results show."""

    lines: tuple[Line, ...]
    total: int
    pages: int
    first: int  # the place of the first line

    @property
    def ids(self) -> tuple[int, ...]:
        """The datasets shown, in order, for the next picture to compare with."""
        return tuple(line.dataset.id for line in self.lines)


def criteria(described: Mapping[str, Any], state: RankState, speech: Speech) -> tuple[Criterion, ...]:
    """All criteria in their order, with the weights of the state."""
    made, start, shares = [], 0.0, state.shares
    for number, row in enumerate(described["criteria"]):
        position = state.weights.get(row["name"], 0.0)
        share = shares.get(row["name"], 0.0)
        percent = speech.percent(share)
        criterion = Criterion(
            name=row["name"],
            label=spoken(row, "label", speech.locale),
            formula=spoken(row, "formula", speech.locale),
            kind=row["kind"],
            position=position,
            share=share,
            start=start,
            number=number,
            percent=percent,
            precise=speech.percent(share, 1),
            said=f"{speech.number(position)}, {speech.text('share_of_score', share=percent)}",
        )
        made.append(criterion)
        start += share
    return tuple(made)


def spoken(row: Mapping[str, Any], key: str, locale: str) -> str:
    """A label that the API gives in both languages."""
    found = row.get(key)
    return str(found[locale]) if isinstance(found, Mapping) else str(row.get(f"{key}_{locale}", found or row["name"]))


def weighing(weighed: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The criteria that weigh anything."""
    return tuple(one for one in weighed if one.share > 0)


def shares_said(used: Sequence[Criterion], speech: Speech) -> str:
    """The bar of all shares, for who cannot see it."""
    if not used:
        return speech.text("weights_none")
    return f"{speech.text('shares_label')} {', '.join(f'{one.label} {one.percent}' for one in used)}"


def fineness(used: Sequence[Criterion]) -> str:
    """How fine the narrowest column of the heat map is: `finest`, `fine`, `middling`, or empty."""
    narrowest = min((one.share for one in used), default=1.0)
    return next((name for name, limit in _NARROW.items() if narrowest < limit), "")


def ranking(
    found: Ranking | Recommendations, weighed: Sequence[Criterion], state: RankState, speech: Speech
) -> RankingView:
    """The results, with each dataset's place compared with the picture before."""
    used = weighing(weighed)
    before = {dataset_id: place for place, dataset_id in enumerate(state.was, start=1)}
    offset = (state.page - 1) * SHOWN
    lines = tuple(
        Line(
            dataset=one,
            cells=cells(one, used, speech),
            pinned=one.id in state.pins,
            moved=_moved(before.get(one.id), one.rank - offset, speech) if before else _STAYED,
            rank=speech.number(one.rank),
            score=score_text(one, used, speech),
            speech=speech,
        )
        for one in found.datasets
    )
    return RankingView(lines, found.total_count, last_page(found), offset + 1)


def announcement(ranking: RankingView, state: RankState, speech: Speech) -> str:
    """Return the sentence that tells a screen reader what the ranking has become."""
    if not state.weights:
        return speech.text("weights_none")
    if not ranking.lines:
        return speech.text("rank_empty")
    first = ranking.lines[0]
    return speech.counted(
        "announcement", ranking.total, name=replace_control_characters(first.dataset.dataset_name), score=first.score
    )


def _moved(before: int | None, place: int, speech: Speech) -> Moved:
    if before is None:
        return Moved("new", speech.text("moved_new"))
    places = abs(before - place)
    if before > place:
        return Moved("up", f"▲{places}", speech.text("moved_up", count=places))
    return Moved("down", f"▼{places}", speech.text("moved_down", count=places)) if places else _STAYED


def last_page(found: Ranking | Recommendations) -> int:
    """The number of the last page of a ranking; 0 for an empty one."""
    return -(-found.total_count // SHOWN)


def cells(dataset: ScoredDataset, used: Sequence[Criterion], speech: Speech) -> tuple[Cell, ...]:
    """The criteria that weigh anything, in order."""
    values, parts = dataset.criterion_scores or {}, dataset.points or {}
    unknowns = set(dataset.unknown or ())
    made, start = [], 0.0
    for one in used:
        value, points, unknown = values.get(one.name, 0.0), parts.get(one.name, 0.0), one.name in unknowns
        made.append(Cell(one, value, points, start, unknown, speech))
        start += points
    return tuple(made)


def score_text(scored: ScoredDataset | None, used: Sequence[Criterion], speech: Speech) -> str:
    """Return the score as every page shows it: a dash where there is none, or where all that it weighs is unknown."""
    if scored is None:
        return speech.number(None)
    unknown = set(scored.unknown or ())
    return speech.number(None if all(one.name in unknown for one in used) else scored.score, 3)


def _percent(share: float) -> str:
    return f"{100 * share:.3f}%"
