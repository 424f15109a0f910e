"""The table of the ranking, with a row for each dataset and a cell for each weighted criterion.

The rows contain their values as the page shows them, so that templates and live updates show the same strings.
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
    """The movement of a dataset since the previous ranking.

    Attributes:
        kind: `new`, `up` or `down`, which is also a CSS class; empty if the dataset has not moved.
        text: the sign beside the rank, such as `▲3`.
        label: the movement in words, for screen readers.
    """

    kind: str = ""
    text: str = ""
    label: str = ""


_UNCHANGED: Final = RankChange()


@dataclass(frozen=True, slots=True)
class TableFact:
    """A number of a dataset in the table view, formatted for display.

    Attributes:
        text: the number; None for an unknown composite score.
        limit: the highest possible value, such as `≤ 1.00`; empty if the number cannot be higher.
    """

    text: str | None
    limit: str = ""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One dataset of the ranking.

    Attributes:
        dataset: the dataset with its score, as the API returned it.
        cells: one cell for each criterion with a weight.
        is_pinned: whether the reader has selected the dataset for the comparison.
        change: the movement of the dataset since the previous ranking.
        score_range: the score and the highest possible score.
        gates: the badges that show which gates the dataset passes.
        robustness: the robustness of the rank; None if it was not computed for this rank.
        declared_by: the declarer of the record; None for a record of the service.
        localizer: the reader's language.
    """

    dataset: ScoredDataset
    cells: tuple[CriterionCell, ...]
    is_pinned: bool
    change: RankChange
    score_range: ScoreRange
    gates: tuple[GateBadge, ...]
    robustness: RowRobustness | None
    declared_by: Person | None
    localizer: Localizer

    @property
    def place(self) -> str:
        """The formatted place, with an equals sign if other datasets share it, as in `5 =`."""
        return self.localizer.place(self.dataset.place or self.dataset.rank, self.dataset.tied_with)

    @property
    def tie(self) -> str:
        """The number of other datasets with the same score in words, or an empty string for 0."""
        tied_count = self.dataset.tied_with
        return self.localizer.counted("tied_with", tied_count) if tied_count else ""

    @property
    def reason(self) -> str:
        """The tooltip of the place: the sentence that explains it, or else the number of ties."""
        return replace_control_characters(self.dataset.sentence or self.tie)

    @property
    def score(self) -> str:
        """The formatted score."""
        return self.score_range.text

    def limit_text(self, view: str) -> str:
        """Return the highest possible score in words, or with a sign for narrow columns."""
        has_room_for_words = view == "bars"
        return self.score_range.limit if has_room_for_words else self.score_range.short_limit

    @property
    def objective(self) -> str:
        """The beginning of the objective of the dataset."""
        return shorten(self.dataset.objective or "", _MAX_OBJECTIVE_LENGTH, placeholder="…")

    @property
    def facts(self) -> tuple[TableFact, ...]:
        """The composite scores and the numbers of instances and features, for the table view."""
        composite_facts = [self._composite_fact(name) for name in COMPOSITES]
        numbers = (self.dataset.instances_number, self.dataset.features_number)
        number_facts = [TableFact(self.localizer.number(number)) for number in numbers]
        return (*composite_facts, *number_facts)

    @property
    def evidence(self) -> str:
        """The numbers of ethical criteria that are known and that are or may be met, in words."""
        return describe_known_criteria(self.dataset, self.localizer)

    @property
    def declarer(self) -> str:
        """The name of the declarer in words, or an empty string for a record of the service."""
        return describe_declarer(self.declared_by, self.localizer)

    def _composite_fact(self, name: str) -> TableFact:
        """Return a composite score with the highest value that it could have, as in `0.62` and `≤ 0.80`.

        An unknown score has neither value. The highest value is left out if it looks the same as the score, or if
        nothing about the dataset is unknown.
        """
        if self.dataset.unknown and name in self.dataset.unknown:
            return TableFact(None)

        value = getattr(self.dataset, name)
        text = self.localizer.number(value, digits=VALUE_DIGITS)
        best_case = self.dataset.best_case
        if best_case is None:
            return TableFact(text)

        limit = self.localizer.limit(value, best_case.criterion_scores[name], digits=VALUE_DIGITS)
        return TableFact(text, limit=f"≤\u00a0{limit}" if limit else "")


@dataclass(frozen=True, slots=True)
class RankTable:
    """One page of the ranking.

    Attributes:
        rows: the datasets of the page.
        total_count: the number of datasets in the ranking.
        page_count: the number of pages.
        first_rank: the rank of the first row.
        lowered: the sentence about datasets that rank lower because their declarations lack evidence; empty if there
            are none.
        notes: sentences about criteria with the same value for all datasets of the page.
        robustness: the summary of the robustness of the first ranks; empty if it was not requested.
    """

    rows: tuple[RankedRow, ...]
    total_count: int
    page_count: int
    first_rank: int
    lowered: str
    notes: tuple[str, ...]
    robustness: str

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the datasets in their order, to compare the next ranking with them."""
        return tuple(row.dataset.id for row in self.rows)


def build_rank_table(
    ranking: Ranking | Recommendations,
    criteria: Sequence[WeightedCriterion],
    state: RankState,
    localizer: Localizer,
    background: RankingBackground = _NO_BACKGROUND,
) -> RankTable:
    """Build one page of a ranking, formatted for display.

    If the state contains the ids of the previous ranking, each row also shows how its dataset has moved since then.

    Args:
        ranking: the datasets of the page with their scores.
        criteria: all criteria; the rows have a cell for each criterion with a weight.
        state: the state of the rank page, with the page number, the pinned datasets and the previous ranking.
        localizer: the reader's language.
        background: the declarers, the declared ranking and the robustness that the page also shows.
    """
    used_criteria = criteria_with_weight(criteria)
    ranks_before_page = (state.page - 1) * PAGE_SIZE
    changes = _rank_changes(ranking, state.previous_ids, ranks_before_page, localizer)

    rows = []
    for dataset in ranking.datasets:
        row = RankedRow(
            dataset=dataset,
            cells=criterion_cells(dataset, used_criteria, localizer),
            is_pinned=dataset.id in state.pins,
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
        total_count=ranking.total_count,
        page_count=count_pages(ranking),
        first_rank=ranks_before_page + 1,
        lowered=describe_lowered(ranking, background.declared_ranking, localizer),
        notes=tuple(note.sentence for note in ranking.notes),
        robustness=background.robustness_summary,
    )


def _rank_changes(
    ranking: Ranking | Recommendations, previous_ids: Sequence[int], ranks_before_page: int, localizer: Localizer
) -> dict[int, RankChange]:
    """Return the movement of each dataset on the page since the previous ranking, by dataset id.

    Args:
        ranking: the datasets of the page.
        previous_ids: the ids of the datasets that the page showed before, in their order. If they are empty, the result
            is empty as well.
        ranks_before_page: the number of ranks on earlier pages.
        localizer: the reader's language.
    """
    if not previous_ids:
        return {}

    previous_row_numbers = {dataset_id: number for number, dataset_id in enumerate(previous_ids, start=1)}

    changes = {}
    for dataset in ranking.datasets:
        row_number = dataset.rank - ranks_before_page
        previous_row_number = previous_row_numbers.get(dataset.id)
        changes[dataset.id] = _describe_rank_change(previous_row_number, row_number, localizer)
    return changes


def describe_result(table: RankTable, state: RankState, localizer: Localizer) -> str:
    """Return the announcement of a new ranking for screen readers."""
    if not state.has_weights:
        return localizer.text("weights_none")
    if not table.rows:
        return localizer.text("rank_empty")

    best_row = table.rows[0]
    best_name = replace_control_characters(best_row.dataset.dataset_name)
    return localizer.counted("announcement", table.total_count, name=best_name, score=best_row.score)


def _describe_rank_change(previous_row_number: int | None, row_number: int, localizer: Localizer) -> RankChange:
    """Describe the movement of a dataset between two rows; it is new without a previous row."""
    if previous_row_number is None:
        return RankChange(kind="new", text=localizer.text("moved_new"))

    distance = abs(previous_row_number - row_number)
    if row_number < previous_row_number:
        return RankChange(kind="up", text=f"▲{distance}", label=localizer.text("moved_up", count=distance))
    if row_number > previous_row_number:
        return RankChange(kind="down", text=f"▼{distance}", label=localizer.text("moved_down", count=distance))
    return _UNCHANGED


def count_pages(ranking: Ranking | Recommendations) -> int:
    """Return the number of pages of a ranking, or 0 if it is empty."""
    return math.ceil(ranking.total_count / PAGE_SIZE)
