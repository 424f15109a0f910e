"""Why one of two compared datasets ranks above the other, criterion by criterion, and which slider reverses the order.

The pairs are those of the comparison page, which compares up to five datasets. In every pair, the dataset `above` is
the one with the better rank.
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

_EXACT_DECIMALS: Final = 9  # further decimals of a computed position are rounding errors
_ZERO_POSITION: Final = 0.5  # bars of differences begin in the middle and go to the left or to the right


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How the two datasets of a pair differ in one criterion.

    Attributes:
        criterion: The criterion.
        above, below: The values of the criterion for both datasets, as text.
        points: By how many points the dataset `above` is better, with a sign.
        x, width: The SVG attributes of the bar, which goes to the right where the dataset `above` is better.
    """

    criterion: WeightedCriterion
    above: str
    below: str
    points: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class ReversalLink:
    """A link to the rank page with one slider moved just so far that the order of a pair is reversed.

    Attributes:
        label: The text of the link.
        query: The query of the address.
    """

    label: str
    query: str


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair of compared datasets.

    Attributes:
        above, below: The two datasets.
        are_neighbours: Whether none of the other compared datasets ranks between them.
        sentence: Why the one ranks above the other, in one sentence.
        lead: By how much the score of the dataset `above` is higher, as text.
        rows: The criteria with a weight, the largest difference first.
        reversal: The link that reverses the order; None if moving a single slider cannot do that.
        is_out_of_reach: Whether the weight that reverses the order is beyond the end of its slider.
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
        comparison: The comparison as the API returns it.
        criteria: All criteria with their weights.
        state: The state of the ranking from which the datasets come.
        localizer: The reader's language.
    """
    builder = _PairBuilder(comparison, criteria, state, localizer)
    return tuple(builder.build(pair) for pair in comparison.pairs)


class _PairBuilder:
    """Builds the pairs of one comparison, from the datasets, the criteria and the language that they share."""

    def __init__(
        self, comparison: Comparison, criteria: Sequence[WeightedCriterion], state: RankState, localizer: Localizer
    ) -> None:
        self._datasets = {dataset.id: dataset for dataset in comparison.datasets}
        self._positions = {dataset.id: position for position, dataset in enumerate(comparison.datasets)}
        self._criteria = {criterion.name: criterion for criterion in criteria}
        self._state = state
        self._localizer = localizer

    def build(self, pair: DatasetPair) -> PairView:
        """Build the view of one pair, formatted for display."""
        rank_distance = self._positions[pair.below] - self._positions[pair.above]
        reversal_link = self._reversal_link(pair)
        return PairView(
            above=self._datasets[pair.above],
            below=self._datasets[pair.below],
            are_neighbours=rank_distance == 1,
            sentence=pair.sentence,
            lead=self._localizer.number(pair.lead, digits=SCORE_DIGITS),
            rows=self._rows(pair),
            reversal=reversal_link,
            is_out_of_reach=pair.reversal is not None and reversal_link is None,
        )

    def _rows(self, pair: DatasetPair) -> tuple[DifferenceRow, ...]:
        """Return a row for each criterion with a weight, the largest difference first."""
        differences = [difference for difference in pair.differences if difference.weight > 0]
        differences.sort(key=lambda difference: abs(difference.points), reverse=True)

        largest_points = max((abs(difference.points) for difference in differences), default=0.0)
        return tuple(self._row(difference, pair, largest_points) for difference in differences)

    def _row(self, difference: CriterionDifference, pair: DatasetPair, largest_points: float) -> DifferenceRow:
        """Return the row of one criterion, with a bar that is proportional to the difference.

        The bar begins in the middle, where the difference is zero, and goes to the right if the criterion is in favour
        of the higher dataset. The largest difference of the pair has the longest bar, which reaches one of the ends.
        """
        length = 0.0
        if largest_points:
            length = _ZERO_POSITION * abs(difference.points) / largest_points
        goes_to_the_right = difference.points >= 0
        start = _ZERO_POSITION if goes_to_the_right else _ZERO_POSITION - length

        name = difference.criterion_name
        return DifferenceRow(
            criterion=self._criteria[name],
            above=self._value_text(difference.above, name, pair.above),
            below=self._value_text(difference.below, name, pair.below),
            points=self._points_text(difference.points),
            x=css_percentage(start),
            width=css_percentage(length),
        )

    def _value_text(self, value: float, criterion_name: str, dataset_id: int) -> str:
        """Return the value of a criterion for a dataset, or the word for "unknown" if nothing is known about it."""
        if criterion_name in self._datasets[dataset_id].unknown:
            return self._localizer.text("unknown")
        return self._localizer.number(value, digits=VALUE_DIGITS)

    def _points_text(self, points: float) -> str:
        """Return points as text with their sign, such as "+0.120"."""
        text = self._localizer.number(points, digits=SCORE_DIGITS)
        return f"+{text}" if points > 0 else text

    def _reversal_link(self, pair: DatasetPair) -> ReversalLink | None:
        """Return the link that moves one slider so that the order of a pair is reversed.

        Returns None if no change of a single slider reverses the order.
        """
        if pair.reversal is None:
            return None

        # The pair has exactly one difference for each criterion.
        name = pair.reversal.criterion_name
        [difference] = [item for item in pair.differences if item.criterion_name == name]
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
    """Return the nearest whole position of a slider that reverses the order of a pair; None if the slider ends before.

    At the exact reversing weight, both scores are equal. The position is therefore the next one beyond it: a higher one
    where the lower dataset is better in this criterion, and a lower one where it is worse. If it is reversed only
    without this criterion, that is position 0.
    """
    # A computed 28.999999999999996 is position 29, where both scores are still equal.
    exact_position = round(reversal.weight * SLIDER_MAX, _EXACT_DECIMALS)
    if difference.below <= difference.above:
        return float(max(0, math.ceil(exact_position) - 1))

    position = math.floor(exact_position) + 1
    return float(position) if position <= SLIDER_MAX else None
