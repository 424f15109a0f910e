"""The lifts of a dataset, formatted for display.

A lift is the score and rank that the dataset would have if one more of its attributes were verified at the required
level of evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.client import Lift, Lifts
from touchstone.web.localizer import Localizer
from touchstone.web.views.score_range import SCORE_DIGITS


@dataclass(frozen=True, slots=True)
class LiftRow:
    """One lift, formatted for display.

    Attributes:
        attribute: the name of the attribute to verify.
        value: the value that would have to be verified.
        current: the present value at the required level of evidence; None if it is unknown.
        is_merely_declared: whether the value is already declared, but with too little evidence.
        score: the score that the dataset would have.
        rank: the rank that the dataset would have.
        gain: the increase of the score, with a sign.
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
    """The lifts of a dataset and its present rank, formatted for display.

    Attributes:
        rank: the present rank of the dataset.
        tied_with: the number of other datasets that share it.
        ranked_count: the number of ranked datasets, including this one even if it does not pass the filters.
        is_ranked: whether the dataset is part of the ranking: it passes the filters and, if the ranking hides datasets
            that fail a gate, the gates.
        rank_range: the best and the worst rank that unknown ethical attributes allow, in words; empty if only one rank
            is possible.
        rows: the lifts that raise the score, the largest gain first.
        ineffective_count: the number of attributes that would not change the score if they were verified.
        smallest_set: a minimal set of attributes that would bring the dataset to the target rank if they were verified
            together; empty if there is none.
        sentence: a sentence about this set; empty if the dataset has already reached the target rank.
    """

    rank: str
    tied_with: int
    ranked_count: str
    is_ranked: bool
    rank_range: str
    rows: tuple[LiftRow, ...]
    ineffective_count: int
    smallest_set: tuple[str, ...]
    sentence: str


def lifts_view(result: Lifts, localizer: Localizer) -> LiftsView:
    """Return the lifts of a dataset and its present rank, formatted for display.

    A lift is the score and rank that the dataset would have if one more of its attributes were verified.

    Args:
        result: the lifts as the API returns them, with the present rank and the target rank.
        localizer: the reader's language.
    """
    effective_lifts = [lift for lift in result.lifts if lift.gain > 0]

    smallest_set: tuple[str, ...] = ()
    if result.smallest_set is not None:
        smallest_set = tuple(result.smallest_set.attributes)

    # A dataset that has reached the target rank needs no advice.
    has_reached_target = result.target_rank is not None and result.rank <= result.target_rank
    sentence = "" if has_reached_target else result.sentence or ""

    # The rank of a dataset that does not match the filters is the rank that it would have in addition to the others.
    ranked_count = result.total_count if result.matches_filters else result.total_count + 1

    return LiftsView(
        rank=localizer.number(result.place or result.rank),
        tied_with=result.tied_with,
        ranked_count=localizer.number(ranked_count),
        is_ranked=result.matches_filters,
        rank_range=_describe_rank_range(result, localizer),
        rows=_lift_rows(effective_lifts, localizer),
        ineffective_count=len(result.lifts) - len(effective_lifts),
        smallest_set=smallest_set,
        sentence=sentence,
    )


def _lift_rows(lifts: Sequence[Lift], localizer: Localizer) -> tuple[LiftRow, ...]:
    """Return one table row for each lift."""
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


def _describe_rank_range(result: Lifts, localizer: Localizer) -> str:
    """Describe the best and the worst rank that unknown ethical attributes allow.

    The description is empty if only one rank is possible, or if the range was not computed.
    """
    ranks = result.unknown_ranks
    if ranks is None or ranks.best == ranks.worst:
        return ""
    return localizer.text("rank_range", best=localizer.number(ranks.best), worst=localizer.number(ranks.worst))
