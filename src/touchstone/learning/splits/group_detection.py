"""Detection of columns whose equal values belong together: all rows of a patient, a user or a household.

Such a column has repeated values whose rows are more alike than chance. If some rows of a patient are learned from and
others are tested on, a model only has to recognise the patient, and its score says nothing about new ones.

A name such as `patient_id` is enough to suspect that. Without it, a column is taken for a group only if nearly all
that a quick model gains over the baseline is lost once whole groups are held out. An ordinary category, such as the
make of a car, explains much of the target too, but the other columns still predict it for new makes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.splits.column_names import names_identity, names_person_or_thing
from touchstone.learning.splits.duplicate_rows import find_equal_rows
from touchstone.learning.splits.likeness import greatest_likeness, likeness_of_target
from touchstone.learning.splits.quick_score import QuickScores, compare_quick_scores
from touchstone.learning.splits.split_rule import number_groups
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Indices, Target

MIN_GROUPS: Final = 10
MIN_ROWS_PER_GROUP: Final = 1.02  # On average, so that at least some groups have several rows.
MIN_ROWS_PER_UNNAMED_GROUP: Final = 2.0
MIN_UNNAMED_ROWS: Final = 200
MIN_UNNAMED_EFFECTIVE_GROUPS: Final = 10.0
MAX_UNNAMED_CANDIDATES: Final = 3
MIN_ROWS_PER_CODE: Final = 20  # On average. With fewer rows, different numbers are identities rather than categories.
GROUP_KINDS: Final = (ColumnKind.CATEGORY, ColumnKind.NUMBER, ColumnKind.TEXT)
MAX_SAMPLED_ROWS: Final = 2_000
MIN_LIKENESS: Final = 0.2
MIN_LOSS: Final = 0.15  # The gain over the baseline that is lost must at least be this large,
MAX_REMAINING_SHARE: Final = 1 / 3  # and no more than this share of the gain may remain.


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column whose groups should stay together; `likeness` is 0 for random and 1 for equal rows of a group."""

    name: str
    groups: int
    likeness: float


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """Some rows, as positions into the target's values, with the number of the group of each."""

    rows: Indices = field(repr=False)
    groups: Indices = field(repr=False)


def find_group_columns(table: Table, target: Target, feature_names: Sequence[str]) -> tuple[GroupColumn, ...]:
    """Return the columns of a table whose groups should stay together, the most reliable first.

    Columns that are not learned from are examined too, because they may be left out for the very reason that they
    identify somebody.
    """
    named: list[GroupColumn] = []
    unnamed: list[GroupColumn] = []
    for column in table.columns.values():
        if column.name == target.name or not _may_form_groups(column, len(table.frame)):
            continue
        groups = number_groups(table.frame[column.name].iloc[target.rows])
        if names_identity(column.name):
            named.extend(_examine(table, target, column, groups))
        elif _explains_target(target, groups):
            # The value of a category says nothing about rows of other categories, so it does no harm to learn from it.
            # A model can only recognise its rows if they are alike in yet another column.
            ignored_names = [target.name] if _may_be_category(column, len(groups)) else []
            unnamed.extend(_examine(table, target, column, groups, ignored_names))

    if named:
        return tuple(sorted(named, key=_by_name_and_number))

    likely = sorted(unnamed, key=_by_likeness)[:MAX_UNNAMED_CANDIDATES]
    return tuple(group for group in likely if _explains_the_score(table, target, feature_names, group))


def _may_form_groups(column: ColumnSchema, rows: int) -> bool:
    """Return whether a column has the kind and the number of different values that groups have."""
    known_rows = rows - column.missing
    is_whole = column.integral or column.kind is not ColumnKind.NUMBER
    if column.kind not in GROUP_KINDS or not is_whole or column.distinct < MIN_GROUPS:
        return False

    least = MIN_ROWS_PER_GROUP if names_identity(column.name) else MIN_ROWS_PER_UNNAMED_GROUP
    return known_rows >= least * column.distinct and known_rows > rows / 2


def _may_be_category(column: ColumnSchema, rows: int) -> bool:
    """Return whether the values of a column may be categories: texts, or numbers that have many rows each."""
    return column.kind is not ColumnKind.NUMBER or rows >= MIN_ROWS_PER_CODE * column.distinct


def _examine(
    table: Table, target: Target, column: ColumnSchema, groups: Indices, ignored_names: Sequence[str] = ()
) -> Iterator[GroupColumn]:
    """Yield a column as one that forms groups, if the rows of its groups are more alike than chance.

    They must be alike in another column, or in the target, but not in one of `ignored_names`.
    """
    sample = _sample_whole_groups(groups)
    left_out = [column.name, *ignored_names]
    likeness = greatest_likeness(table, target, sample.rows, sample.groups, left_out=left_out)
    if likeness >= MIN_LIKENESS:
        yield GroupColumn(column.name, column.distinct, likeness)


def _explains_target(target: Target, groups: Indices) -> bool:
    """Return whether the rows of a group are alike in the target; if not, recognising the group gains nothing.

    A short table is not enough to tell, nor are a few groups that most rows belong to: what a model knows about groups
    that it has not learned from would then depend on which of these are held out.
    """
    if len(groups) < MIN_UNNAMED_ROWS or _effective_group_count(groups) < MIN_UNNAMED_EFFECTIVE_GROUPS:
        return False

    sample = _sample_whole_groups(groups)
    return likeness_of_target(target, sample.rows, sample.groups) >= MIN_LIKENESS


def _effective_group_count(groups: Indices) -> float:
    """Return how many groups of equal size would be as diverse as these: the inverse of Simpson's index (1949)."""
    shares = np.bincount(groups) / len(groups)
    return float(1 / np.sum(shares**2))


def _sample_whole_groups(groups: Indices) -> GroupedRows:
    """Return the rows of random groups, until there are enough rows; `groups` has the number of each row's group."""
    group_order = np.random.default_rng(0).permutation(int(groups.max()) + 1)
    rows_per_group = np.bincount(groups)

    rows_so_far = np.cumsum(rows_per_group[group_order])
    sampled_groups = group_order[: int(np.searchsorted(rows_so_far, MAX_SAMPLED_ROWS)) + 1]
    rows = np.flatnonzero(np.isin(groups, sampled_groups))
    return GroupedRows(rows, groups[rows])


def _explains_the_score(table: Table, target: Target, feature_names: Sequence[str], group: GroupColumn) -> bool:
    """Return whether a quick model hardly predicts anything for groups that it has not learned from.

    It learns from the other columns, because a column that merely predicts the target is an ordinary category. Rows of
    a group share more than that if the other columns let a model recognise the group. Of equal rows only the first is
    used, so that copies are not taken for groups.

    It also learns from the column itself if this holds numbers: an ordinary number, such as an age, predicts the target
    for numbers between those that the model has learned from, and the number of a patient does not. A number with many
    rows may be the code of a category, so the model must fail for new groups both with and without the column.
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
    sample = _without_repeats(table, target, feature_names, sample)
    return all(
        names and _is_lost(compare_quick_scores(table, target, names, sample.rows, sample.groups))
        for names in feature_sets
    )


def _without_repeats(table: Table, target: Target, names: Sequence[str], sample: GroupedRows) -> GroupedRows:
    """Return a sample without the rows that repeat an earlier one."""
    equal_rows = find_equal_rows(table, target, names)
    _numbers, first_positions = np.unique(equal_rows.numbers[sample.rows], return_index=True)
    kept = np.sort(first_positions)
    return GroupedRows(sample.rows[kept], sample.groups[kept])


def _is_lost(scores: QuickScores) -> bool:
    """Return whether most of the gain over the baseline is lost when whole groups are held out.

    If nothing is gained with shuffled rows, nothing can be lost, even if the score for new groups is far below the
    baseline.
    """
    gain = scores.shuffled - scores.baseline
    remaining_gain = max(0.0, scores.by_group - scores.baseline)
    return gain - remaining_gain >= MIN_LOSS and remaining_gain <= MAX_REMAINING_SHARE * gain


def _by_name_and_number(group: GroupColumn) -> tuple[bool, int]:
    """Sort columns that name persons or things before other numbers, and large groups before small ones.

    A household is larger than its members, and keeping it together keeps all of them together.
    """
    return not names_person_or_thing(group.name), group.groups


def _by_likeness(group: GroupColumn) -> float:
    """Sort by likeness, the greatest first."""
    return -group.likeness
