"""What has changed between a frozen ranking and the present one, and why; pure functions without a database."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from uuid import UUID

import msgspec

from touchstone.services.selection.projects.dataset_content import ContentChange, DatasetContent, content_changes


class ReplayStatus(StrEnum):
    """What has become of a dataset in a ranking."""

    UNCHANGED = "unchanged"  # the same rank, score and content
    CHANGED = "changed"  # the same rank, with another score or content
    MOVED = "moved"  # another rank
    NEW = "new"  # among the first ones only now
    GONE = "gone"  # among the first ones only then


class ReplayReason(StrEnum):
    """Why the rank, the score or the presence of a dataset differs."""

    RECORD = "record"  # its record or the claims about it have changed
    OTHERS = "others"  # other datasets have overtaken it or fallen behind
    ADDED = "added"  # it was added to the catalog
    WITHDRAWN = "withdrawn"  # it was deleted, or the owner of the project may not see it any more
    FILTERS = "filters"  # it does not match the filters any more
    FORMULA = "formula"  # the formulas have changed


class RankChange(msgspec.Struct, frozen=True):
    """The rank of a dataset before and after; None stands for a dataset that is not in the ranking."""

    before: int | None
    after: int | None


class ScoreChange(msgspec.Struct, frozen=True):
    """The score of a dataset before and after; None stands for one that is not known."""

    before: float | None
    after: float | None


class PointsChange(msgspec.Struct, frozen=True):
    """The points that a criterion gave a dataset before and gives it now."""

    criterion_name: str
    before: float | None
    after: float | None


class RankedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset in a ranking at one moment.

    Attributes:
        rank: its position; None if it does not match the filters.
        score, points: its score, and what each criterion contributes.
        content: what it says; None if it has been withdrawn.
        is_added, is_changed: whether its record is new, or has changed, since the ranking that it is compared with.
    """

    id: int
    dataset_id: UUID
    name: str
    rank: int | None
    score: float | None
    points: dict[str, float]
    content: DatasetContent | None
    is_added: bool = False
    is_changed: bool = False


class ReplayedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset that is among the first ones of the frozen ranking, of the present one, or of both.

    Attributes:
        reason: why its rank, its score or its presence differs; None if none of them does.
        points: the criteria whose points differ.
        changes: the fields of its record and the claims that differ.
    """

    id: int
    dataset_id: UUID
    dataset_name: str
    status: ReplayStatus
    reason: ReplayReason | None
    rank: RankChange
    score: ScoreChange
    points: list[PointsChange]
    changes: list[ContentChange]


def replay_ranking(
    before: Sequence[RankedDataset],
    after: Sequence[RankedDataset],
    outside: Iterable[RankedDataset],
    *,
    is_formula_changed: bool,
) -> list[ReplayedItem]:
    """Return how the datasets of two rankings differ: in the order of the ranks now, and then those that have gone.

    `before` and `after` are the first datasets of the frozen and of the present ranking. `outside` has those of the
    former that are not in the latter, as they are now; those that are missing there have been withdrawn.
    """
    frozen = {dataset.id: dataset for dataset in before}
    present = {dataset.id: dataset for dataset in outside}

    items = [
        _kept_item(frozen[dataset.id], dataset, is_formula_changed=is_formula_changed)
        if dataset.id in frozen
        else _new_item(dataset)
        for dataset in after
    ]
    after_ids = {dataset.id for dataset in after}
    gone_datasets = [dataset for dataset in before if dataset.id not in after_ids]
    items += [
        _gone_item(dataset, present.get(dataset.id), is_formula_changed=is_formula_changed) for dataset in gone_datasets
    ]
    return items


def _kept_item(before: RankedDataset, after: RankedDataset, *, is_formula_changed: bool) -> ReplayedItem:
    """Return how a dataset that is in both rankings differs."""
    changes = _content_changes(before, after)
    status = ReplayStatus.UNCHANGED
    if before.rank != after.rank:
        status = ReplayStatus.MOVED
    elif before.score != after.score or changes:
        status = ReplayStatus.CHANGED

    reason: ReplayReason | None = None
    if status is not ReplayStatus.UNCHANGED:
        reason = _reason(before, after, changes, is_formula_changed=is_formula_changed)
    return _item(before, after, status, reason)


def _new_item(after: RankedDataset) -> ReplayedItem:
    """Return a dataset that is only in the present ranking."""
    reason = ReplayReason.OTHERS
    if after.is_added:
        reason = ReplayReason.ADDED
    elif after.is_changed:
        reason = ReplayReason.RECORD

    return _item(None, after, ReplayStatus.NEW, reason)


def _gone_item(before: RankedDataset, after: RankedDataset | None, *, is_formula_changed: bool) -> ReplayedItem:
    """Return a dataset that is only in the frozen ranking; `after` is None if it has been withdrawn."""
    if after is None:
        return _item(before, None, ReplayStatus.GONE, ReplayReason.WITHDRAWN)
    if after.rank is None:
        return _item(before, after, ReplayStatus.GONE, ReplayReason.FILTERS)

    changes = _content_changes(before, after)
    reason = _reason(before, after, changes, is_formula_changed=is_formula_changed)
    return _item(before, after, ReplayStatus.GONE, reason)


def _reason(
    before: RankedDataset, after: RankedDataset, changes: Sequence[ContentChange], *, is_formula_changed: bool
) -> ReplayReason:
    """Return why a dataset that matches the filters in both rankings has another rank, score or content."""
    if before.score == after.score and before.rank != after.rank:
        return ReplayReason.OTHERS
    if changes or not is_formula_changed:
        return ReplayReason.RECORD
    return ReplayReason.FORMULA


def _item(
    before: RankedDataset | None, after: RankedDataset | None, status: ReplayStatus, reason: ReplayReason | None
) -> ReplayedItem:
    """Return a dataset with everything that differs between two rankings, of which one may lack it."""
    dataset = after or before
    assert dataset is not None, "a dataset is in one of the rankings"

    return ReplayedItem(
        id=dataset.id,
        dataset_id=dataset.dataset_id,
        dataset_name=dataset.name,
        status=status,
        reason=reason,
        rank=RankChange(before.rank if before else None, after.rank if after else None),
        score=ScoreChange(before.score if before else None, after.score if after else None),
        points=_points_changes(before, after),
        changes=_content_changes(before, after),
    )


def _points_changes(before: RankedDataset | None, after: RankedDataset | None) -> list[PointsChange]:
    """Return the criteria that give a dataset of both rankings other points than before."""
    if before is None or after is None:
        return []

    criteria = [*before.points, *(name for name in after.points if name not in before.points)]
    points = [PointsChange(name, before.points.get(name), after.points.get(name)) for name in criteria]
    return [change for change in points if change.before != change.after]


def _content_changes(before: RankedDataset | None, after: RankedDataset | None) -> list[ContentChange]:
    """Return the fields in which a dataset says something else than before; none if one of the two is not known."""
    if before is None or after is None or before.content is None or after.content is None:
        return []
    return content_changes(before.content, after.content)
