"""Splits of the rows into training and test rows, always the same for the same seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
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
    """Return the folds on whose test rows quality is reported: as many as a k-fold split asks for, otherwise one.

    `times` are the moments by which a split by time orders the rows. Raises `LearningError` (time_column_not_ordered,
    too_many_folds) if the rows cannot be split like this.
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
    """Divide training rows into the folds by which the best trial is chosen; at most `limit` rows take part.

    A split by time validates on the latest quarter of the rows, provided that at least as many lie before it.
    Otherwise a short table gets three folds, and a long one a single fold with a quarter of the rows for validation.
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
    fold_count = round(1 / INNER_TEST_SHARE)
    return _k_folds(target, train, fold_count, seed)[:1]


def read_times(table: Table, target: Target, name: str | None) -> npt.NDArray[Any] | None:
    """Return the values of the time column for the target's rows as numbers, or None if there is no time column.

    A missing value counts as older than all others. Raises `LearningError` if the values of the column have no order.
    """
    if name is None:
        return None

    cells = table.frame[name].iloc[target.rows]
    is_number_or_date = cells.dtype.kind in "fM"
    if table.columns[name].kind not in ORDERED_KINDS or not is_number_or_date:
        raise LearningError("time_column_not_ordered", field="split.time_column", name=name)

    times = cells.to_numpy().astype(np.float64)
    return np.where(cells.isna().to_numpy(), -np.inf, times)


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
    """Train on the earlier rows and test on the latest share of them.

    Rows of the same moment always stay on the same side. If most rows belong to the first moment, the test rows begin
    with the second one. Returns None if all rows belong to a single moment.
    """
    moments = times[rows]
    sorted_moments = np.sort(moments)
    border_position = int(np.ceil((1 - test_share) * len(sorted_moments)))
    border = sorted_moments[min(len(sorted_moments) - 1, border_position)]

    first_moment = sorted_moments[0]
    if border == first_moment:
        later_moments = sorted_moments[sorted_moments > first_moment]
        if len(later_moments) == 0:
            return None
        border = later_moments[0]

    return Fold(train=rows[moments < border], test=rows[moments >= border])
