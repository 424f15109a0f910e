"""The differences between two compared datasets, and the slider that reverses their order.

The comparison page compares up to five datasets. In every pair, the dataset `above` has the better rank.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import Comparison, CriterionDifference, DatasetPair, Reversal
from touchstone.client.reason_models import ComparedDataset
from touchstone.web.localizer import Localizer
from touchstone.web.rank_state import RankState
from touchstone.web.slider_positions import SLIDER_MAX
from touchstone.web.views.criterion_cell import VALUE_DIGITS
from touchstone.web.views.score_range import SCORE_DIGITS
from touchstone.web.views.weighted_criteria import WeightedCriterion, css_percentage

_EXACT_DECIMALS: Final = 9  # smaller decimals of a computed position are rounding errors
_BAR_ORIGIN: Final = 0.5  # bars extend from the middle to the left or right edge, so this is also their greatest length


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """The difference between the two datasets of a pair in one criterion, formatted for display.

    Attributes:
        criterion: the criterion.
        above, below: the values of both datasets.
        points: the lead of the dataset `above` in points, with a sign.
        x, width: the SVG attributes of a bar that extends to the right if the dataset `above` leads.
    """

    criterion: WeightedCriterion
    above: str
    below: str
    points: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class ReversalLink:
    """A link to the rank page that moves one slider so that the order of a pair is reversed.

    Attributes:
        label: the text of the link.
        query: the query of the address.
    """

    label: str
    query: str


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair of compared datasets.

    Attributes:
        above, below: the two datasets.
        are_neighbours: whether none of the other compared datasets ranks between them.
        sentence: a sentence that explains why one ranks above the other.
        lead: the difference of their scores, formatted for display.
        rows: the criteria with a weight, the largest difference first.
        reversal: the link that reverses the order; None if no single slider can reverse it.
        is_out_of_reach: whether the weight that would reverse the order is beyond the end of its slider.
    """

    above: ComparedDataset
    below: ComparedDataset
    are_neighbours: bool
    sentence: str
    lead: str
    rows: tuple[DifferenceRow, ...]
    reversal: ReversalLink | None
    is_out_of_reach: bool


def pair_views(
    comparison: Comparison, criteria: Sequence[WeightedCriterion], state: RankState, localizer: Localizer
) -> tuple[PairView, ...]:
    """Return the pairs of a comparison formatted for display, in the order of the ranking.

    Args:
        comparison: the comparison as the API returns it.
        criteria: all criteria with their weights.
        state: the state of the ranking, which the links modify.
        localizer: the reader's language.
    """
    builder = _PairBuilder(comparison, criteria, state, localizer)
    return tuple(builder.build(pair) for pair in comparison.pairs)


class _PairBuilder:
    """Builds the views of the pairs in one comparison."""

    def __init__(
        self, comparison: Comparison, criteria: Sequence[WeightedCriterion], state: RankState, localizer: Localizer
    ) -> None:
        self._datasets = {dataset.id: dataset for dataset in comparison.datasets}
        self._positions = {dataset.id: position for position, dataset in enumerate(comparison.datasets)}  # by rank
        self._criteria = {criterion.name: criterion for criterion in criteria}
        self._state = state
        self._localizer = localizer

    def build(self, pair: DatasetPair) -> PairView:
        """Build the view of one pair."""
        distance = self._positions[pair.below] - self._positions[pair.above]
        reversal_link = self._build_reversal_link(pair)
        return PairView(
            above=self._datasets[pair.above],
            below=self._datasets[pair.below],
            are_neighbours=distance == 1,
            sentence=pair.sentence,
            lead=self._localizer.number(pair.lead, digits=SCORE_DIGITS),
            rows=self._build_rows(pair),
            reversal=reversal_link,
            is_out_of_reach=pair.reversal is not None and reversal_link is None,
        )

    def _build_rows(self, pair: DatasetPair) -> tuple[DifferenceRow, ...]:
        """Build a row for each criterion with a weight, the largest difference first."""
        differences = [difference for difference in pair.differences if difference.weight > 0]
        differences.sort(key=lambda difference: abs(difference.points), reverse=True)

        largest_points = max((abs(difference.points) for difference in differences), default=0.0)
        return tuple(self._build_row(difference, pair, largest_points) for difference in differences)

    def _build_row(self, difference: CriterionDifference, pair: DatasetPair, largest_points: float) -> DifferenceRow:
        """Build the row of one criterion, with a bar that is proportional to the difference.

        The bar extends from the middle to the right if the dataset `above` leads in this criterion, and otherwise to
        the left. The bar of the largest difference reaches the edge.
        """
        length = 0.0
        if largest_points:
            length = _BAR_ORIGIN * abs(difference.points) / largest_points
        extends_to_right = difference.points >= 0
        start = _BAR_ORIGIN if extends_to_right else _BAR_ORIGIN - length

        name = difference.criterion_name
        return DifferenceRow(
            criterion=self._criteria[name],
            above=self._format_value(difference.above, name, pair.above),
            below=self._format_value(difference.below, name, pair.below),
            points=self._format_points(difference.points),
            x=css_percentage(start),
            width=css_percentage(length),
        )

    def _format_value(self, value: float, criterion_name: str, dataset_id: int) -> str:
        """Format the value of a criterion, or return the word for "unknown" if nothing is known about it."""
        if criterion_name in self._datasets[dataset_id].unknown:
            return self._localizer.text("unknown")
        return self._localizer.number(value, digits=VALUE_DIGITS)

    def _format_points(self, points: float) -> str:
        """Format points with their sign, such as "+0.120"."""
        text = self._localizer.number(points, digits=SCORE_DIGITS)
        return f"+{text}" if points > 0 else text

    def _build_reversal_link(self, pair: DatasetPair) -> ReversalLink | None:
        """Build the link that moves a slider to reverse a pair, or return None if no slider can."""
        if pair.reversal is None:
            return None

        # A pair has exactly one difference for each criterion.
        name = pair.reversal.criterion_name
        [difference] = [difference for difference in pair.differences if difference.criterion_name == name]
        position = reversing_position(pair.reversal, difference)
        if position is None:
            return None

        criterion_label = self._criteria[name].label
        position_text = self._localizer.number(position)
        state_with_reversal = self._state.with_position(name, position)
        return ReversalLink(
            label=self._localizer.text("pair_try", name=criterion_label, position=position_text),
            query=state_with_reversal.query(),
        )


def reversing_position(reversal: Reversal, difference: CriterionDifference) -> float | None:
    """Return the nearest whole slider position that reverses a pair, or None if it is above 100.

    At the exact reversing weight, both scores are equal, so the position is the next one beyond this weight. It is
    higher if the dataset `below` is better in this criterion. Otherwise it is lower, but at least 0.

    Args:
        reversal: the criterion, and the weight in 0-1 at which both scores are equal.
        difference: the values of both datasets for this criterion.
    """
    # Rounding removes floating-point errors: 28.999999999999996 means 29, where both scores are still equal.
    exact_position = round(reversal.weight * SLIDER_MAX, _EXACT_DECIMALS)
    if difference.below <= difference.above:
        return float(max(0, math.ceil(exact_position) - 1))

    position = math.floor(exact_position) + 1
    return float(position) if position <= SLIDER_MAX else None
