"""Folds of training and test rows, always the same for the same seed."""

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

MIN_TRAINING_ROWS: Final = 10  # The target encoder alone divides the training rows into five parts.
INNER_FOLDS: Final = 3
INNER_TEST_SHARE: Final = 0.25
MIN_UNITS: Final = 2
FEW_ROWS: Final = 10_000  # Up to this many rows, a single validation set is too noisy to choose a model by.


@dataclass(frozen=True, slots=True)
class Fold:
    """Training and test rows, as positions into the target's values."""

    train: Indices
    test: Indices


def outer_folds(rule: SplitRule) -> tuple[Fold, ...]:
    """Divide the rows into training and test rows as the plan says, to measure the quality of a model.

    A cross-validation has several such folds, the other strategies a single one. Raises `LearningError` if the rows
    cannot be divided in this way.
    """
    plan = rule.plan
    every_row = np.arange(len(rule.target.values))

    if plan.strategy is Strategy.KFOLD:
        _check_fold_count(rule)
        return divide_into_folds(rule, every_row, plan.folds)

    if plan.strategy is Strategy.TIME and rule.times is not None:
        fold = _split_by_time(rule, every_row, rule.times, plan.test_size)
        if fold is None:
            names = ", ".join(plan.time_columns)
            raise LearningError("time_column_not_ordered", field="split.time_column", name=names)
        return (fold,)

    if plan.strategy is Strategy.GROUP:
        _check_unit_count(rule, minimum=MIN_UNITS)
    return (hold_out_at_random(rule, plan.test_size),)


def limit_training_rows(fold: Fold, limit: int, seed: int) -> Fold:
    """Return a fold that has at most `limit` training rows, drawn at random."""
    return Fold(train=_draw_sample(fold.train, limit, seed), test=fold.test)


def _draw_sample(rows: Indices, limit: int, seed: int) -> Indices:
    """Return at most `limit` of some rows, drawn at random, in ascending order."""
    if len(rows) <= limit:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, limit, replace=False))


def inner_folds(rule: SplitRule, train: Indices, *, limit: int) -> tuple[Fold, ...]:
    """Divide training rows once more, into the folds by which the best trial is chosen.

    They are divided by the same rule as the outer folds. With a split by time the latest quarter of the rows is used
    for validation, provided that at least as many rows lie before it and that both parts have more than one class.
    Otherwise a short table gets three folds, and a long one a single fold with a random quarter for validation. A
    sample is divided instead if there are more than `limit` rows.
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
    """Return whether trials can be compared on a fold by time: it has enough training rows, and classes to tell apart.

    Where all rows have one class, the best model would be one that always predicts it.
    """
    has_classes = not rule.has_single_class(fold.train) and not rule.has_single_class(fold.test)
    return has_classes and len(fold.train) >= len(fold.test)


def held_out_positions(folds: Sequence[Fold]) -> Indices:
    """Return every test position, in the order in which the folds are measured."""
    return np.concatenate([fold.test for fold in folds])


def hold_out_at_random(rule: SplitRule, test_size: float) -> Fold:
    """Hold out a random share of all rows, which contains every class in about its usual proportion."""
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
    """Divide rows into folds, stratified by class if the most frequent class has a row for every fold."""
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
    """Raise `LearningError` if no class has a row for every fold, or if there are fewer units of rows than folds."""
    target = rule.target
    folds = rule.plan.folds
    if target.is_classification:
        largest_class = int(np.bincount(target.values).max())
        if largest_class < folds:
            raise LearningError("folds_exceed_classes", field="split.folds", folds=folds, rows=largest_class)

    _check_unit_count(rule, minimum=folds)


def _check_unit_count(rule: SplitRule, *, minimum: int) -> None:
    """Raise `LearningError` if there are fewer units of rows than are needed, which says why they are so few."""
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
    """Train on the earlier rows and test on the latest share of them, so that the past predicts the future.

    Rows of the same moment always stay on the same side, and earlier rows that share a unit with a test row are left
    out. Returns None if all rows belong to a single moment.
    """
    moments = times[rows]
    sorted_moments = np.sort(moments)
    first_test_position = int(np.ceil((1 - test_share) * len(sorted_moments)))
    last_position = len(sorted_moments) - 1
    first_test_moment = sorted_moments[min(first_test_position, last_position)]

    # If most rows belong to the first moment, testing begins with the second one, so that rows remain for training.
    if first_test_moment == sorted_moments[0]:
        distinct_moments = np.unique(moments)
        if len(distinct_moments) == 1:
            return None
        first_test_moment = distinct_moments[1]

    is_test = moments >= first_test_moment
    is_train = ~is_test
    if rule.units is not None:
        units = rule.units[rows]
        is_train &= ~np.isin(units, units[is_test])
    return Fold(train=rows[is_train], test=rows[is_test])
