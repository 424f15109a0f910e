"""What has changed since a snapshot, as its page shows it: one row for each dataset of the ranking then or now."""

from dataclasses import dataclass

from touchstone.client import Replay
from touchstone.client.choice_models import ReplayedDataset
from touchstone.client.response_parts import Transition
from touchstone.web.views.record_changes import ChangeDescriber, DescribedChange


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One dataset of the ranking then or now.

    Attributes:
        item: The dataset with its ranks and scores.
        rank: Its rank then and now, as text; one number if it is the same.
        score: Its score then and now, as text; one number if it is the same.
        reason: Why its place has changed, as a sentence; empty if nothing has changed.
        points: The criteria whose points have changed.
        changes: The changes of its record.
    """

    item: ReplayedDataset
    rank: str
    score: str
    reason: str
    points: tuple[DescribedChange, ...]
    changes: tuple[DescribedChange, ...]


def replay_rows(replay: Replay, describer: ChangeDescriber) -> tuple[ReplayRow, ...]:
    """Return the datasets of a snapshot and of the ranking now, those that are gone last."""
    return tuple(_replay_row(item, describer) for item in replay.items)


def _replay_row(item: ReplayedDataset, describer: ChangeDescriber) -> ReplayRow:
    """Return one dataset with its texts."""
    localizer = describer.localizer
    points = tuple(
        DescribedChange(
            label=describer.criterion_labels.get(change.criterion_name, change.criterion_name),
            before=localizer.number(change.before, digits=3),
            after=localizer.number(change.after, digits=3),
        )
        for change in item.points
    )
    return ReplayRow(
        item=item,
        rank=_then_and_now(item.rank, digits=0, describer=describer),
        score=_then_and_now(item.score, digits=3, describer=describer),
        reason=localizer.text(f"replay_reason_{item.reason}") if item.reason else "",
        points=points,
        changes=describer.describe(item.changes),
    )


def _then_and_now(
    values: Transition[int | None] | Transition[float | None], *, digits: int, describer: ChangeDescriber
) -> str:
    """Return a number then and now with an arrow between them; one number if both are the same."""
    before = describer.localizer.number(values.before, digits=digits)
    after = describer.localizer.number(values.after, digits=digits)
    return after if values.before == values.after else f"{before} → {after}"
