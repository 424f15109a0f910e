"""The table of the ranking: one row for each dataset, one cell for each criterion with a weight.

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
from touchstone.web.views.criterion_cell import VALUE_DIGITS, CriterionCell, criterion_cells
from touchstone.web.views.gate_badges import GateBadge, gate_badges
from touchstone.web.views.ranked_evidence import (
    RankingBackground,
    describe_declarer,
    describe_known_criteria,
    describe_lowered,
)
from touchstone.web.views.robustness import RowRobustness
from touchstone.web.views.score_range import ScoreRange, score_range
from touchstone.web.views.weighted_criteria import WeightedCriterion, criteria_with_weight

_MAX_OBJECTIVE_LENGTH: Final = 110
_NO_BACKGROUND: Final = RankingBackground()


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
class TableFact:
    """A number of a dataset in the table view.

    Attributes:
        text: The number as text; None for a composite score of which nothing is known.
        limit: The highest value that is possible, such as `≤ 1.00`; empty if the number cannot be higher.
    """

    text: str | None
    limit: str = ""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One dataset of the ranking.

    Attributes:
        dataset: The dataset with its score, as the API returned it.
        cells: One cell for each criterion with a weight.
        pinned: Whether the dataset is among those to compare.
        change: How the dataset has moved since the previous ranking.
        score_range: The score, and the highest score that is possible.
        gates: The badges that show which gates the dataset passes.
        robustness: How robust the rank is; None if that was not requested, or not for this rank.
        declared_by: Who has declared the record; None for a record of the service.
        localizer: The reader's language.
    """

    dataset: ScoredDataset
    cells: tuple[CriterionCell, ...]
    pinned: bool
    change: RankChange
    score_range: ScoreRange
    gates: tuple[GateBadge, ...]
    robustness: RowRobustness | None
    declared_by: Person | None
    localizer: Localizer

    @property
    def place(self) -> str:
        """The place in words, with an equals sign if other datasets have the same score: `5 =`."""
        return self.localizer.place(self.dataset.place or self.dataset.rank, self.dataset.tied_with)

    @property
    def tie(self) -> str:
        """Return in words how many other datasets have the same score, or an empty string if none has."""
        tied_count = self.dataset.tied_with
        return self.localizer.counted("tied_with", tied_count) if tied_count else ""

    @property
    def reason(self) -> str:
        """Return the tooltip of the place: a sentence that explains it, or else the number of ties."""
        return replace_control_characters(self.dataset.sentence or self.tie)

    @property
    def score(self) -> str:
        """Return the score as text."""
        return self.score_range.text

    def limit_text(self, view: str) -> str:
        """Return the highest possible score as a view shows it: in words beside bars, with a sign in narrow columns."""
        has_room_for_words = view == "bars"
        return self.score_range.limit if has_room_for_words else self.score_range.sign

    @property
    def objective(self) -> str:
        """Return the beginning of the dataset's objective."""
        return shorten(self.dataset.objective or "", _MAX_OBJECTIVE_LENGTH, placeholder="…")

    @property
    def facts(self) -> tuple[TableFact, ...]:
        """Return the columns of the table view after the score: the composite scores, instances and features."""
        composite_facts = [self._composite_fact(name) for name in COMPOSITES]
        numbers = (self.dataset.instances_number, self.dataset.features_number)
        number_facts = [TableFact(self.localizer.number(number)) for number in numbers]
        return (*composite_facts, *number_facts)

    @property
    def evidence(self) -> str:
        """Return in words how many ethical criteria are known, and how many of them are met or may still be."""
        return describe_known_criteria(self.dataset, self.localizer)

    @property
    def declarer(self) -> str:
        """Return who has declared the record; empty for records of the service."""
        return describe_declarer(self.declared_by, self.localizer)

    def _composite_fact(self, name: str) -> TableFact:
        """Return a composite score as text, with the highest value that it may reach, as in `0.62` and `≤ 0.80`.

        The highest value is left out if it reads the same. If nothing is known about the attributes of the score, the
        result has neither.
        """
        if self.dataset.unknown and name in self.dataset.unknown:
            return TableFact(None)

        text = self.localizer.number(getattr(self.dataset, name), digits=VALUE_DIGITS)
        best_case = self.dataset.best_case
        if best_case is None:
            return TableFact(text)

        best_text = self.localizer.number(best_case.criterion_scores[name], digits=VALUE_DIGITS)
        if best_text == text:
            return TableFact(text, limit="")
        return TableFact(text, limit=f"≤\u00a0{best_text}")


@dataclass(frozen=True, slots=True)
class RankTable:
    """One page of the ranking.

    Attributes:
        rows: The datasets of the page.
        total: The number of datasets in the ranking.
        pages: The number of pages.
        first: The rank of the first row.
        lowered: The sentence about datasets that would be on this page if their declarations counted; else empty.
        notes: Sentences about criteria that do not tell the datasets of the page apart.
        robustness: The summary of how robust the first ranks are; empty if that was not requested.
    """

    rows: tuple[RankedRow, ...]
    total: int
    pages: int
    first: int
    lowered: str
    notes: tuple[str, ...]
    robustness: str

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the datasets, which the next ranking is compared with."""
        return tuple(row.dataset.id for row in self.rows)


def build_rank_table(
    ranking: Ranking | Recommendations,
    criteria: Sequence[WeightedCriterion],
    state: RankState,
    localizer: Localizer,
    background: RankingBackground = _NO_BACKGROUND,
) -> RankTable:
    """Build one page of a ranking, formatted for display.

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
            score_range=score_range(dataset, used_criteria, localizer),
            gates=gate_badges(dataset, state, localizer),
            robustness=background.robustness.get(dataset.id),
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
        notes=tuple(note.sentence for note in ranking.notes),
        robustness=background.robustness_summary,
    )


def _rank_changes(
    ranking: Ranking | Recommendations, previous_ids: Sequence[int], ranks_before_page: int, localizer: Localizer
) -> dict[int, RankChange]:
    """Return the movement of each dataset on the page since the previous ranking, by its id.

    `previous_ids` are the datasets that the same page showed before, in their order. The result is empty if they are
    unknown.
    """
    if not previous_ids:
        return {}

    previous_rows = {dataset_id: row for row, dataset_id in enumerate(previous_ids, start=1)}

    changes = {}
    for dataset in ranking.datasets:
        row = dataset.rank - ranks_before_page
        previous_row = previous_rows.get(dataset.id)
        changes[dataset.id] = _describe_rank_change(previous_row, row, localizer)
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


def _describe_rank_change(previous_row: int | None, row: int, localizer: Localizer) -> RankChange:
    """Describe the movement of a dataset between two rows of the page. Without a previous row, it is new."""
    if previous_row is None:
        return RankChange(kind="new", text=localizer.text("moved_new"))

    distance = abs(previous_row - row)
    if row < previous_row:
        return RankChange(kind="up", text=f"▲{distance}", label=localizer.text("moved_up", count=distance))
    if row > previous_row:
        return RankChange(kind="down", text=f"▼{distance}", label=localizer.text("moved_down", count=distance))
    return _UNCHANGED


def count_pages(ranking: Ranking | Recommendations) -> int:
    """Return the number of pages of a ranking, or 0 if it is empty."""
    return math.ceil(ranking.total_count / PAGE_SIZE)
