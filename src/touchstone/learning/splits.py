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

MIN_TRAINING_ROWS: Final = 10  # The target encoding alone cuts the training rows into five parts.
INNER_FOLDS: Final = 3
INNER_TEST_SHARE: Final = 0.25
FEW_ROWS: Final = 2_000  # Up to this many rows a single validation set is too noisy to choose a model by.


@dataclass(frozen=True, slots=True)
class Fold:
    """Training and test rows, as positions into the target's values."""

    train: Indices
    test: Indices


def outer_folds(split: Split, target: Target, times: npt.NDArray[Any] | None, seed: int) -> tuple[Fold, ...]:
    """Return the folds on whose test rows quality is reported: one, or as many as a k-fold split asks for.

    Raises `LearningError` (time_column_not_ordered, too_many_folds) when the target's rows can't be split like this.
    """
    if split.strategy is Strategy.TIME and times is not None:
        fold = _split_by_time(np.arange(len(times)), times, split.test_size)
        if fold is None:
            raise LearningError("time_column_not_ordered", field="split.time_column", name=split.time_column)
        return (fold,)
    if split.strategy is Strategy.KFOLD:
        _check_fold_count(split.folds, target)
        return _k_folds(target, np.arange(len(target.values)), split.folds, seed)
    return (_holdout(target, split.test_size, seed),)


def inner_folds(
    target: Target, train: Indices, times: npt.NDArray[Any] | None, *, seed: int, limit: int
) -> tuple[Fold, ...]:
    """Return the folds of the training rows by which the best trial is chosen; at most `limit` rows take part.

    A time split validates on the latest quarter, as long as at least as many rows lie before it. Otherwise a short
    table gets three folds, and a long one a single fold with a quarter of the rows for validation.
    """
    if len(train) > limit:
        train = np.sort(np.random.default_rng(seed).choice(train, limit, replace=False))
    if times is not None:
        latest = _split_by_time(train, times, INNER_TEST_SHARE)
        if latest is not None and len(latest.train) >= len(latest.test):
            return (latest,)
    if len(train) <= FEW_ROWS:
        return _k_folds(target, train, INNER_FOLDS, seed)
    return _k_folds(target, train, round(1 / INNER_TEST_SHARE), seed)[:1]


def read_times(table: Table, target: Target, name: str | None) -> npt.NDArray[Any] | None:
    """Return the moments (or numbers) by which the target's rows are ordered; a missing one counts as the oldest."""
    if name is None:
        return None
    cells = table.frame[name].iloc[target.rows]
    has_ordered_kind = table.columns[name].kind in (ColumnKind.DATE, ColumnKind.NUMBER, ColumnKind.IDENTIFIER)
    if not has_ordered_kind or cells.dtype.kind not in "fM":
        raise LearningError("time_column_not_ordered", field="split.time_column", name=name)
    times = cells.to_numpy().astype(np.float64)
    return np.where(cells.isna().to_numpy(), -np.inf, times)


def held_out_positions(folds: Sequence[Fold]) -> Indices:
    """Return every test position, in the order in which the folds are measured."""
    return np.concatenate([fold.test for fold in folds])


def _holdout(target: Target, test_size: float, seed: int) -> Fold:
    splitter_class = StratifiedShuffleSplit if target.is_classification else ShuffleSplit
    test_rows = max(len(target.classes), round(test_size * len(target.values)))
    splitter = splitter_class(n_splits=1, test_size=test_rows, random_state=seed)
    train, test = next(splitter.split(target.values[:, None], target.values))
    return Fold(np.sort(train), np.sort(test))


def _k_folds(target: Target, rows: Indices, count: int, seed: int) -> tuple[Fold, ...]:
    """Split the rows into folds, stratified by class where the most frequent class has a row for every fold."""
    values = target.values[rows]
    count = min(count, len(rows))
    is_stratified = target.is_classification and np.bincount(values).max() >= count
    splitter_class = StratifiedKFold if is_stratified else KFold
    splitter: Any = splitter_class(count, shuffle=True, random_state=seed)
    return tuple(Fold(rows[train], rows[test]) for train, test in splitter.split(values[:, None], values))


def _check_fold_count(count: int, target: Target) -> None:
    if target.is_classification and np.bincount(target.values).max() < count:
        raise LearningError("too_many_folds", field="split.folds", folds=count, rows=len(target.values))


def _split_by_time(rows: Indices, times: npt.NDArray[Any], test_share: float) -> Fold | None:
    """Test on the latest share of the rows; rows of one moment always stay on the same side.

    Where most rows belong to the first moment, the second moment is the border. Returns None when all rows belong to
    a single moment.
    """
    moments = times[rows]
    ordered = np.sort(moments)
    border = ordered[min(len(ordered) - 1, int(np.ceil((1 - test_share) * len(ordered))))]
    if border == ordered[0]:
        later = ordered[ordered > border]
        if not len(later):
            return None
        border = later[0]
    return Fold(rows[moments < border], rows[moments >= border])
