"""The changes since a snapshot, as its page shows them: one row for each dataset that ranked then or ranks now."""

from dataclasses import dataclass

from touchstone.client import Replay
from touchstone.client.choice_models import ReplayedDataset
from touchstone.web.localizer import Localizer
from touchstone.web.views.record_changes import ChangeDescriber, DescribedChange
from touchstone.web.views.score_range import SCORE_DIGITS


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """A dataset of the snapshot, of the present ranking, or of both.

    Attributes:
        item: The dataset with its ranks and scores.
        rank: Its place then and now, such as "3 → 5 ="; a single place if it is the same.
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
        rank=_transition_text(
            _place_text(item.place.before, item.tied_with.before, localizer),
            _place_text(item.place.after, item.tied_with.after, localizer),
        ),
        score=_transition_text(
            localizer.number(item.score.before, digits=SCORE_DIGITS),
            localizer.number(item.score.after, digits=SCORE_DIGITS),
        ),
        reason=reason,
        points=tuple(points),
        changes=describer.describe(item.changes),
    )


def _place_text(place: int | None, tied_with: int | None, localizer: Localizer) -> str:
    """Return the place of a dataset at the given time, or a dash if it was not in the ranking."""
    return localizer.number(None) if place is None else localizer.place(place, tied_with or 0)


def _transition_text(before: str, after: str) -> str:
    """Return the old and the new value with an arrow between them, or one value if both look the same."""
    return after if before == after else f"{before} → {after}"
