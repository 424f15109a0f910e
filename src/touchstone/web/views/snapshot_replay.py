"""The changes since a snapshot: one row for each dataset that was ranked then or is ranked now."""

from dataclasses import dataclass

from touchstone.client import Replay
from touchstone.client.choice_models import ReplayedDataset
from touchstone.web.localizer import Localizer
from touchstone.web.views.record_changes import ChangeDescriber, DescribedChange
from touchstone.web.views.score_range import SCORE_DIGITS


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """A dataset of the snapshot, of the present ranking, or of both, formatted for display.

    Attributes:
        item: The dataset with its ranks and scores.
        rank: The old and the new place, such as "3 → 5 ="; a single place if it is the same.
        score: The old and the new score in the same format.
        reason: A sentence that explains the difference from the snapshot; empty if there is none.
        points: The criteria with a changed contribution to the score.
        changes: The changes of the record.
    """

    item: ReplayedDataset
    rank: str
    score: str
    reason: str
    points: tuple[DescribedChange, ...]
    changes: tuple[DescribedChange, ...]


def replay_rows(replay: Replay, describer: ChangeDescriber) -> tuple[ReplayRow, ...]:
    """Return the rows of a replay in the order of present ranks.

    Datasets that are no longer ranked come last.
    """
    return tuple(_replay_row(item, describer) for item in replay.items)


def _replay_row(item: ReplayedDataset, describer: ChangeDescriber) -> ReplayRow:
    """Return the row of one dataset, with its place and score in the snapshot and now."""
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

    old_place = _format_place(item.place.before, item.tied_with.before, localizer)
    new_place = _format_place(item.place.after, item.tied_with.after, localizer)
    old_score = localizer.number(item.score.before, digits=SCORE_DIGITS)
    new_score = localizer.number(item.score.after, digits=SCORE_DIGITS)

    return ReplayRow(
        item=item,
        rank=_format_transition(old_place, new_place),
        score=_format_transition(old_score, new_score),
        reason=localizer.text(f"replay_reason_{item.reason}") if item.reason else "",
        points=tuple(points),
        changes=describer.describe(item.changes),
    )


def _format_place(place: int | None, tied_with: int | None, localizer: Localizer) -> str:
    """Format the place of a dataset, or return a dash if it is not ranked."""
    return localizer.number(None) if place is None else localizer.place(place, tied_with or 0)


def _format_transition(before: str, after: str) -> str:
    """Return two values with an arrow between them, or a single value if both look the same."""
    return after if before == after else f"{before} → {after}"
