"""The rank page: columns as wide as their weight, cells that know what is unknown, bars that add up to the score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from touchstone.client import Ranking, Recommendations, ScoredDataset
from touchstone.web.rendering import Speech
from touchstone.web.state import SHOWN, RankState
from touchstone.web.views.shades import shade


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion with its weight: `position` of the slider in 0-100, `share` of the score in 0-1."""

    name: str
    label: str
    formula: str
    kind: str
    position: float
    share: float
    start: float  # where its part of the stacked bar begins, in 0-1
    number: int  # its place among the twelve, which gives it its colour


@dataclass(frozen=True, slots=True)
class Cell:
    """One criterion of one dataset; `points` of all cells add up to the score."""

    criterion: Criterion
    value: float
    points: float
    start: float  # points of the cells before it
    unknown: bool

    @property
    def shade(self) -> int:
        """Its colour in the sequential palette."""
        return shade(self.value)


@dataclass(frozen=True, slots=True)
class Line:
    """One dataset of the ranking; `moved` places up (or, negative, down) since the picture before; None: new."""

    dataset: ScoredDataset
    cells: tuple[Cell, ...]
    pinned: bool
    moved: int | None


@dataclass(frozen=True, slots=True)
class RankingView:
    """What the results show."""

    lines: tuple[Line, ...]
    total: int
    pages: int
    compared: bool  # whether there was a picture before this one
    first: int  # the place of the first line

    @property
    def ids(self) -> str:
        """The datasets shown, in order, for the next picture to compare with."""
        return ".".join(str(line.dataset.id) for line in self.lines)


def criteria(described: Mapping[str, Any], state: RankState, speech: Speech) -> tuple[Criterion, ...]:
    """All criteria in their order, with the weights of the state."""
    shares = state.shares
    rows = described["criteria"]
    starts = accumulate((shares.get(row["name"], 0.0) for row in rows), initial=0.0)
    return tuple(
        Criterion(
            name=row["name"],
            label=spoken(row, "label", speech.locale),
            formula=spoken(row, "formula", speech.locale),
            kind=row["kind"],
            position=state.weights.get(row["name"], 0.0),
            share=shares.get(row["name"], 0.0),
            start=start,
            number=number,
        )
        for number, (row, start) in enumerate(zip(rows, starts, strict=False))
    )


def spoken(row: Mapping[str, Any], key: str, locale: str) -> str:
    """A label that the API gives in both languages."""
    found = row.get(key)
    return str(found[locale]) if isinstance(found, Mapping) else str(row.get(f"{key}_{locale}", found or row["name"]))


def ranking(found: Ranking | Recommendations, weighed: Sequence[Criterion], state: RankState) -> RankingView:
    """The results, with each dataset's place compared with the picture before."""
    used = [criterion for criterion in weighed if criterion.share > 0]
    before = {dataset_id: place for place, dataset_id in enumerate(state.was, start=1)}
    offset = (state.page - 1) * SHOWN
    lines = tuple(
        Line(
            dataset=one,
            cells=cells(one, used),
            pinned=one.id in state.pins,
            moved=before[one.id] - (one.rank - offset) if one.id in before else None,
        )
        for one in found.datasets
    )
    return RankingView(lines, found.total_count, last_page(found), bool(before), offset + 1)


def last_page(found: Ranking | Recommendations) -> int:
    """The number of the last page of a ranking; 0 for an empty one."""
    return -(-found.total_count // SHOWN)


def cells(dataset: ScoredDataset, used: Sequence[Criterion]) -> tuple[Cell, ...]:
    """The criteria that weigh anything, in order."""
    values, points = dataset.criterion_scores or {}, dataset.points or {}
    unknown = set(dataset.unknown or ())
    starts = accumulate((points.get(one.name, 0.0) for one in used), initial=0.0)
    return tuple(
        Cell(one, values.get(one.name, 0.0), points.get(one.name, 0.0), start, one.name in unknown)
        for one, start in zip(used, starts, strict=False)
    )
