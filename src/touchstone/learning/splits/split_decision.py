"""The choice of a split, with the reason for it.

An explicit strategy is always used. The automatic strategy keeps groups together if there are any, or else tests on the
latest rows, or else holds out random rows. Equal rows stay together unless the request says otherwise or chance
explains them.
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
    classify_equal_rows,
)
from touchstone.learning.splits.folds import MIN_TRAINING_ROWS, Fold, outer_folds
from touchstone.learning.splits.group_detection import GroupColumn, find_group_columns
from touchstone.learning.splits.near_copies import find_repeated_rows
from touchstone.learning.splits.split_plan import SplitPlan
from touchstone.learning.splits.split_rule import SplitRule, build_split_rule
from touchstone.learning.splits.time_detection import find_time_columns
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Target

GROUP_COLUMN_REASON: Final = "group_column"  # the reason for excluding the group column from the features


@dataclass(frozen=True, slots=True)
class SplitDecision:
    """The chosen split, its reason, and the findings about the table.

    Attributes:
        rule: the plan, applied to the rows.
        folds: the training and test rows.
        reason: the key of the reason in `messages.splits.SPLIT_REASONS`.
        equal_rows: the rows that are equal in all features.
        duplicates: the number of rows that repeat an earlier one.
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
        """The chosen plan."""
        return self.rule.plan


@dataclass(frozen=True, slots=True)
class _Option:
    """A possible plan, and the reason for it."""

    plan: SplitPlan
    reason: str


@dataclass(frozen=True, slots=True)
class _Division:
    """The rows of a table divided according to a plan, and their duplicates."""

    rule: SplitRule
    folds: tuple[Fold, ...]
    equal_rows: EqualRows
    duplicates: DuplicateRows


def decide_split(request: TrainingRequest, table: Table, target: Target, feature_names: Sequence[str]) -> SplitDecision:
    """Choose a split for the rows of a table that have a target.

    `feature_names` lists the possible features.

    Raises:
        LearningError: the rows cannot be divided as requested, or the group column is the only feature.
    """
    group_columns = find_group_columns(table, target, feature_names)
    time_columns = find_time_columns(table, target.name)

    options = _list_options(request.split, group_columns, time_columns)
    for option in options:
        names = select_feature_names(request, option.plan, feature_names)
        if not names:
            raise LearningError("no_features", field="features")
        # An explicit strategy is the only option, so it has no alternative.
        has_alternative = option is not options[-1]
        try:
            division = _divide_rows(request, table, target, option.plan, names)
        except LearningError:
            if not has_alternative:
                raise
            continue
        if has_alternative and any(division.rule.has_single_value(fold.test) for fold in division.folds):
            continue  # Test rows with a single target value cannot measure a model.
        return SplitDecision(
            rule=division.rule,
            folds=division.folds,
            reason=option.reason,
            equal_rows=division.equal_rows,
            duplicates=division.duplicates,
            group_columns=group_columns,
            time_columns=time_columns,
        )
    raise AssertionError("the last option must be chosen or raise an error")


def check_split(request: TrainingRequest, table: Table, target: Target, feature_names: Sequence[str]) -> None:
    """Raise `LearningError` if `decide_split` would, usually without the slow detection of groups.

    The last option of the automatic strategy is to hold out random rows. If this is possible, nothing needs to be
    detected. If not, a split by group or time may still be possible.
    """
    [option] = _list_options(request.split, (), ())
    names = select_feature_names(request, option.plan, feature_names)
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
    request: TrainingRequest, table: Table, target: Target, plan: SplitPlan, feature_names: Sequence[str]
) -> _Division:
    """Divide the rows into training and test rows according to a plan.

    The plan is completed first, because the treatment of duplicates depends on the features. Rows that differ only in a
    column that is no feature, such as the group column, are duplicates.

    Raises:
        LearningError: the plan cannot be carried out on these rows.
    """
    equal_rows = find_repeated_rows(table, target, feature_names)
    duplicates = classify_equal_rows(table, target, equal_rows)
    complete_plan = replace(
        plan,
        duplicates=_choose_duplicate_treatment(request.split, duplicates),
        compares_approximately=equal_rows.is_approximate,
    )
    rule = build_split_rule(complete_plan, table, target, equal_rows, request.seed)
    folds = outer_folds(rule)
    _check_training_rows(rule, folds)
    return _Division(rule, folds, equal_rows, duplicates)


def select_feature_names(request: TrainingRequest, plan: SplitPlan, feature_names: Sequence[str]) -> list[str]:
    """Return the features, without the group column unless the request includes it by name.

    What a model learns about the values of a group column does not apply to new groups.
    """
    return [name for name in feature_names if name != plan.group_column or name in request.features.include]


def _list_options(split: Split, group_columns: Sequence[GroupColumn], time_columns: tuple[str, ...]) -> list[_Option]:
    """Return the possible plans, the preferred one first.

    An explicit strategy is the only option. The last option of the automatic strategy is a random split, in case all
    others are impossible.
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

    best_group = group_columns[0] if group_columns else None
    by_group = []
    if best_group is not None:
        group_plan = replace(random_plan, strategy=Strategy.GROUP, group_column=best_group.name)
        by_group.append(_Option(group_plan, "groups_detected"))

    if not by_group and not by_time:
        return [_Option(random_plan, "nothing_detected")]

    # Data about persons is split by person, even if it is dated. For other groups, such as stores or stations, the
    # usual task is to predict their future.
    groups_are_persons = best_group is not None and names_person_or_thing(best_group.name)
    preferred_options = [*by_group, *by_time] if groups_are_persons else [*by_time, *by_group]
    return [*preferred_options, _Option(random_plan, "nothing_feasible")]


def _explicit_option(split: Split, random_plan: SplitPlan) -> _Option:
    """Return the plan for an explicit strategy."""
    time_columns = () if split.time_column is None else (split.time_column,)
    plan = replace(random_plan, strategy=split.strategy, group_column=split.group_column, time_columns=time_columns)
    return _Option(plan, "requested")


def _choose_duplicate_treatment(split: Split, duplicates: DuplicateRows) -> Duplicates:
    """Return the requested treatment of duplicates, or the automatic choice."""
    if split.duplicates is not Duplicates.AUTO:
        return split.duplicates
    return Duplicates.KEEP if duplicates.is_coincidence else Duplicates.TOGETHER


def _check_training_rows(rule: SplitRule, folds: Sequence[Fold]) -> None:
    """Raise `LearningError` if a fold has too few training rows, or only one class among them."""
    fewest_rows = min(len(fold.train) for fold in folds)
    if fewest_rows < MIN_TRAINING_ROWS:
        raise LearningError("too_few_training_rows", field="split", rows=fewest_rows, minimum=MIN_TRAINING_ROWS)

    if any(rule.has_single_class(fold.train) for fold in folds):
        is_by_time = rule.plan.strategy is Strategy.TIME
        code = "past_one_class" if is_by_time else "training_one_class"
        raise LearningError(code, field="split", name=rule.target.name)
