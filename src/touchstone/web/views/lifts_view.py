"""The lifts of a dataset, as its page shows them.

A lift is the gain in score, and the new rank, that the dataset would have if one more of its attributes were verified
at the level of evidence that the reader requires.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.client import Lift, Lifts
from touchstone.web.localizer import Localizer
from touchstone.web.views.score_range import SCORE_DIGITS


@dataclass(frozen=True, slots=True)
class LiftRow:
    """One lift: what the dataset would gain if one attribute were verified.

    Attributes:
        attribute: The name of the attribute.
        value: The value that would have to be verified.
        current: The value that is known now at the level of evidence that the reader requires; None if it is unknown.
        is_merely_declared: Whether the value to be verified is declared already, but with too little evidence.
        score: The score that the dataset would have, as text.
        rank: The rank that the dataset would have, as text.
        gain: By how much the score would rise, as text.
    """

    attribute: str
    value: bool
    current: bool | None
    is_merely_declared: bool
    score: str
    rank: str
    gain: str


@dataclass(frozen=True, slots=True)
class LiftsView:
    """The lifts of a dataset, with its present rank.

    Attributes:
        rank: The present rank of the dataset, as text, with an equals sign if others share it.
        total: How many datasets are ranked, as text; one that does not pass the filters is counted as well.
        is_ranked: Whether the dataset passes the filters and, if the ranking hides what fails them, the gates.
        rank_range: The best and the worst rank that are possible as long as ethical attributes are unknown, in words;
            empty if only one rank is possible.
        rows: The lifts that raise the score, the largest gain first.
        without_effect: How many attributes could be verified without any effect on the score.
        smallest_set: The names of the fewest attributes that, verified together, would bring the dataset to the rank
            that the page aims at; empty if no attributes would.
        sentence: The same in a sentence; empty for a dataset that has reached this rank.
    """

    rank: str
    total: str
    is_ranked: bool
    rank_range: str
    rows: tuple[LiftRow, ...]
    without_effect: int
    smallest_set: tuple[str, ...]
    sentence: str


def lifts_view(lifts: Lifts, localizer: Localizer) -> LiftsView:
    """Return the lifts of a dataset, formatted for display.

    A lift is the gain in score, and the new rank, that one more verified attribute would bring.
    """
    raising_lifts = [lift for lift in lifts.lifts if lift.gain > 0]

    smallest_set: tuple[str, ...] = ()
    if lifts.smallest_set is not None:
        smallest_set = tuple(lifts.smallest_set.attributes)

    # A dataset that has reached the rank that the page aims at needs no advice.
    has_reached_target = lifts.target_rank is not None and lifts.rank <= lifts.target_rank
    sentence = "" if has_reached_target else lifts.sentence or ""

    # The rank of a dataset outside of the ranking is the one that it would have if it were added.
    total_count = lifts.total_count if lifts.matches_filters else lifts.total_count + 1

    return LiftsView(
        rank=localizer.place(lifts.place or lifts.rank, lifts.tied_with),
        total=localizer.number(total_count),
        is_ranked=lifts.matches_filters,
        rank_range=_describe_rank_range(lifts, localizer),
        rows=_lift_rows(raising_lifts, localizer),
        without_effect=len(lifts.lifts) - len(raising_lifts),
        smallest_set=smallest_set,
        sentence=sentence,
    )


def _lift_rows(lifts: Sequence[Lift], localizer: Localizer) -> tuple[LiftRow, ...]:
    """Return the rows of the table of lifts."""
    rows = []
    for lift in lifts:
        gain = localizer.number(lift.gain, digits=SCORE_DIGITS)
        row = LiftRow(
            attribute=lift.attribute,
            value=lift.value,
            current=lift.current,
            is_merely_declared=lift.declared == lift.value,
            score=localizer.number(lift.score, digits=SCORE_DIGITS),
            rank=localizer.number(lift.rank),
            gain=f"+{gain}",
        )
        rows.append(row)

    return tuple(rows)


def _describe_rank_range(lifts: Lifts, localizer: Localizer) -> str:
    """Return in words the best and the worst rank that are possible as long as ethical attributes are unknown.

    The text is empty if only one rank is possible, or if the range was not computed.
    """
    ranks = lifts.unknown_ranks
    if ranks is None or ranks.best == ranks.worst:
        return ""
    return localizer.text("rank_range", best=localizer.number(ranks.best), worst=localizer.number(ranks.worst))
