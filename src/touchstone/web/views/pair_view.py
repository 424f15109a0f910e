"""Why one of two compared datasets ranks above the other, criterion by criterion, and what would reverse the order."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import Comparison, CriterionDifference, DatasetPair, Reversal
from touchstone.client.reason_models import ComparedDataset
from touchstone.web.localizer import Localizer
from touchstone.web.rank_state import SLIDER_MAX, RankState
from touchstone.web.views.criterion_cell import VALUE_DIGITS
from touchstone.web.views.score_range import SCORE_DIGITS
from touchstone.web.views.weighted_criteria import WeightedCriterion, css_percentage

_ZERO_POSITION: Final = 0.5  # where a bar of differences has its zero


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How the two datasets of a pair differ in one criterion.

    Attributes:
        criterion: The criterion.
        above, below: The values of both datasets, as text.
        points: By how many points the upper dataset is better, with a sign.
        x, width: The SVG attributes of the bar, which goes to the right where the upper dataset is better.
    """

    criterion: WeightedCriterion
    above: str
    below: str
    points: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class ReversalLink:
    """A link to the ranking in which one slider is moved just so far that the order of a pair is reversed."""

    label: str
    query: str


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair of compared datasets.

    Attributes:
        above, below: The two datasets.
        are_neighbours: Whether none of the other compared datasets ranks between them.
        sentence: Why the one is above the other, in one sentence that can be quoted.
        lead: By how much the score of the upper one is higher, as text.
        rows: The weighted criteria, the largest differences first.
        reversal: The ranking in which the order is reversed; None if no single slider can do that.
    """

    above: ComparedDataset
    below: ComparedDataset
    are_neighbours: bool
    sentence: str
    lead: str
    rows: tuple[DifferenceRow, ...]
    reversal: ReversalLink | None


def pair_views(
    comparison: Comparison, criteria: Sequence[WeightedCriterion], state: RankState, localizer: Localizer
) -> tuple[PairView, ...]:
    """Return all pairs of a comparison, in the order of the ranking.

    Args:
        comparison: The comparison as the API returns it.
        criteria: All criteria with their weights.
        state: The state of the ranking from which the datasets come.
        localizer: The reader's language.
    """
    builder = _PairBuilder(comparison, criteria, state, localizer)
    return tuple(builder.build(pair) for pair in comparison.pairs)


class _PairBuilder:
    """Builds the pairs of one comparison."""

    def __init__(
        self, comparison: Comparison, criteria: Sequence[WeightedCriterion], state: RankState, localizer: Localizer
    ) -> None:
        self._datasets = {dataset.id: dataset for dataset in comparison.datasets}
        self._positions = {dataset.id: position for position, dataset in enumerate(comparison.datasets)}
        self._criteria = {criterion.name: criterion for criterion in criteria}
        self._state = state
        self._localizer = localizer

    def build(self, pair: DatasetPair) -> PairView:
        """Return one pair with all its texts."""
        distance = self._positions[pair.below] - self._positions[pair.above]
        return PairView(
            above=self._datasets[pair.above],
            below=self._datasets[pair.below],
            are_neighbours=distance == 1,
            sentence=pair.sentence,
            lead=self._localizer.number(pair.lead, digits=SCORE_DIGITS),
            rows=self._rows(pair),
            reversal=self._reversal_link(pair.reversal),
        )

    def _rows(self, pair: DatasetPair) -> tuple[DifferenceRow, ...]:
        """Return the weighted criteria of a pair, the largest differences first."""
        differences = [item for item in pair.differences if item.weight > 0]
        differences.sort(key=lambda item: -abs(item.points))
        largest = max((abs(item.points) for item in differences), default=0.0)
        return tuple(self._row(item, pair, largest) for item in differences)

    def _row(self, difference: CriterionDifference, pair: DatasetPair, largest: float) -> DifferenceRow:
        """Return the row of one criterion; the largest difference of the pair fills a whole half of the bar."""
        length = _ZERO_POSITION * abs(difference.points) / largest if largest else 0.0
        start = _ZERO_POSITION if difference.points >= 0 else _ZERO_POSITION - length
        return DifferenceRow(
            criterion=self._criteria[difference.criterion_name],
            above=self._value_text(difference.above, difference.criterion_name, pair.above),
            below=self._value_text(difference.below, difference.criterion_name, pair.below),
            points=self._signed(difference.points),
            x=css_percentage(start),
            width=css_percentage(length),
        )

    def _value_text(self, value: float, criterion_name: str, dataset_id: int) -> str:
        """Return the value of a criterion for a dataset; the word for "unknown" if nothing is known about it."""
        if criterion_name in self._datasets[dataset_id].unknown:
            return self._localizer.text("unknown")
        return self._localizer.number(value, digits=VALUE_DIGITS)

    def _signed(self, points: float) -> str:
        """Return points with their sign."""
        text = self._localizer.number(points, digits=SCORE_DIGITS)
        return f"+{text}" if points > 0 else text

    def _reversal_link(self, reversal: Reversal | None) -> ReversalLink | None:
        """Return the link to the ranking in which the order of a pair is reversed; None if no slider can do that."""
        if reversal is None:
            return None
        position = _reversing_position(reversal)
        if position is None:
            return None

        name = reversal.criterion_name
        label = self._criteria[name].label
        return ReversalLink(
            label=self._localizer.text("pair_try", name=label, position=self._localizer.number(position)),
            query=self._state.with_position(name, position).query(),
        )


def _reversing_position(reversal: Reversal) -> float | None:
    """Return the next whole position of a slider at which the order of a pair is reversed; None if there is none."""
    exact_position = reversal.weight * SLIDER_MAX
    position = math.floor(exact_position) + 1 if reversal.change >= 0 else math.ceil(exact_position) - 1
    return float(position) if 0 <= position <= SLIDER_MAX else None
