"""The score of a dataset with its highest possible score, formatted for display.

Unknown attributes count as 0 in a score. If they turned out favourably, the score would be higher, so pages show both
numbers, such as "0.500" and "at most 0.830".
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
    """The score of a dataset, and its score if all unknown values turned out favourably.

    Attributes:
        score: the score; None without a dataset, or if all criteria with a weight are unknown.
        lowest: the score with unknown values counted as 0, which is the left end of the range in a bar.
        highest: the highest possible score.
        localizer: the reader's language.
    """

    score: float | None
    lowest: float
    highest: float
    localizer: Localizer

    @property
    def text(self) -> str:
        """The formatted score, or a dash if it is None."""
        return self.localizer.number(self.score, digits=SCORE_DIGITS)

    @property
    def highest_text(self) -> str:
        """The formatted highest score, or an empty string if it looks the same as the score."""
        return self.localizer.limit(self.lowest, self.highest, digits=SCORE_DIGITS)

    @property
    def limit(self) -> str:
        """The highest score in words, as in "at most 0.830", or "" if it looks like the score."""
        highest = self.highest_text
        return self.localizer.text("at_most", value=highest) if highest else ""

    @property
    def short_limit(self) -> str:
        """The highest score with a sign, as in "≤ 0.830", or "" if it looks like the score."""
        highest = self.highest_text
        return f"≤\u00a0{highest}" if highest else ""

    @property
    def x(self) -> str:
        """The SVG attribute `x` of the hatched part of the bar, which lies between both scores."""
        return css_percentage(self.lowest)

    @property
    def width(self) -> str:
        """The SVG attribute `width` of the hatched part of the bar, which lies between both scores."""
        return css_percentage(self.highest - self.lowest)


def score_range(
    dataset: ScoredDataset | None, used_criteria: Sequence[WeightedCriterion], localizer: Localizer
) -> ScoreRange:
    """Return the score of a dataset together with its highest possible score.

    An unknown criterion counts as 0, so the score may rise when more becomes known about the dataset. If all criteria
    with a weight are unknown, the range has no score, because a score of 0 would look like a judgement. Without a
    dataset, there is no score, and both ends of the range are 0.
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
