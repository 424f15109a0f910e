"""What would raise a dataset, as its page shows it: the attributes to be established, and the ranks they lead to."""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.client import Lift, Lifts
from touchstone.web.localizer import Localizer
from touchstone.web.views.score_range import SCORE_DIGITS


@dataclass(frozen=True, slots=True)
class LiftRow:
    """What the dataset would gain if one attribute were established.

    Attributes:
        attribute: The name of the attribute.
        value: The value that would have to be established.
        current: What is known at the level that the reader requires.
        is_merely_declared: Whether that value is declared already, but does not count at that level.
        score, rank: What the dataset would have then, as text.
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
    """What would raise a dataset.

    Attributes:
        rank: The rank of the dataset, as text.
        total: How many datasets are ranked, as text.
        is_ranked: Whether the dataset passes the filters of the ranking.
        rank_range: The ranks that the unknown ethical attributes allow, in words; empty if they leave nothing open.
        rows: The attributes that would raise the score, the largest gain first.
        without_effect: How many further attributes could be established, but would not raise the score.
        smallest_set: The names of the attributes that would bring the dataset to the target; empty if there are none.
        sentence: The same in a sentence; empty for a dataset that has reached the target.
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
    """Return what would raise a dataset, with all texts that its page shows."""
    raising_lifts = [lift for lift in lifts.lifts if lift.gain > 0]
    has_reached_target = lifts.target_rank is not None and lifts.rank <= lifts.target_rank

    return LiftsView(
        rank=localizer.number(lifts.rank),
        total=localizer.number(lifts.total_count),
        is_ranked=lifts.matches_filters,
        rank_range=_describe_rank_range(lifts, localizer),
        rows=_lift_rows(raising_lifts, localizer),
        without_effect=len(lifts.lifts) - len(raising_lifts),
        smallest_set=tuple(lifts.smallest_set.attributes) if lifts.smallest_set is not None else (),
        sentence="" if has_reached_target else lifts.sentence or "",
    )


def _lift_rows(lifts: Sequence[Lift], localizer: Localizer) -> tuple[LiftRow, ...]:
    """Return a row for each attribute that would raise the score."""
    return tuple(
        LiftRow(
            attribute=lift.attribute,
            value=lift.value,
            current=lift.current,
            is_merely_declared=lift.declared == lift.value,
            score=localizer.number(lift.score, digits=SCORE_DIGITS),
            rank=localizer.number(lift.rank),
            gain=f"+{localizer.number(lift.gain, digits=SCORE_DIGITS)}",
        )
        for lift in lifts
    )


def _describe_rank_range(lifts: Lifts, localizer: Localizer) -> str:
    """Return in words which ranks the unknown ethical attributes allow; empty if there is only one."""
    ranks = lifts.unknown_ranks
    if ranks is None or ranks.best == ranks.worst:
        return ""
    return localizer.text("rank_range", best=localizer.number(ranks.best), worst=localizer.number(ranks.worst))
