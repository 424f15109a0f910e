"""Splits of the rows into training and test rows, always the same for the same seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pandas.api.types import is_datetime64_any_dtype, is_float_dtype
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from touchstone.learning.choices import Strategy
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.requests import Split
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Indices, Target

MIN_TRAINING_ROWS: Final = 10  # The target encoder alone divides the training rows into five parts.
INNER_FOLDS: Final = 3
INNER_TEST_SHARE: Final = 0.25
FEW_ROWS: Final = 2_000  # Up to this many rows, a single validation set is too noisy to choose a model by.
ORDERED_KINDS: Final = (ColumnKind.DATE, ColumnKind.NUMBER, ColumnKind.IDENTIFIER)


@dataclass(frozen=True, slots=True)
class Fold:
    """Training and test rows, as positions into the target's values."""

    train: Indices
    test: Indices


def outer_folds(split: Split, target: Target, times: npt.NDArray[Any] | None, seed: int) -> tuple[Fold, ...]:
    """Divide the rows into training and test rows as the request asks for, to measure the quality of a model.

    A cross-validation has several such folds, the other strategies a single one. `times` are the moments by which a
    split by time orders the rows. Raises `LearningError` if the rows cannot be divided in this way.
    """
    if split.strategy is Strategy.KFOLD:
        _check_fold_count(split.folds, target)
        every_row = np.arange(len(target.values))
        return _k_folds(target, every_row, split.folds, seed)

    if split.strategy is Strategy.TIME and times is not None:
        every_row = np.arange(len(times))
        fold = _split_by_time(every_row, times, split.test_size)
        if fold is None:
            raise LearningError("time_column_not_ordered", field="split.time_column", name=split.time_column)
        return (fold,)

    return (_holdout(target, split.test_size, seed),)


def inner_folds(
    target: Target, train: Indices, times: npt.NDArray[Any] | None, *, seed: int, limit: int
) -> tuple[Fold, ...]:
    """Divide training rows once more, into the folds by which the best trial is chosen.

    With a split by time the latest quarter of the rows is used for validation, provided that at least as many rows lie
    before it. Otherwise a short table gets three folds, and a long one a single fold with a random quarter for
    validation. A sample is divided instead if there are more than `limit` rows.
    """
    if len(train) > limit:
        sample = np.random.default_rng(seed).choice(train, limit, replace=False)
        train = np.sort(sample)

    if times is not None:
        fold = _split_by_time(train, times, INNER_TEST_SHARE)
        if fold is not None and len(fold.train) >= len(fold.test):
            return (fold,)

    if len(train) <= FEW_ROWS:
        return _k_folds(target, train, INNER_FOLDS, seed)

    quarters = _k_folds(target, train, round(1 / INNER_TEST_SHARE), seed)
    return (quarters[0],)


def read_times(table: Table, target: Target, name: str | None) -> npt.NDArray[Any] | None:
    """Return the values of the time column as numbers for the rows that have a target; None without a time column.

    A missing value counts as older than all others. Raises `LearningError` if the values of the column have no order.
    """
    if name is None:
        return None

    cells = table.frame[name].iloc[target.rows]
    is_number_or_date = is_float_dtype(cells) or is_datetime64_any_dtype(cells)
    if table.columns[name].kind not in ORDERED_KINDS or not is_number_or_date:
        raise LearningError("time_column_not_ordered", field="split.time_column", name=name)

    times = cells.to_numpy().astype(np.float64)
    times[cells.isna().to_numpy()] = -np.inf
    return times


def held_out_positions(folds: Sequence[Fold]) -> Indices:
    """Return every test position, in the order in which the folds are measured."""
    return np.concatenate([fold.test for fold in folds])


def _holdout(target: Target, test_size: float, seed: int) -> Fold:
    """Hold out a random share of the rows, which contains every class in its usual proportion."""
    splitter_class = StratifiedShuffleSplit if target.is_classification else ShuffleSplit
    test_rows = max(len(target.classes), round(test_size * len(target.values)))
    splitter = splitter_class(n_splits=1, test_size=test_rows, random_state=seed)

    train, test = next(splitter.split(target.values[:, None], target.values))
    return Fold(np.sort(train), np.sort(test))


def _k_folds(target: Target, rows: Indices, count: int, seed: int) -> tuple[Fold, ...]:
    """Divide rows into folds, stratified by class if the most frequent class has a row for every fold."""
    values = target.values[rows]
    count = min(count, len(rows))

    is_stratified = target.is_classification and np.bincount(values).max() >= count
    splitter_class = StratifiedKFold if is_stratified else KFold
    splitter: Any = splitter_class(count, shuffle=True, random_state=seed)
    return tuple(Fold(rows[train], rows[test]) for train, test in splitter.split(values[:, None], values))


def _check_fold_count(count: int, target: Target) -> None:
    """Raise `LearningError` if no class has a row for every fold."""
    if target.is_classification and np.bincount(target.values).max() < count:
        raise LearningError("too_many_folds", field="split.folds", folds=count, rows=len(target.values))


def _split_by_time(rows: Indices, times: npt.NDArray[Any], test_share: float) -> Fold | None:
    """Train on the earlier rows and test on the latest share of them, so that the past predicts the future.

    Rows of the same moment always stay on the same side. Returns None if all rows belong to a single moment.
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
    return Fold(train=rows[~is_test], test=rows[is_test])
