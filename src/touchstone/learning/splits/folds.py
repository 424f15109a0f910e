"""Folds of training and test rows, which are reproducible for the same seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Strategy
from touchstone.learning.splits.split_rule import SplitRule
from touchstone.learning.splits.units import assign_units_to_folds, describe_units, hold_out_units
from touchstone.learning.target import Indices

MIN_TRAINING_ROWS: Final = 10  # The target encoder divides the training rows into five parts.
INNER_FOLDS: Final = 3
INNER_TEST_SHARE: Final = 0.25
MIN_UNITS: Final = 2
FEW_ROWS: Final = 10_000  # Up to this many rows, a single validation set is too small to choose a model.


@dataclass(frozen=True, slots=True)
class Fold:
    """Training and test rows, as positions into the target's values."""

    train: Indices
    test: Indices


def outer_folds(rule: SplitRule) -> tuple[Fold, ...]:
    """Divide the rows into training and test rows according to the plan.

    A cross-validation has several folds, and all other strategies have a single one.

    Raises:
        LearningError: the strategy cannot be applied to these rows.
    """
    plan = rule.plan
    all_rows = np.arange(len(rule.target.values))

    if plan.strategy is Strategy.KFOLD:
        _check_fold_count(rule)
        return divide_into_folds(rule, all_rows, plan.folds)

    if plan.strategy is Strategy.TIME and rule.times is not None:
        fold = _split_by_time(rule, all_rows, rule.times, plan.test_size)
        if fold is None:
            names = ", ".join(plan.time_columns)
            raise LearningError("time_column_not_ordered", field="split.time_column", name=names)
        return (fold,)

    if plan.strategy is Strategy.GROUP:
        _check_unit_count(rule, minimum=MIN_UNITS)
    return (hold_out_at_random(rule, plan.test_size),)


def limit_training_rows(fold: Fold, limit: int, seed: int) -> Fold:
    """Return a fold with at most `limit` randomly drawn training rows."""
    return Fold(train=_draw_sample(fold.train, limit, seed), test=fold.test)


def _draw_sample(rows: Indices, limit: int, seed: int) -> Indices:
    """Draw at most `limit` of the given rows at random, and return them in ascending order."""
    if len(rows) <= limit:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, limit, replace=False))


def inner_folds(rule: SplitRule, train: Indices, *, limit: int) -> tuple[Fold, ...]:
    """Divide training rows again into the folds used to choose the best trial.

    The same rule applies as for the outer folds. With a split by time, the latest quarter of the rows is used for
    validation if there are enough earlier rows and each part has more than one target value. Otherwise, a short table
    gets three folds, and a long one a single fold with a random quarter for validation. If there are more than `limit`
    rows, a random sample of them is divided.
    """
    train = _draw_sample(train, limit, rule.seed)
    if rule.times is not None:
        fold = _split_by_time(rule, train, rule.times, INNER_TEST_SHARE)
        if fold is not None and _can_compare_trials(rule, fold):
            return (fold,)

    if len(train) <= FEW_ROWS:
        return divide_into_folds(rule, train, INNER_FOLDS)

    quarters = divide_into_folds(rule, train, round(1 / INNER_TEST_SHARE))
    return (quarters[0],)


def _can_compare_trials(rule: SplitRule, fold: Fold) -> bool:
    """Return whether a fold by time has enough training rows, and several target values on both sides.

    If all rows had the same value, a constant prediction would be the best model, and R² would not be defined.
    """
    has_values = not rule.has_single_value(fold.train) and not rule.has_single_value(fold.test)
    return has_values and len(fold.train) >= len(fold.test)


def held_out_positions(folds: Sequence[Fold]) -> Indices:
    """Return the positions of the test rows of all folds, in the order of the folds."""
    return np.concatenate([fold.test for fold in folds])


def hold_out_at_random(rule: SplitRule, test_size: float) -> Fold:
    """Hold out a random share of all rows, stratified by class."""
    target = rule.target
    if rule.units is not None:
        is_test = hold_out_units(describe_units(rule.units, target), test_size, rule.seed)
        return Fold(train=np.flatnonzero(~is_test), test=np.flatnonzero(is_test))

    splitter_class = StratifiedShuffleSplit if target.is_classification else ShuffleSplit
    test_rows = max(len(target.classes), round(test_size * len(target.values)))
    splitter = splitter_class(n_splits=1, test_size=test_rows, random_state=rule.seed)

    train, test = next(splitter.split(target.values[:, None], target.values))
    return Fold(np.sort(train), np.sort(test))


def divide_into_folds(rule: SplitRule, rows: Indices, count: int) -> tuple[Fold, ...]:
    """Divide rows into folds, stratified by class if the most frequent class has enough rows."""
    target = rule.target
    if rule.units is not None:
        units = describe_units(rule.units[rows], target, rows)
        if units.count >= count:
            fold_of_row = assign_units_to_folds(units, count, rule.seed)
            return tuple(Fold(rows[fold_of_row != fold], rows[fold_of_row == fold]) for fold in range(count))

    values = target.values[rows]
    count = min(count, len(rows))

    is_stratified = target.is_classification and np.bincount(values).max() >= count
    splitter_class = StratifiedKFold if is_stratified else KFold
    splitter: Any = splitter_class(count, shuffle=True, random_state=rule.seed)
    return tuple(Fold(rows[train], rows[test]) for train, test in splitter.split(values[:, None], values))


def _check_fold_count(rule: SplitRule) -> None:
    """Raise `LearningError` if the largest class or the number of units is too small for the folds."""
    target = rule.target
    folds = rule.plan.folds
    if target.is_classification:
        largest_class = int(np.bincount(target.values).max())
        if largest_class < folds:
            raise LearningError("folds_exceed_classes", field="split.folds", folds=folds, rows=largest_class)

    _check_unit_count(rule, minimum=folds)


def _check_unit_count(rule: SplitRule, *, minimum: int) -> None:
    """Raise `LearningError` with the reason if there are fewer than `minimum` units of rows."""
    units = rule.unit_count
    if units >= minimum:
        return

    groups = rule.group_count
    name = rule.plan.group_column
    if groups is None:
        rows = len(rule.target.values)
        raise LearningError("too_few_different_rows", field="split.duplicates", rows=rows, units=units, minimum=minimum)
    if groups < minimum:
        raise LearningError("too_few_groups", field="split.group_column", name=name, groups=groups, minimum=minimum)
    facts = {"name": name, "groups": groups, "units": units, "minimum": minimum}
    raise LearningError("groups_connected", field="split.duplicates", **facts)


def _split_by_time(rule: SplitRule, rows: Indices, times: npt.NDArray[Any], test_share: float) -> Fold | None:
    """Hold out the latest rows, or return None if all rows have the same time.

    The past then predicts the future. Rows with the same time stay on the same side. Earlier rows that share a unit
    with a test row are left out.
    """
    row_times = times[rows]
    sorted_times = np.sort(row_times)
    first_test_position = int(np.ceil((1 - test_share) * len(sorted_times)))
    last_position = len(sorted_times) - 1
    first_test_time = sorted_times[min(first_test_position, last_position)]

    # If most rows have the earliest time, testing begins with the second one, so that some rows remain for training.
    if first_test_time == sorted_times[0]:
        distinct_times = np.unique(row_times)
        if len(distinct_times) == 1:
            return None
        first_test_time = distinct_times[1]

    is_test = row_times >= first_test_time
    is_train = ~is_test
    if rule.units is not None:
        units = rule.units[rows]
        is_train &= ~np.isin(units, units[is_test])
    return Fold(train=rows[is_train], test=rows[is_test])
