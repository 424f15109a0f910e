"""Detection of group columns, whose equal values mark all rows of a patient, a user or a household.

The rows of a group are more similar than random rows. If a patient has both training and test rows, a model only has to
recognize the patient, and its score says nothing about new patients.

A column with a name such as `patient_id` only needs similar rows. Any other column is only accepted if a quick model
loses nearly all of its gain over the baseline when whole groups are held out. An ordinary category, such as the make of
a car, also explains much of the target, but then the other columns still predict it for new makes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.splits.column_names import names_identity, names_person_or_thing, names_plural
from touchstone.learning.splits.duplicate_rows import find_equal_rows
from touchstone.learning.splits.likeness import greatest_similarity, target_similarity
from touchstone.learning.splits.quick_score import QuickScores, compare_quick_scores
from touchstone.learning.splits.split_rule import number_groups
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Indices, Target

MIN_GROUPS: Final = 10
MIN_ROWS_PER_GROUP: Final = 1.02  # the mean; it only ensures that some groups have several rows
MIN_ROWS_PER_UNNAMED_GROUP: Final = 2.0
MIN_UNNAMED_ROWS: Final = 200
MIN_UNNAMED_EFFECTIVE_GROUPS: Final = 10.0
MAX_UNNAMED_CANDIDATES: Final = 3
MIN_ROWS_PER_CODE: Final = 20  # the mean; numbers with fewer rows are identities rather than category codes
GROUP_KINDS: Final = (ColumnKind.CATEGORY, ColumnKind.NUMBER, ColumnKind.TEXT)
MAX_SAMPLED_ROWS: Final = 2_000
MIN_SIMILARITY: Final = 0.2
# Groups that consist of smaller groups, such as schools of classes, explain less of the target themselves.
MIN_TARGET_SIMILARITY: Final = 0.1
MIN_LOSS: Final = 0.15  # the least loss of score when whole groups are held out
MAX_REMAINING_SHARE: Final = 1 / 3  # the largest share of the gain over the baseline that may remain


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column whose groups should stay together.

    The similarity of the rows within groups is 0 for random and 1 for equal rows.
    """

    name: str
    groups: int
    similarity: float


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """A sample of rows, as positions into the target's values, with the group number of each."""

    rows: Indices = field(repr=False)
    groups: Indices = field(repr=False)


def find_group_columns(table: Table, target: Target, feature_names: Sequence[str]) -> tuple[GroupColumn, ...]:
    """Return the columns of a table whose groups should stay together, the most reliable first.

    All columns are examined, not only features, because a column may be excluded precisely because it identifies
    people.
    """
    named_columns: list[GroupColumn] = []  # columns with a name that indicates an identifier
    unnamed_columns: list[GroupColumn] = []
    for column in table.columns.values():
        if column.name == target.name or not _may_form_groups(column, len(table.frame)):
            continue
        groups = number_groups(table.frame[column.name].iloc[target.rows])
        if _is_named_identity(column):
            group_column = _as_group_column(table, target, column, groups)
            if group_column is not None:
                named_columns.append(group_column)
        elif _explains_target(target, groups):
            # Learning from an ordinary category does no harm, even if it explains the target. A model can only
            # recognize the rows of a category if they are also similar in another column.
            excluded_names = [target.name] if _may_be_category(column, len(groups)) else []
            group_column = _as_group_column(table, target, column, groups, excluded_names)
            if group_column is not None:
                unnamed_columns.append(group_column)

    if named_columns:
        return tuple(sorted(named_columns, key=_named_group_sort_key))

    # Of equally similar groups, the largest come first, such as schools before classes, which they consist of.
    most_similar = sorted(unnamed_columns, key=lambda group: (-group.similarity, group.groups))[:MAX_UNNAMED_CANDIDATES]
    return tuple(group for group in most_similar if _explains_the_score(table, target, feature_names, group))


def _may_form_groups(column: ColumnSchema, rows: int) -> bool:
    """Return whether the kind and the number of distinct values of a column are possible for groups."""
    present_rows = rows - column.missing
    is_whole = column.integral or column.kind is not ColumnKind.NUMBER
    if column.kind not in GROUP_KINDS or not is_whole or column.distinct < MIN_GROUPS:
        return False

    min_rows_per_group = MIN_ROWS_PER_GROUP if _is_named_identity(column) else MIN_ROWS_PER_UNNAMED_GROUP
    return present_rows >= min_rows_per_group * column.distinct and present_rows > rows / 2


def _is_named_identity(column: ColumnSchema) -> bool:
    """Return whether the name of a column says that its values identify something.

    Numbers with a name in the plural, such as `employees`, are counts.
    """
    is_count = column.kind is ColumnKind.NUMBER and names_plural(column.name)
    return names_identity(column.name) and not is_count


def _may_be_category(column: ColumnSchema, rows: int) -> bool:
    """Return whether the values of a column may be categories: strings, or numbers with many rows each."""
    return column.kind is not ColumnKind.NUMBER or rows >= MIN_ROWS_PER_CODE * column.distinct


def _as_group_column(
    table: Table, target: Target, column: ColumnSchema, groups: Indices, excluded_names: Sequence[str] = ()
) -> GroupColumn | None:
    """Return the column as a group column if the rows within its groups are similar, or None otherwise.

    The rows are compared in all other columns and in the target, except for `excluded_names`.
    """
    sample = _sample_whole_groups(groups)
    excluded = [column.name, *excluded_names]
    similarity = greatest_similarity(table, target, sample.rows, sample.groups, excluded=excluded)
    return GroupColumn(column.name, column.distinct, similarity) if similarity >= MIN_SIMILARITY else None


def _explains_target(target: Target, groups: Indices) -> bool:
    """Return whether the rows of a group have similar targets, so that recognizing the group is useful.

    The result is False for a short table or if a few groups contain most rows. The score for new groups would then
    depend on which groups are held out.
    """
    if len(groups) < MIN_UNNAMED_ROWS or _effective_group_count(groups) < MIN_UNNAMED_EFFECTIVE_GROUPS:
        return False

    sample = _sample_whole_groups(groups)
    return target_similarity(target, sample.rows, sample.groups) >= MIN_TARGET_SIMILARITY


def _effective_group_count(groups: Indices) -> float:
    """Return the effective number of groups, which is the inverse of Simpson's index (1949)."""
    shares = np.bincount(groups) / len(groups)
    return float(1 / np.sum(shares**2))


def _sample_whole_groups(groups: Indices) -> GroupedRows:
    """Sample whole groups at random, given the group number of each row, until there are enough rows."""
    group_order = np.random.default_rng(0).permutation(int(groups.max()) + 1)
    rows_per_group = np.bincount(groups)

    rows_so_far = np.cumsum(rows_per_group[group_order])
    sampled_groups = group_order[: int(np.searchsorted(rows_so_far, MAX_SAMPLED_ROWS)) + 1]
    rows = np.flatnonzero(np.isin(groups, sampled_groups))
    return GroupedRows(rows, groups[rows])


def _explains_the_score(table: Table, target: Target, feature_names: Sequence[str], group: GroupColumn) -> bool:
    """Return whether a quick model loses most of its score for groups that it has not learned from.

    The model learns from the other columns. If they let it recognize the groups, the column is more than an ordinary
    category that merely predicts the target. Repeated rows are ignored, so that copies are not mistaken for groups.

    If the column holds numbers, the model also learns from the column itself. An ordinary number, such as an age, still
    predicts the target for new values, but a patient number does not. Numbers with many rows each may be category
    codes, so the model must fail both with and without the column.
    """
    column = table.columns[group.name]
    other_names = [name for name in feature_names if name != group.name]
    if column.kind is not ColumnKind.NUMBER:
        feature_sets = [other_names]
    elif not _may_be_category(column, len(target.rows)):
        feature_sets = [list(feature_names)]
    else:
        feature_sets = [list(feature_names), other_names]

    sample = _sample_whole_groups(number_groups(table.frame[group.name].iloc[target.rows]))
    sample = _without_repeated_rows(table, target, feature_names, sample)
    return all(
        names and _loses_most_gain(compare_quick_scores(table, target, names, sample.rows, sample.groups))
        for names in feature_sets
    )


def _without_repeated_rows(table: Table, target: Target, names: Sequence[str], sample: GroupedRows) -> GroupedRows:
    """Remove the rows that repeat an earlier one from a sample."""
    equal_rows = find_equal_rows(table, target, names)
    _numbers, first_positions = np.unique(equal_rows.numbers[sample.rows], return_index=True)
    positions_in_sample = np.sort(first_positions)
    return GroupedRows(sample.rows[positions_in_sample], sample.groups[positions_in_sample])


def _loses_most_gain(scores: QuickScores) -> bool:
    """Return whether a model loses most of its gain over the baseline when whole groups are held out.

    Scores for new groups below the baseline count as the baseline, so that a model without any gain has no loss.
    """
    gain = scores.shuffled - scores.baseline
    remaining_gain = max(0.0, scores.by_group - scores.baseline)
    return gain - remaining_gain >= MIN_LOSS and remaining_gain <= MAX_REMAINING_SHARE * gain


def _named_group_sort_key(group: GroupColumn) -> tuple[bool, int]:
    """Return a sort key for persons and things before other identifiers, then for large groups first.

    Keeping a large group together, such as a household, also keeps the rows of its members together.
    """
    return not names_person_or_thing(group.name), group.groups
