"""The changes since a snapshot, as its page shows them: one row for each dataset that ranked then or ranks now."""

from dataclasses import dataclass
from typing import Final

from touchstone.client import Replay
from touchstone.client.choice_models import ReplayedDataset
from touchstone.client.response_parts import Transition
from touchstone.web.localizer import Localizer
from touchstone.web.views.record_changes import ChangeDescriber, DescribedChange
from touchstone.web.views.score_range import SCORE_DIGITS

_RANK_DIGITS: Final = 0


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """A dataset of the snapshot, of the present ranking, or of both.

    Attributes:
        item: The dataset with its ranks and scores.
        rank: Its rank then and now, such as "3 → 5"; a single number if it is the same.
        score: Its score then and now, in the same form.
        reason: Why it differs from the snapshot, as a sentence; empty if it does not.
        points: The criteria that add other points to its score now.
        changes: The changes of its record.
    """

    item: ReplayedDataset
    rank: str
    score: str
    reason: str
    points: tuple[DescribedChange, ...]
    changes: tuple[DescribedChange, ...]


def replay_rows(replay: Replay, describer: ChangeDescriber) -> tuple[ReplayRow, ...]:
    """Return the rows of a replay: the datasets in the order of their present ranks, and then those that are gone."""
    return tuple(_replay_row(item, describer) for item in replay.items)


def _replay_row(item: ReplayedDataset, describer: ChangeDescriber) -> ReplayRow:
    """Return the row of one dataset: its rank and score in the snapshot and now, and why they differ."""
    localizer = describer.localizer

    points = []
    for change in item.points:
        name = change.criterion_name
        described_change = DescribedChange(
            label=describer.criterion_labels.get(name, name),
            before=localizer.number(change.before, digits=SCORE_DIGITS),
            after=localizer.number(change.after, digits=SCORE_DIGITS),
        )
        points.append(described_change)

    reason = localizer.text(f"replay_reason_{item.reason}") if item.reason else ""
    return ReplayRow(
        item=item,
        rank=_transition_text(item.rank, localizer, digits=_RANK_DIGITS),
        score=_transition_text(item.score, localizer, digits=SCORE_DIGITS),
        reason=reason,
        points=tuple(points),
        changes=describer.describe(item.changes),
    )


def _transition_text(
    values: Transition[int | None] | Transition[float | None], localizer: Localizer, *, digits: int
) -> str:
    """Return a number in the snapshot and now with an arrow between them; a single number if it has not changed."""
    after = localizer.number(values.after, digits=digits)
    if values.before == values.after:
        return after

    before = localizer.number(values.before, digits=digits)
    return f"{before} → {after}"
