"""Compares the ranking in a snapshot with the present ranking, and finds the reasons for the differences.

Both rankings, `before` and `after`, consist of the first datasets for the same project. Each dataset in either of them
gets a status, which says how it has moved, and a reason. The functions do not access the database.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from uuid import UUID

import msgspec

from touchstone.services.selection.projects.dataset_content import ContentChange, DatasetContent, content_changes


class ReplayStatus(StrEnum):
    """The change of a dataset between the two rankings."""

    UNCHANGED = "unchanged"  # the same rank, score and content
    CHANGED = "changed"  # the same rank, with another score or content
    MOVED = "moved"  # another rank
    NEW = "new"  # only among the first datasets of the present ranking
    GONE = "gone"  # only among the first datasets of the snapshot


class ReplayReason(StrEnum):
    """The reason for a change in the rank, the score or the presence of a dataset."""

    RECORD = "record"  # its record or the claims about it have changed
    OTHERS = "others"  # other datasets have overtaken it or fallen behind
    ADDED = "added"  # it was added to the catalog
    WITHDRAWN = "withdrawn"  # it was deleted, or the owner of the project cannot see it any more
    FILTERS = "filters"  # it does not match the filters any more
    FORMULA = "formula"  # the formula of the scores has changed


class RankChange(msgspec.Struct, frozen=True):
    """A rank-related number before and after. None means that the dataset is not in the ranking."""

    before: int | None
    after: int | None


class ScoreChange(msgspec.Struct, frozen=True):
    """The score of a dataset before and after. None means that the score is unknown."""

    before: float | None
    after: float | None


class PointsChange(msgspec.Struct, frozen=True):
    """The points of a dataset for one criterion before and after."""

    criterion_name: str
    before: float | None
    after: float | None


class RankedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset in a ranking at a given time.

    Attributes:
        id: its integer id in this catalog.
        dataset_id: its id in every catalog.
        rank: its position, or None if it does not match the filters.
        place, tied_with: the rank that datasets of the same score share, and the number of other datasets with this
            score, or None if it does not match the filters.
        score: its score, or None if it is unknown.
        points: the contribution of each criterion to the score.
        content: its record and claims, or None if it has been withdrawn.
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
        reason: the reason for the change, or None if its rank, its score and its presence are unchanged.
        points: the criteria whose points differ.
        changes: the fields and the claims that differ.
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


def compare_rankings(
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
        displaced: the present state of the datasets that are only in `before`, without withdrawn datasets.
        total_count_before: the number of datasets that matched in the snapshot, which may be more than it contains.
        is_formula_changed: whether the formula of the scores has changed since the snapshot.
    """
    before_by_id = {dataset.id: dataset for dataset in before}
    after_ids = {dataset.id for dataset in after}
    present_by_id = {dataset.id: dataset for dataset in (*after, *displaced)}
    # If the snapshot contains every dataset that matched, a new dataset did not match at that time.
    may_have_matched_before = total_count_before > len(before)

    items: list[ReplayedItem] = []
    for dataset in after:
        previous = before_by_id.get(dataset.id)
        if previous is None:
            have_others_fallen = may_have_matched_before and _have_others_fallen(dataset, before, present_by_id)
            items.append(_new_item(dataset, have_others_fallen=have_others_fallen))
        else:
            items.append(_remaining_item(previous, dataset, is_formula_changed=is_formula_changed))

    for dataset in before:
        if dataset.id not in after_ids:
            present = present_by_id.get(dataset.id)
            items.append(_gone_item(dataset, present, is_formula_changed=is_formula_changed))

    return items


def _remaining_item(before: RankedDataset, after: RankedDataset, *, is_formula_changed: bool) -> ReplayedItem:
    """Return the item of a dataset that is in both rankings."""
    changes = _content_changes(before, after)
    if before.rank != after.rank:
        status = ReplayStatus.MOVED
    elif before.score != after.score or changes:
        status = ReplayStatus.CHANGED
    else:
        return _create_item(before, after, ReplayStatus.UNCHANGED, reason=None)

    reason = _find_reason(before, after, changes, is_formula_changed=is_formula_changed)
    return _create_item(before, after, status, reason)


def _have_others_fallen(
    dataset: RankedDataset, before: Sequence[RankedDataset], present_by_id: Mapping[int, RankedDataset]
) -> bool:
    """Return whether the fall of other datasets alone explains why a dataset is now among the first ones.

    This is the case if every dataset of the snapshot that is not ranked above it any more has been withdrawn, does not
    match any more, or has a lower score than before.

    Args:
        dataset: a dataset that is only in the present ranking.
        before: the first datasets in the snapshot.
        present_by_id: the present state of all datasets except withdrawn ones, by id.
    """
    assert dataset.rank is not None, "the dataset is in the present ranking"
    for previous in before:
        present = present_by_id.get(previous.id)
        if present is None or present.rank is None:
            continue

        is_still_above = present.rank < dataset.rank
        has_fallen = present.score is not None and previous.score is not None and present.score < previous.score
        if not is_still_above and not has_fallen:
            return False
    return True


def _new_item(after: RankedDataset, *, have_others_fallen: bool) -> ReplayedItem:
    """Return the item of a dataset that is only in the present ranking.

    A change of the record need not affect the rank. It is therefore only considered the reason if the fall of other
    datasets does not explain the rank.
    """
    if after.is_added:
        reason = ReplayReason.ADDED
    elif after.is_changed and not have_others_fallen:
        reason = ReplayReason.RECORD
    else:
        reason = ReplayReason.OTHERS

    return _create_item(None, after, ReplayStatus.NEW, reason)


def _gone_item(before: RankedDataset, after: RankedDataset | None, *, is_formula_changed: bool) -> ReplayedItem:
    """Return the item of a dataset that is only in the snapshot.

    Args:
        before: the dataset in the snapshot.
        after: its present state, or None if it has been withdrawn. It has no rank if it does not match the filters.
        is_formula_changed: whether the formula of the scores has changed since the snapshot.
    """
    if after is None:
        return _create_item(before, None, ReplayStatus.GONE, ReplayReason.WITHDRAWN)
    if after.rank is None:
        return _create_item(before, after, ReplayStatus.GONE, ReplayReason.FILTERS)

    changes = _content_changes(before, after)
    reason = _find_reason(before, after, changes, is_formula_changed=is_formula_changed)
    return _create_item(before, after, ReplayStatus.GONE, reason)


def _find_reason(
    before: RankedDataset, after: RankedDataset, changes: Sequence[ContentChange], *, is_formula_changed: bool
) -> ReplayReason:
    """Return the reason for the changes of a dataset that matches the filters in both rankings.

    A dataset with an unchanged score only moves because of other datasets. A changed score results from a change of the
    record, or from the formula if the record is unchanged.
    """
    if before.score == after.score and before.rank != after.rank:
        return ReplayReason.OTHERS
    if changes or not is_formula_changed:
        return ReplayReason.RECORD
    return ReplayReason.FORMULA


def _create_item(
    before: RankedDataset | None, after: RankedDataset | None, status: ReplayStatus, reason: ReplayReason | None
) -> ReplayedItem:
    """Return an item with all differences of one dataset between the two rankings.

    `before` or `after` is None if the state of the dataset in that ranking is unknown.
    """
    dataset = after or before
    assert dataset is not None, "a dataset is in one of the rankings"

    return ReplayedItem(
        id=dataset.id,
        dataset_id=dataset.dataset_id,
        dataset_name=dataset.name,
        status=status,
        reason=reason,
        rank=RankChange(before.rank if before else None, after.rank if after else None),
        place=RankChange(before.place if before else None, after.place if after else None),
        tied_with=RankChange(before.tied_with if before else None, after.tied_with if after else None),
        score=ScoreChange(before.score if before else None, after.score if after else None),
        points=_points_changes(before, after),
        changes=_content_changes(before, after),
    )


def _points_changes(before: RankedDataset | None, after: RankedDataset | None) -> list[PointsChange]:
    """Return the changed points of a dataset, or an empty list unless both states are known."""
    if before is None or after is None:
        return []

    criterion_names = before.points | after.points
    changes = [PointsChange(name, before.points.get(name), after.points.get(name)) for name in criterion_names]
    return [change for change in changes if change.before != change.after]


def _content_changes(before: RankedDataset | None, after: RankedDataset | None) -> list[ContentChange]:
    """Return the changed fields of a dataset, or an empty list unless both contents are known."""
    if before is None or after is None or before.content is None or after.content is None:
        return []
    return content_changes(before.content, after.content)
