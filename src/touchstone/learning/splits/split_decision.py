"""The decision how the rows of a table are divided, and the reasons for it.

An explicit strategy is followed. The automatic one keeps groups together, or else tests on the latest rows, or else
holds out a random part; equal rows never straddle a split unless the request says so or chance explains them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Duplicates, Strategy
from touchstone.learning.request_definitions import Split, TrainingRequest
from touchstone.learning.splits.column_names import names_person_or_thing
from touchstone.learning.splits.duplicate_rows import (
    DuplicateRows,
    EqualRows,
    judge_equal_rows,
)
from touchstone.learning.splits.folds import MIN_TRAINING_ROWS, Fold, outer_folds
from touchstone.learning.splits.group_detection import GroupColumn, find_group_columns
from touchstone.learning.splits.near_copies import find_repeated_rows
from touchstone.learning.splits.split_plan import SplitPlan
from touchstone.learning.splits.split_rule import SplitRule, build_split_rule
from touchstone.learning.splits.time_detection import find_time_columns
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Target

GROUP_COLUMN_REASON: Final = "group_column"  # Why the column that forms the groups is not learned from.


@dataclass(frozen=True, slots=True)
class SplitDecision:
    """How the rows are divided, why, and what was detected in the table.

    Attributes:
        rule: the rule by which the rows are divided.
        folds: the training and test rows.
        reason: the key of the sentence that states the reason, in `messages.splits.REASONS`.
        equal_rows: which rows are equal in the columns that are learned from.
        duplicates: how many rows repeat an earlier one.
        group_columns: the columns whose groups should stay together.
        time_columns: the columns that order the rows in time.
    """

    rule: SplitRule
    folds: tuple[Fold, ...]
    reason: str
    equal_rows: EqualRows
    duplicates: DuplicateRows
    group_columns: tuple[GroupColumn, ...]
    time_columns: tuple[str, ...]

    @property
    def plan(self) -> SplitPlan:
        """The plan that is followed."""
        return self.rule.plan


@dataclass(frozen=True, slots=True)
class _Option:
    """A plan that may be followed, and the reason for it."""

    plan: SplitPlan
    reason: str


@dataclass(frozen=True, slots=True)
class _Division:
    """The rows of a table as a plan divides them, and which of them are equal."""

    rule: SplitRule
    folds: tuple[Fold, ...]
    equal_rows: EqualRows
    duplicates: DuplicateRows


def decide_split(request: TrainingRequest, table: Table, target: Target, feature_names: Sequence[str]) -> SplitDecision:
    """Decide how the rows of a table that have a target are divided.

    `feature_names` are the columns that could be learned from. Raises `LearningError` if the rows cannot be divided as
    the request asks, or if the only column to learn from forms the groups.
    """
    group_columns = find_group_columns(table, target, feature_names)
    time_columns = find_time_columns(table, target.name)

    options = _list_options(request.split, group_columns, time_columns)
    for option in options:
        names = names_to_learn_from(request, option.plan, feature_names)
        if not names:
            raise LearningError("no_features", field="features")
        # An explicit strategy has no alternative, and neither has the last of the automatic ones.
        has_alternative = option is not options[-1]
        try:
            division = _divide_rows(request, table, target, option.plan, names)
        except LearningError:
            if not has_alternative:
                raise
            continue
        if has_alternative and any(division.rule.has_single_value(fold.test) for fold in division.folds):
            continue  # Test rows of a single class do not show what a model has learned.
        return SplitDecision(
            rule=division.rule,
            folds=division.folds,
            reason=option.reason,
            equal_rows=division.equal_rows,
            duplicates=division.duplicates,
            group_columns=group_columns,
            time_columns=time_columns,
        )
    raise AssertionError("the last option either is followed or fails")


def check_split(request: TrainingRequest, table: Table, target: Target, feature_names: Sequence[str]) -> None:
    """Raise `LearningError` if `decide_split` would, but without the time that it takes to detect groups.

    Whatever is detected, the automatic strategy can hold out random rows in the end. Where even that is impossible, the
    rows may still be divided by group or by time.
    """
    [option] = _list_options(request.split, (), ())
    names = names_to_learn_from(request, option.plan, feature_names)
    may_lack_features = len(feature_names) == 1  # The only column may turn out to form the groups.
    if not names or may_lack_features:
        decide_split(request, table, target, feature_names)
        return

    try:
        _divide_rows(request, table, target, option.plan, names)
    except LearningError:
        if request.split.strategy is not Strategy.AUTO:
            raise
        decide_split(request, table, target, feature_names)


def _divide_rows(
    request: TrainingRequest, table: Table, target: Target, plan: SplitPlan, names: Sequence[str]
) -> _Division:
    """Divide the rows as a plan says, with equal rows on the same side unless they are to be kept or a coincidence.

    `names` are the columns to learn from. The column that forms groups is not among them, so it does not distinguish
    equal rows either. Raises `LearningError` if the rows cannot be divided in this way.
    """
    equal_rows = find_repeated_rows(table, target, names)
    duplicates = judge_equal_rows(table, target, equal_rows)
    complete_plan = replace(
        plan,
        duplicates=_treatment_of_duplicates(request.split, duplicates),
        compares_approximately=equal_rows.is_approximate,
    )
    rule = build_split_rule(complete_plan, table, target, equal_rows, request.seed)
    folds = outer_folds(rule)
    _check_training_rows(rule, folds)
    return _Division(rule, folds, equal_rows, duplicates)


def names_to_learn_from(request: TrainingRequest, plan: SplitPlan, feature_names: Sequence[str]) -> list[str]:
    """Return the columns to learn from: not the one that forms the groups, unless the request includes it by name.

    A model cannot apply to new groups what it has learned about the number of a known one.
    """
    return [name for name in feature_names if name != plan.group_column or name in request.features.include]


def _list_options(split: Split, group_columns: Sequence[GroupColumn], time_columns: tuple[str, ...]) -> list[_Option]:
    """Return the ways in which the rows may be divided, the best first; an explicit strategy leaves only one.

    If the first one turns out to be impossible, the next one is tried. A random split comes last.
    """
    random_plan = SplitPlan(strategy=Strategy.HOLDOUT, test_size=split.test_size, folds=split.folds)
    if split.strategy is not Strategy.AUTO:
        return [_explicit_option(split, random_plan)]

    if split.group_column is not None:
        return [_Option(replace(random_plan, strategy=Strategy.GROUP, group_column=split.group_column), "requested")]
    if split.time_column is not None:
        return [_Option(replace(random_plan, strategy=Strategy.TIME, time_columns=(split.time_column,)), "requested")]

    by_time = []
    if time_columns:
        time_plan = replace(random_plan, strategy=Strategy.TIME, time_columns=time_columns)
        by_time.append(_Option(time_plan, "time_detected"))

    by_group = []
    for group in group_columns[:1]:
        group_plan = replace(random_plan, strategy=Strategy.GROUP, group_column=group.name)
        by_group.append(_Option(group_plan, "groups_detected"))

    if not by_group and not by_time:
        return [_Option(random_plan, "nothing_detected")]

    # Rows of persons are divided by person even if they are dated. Those of stores or stations are a panel, of which
    # the future is usually asked for.
    groups_are_persons = any(names_person_or_thing(group.name) for group in group_columns[:1])
    preferred = [*by_group, *by_time] if groups_are_persons else [*by_time, *by_group]
    return [*preferred, _Option(random_plan, "nothing_feasible")]


def _explicit_option(split: Split, random_plan: SplitPlan) -> _Option:
    """Return the plan that an explicit strategy stands for."""
    time_columns = () if split.time_column is None else (split.time_column,)
    plan = replace(random_plan, strategy=split.strategy, group_column=split.group_column, time_columns=time_columns)
    return _Option(plan, "requested")


def _treatment_of_duplicates(split: Split, duplicates: DuplicateRows) -> Duplicates:
    """Return whether equal rows stay together."""
    if split.duplicates is not Duplicates.AUTO:
        return split.duplicates
    return Duplicates.KEEP if duplicates.is_coincidence else Duplicates.TOGETHER


def _check_training_rows(rule: SplitRule, folds: Sequence[Fold]) -> None:
    """Raise `LearningError` if a fold has too few training rows, or only those of one class."""
    fewest_rows = min(len(fold.train) for fold in folds)
    if fewest_rows < MIN_TRAINING_ROWS:
        raise LearningError("too_few_training_rows", field="split", rows=fewest_rows, minimum=MIN_TRAINING_ROWS)

    if any(rule.has_single_class(fold.train) for fold in folds):
        is_by_time = rule.plan.strategy is Strategy.TIME
        code = "past_one_class" if is_by_time else "training_one_class"
        raise LearningError(code, field="split", name=rule.target.name)
