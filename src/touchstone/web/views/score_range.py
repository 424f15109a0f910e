"""The score of a dataset as every page shows it, with the highest score that is possible.

Unknown attributes count for nothing in a score. If they turned out favourably, the score would be higher, so pages show
both numbers, such as "0.500" and "at most 0.830".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import ScoredDataset
from touchstone.web.localizer import Localizer
from touchstone.web.views.weighted_criteria import WeightedCriterion, css_percentage

SCORE_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """The score of a dataset, and the highest score that is possible if unknown values turn out favourably.

    Attributes:
        score: The score; None if there is none, or if every criterion with a weight is unknown.
        lowest: The score as the left end of the range in a bar; 0 if `score` is None.
        highest: The highest score that is possible.
        localizer: The reader's language.
    """

    score: float | None
    lowest: float
    highest: float
    localizer: Localizer

    @property
    def text(self) -> str:
        """Return the score as text, or a dash for a missing one."""
        return self.localizer.number(self.score, digits=SCORE_DIGITS)

    @property
    def highest_text(self) -> str:
        """Return the highest possible score as text, or an empty string if it reads the same as the score."""
        highest = self.localizer.number(self.highest, digits=SCORE_DIGITS)
        lowest = self.localizer.number(self.lowest, digits=SCORE_DIGITS)
        return "" if highest == lowest else highest

    @property
    def limit(self) -> str:
        """Return the highest possible score in words, such as "at most 0.830"; empty if it reads like the score."""
        highest = self.highest_text
        return self.localizer.text("at_most", value=highest) if highest else ""

    @property
    def sign(self) -> str:
        """Return the highest possible score for narrow columns, as "≤ 0.830"; empty if it reads like the score."""
        highest = self.highest_text
        return f"≤\u00a0{highest}" if highest else ""

    @property
    def x(self) -> str:
        """The start of the hatched part of the bar, between both scores, as the SVG attribute `x`."""
        return css_percentage(self.lowest)

    @property
    def width(self) -> str:
        """The width of the hatched part of the bar, between both scores, as the SVG attribute `width`."""
        return css_percentage(self.highest - self.lowest)


def score_range(
    dataset: ScoredDataset | None, used_criteria: Sequence[WeightedCriterion], localizer: Localizer
) -> ScoreRange:
    """Return the score of a dataset together with its highest possible score.

    An unknown criterion counts as 0, so the score of a dataset may rise when more becomes known about it. If all
    criteria with a weight are unknown, the range has no score, because a score of 0 would look like a judgement.
    Without a dataset, the range is empty.
    """
    if dataset is None:
        return ScoreRange(score=None, lowest=0.0, highest=0.0, localizer=localizer)

    unknown_names = set(dataset.unknown or ())
    are_all_unknown = all(criterion.name in unknown_names for criterion in used_criteria)
    highest = dataset.best_case.score if dataset.best_case is not None else dataset.score

    return ScoreRange(
        score=None if are_all_unknown else dataset.score,
        lowest=dataset.score,
        highest=highest,
        localizer=localizer,
    )
