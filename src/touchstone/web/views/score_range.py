"""The score of a dataset as every page shows it: the number, and what the unknown values leave open."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import ScoredDataset
from touchstone.web.localizer import Localizer
from touchstone.web.views.weighted_criteria import WeightedCriterion, css_percentage

SCORE_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """A score, and the highest score that the values allow of which nothing is known yet.

    Attributes:
        score: The score; None if there is none, or if nothing is known about any criterion that has a weight.
        lowest: The score as a number: 0 where `score` is None.
        highest: The score if everything unknown were as favourable as possible.
        localizer: The reader's language.
    """

    score: float | None
    lowest: float
    highest: float
    localizer: Localizer

    @property
    def text(self) -> str:
        """Return the score as text; a dash for a missing one."""
        return self.localizer.number(self.score, digits=SCORE_DIGITS)

    @property
    def highest_text(self) -> str:
        """Return the highest score as text; empty if the unknown values cannot change the score that is shown."""
        highest = self.localizer.number(self.highest, digits=SCORE_DIGITS)
        lowest = self.localizer.number(self.lowest, digits=SCORE_DIGITS)
        return "" if highest == lowest else highest

    @property
    def limit(self) -> str:
        """Return the highest score in words, such as "at most 0.830"; empty if nothing is left open."""
        highest = self.highest_text
        return self.localizer.text("at_most", value=highest) if highest else ""

    @property
    def sign(self) -> str:
        """Return the highest score with a sign instead of words, for narrow columns; empty if nothing is left open."""
        highest = self.highest_text
        return f"≤\u00a0{highest}" if highest else ""

    @property
    def x(self) -> str:
        """Return the SVG attribute `x` of the hatched remainder in the bar of the score."""
        return css_percentage(self.lowest)

    @property
    def width(self) -> str:
        """Return the SVG attribute `width` of the hatched remainder in the bar of the score."""
        return css_percentage(self.highest - self.lowest)


def score_range(
    dataset: ScoredDataset | None, used_criteria: Sequence[WeightedCriterion], localizer: Localizer
) -> ScoreRange:
    """Return the score of a dataset with what the unknown values leave open.

    The 0 of a dataset for which every weighted criterion is unknown counts as a missing score, because that number
    would look like a judgement.
    """
    if dataset is None:
        return ScoreRange(score=None, lowest=0.0, highest=0.0, localizer=localizer)

    unknown_names = set(dataset.unknown or ())
    is_unknown = all(criterion.name in unknown_names for criterion in used_criteria)
    highest = dataset.best_case.score if dataset.best_case is not None else dataset.score

    return ScoreRange(
        score=None if is_unknown else dataset.score, lowest=dataset.score, highest=highest, localizer=localizer
    )
