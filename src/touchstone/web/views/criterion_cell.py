"""The value of one criterion for one dataset, formatted for the heat map, bars and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import ScoredDataset
from touchstone.web.localizer import Localizer
from touchstone.web.views.color_scale import shade
from touchstone.web.views.weighted_criteria import WeightedCriterion, css_percentage

VALUE_DIGITS: Final = 2
_POINTS_DIGITS: Final = 3
_UNKNOWN_STEPS: Final = 10  # the heat map shows in tenths by how much a value may still rise


@dataclass(frozen=True, slots=True)
class CriterionCell:
    """The value of one criterion for one dataset.

    Attributes:
        criterion: the criterion.
        value: the value in 0-1.
        best_value: the highest possible value, which it would have if all unknown attributes turned out favourably.
        points: the contribution of the value to the score; the points of all cells add up to the score.
        preceding_points: the sum of the points of the cells before this one.
        is_unknown: whether nothing is known about the criterion; the value is then 0.
        localizer: the reader's language.
    """

    criterion: WeightedCriterion
    value: float
    best_value: float
    points: float
    preceding_points: float
    is_unknown: bool
    localizer: Localizer

    @property
    def text(self) -> str:
        """The formatted value, or a question mark if it is unknown."""
        return "?" if self.is_unknown else self.localizer.number(self.value, digits=VALUE_DIGITS)

    @property
    def points_text(self) -> str:
        """The formatted points, or the word for "unknown" if the value is unknown."""
        if self.is_unknown:
            return self.localizer.text("unknown")
        return self.localizer.number(self.points, digits=_POINTS_DIGITS)

    @property
    def title(self) -> str:
        """The tooltip with the calculation of the points and the highest possible value."""
        if self.is_unknown:
            return self.points_text

        calculation = f"{self.text} × {self.criterion.precise_share_text} = {self.points_text}"
        return f"{calculation}, {self.limit}" if self.limit else calculation

    @property
    def limit(self) -> str:
        """The highest possible value in words, such as "at most 1.00".

        It is empty if the value cannot rise, or if nothing is known about it.
        """
        if self.is_unknown:
            return ""

        limit = self.localizer.limit(self.value, self.best_value, digits=VALUE_DIGITS)
        return self.localizer.text("at_most", value=limit) if limit else ""

    @property
    def x(self) -> str:
        """The SVG attribute `x` of the segment in the bar of the score."""
        return css_percentage(self.preceding_points)

    @property
    def width(self) -> str:
        """The SVG attribute `width` of the segment in the bar of the score."""
        return css_percentage(self.points)

    @property
    def value_width(self) -> str:
        """The SVG attribute `width` of a bar from 0 to the value."""
        return css_percentage(self.value)

    @property
    def unknown_width(self) -> str:
        """The SVG attribute `width` of the hatched bar between the value and the highest value."""
        return css_percentage(max(0.0, self.best_value - self.value))

    @property
    def shade(self) -> int:
        """The shade of the value in the sequential palette."""
        return shade(self.value)

    @property
    def unknown_tenths(self) -> int:
        """The possible rise of the value in tenths, for the hatched part of a heat map cell.

        It is at least 1 if the value can rise. It is 0 if the value is unknown, because the whole cell is hatched then.
        """
        if not self.limit:
            return 0
        return max(1, round((self.best_value - self.value) * _UNKNOWN_STEPS))

    @property
    def css_classes(self) -> str:
        """The CSS classes of the cell in the heat map."""
        css_classes = ["cell", "hatched" if self.is_unknown else f"q{self.shade}"]
        if self.unknown_tenths:
            css_classes.append(f"open{self.unknown_tenths}")
        if self.criterion.has_vertical_numbers:
            css_classes.append("thin")
        return " ".join(css_classes)


def criterion_cells(
    dataset: ScoredDataset, used_criteria: Sequence[WeightedCriterion], localizer: Localizer
) -> tuple[CriterionCell, ...]:
    """Return one cell of a dataset for each criterion with a weight, in the order of the criteria.

    A criterion that is unknown for the dataset also has a cell, because it counts as 0 in the score.
    """
    values = dataset.criterion_scores or {}
    best_values = dataset.best_case.criterion_scores if dataset.best_case is not None else values
    points_by_name = dataset.points or {}
    unknown_names = set(dataset.unknown or ())

    cells = []
    preceding_points = 0.0
    for criterion in used_criteria:
        value = values.get(criterion.name, 0.0)
        points = points_by_name.get(criterion.name, 0.0)
        cell = CriterionCell(
            criterion=criterion,
            value=value,
            best_value=best_values.get(criterion.name, value),
            points=points,
            preceding_points=preceding_points,
            is_unknown=criterion.name in unknown_names,
            localizer=localizer,
        )
        cells.append(cell)
        preceding_points += points

    return tuple(cells)
