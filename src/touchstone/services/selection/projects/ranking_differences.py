"""Comparison of the ranking in a snapshot with the present one: which datasets differ, and why.

Both rankings consist of the first datasets for the same project, `before` and `after`. Each dataset of either one gets
a status, which says how it has moved, and a reason. The functions need no database.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal
from uuid import UUID

import msgspec

from touchstone.services.selection.projects.dataset_content import ContentChange, DatasetContent, content_changes


class ReplayStatus(StrEnum):
    """How a dataset of one or both rankings has moved."""

    UNCHANGED = "unchanged"  # the same rank, score and content
    CHANGED = "changed"  # the same rank, with another score or content
    MOVED = "moved"  # another rank
    NEW = "new"  # only among the first datasets of the present ranking
    GONE = "gone"  # only among the first datasets of the snapshot


class ReplayReason(StrEnum):
    """Why the rank, the score or the presence of a dataset differs."""

    RECORD = "record"  # its record or the claims about it have changed
    OTHERS = "others"  # other datasets have overtaken it or fallen behind
    ADDED = "added"  # it was added to the catalog
    WITHDRAWN = "withdrawn"  # it was deleted, or the owner of the project may not see it any more
    FILTERS = "filters"  # it does not match the filters any more
    FORMULA = "formula"  # the formulas have changed


class RankChange(msgspec.Struct, frozen=True):
    """A rank-related number before and after. None means that the dataset is not in the ranking."""

    before: int | None
    after: int | None


class ScoreChange(msgspec.Struct, frozen=True):
    """The score of a dataset before and after. None means that the score is not known."""

    before: float | None
    after: float | None


class PointsChange(msgspec.Struct, frozen=True):
    """The points that a criterion gave a dataset before and gives it now."""

    criterion_name: str
    before: float | None
    after: float | None


class RankedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset in a ranking at a given time.

    Attributes:
        rank: its position; None if it does not match the filters.
        place, tied_with: the rank that it shares with datasets of the same score, and how many others these are; None
            if it does not match the filters.
        score: its score; None if it is not known.
        points: what each criterion adds to the score.
        content: its record and claims; None if it has been withdrawn.
        is_added: whether it was added to the catalog after the snapshot.
        is_changed: whether its record has changed since the snapshot.
    """

    id: int
    dataset_id: UUID
    name: str
    rank: int | None
    place: int | None
    tied_with: int | None
    score: float | None
    points: dict[str, float]
    content: DatasetContent | None
    is_added: bool = False
    is_changed: bool = False


class ReplayedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset that is among the first ones in the snapshot, in the present ranking, or in both.

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
    place: RankChange
    tied_with: RankChange
    score: ScoreChange
    points: list[PointsChange]
    changes: list[ContentChange]


def replay_ranking(
    before: Sequence[RankedDataset],
    after: Sequence[RankedDataset],
    displaced: Iterable[RankedDataset],
    *,
    total_count_before: int,
    is_formula_changed: bool,
) -> list[ReplayedItem]:
    """Return the changes between two rankings, by present rank, followed by the datasets that are gone.

    Args:
        before: the first datasets in the snapshot.
        after: the first datasets of the present ranking.
        displaced: the present state of those datasets in `before` that are not in `after`. Datasets that have been
            withdrawn are missing from it.
        total_count_before: how many datasets matched in the snapshot.
        is_formula_changed: whether scores are computed in another way than for the snapshot.
    """
    before_by_id = {dataset.id: dataset for dataset in before}
    after_ids = {dataset.id for dataset in after}
    present_by_id = {dataset.id: dataset for dataset in (*after, *displaced)}
    has_lower_ranks = total_count_before > len(before)

    items: list[ReplayedItem] = []
    for dataset in after:
        previous = before_by_id.get(dataset.id)
        if previous is None:
            have_others_fallen = has_lower_ranks and _have_others_fallen(dataset, before, present_by_id)
            items.append(_new_item(dataset, have_others_fallen=have_others_fallen))
        else:
            items.append(_kept_item(previous, dataset, is_formula_changed=is_formula_changed))

    for dataset in before:
        if dataset.id not in after_ids:
            present = present_by_id.get(dataset.id)
            items.append(_gone_item(dataset, present, is_formula_changed=is_formula_changed))

    return items


def _kept_item(before: RankedDataset, after: RankedDataset, *, is_formula_changed: bool) -> ReplayedItem:
    """Return the changes of a dataset that is in both rankings."""
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


def _have_others_fallen(
    dataset: RankedDataset, before: Sequence[RankedDataset], present_by_id: Mapping[int, RankedDataset]
) -> bool:
    """Return whether the datasets that a new one has passed explain its rank, so that it need not have risen itself.

    Each of those that are not before it any more has been withdrawn, does not match any more, or has a lower score.

    Args:
        dataset: a dataset that is only among the first ones of the present ranking.
        before: the first datasets in the snapshot.
        present_by_id: the present state of all datasets; those that have been withdrawn are missing.
    """
    assert dataset.rank is not None, "the dataset is in the present ranking"
    for previous in before:
        present = present_by_id.get(previous.id)
        if present is None or present.rank is None or present.rank < dataset.rank:
            continue
        if present.score is None or previous.score is None or present.score >= previous.score:
            return False
    return True


def _new_item(after: RankedDataset, *, have_others_fallen: bool) -> ReplayedItem:
    """Return a dataset that is only in the present ranking, with the reason.

    Its record may have been changed in a way that has no influence on its rank. A change is therefore the reason only
    if the rank does not follow from the fall of others.
    """
    reason = ReplayReason.OTHERS
    if after.is_added:
        reason = ReplayReason.ADDED
    elif after.is_changed and not have_others_fallen:
        reason = ReplayReason.RECORD

    return _item(None, after, ReplayStatus.NEW, reason)


def _gone_item(before: RankedDataset, after: RankedDataset | None, *, is_formula_changed: bool) -> ReplayedItem:
    """Return a dataset that is only in the snapshot, with the reason.

    `after` is its present state: None if it has been withdrawn, and without a rank if it does not match the filters.
    """
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
    """Return why a dataset that matches the filters in both rankings has another rank, score or content.

    With the same score, a dataset only moves because of others. Another score comes from the record or, if the record
    is the same, from the formulas.
    """
    if before.score == after.score and before.rank != after.rank:
        return ReplayReason.OTHERS
    if changes or not is_formula_changed:
        return ReplayReason.RECORD
    return ReplayReason.FORMULA


def _item(
    before: RankedDataset | None, after: RankedDataset | None, status: ReplayStatus, reason: ReplayReason | None
) -> ReplayedItem:
    """Return all differences of one dataset between two rankings.

    `before` or `after` is None if the dataset is not in that ranking.
    """
    dataset = after or before
    assert dataset is not None, "a dataset is in one of the rankings"

    def rank_change(name: Literal["rank", "place", "tied_with"]) -> RankChange:
        return RankChange(getattr(before, name, None), getattr(after, name, None))

    score_before = before.score if before else None
    score_after = after.score if after else None

    return ReplayedItem(
        id=dataset.id,
        dataset_id=dataset.dataset_id,
        dataset_name=dataset.name,
        status=status,
        reason=reason,
        rank=rank_change("rank"),
        place=rank_change("place"),
        tied_with=rank_change("tied_with"),
        score=ScoreChange(score_before, score_after),
        points=_points_changes(before, after),
        changes=_content_changes(before, after),
    )


def _points_changes(before: RankedDataset | None, after: RankedDataset | None) -> list[PointsChange]:
    """Return the criteria whose points have changed, or nothing if the dataset has only one score."""
    if before is None or after is None:
        return []

    criterion_names = before.points | after.points
    changes = [PointsChange(name, before.points.get(name), after.points.get(name)) for name in criterion_names]
    return [change for change in changes if change.before != change.after]


def _content_changes(before: RankedDataset | None, after: RankedDataset | None) -> list[ContentChange]:
    """Return the changed fields of a dataset, or nothing unless both contents are known."""
    if before is None or after is None or before.content is None or after.content is None:
        return []
    return content_changes(before.content, after.content)
